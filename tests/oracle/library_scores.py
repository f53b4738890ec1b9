"""Models of `metrics` and `stats`: what they give, by their definitions, in fractions as far as these go."""
import math
from fractions import Fraction

from library_data import exact, flow, root

HALF = Fraction(1, 2)


def mean(v):
    return sum(v, Fraction(0)) / len(v)


def squares(v):
    m = mean(v)
    return sum((x - m) ** 2 for x in v)


def ratio(a, b):
    return a / b if b else Fraction(0)


def quantile(v, q):
    s = sorted(v)
    h = (len(s) - 1) * Fraction(q)
    k = math.floor(h)
    return s[k] + (h - k) * (s[min(k + 1, len(s) - 1)] - s[k])


# ---- metrics ----

def numbers(case, data):
    case.uses("metrics")
    n = data.number(1, 40)
    y = data.column(n)
    p = [v + data.rng.gauss(0, 1) for v in y] if data.chance(0.3) else list(y) if data.chance(0.1) else data.column(n)
    if data.chance(0.1):
        p = [v + 0.5 for v in y]
    a, b = case.let("y", flow(y)), case.let("p", flow(p))
    ey, ep = exact(y), exact(p)
    off = [v - w for v, w in zip(ep, ey)]
    scale = max(map(abs, y + p))
    mse = mean([v * v for v in off])
    case.one(f"metrics.mse({a}, {b})", mse)
    case.one(f"metrics.rmse({a}, {b})", root(mse))
    case.one(f"metrics.mae({a}, {b})", mean([abs(v) for v in off]))
    case.one(f"metrics.median_absolute_error({a}, {b})", quantile([abs(v) for v in off], HALF))
    case.one(f"metrics.max_error({a}, {b})", max(abs(v) for v in off))
    case.one(f"metrics.mape({a}, {b})", mean([abs(v) / max(abs(w), Fraction(2.220446049250313e-16)) for v, w in zip(off, ey)]))

    def share(left, whole):
        return 1 - left / whole if whole else Fraction(left == 0)

    # The differences are of doubles: what rounding them leaves is nothing beside what is compared
    tiny = all(abs(float(v)) < 1e-9 * max(scale, 1e-300) for v in off)
    case.one(f"metrics.r2({a}, {b})", share(sum(v * v for v in off), squares(ey)), 1e-8, 1.0)
    rest = squares([Fraction(float(v)) for v in off])
    if rest == 0 or not tiny:
        case.one(f"metrics.explained_variance({a}, {b})", share(rest, squares(ey)), 1e-7, 1.0)


def labels(case, data):
    case.uses("metrics")
    n, k = data.number(1, 30), data.number(1, 4)
    kind = data.pick("int", "text", "bool")
    names = {"int": data.pick([0, 1, 2, 3], [5, -3, 9, 1]), "text": ["b", "a", "", "zé"], "bool": [False, True, False, True]}[kind][:k]
    y = [data.pick(*names) for _ in range(n)]
    p = [v if data.chance(0.5) else data.pick(*names) for v in y]
    if data.chance(0.15):
        p = list(y)
    a, b = case.let("y", flow(y)), case.let("p", flow(p))
    classes = sorted(set(y) | set(p))
    c = {(u, v): 0 for u in classes for v in classes}
    for u, v in zip(y, p):
        c[u, v] += 1
    hit = {u: c[u, u] for u in classes}
    said = {u: sum(c[v, u] for v in classes) for u in classes}
    there = {u: sum(c[u, v] for v in classes) for u in classes}
    right = Fraction(sum(hit.values()), n)
    case.one(f"metrics.accuracy({a}, {b})", right)
    case.many(f"reshape(metrics.confusion_matrix({a}, {b}), {len(classes) ** 2})", [c[u, v] for u in classes for v in classes], 0)
    beta = data.pick(0.5, 1.0, 2.0)
    square = Fraction(beta) ** 2
    of = {
        "precision": {u: ratio(Fraction(hit[u]), said[u]) for u in classes}, "recall": {u: ratio(Fraction(hit[u]), there[u]) for u in classes},
        "fbeta": {u: ratio((1 + square) * hit[u], square * there[u] + said[u]) for u in classes},
    }
    for name, values in of.items():
        more = f", beta = {beta}" if name == "fbeta" else ""
        case.one(f'metrics.{name}({a}, {b}{more}, average = "macro")', mean(list(values.values())))
        case.one(f'metrics.{name}({a}, {b}{more}, average = "micro")', right)
        case.one(f'metrics.{name}({a}, {b}{more}, average = "weighted")', sum(values[u] * there[u] for u in classes) / n)
        if len(classes) == 2:
            case.one(f"metrics.{name}({a}, {b}{more})", values[classes[1]])
    case.one(f"metrics.balanced_accuracy({a}, {b})", mean([of["recall"][u] for u in classes if there[u]]))
    under = (n * n - sum(v * v for v in said.values())) * (n * n - sum(v * v for v in there.values()))
    case.one(f"metrics.mcc({a}, {b})", (n * sum(hit.values()) - sum(said[u] * there[u] for u in classes)) / math.sqrt(under) if under else 0.0, 1e-9, 1.0)
    chance = Fraction(sum(said[u] * there[u] for u in classes), n * n)
    if chance != 1 or len(classes) == 1:
        case.one(f"metrics.cohen_kappa({a}, {b})", math.nan if len(classes) == 1 else (right - chance) / (1 - chance), 1e-9, 1.0)

    def pairs(v):
        return Fraction(v * (v - 1), 2)

    together, rows, columns = (sum(pairs(v) for v in values) for values in (c.values(), there.values(), said.values()))
    by_chance = rows * columns / pairs(n) if n > 1 else Fraction(0)
    most = (rows + columns) / 2
    case.one(f"metrics.adjusted_rand({a}, {b})", 1.0 if most == by_chance else (together - by_chance) / (most - by_chance), 1e-9, 1.0)
    entropy = [-sum(v / n * math.log(v / n) for v in of.values() if v) for of in (there, said)]
    both = sum(v / n * math.log(Fraction(v * n, there[u] * said[w])) for (u, w), v in c.items() if v)
    case.one(f"metrics.normalised_mutual_information({a}, {b})", 1.0 if sum(entropy) == 0 else 2 * both / sum(entropy), 1e-9, 1.0)


def scores(case, data):
    """Yes and no by scores, with ties and infinities."""
    case.uses("metrics")
    n = data.number(1, 30)
    y = [data.chance(data.pick(0.2, 0.5)) for _ in range(n)]
    s = [data.pick(-0.0, 0.0, 1.0, 0.25, math.inf, -math.inf, -2.0, 1e-300) if data.chance(0.5) else round(data.rng.gauss(0, 1), 1) for _ in range(n)]
    a, b = case.let("y", flow(y)), case.let("s", flow(s))
    yes, no = sum(y), n - sum(y)
    if not yes or not no and data.chance(0.5):
        return case.failing(f"metrics.{'average_precision' if not yes else 'roc_auc'}({a}, {b})", "there is no (curve|recall)")
    if no:
        wins = sum(1 if u > v else HALF if u == v else 0 for u, t in zip(s, y) if t for v, f in zip(s, y) if not f)
        case.one(f"metrics.roc_auc({a}, {b})", Fraction(wins) / (yes * no))
    levels = sorted(set(s), reverse=True)
    reached = [(sum(t and v >= w for v, t in zip(s, y)), sum(v >= w for v in s)) for w in levels]
    steps = [(t - before, Fraction(t, m)) for (t, m), (before, _) in zip(reached, [(0, 0)] + reached)]
    case.one(f"metrics.average_precision({a}, {b})", sum(Fraction(up, yes) * p for up, p in steps))
    curve = case.let("c", f"metrics.precision_recall_curve({a}, {b})")
    case.many(f"{curve}.threshold", levels, 0)
    case.many(f"{curve}.recall", [Fraction(t, yes) for t, _ in reached])
    if no:
        roc = case.let("r", f"metrics.roc_curve({a}, {b})")
        case.many(f"{roc}.false_positive", [0] + [Fraction(m - t, no) for t, m in reached])


def probabilities(case, data):
    case.uses("metrics")
    n, k = data.number(1, 20), data.number(2, 4)
    y = [data.chance(0.5) for _ in range(n)]
    p = [data.pick(0.0, 1.0, 0.5, 1e-17, data.rng.random()) for _ in range(n)]
    a, b = case.let("y", flow(y)), case.let("p", flow(p))
    least = 2.220446049250313e-16
    case.one(f"metrics.log_loss({a}, {b})", math.fsum(-math.log(min(max(v, least), 1 - least)) if t else -math.log(1 - min(max(v, least), 1 - least))
                                                   for v, t in zip(p, y)) / n)
    case.one(f"metrics.brier({a}, {b})", mean([(Fraction(v) - t) ** 2 for v, t in zip(p, y)]))
    label = data.labels(n, k)
    classes = sorted(set(label))
    if len(classes) < 2:
        return
    q = [[data.pick(0.0, 1.0, data.rng.random()) for _ in classes] for _ in range(n)]
    q = [row if any(row) else [1.0] * len(classes) for row in q]
    c, d = case.let("label", flow(label)), case.let("q", flow(q))
    share = [q[i][classes.index(label[i])] / math.fsum(q[i]) for i in range(n)]
    case.one(f"metrics.cross_entropy({c}, {d})", math.fsum(-math.log(min(max(v, least), 1 - least)) for v in share) / n)


def clusters(case, data):
    case.uses("metrics")
    n, d, k = data.number(3, 24), data.number(1, 3), data.number(2, 4)
    x = data.matrix(n, d)
    label = data.labels(n, k)
    if data.chance(0.3):  # points of a cluster are all the same
        places = {c: data.column(d, "tenths") for c in set(label)}
        x = [list(places[c]) for c in label]
    classes = sorted(set(label))
    a, b = case.let("x", flow(x)), case.let("c", flow(label))
    if not 1 < len(classes) < n:
        return case.failing(f"metrics.silhouette({a}, {b})", "silhouettes need from 2 clusters")
    own = {c: [x[i] for i in range(n) if label[i] == c] for c in classes}
    values = []
    for i in range(n):
        away = {c: math.fsum(math.dist(x[i], p) for p in own[c]) / len(own[c]) for c in classes}
        size = len(own[label[i]])
        inside = away[label[i]] * size / max(size - 1, 1)
        nearest = min(away[c] for c in classes if c != label[i])
        values.append((nearest - inside) / max(nearest, inside) if size > 1 and max(nearest, inside) else 0.0)
    case.many(f"metrics.silhouettes({a}, {b})", values, 1e-7, 1.0)
    e = exact(x)
    columns = list(zip(*e))
    between = sum(len(own[c]) * sum((mean(list(col)) - mean([v for v, l in zip(col, label) if l == c])) ** 2 for col in columns) for c in classes)
    within = sum(squares([v for v, l in zip(col, label) if l == c]) for c in classes for col in columns)
    case.one(f"metrics.calinski_harabasz({a}, {b})", 1.0 if within == 0 else between * (n - len(classes)) / (within * (len(classes) - 1)), 1e-6)


# ---- stats ----

def beta_share(a, b, x):
    """The regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    f = c = 1.0
    d = 0.0
    for i in range(3000):
        m = i // 2
        top = 1.0 if i == 0 else m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) if i % 2 == 0 else -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / ((1 + top * d) or 1e-300)
        c = (1 + top / c) or 1e-300
        f *= c * d
        if abs(1 - c * d) < 1e-15:
            break
    return front * (f - 1) / a


def gamma_rest(a, x):
    """1 less the regularised incomplete gamma function, by series and continued fraction (6.5.29, 6.5.31)."""
    if x <= 0:
        return 1.0
    front = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, 3000):
            term *= x / (a + n)
            total += term
        return 1 - front * total
    b, c, d = x + 1 - a, 1e300, 1 / (x + 1 - a)
    h = d
    for i in range(1, 3000):
        b += 2
        d = 1 / (i * (a - i) * d + b)
        c = b + i * (a - i) / c
        h *= d * c
    return front * h


def two_sided(t, df):
    return math.nan if math.isnan(t) else 0.0 if math.isinf(t) else beta_share(df / 2, 0.5, float(df) / (float(df) + t * t))


def over(a, square):
    """a over the root of a square: infinity over 0, nan of 0 over 0."""
    return float(a) / root(square) if square else math.nan if a == 0 else math.copysign(math.inf, a)


def t_tests(case, data):
    case.uses("stats")
    n, m = data.number(2, 20), data.number(2, 20)
    x, y = data.column(n), data.column(m)
    if data.chance(0.2):
        y = [x[0]] * m
    a, b = case.let("x", flow(x)), case.let("y", flow(y))
    ex, ey = exact(x), exact(y)
    vx, vy = squares(ex) / (n - 1), squares(ey) / (m - 1)

    def test(text, t, df):
        r = case.let("t", text)
        case.one(f"{r}.t", t, 1e-7)
        case.one(f"{r}.df", df, 1e-8)
        case.one(f"{r}.p", two_sided(t, df), 1e-6, 1e-12)

    mu = data.pick(0.0, x[0], 1.5)
    test(f"stats.t_test({a}, mu = {mu!r})", over(mean(ex) - Fraction(mu), vx / n), n - 1)
    s = vx / n + vy / m
    test(f"stats.t_test2({a}, {b})", over(mean(ex) - mean(ey), s), float(s * s / ((vx / n) ** 2 / (n - 1) + (vy / m) ** 2 / (m - 1))) if s else 1.0)
    pooled = (squares(ex) + squares(ey)) / (n + m - 2)
    test(f"stats.t_test2({a}, {b}, equal_var = true)", over(mean(ex) - mean(ey), pooled / n + pooled / m), n + m - 2)
    case.one(f"stats.standard_error({a})", root(vx / n), 1e-9)


def correlations(case, data):
    case.uses("stats")
    n, d = data.number(2, 25), data.number(1, 4)
    x = data.matrix(n, d)
    a = case.let("x", flow(x))
    columns = [list(c) for c in zip(*exact(x))]
    want = []
    for i in range(d):
        for j in range(d):
            u, v = columns[i], columns[j]
            if squares(u) == 0 or squares(v) == 0:
                want.append(math.nan)
            else:
                both = sum((p - mean(u)) * (q - mean(v)) for p, q in zip(u, v))
                want.append(1.0 if i == j else float(both) / root(squares(u) * squares(v)))
    case.many(f"reshape(stats.correlations({a}), {d * d})", want, 1e-7, 1.0)
    one = case.let("s", f"stats.summary({a}[:, 0])")
    u = columns[0]
    case.many(f"[{one}.mean, {one}.min, {one}.q25, {one}.median, {one}.q75, {one}.max]",
              [mean(u), min(u), quantile(u, Fraction(1, 4)), quantile(u, HALF), quantile(u, Fraction(3, 4)), max(u)], 1e-12)
    case.one(f"{one}.std", root(squares(u) / (n - 1)))


def anova(case, data):
    case.uses("stats")
    n, k = data.number(4, 24), data.number(2, 4)
    group = data.labels(n, k)
    names = sorted(set(group))
    x = data.column(n, "normal", "ties", "constant", "tenths", "offset", "large", "small")
    if data.chance(0.3):
        x = [data.pick(0.1, 0.3, 0.7, 1.1) + 0.0 * i for i in range(n)]
        levels = dict(zip(names, data.column(len(names), "tenths")))
        x = [levels[g] for g in group]
    a, b = case.let("x", flow(x)), case.let("g", flow(group))
    if len(names) < 2:
        return case.failing(f"stats.anova({a}, {b})", "at least 2 groups")
    if n <= len(names):
        return case.failing(f"stats.anova({a}, {b})", "no degree of freedom")
    e = exact(x)
    parts = {g: [v for v, l in zip(e, group) if l == g] for g in names}
    between = sum(len(p) * (mean(p) - mean(e)) ** 2 for p in parts.values()) / (len(names) - 1)
    within = sum(squares(p) for p in parts.values()) / (n - len(names))
    f = float(between / within) if within else math.nan if between == 0 else math.inf
    r = case.let("f", f"stats.anova({a}, {b})")
    case.one(f"{r}.f", f, 1e-6)
    d1, d2 = len(names) - 1, n - len(names)
    case.one(f"{r}.p", math.nan if math.isnan(f) else 0.0 if math.isinf(f) else beta_share(d2 / 2, d1 / 2, d2 / (d2 + d1 * f)), 1e-5, 1e-9)


def counts(case, data):
    case.uses("stats")
    r, c = data.number(2, 4), data.number(2, 4)
    table = [[float(data.number(0, 9)) for _ in range(c)] for _ in range(r)]
    a = case.let("t", flow(table))
    rows, columns = [sum(row) for row in table], [sum(col) for col in zip(*table)]
    if 0 in rows or 0 in columns:
        return case.failing(f"stats.chi2_test({a})", "has no counts; leave it out")
    n = sum(rows)
    correct = data.chance(0.5)
    most = Fraction(1, 2) if correct and (r - 1) * (c - 1) == 1 else 0
    chi2 = Fraction(0)
    for i in range(r):
        for j in range(c):
            expected = Fraction(rows[i]) * Fraction(columns[j]) / Fraction(n)
            off = abs(Fraction(table[i][j]) - expected)
            chi2 += (off - min(most, off)) ** 2 / expected
    t = case.let("c", f"stats.chi2_test({a}, correction = {flow(correct)})")
    case.one(f"{t}.chi2", chi2, 1e-9, 1e-3)
    case.one(f"{t}.p", gamma_rest((r - 1) * (c - 1) / 2, float(chi2) / 2), 1e-8, 1e-9)


def ks(case, data):
    case.uses("stats")
    n, m = data.number(1, 12), data.number(1, 12)
    x, y = (data.column(k, "normal", "ties", "tenths") for k in (n, m))
    a, b = case.let("x", flow(x)), case.let("y", flow(y))
    most = max(abs(sum(u <= v for u in x) * m - sum(u <= v for u in y) * n) for v in x + y)
    ways = [[0] * (m + 1) for _ in range(n + 1)]  # orders that stay nearer
    for i in range(n + 1):
        for j in range(m + 1):
            if abs(i * m - j * n) >= most:
                continue
            ways[i][j] = 1 if i + j == 0 else (ways[i - 1][j] if i else 0) + (ways[i][j - 1] if j else 0)
    r = case.let("k", f"stats.ks_test2({a}, {b})")
    case.one(f"{r}.d", Fraction(most, n * m))
    case.one(f"{r}.p", 1 - Fraction(ways[n][m], math.comb(n + m, n)) if most else Fraction(1), 1e-9)


KINDS = {"numbers": numbers, "labels": labels, "scores": scores, "probabilities": probabilities, "clusters": clusters, "t_tests": t_tests,
         "correlations": correlations, "anova": anova, "counts": counts, "ks": ks}
