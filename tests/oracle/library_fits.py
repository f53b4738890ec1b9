"""Models of what is fitted and applied: `preprocess`, `linear`, `neighbors`, `naive_bayes`, `cluster`, `decomposition`."""
import itertools
import math
from fractions import Fraction

from library_data import exact, flow, root, solved
from library_scores import mean, quantile, squares


def flat(rows):
    return [v for row in rows for v in row]


def whole(text, n, d):
    return f"reshape({text}, {n * d})"


# ---- preprocess ----

def scalers(case, data):
    case.uses("preprocess")
    n, d, m = data.number(1, 30), data.number(1, 4), data.number(1, 4)
    x, z = data.matrix(n, d), data.matrix(m, d)
    a, b = case.let("x", flow(x)), case.let("z", flow(z))
    columns = [list(c) for c in zip(*exact(x))]

    def scaled(call, shift, scale):
        s = [float(v) if v else 1.0 for v in scale]
        sizes = max(abs(z[i][j]) + abs(float(shift[j])) for i in range(m) for j in range(d))
        fit = case.let("m", call)
        want = [(Fraction(z[i][j]) - Fraction(shift[j])) / Fraction(s[j]) for i in range(m) for j in range(d)]
        # Digits that a column at a large offset does not have are not there afterwards
        case.many(whole(f"preprocess.apply({fit}, {b})", m, d), want, 1e-7, max(1e-9 * sizes / min(s), max(abs(float(v)) for v in want)))
        case.many(whole(f"preprocess.invert({fit}, preprocess.apply({fit}, {b}))", m, d), flat(z), 1e-9, sizes)

    scaled(f"preprocess.standardise({a})", [mean(c) for c in columns], [root(squares(c) / n) for c in columns])
    low, high = data.pick((0.0, 1.0), (-1.0, 1.0), (2.0, 2.5))
    width = Fraction(high) - Fraction(low)
    spread = [(max(c) - min(c) or 1) / width for c in columns]
    scaled(f"preprocess.minmax({a}, low = {low!r}, high = {high!r})", [min(c) - Fraction(low) * s for c, s in zip(columns, spread)], spread)
    scaled(f"preprocess.maxabs({a})", [Fraction(0)] * d, [max(map(abs, c)) for c in columns])
    lower, upper = data.pick((0.25, 0.75), (0.0, 1.0), (0.1, 0.3))
    scaled(f"preprocess.robust({a}, lower = {lower!r}, upper = {upper!r})", [quantile(c, Fraction(1, 2)) for c in columns],
           [quantile(c, upper) - quantile(c, lower) for c in columns])
    norm = data.pick("l1", "l2", "max")
    size = [sum(map(abs, r)) if norm == "l1" else max(map(abs, r)) if norm == "max" else root(sum(v * v for v in r)) for r in exact(x)]
    case.many(whole(f'preprocess.normalise({a}, norm = "{norm}")', n, d), [Fraction(v) / Fraction(s) if s else 0 for r, s in zip(x, size) for v in r], 1e-12, 1.0)


def encoders(case, data):
    case.uses("preprocess")
    words = data.pick(["b", "a", "c"], ["", "é", "e", "z z", "Z"], ["only"])
    n, m = data.number(1, 12), data.number(1, 8)
    x, z = [data.pick(*words) for _ in range(n)], [data.pick(*words, "new") for _ in range(m)]
    a, b = case.let("x", flow(x)), case.let("z", flow(z))
    levels = sorted(set(x), key=lambda s: s.encode())
    if data.chance(0.2) and any(w not in levels for w in z):
        return case.failing(f"preprocess.apply(preprocess.ordinal({a}), {b})", f"is none of the {len(levels)} levels")
    one = case.let("o", f'preprocess.ordinal({a}, unknown = "ignore")')
    case.many(f"preprocess.apply({one}, {b})", [levels.index(w) if w in levels else -1 for w in z], 0)
    case.texts(f"preprocess.invert({one}, preprocess.apply({one}, {a}))", x)
    drop = data.chance(0.4)
    kept = levels[1:] if drop else levels
    hot = case.let("h", f'preprocess.one_hot_encoder({a}, unknown = "ignore", drop_first = {flow(drop)})')
    case.many(whole(f"preprocess.apply({hot}, {b})", m, len(kept)), [float(w == level) for w in z for level in kept], 0)


def imputed(case, data):
    case.uses("preprocess")
    n, d = data.number(1, 12), data.number(1, 3)
    x = data.matrix(n, d)
    for row in x:
        for j in range(d):
            if data.chance(0.3):
                row[j] = math.nan
    strategy = data.pick("mean", "median", "most_frequent")
    a = case.let("x", flow(x))
    columns = [[v for v in c if v == v] for c in zip(*x)]
    if not all(columns):
        return case.failing(f'preprocess.impute({a}, strategy = "{strategy}")', "a column is nan in all rows")
    if strategy == "most_frequent":
        fill = [min(c, key=lambda v: (-c.count(v), v)) for c in columns]
    else:
        fill = [mean(exact(c)) if strategy == "mean" else quantile(exact(c), Fraction(1, 2)) for c in columns]
    fit = case.let("m", f'preprocess.impute({a}, strategy = "{strategy}")')
    case.many(whole(f"preprocess.apply({fit}, {a})", n, d), [fill[j] if row[j] != row[j] else row[j] for row in x for j in range(d)], 1e-12)


def binned(case, data):
    case.uses("preprocess")
    n, k = data.number(1, 30), data.number(2, 6)
    x = data.column(n)
    strategy = data.pick("quantile", "uniform")
    s = sorted(exact(x))
    if strategy == "uniform":
        edges = [s[0] + (s[-1] - s[0]) * b / k for b in range(k + 1)]
    else:
        edges = []
        for b in range(k + 1):
            h = Fraction(b * n, k)
            at = math.ceil(h)
            edges.append(s[0] if b == 0 else s[-1] if b == k else (s[at - 1] + s[min(at, n - 1)]) / 2 if h == at else s[at - 1])
    kept = [edges[0]] + [e for before, e in zip(edges, edges[1:]) if e - before > Fraction(1e-8)]
    if any(abs(e - b - Fraction(1e-8)) < Fraction(1e-12) for b, e in zip(edges, edges[1:])) or strategy == "uniform" and any(
            v in edges[1:-1] or min(abs(v - e) for e in edges) < Fraction(1e-12) * max(map(abs, s)) for v in s if v not in (s[0], s[-1])):
        return case.one("1", 1)  # which side of an edge rounding decides
    inner = kept[1:-1]
    a = case.let("x", flow([[v] for v in x]))
    fit = case.let("m", f'preprocess.bins({a}, bins = {k}, strategy = "{strategy}")')
    z = [v for v in x if v not in map(float, inner) or Fraction(v) in inner] + [-1e300, 1e300]
    b = case.let("z", flow([[v] for v in z]))
    case.many(whole(f"preprocess.apply({fit}, {b})", len(z), 1), [sum(c <= Fraction(v) for c in inner) for v in z], 0)


def polynomials(case, data):
    case.uses("preprocess")
    n, d, degree = data.number(1, 4), data.number(1, 4), data.number(1, 4)
    only, bias = data.chance(0.3), data.chance(0.7)
    x = data.matrix(n, d, "normal", "ties", "tenths")
    a = case.let("x", flow(x))
    pick = itertools.combinations if only else itertools.combinations_with_replacement
    terms = [t for k in range(0 if bias else 1, degree + 1) for t in pick(range(d), k)]
    call = f"preprocess.polynomial({a}, degree = {degree}, interaction_only = {flow(only)}, bias = {flow(bias)})"
    case.many(whole(f"preprocess.apply({call}, {a})", n, len(terms)), [math.prod((Fraction(row[j]) for j in t), start=Fraction(1)) for row in x for t in terms], 1e-12)


# ---- linear ----

def normal_equations(x, y, w, penalty, intercept):
    """Coefficients and intercept that make the weighted squares and the penalty least, in fractions; None where they are not unique."""
    n, d = len(x), len(x[0])
    rows = [row + [Fraction(1)] for row in x] if intercept else x
    m = len(rows[0])
    gram = [[sum(w[i] * rows[i][p] * rows[i][q] for i in range(n)) + (penalty if p == q and p < d else 0) for q in range(m)] for p in range(m)]
    found = solved(gram, [sum(w[i] * rows[i][p] * y[i] for i in range(n)) for p in range(m)])
    return found and (found if intercept else found + [Fraction(0)])


def least_squares(case, data):
    case.uses("linear")
    n, d = data.number(1, 16), data.number(1, 4)
    x, y = data.matrix(n, d), data.column(n)
    weights = [float(data.number(0, 3)) * data.pick(1.0, 0.1) for _ in range(n)] if data.chance(0.4) else []
    if weights and not any(weights):
        weights = []
    intercept = data.chance(0.7)
    penalty = data.pick(0.0, 0.0, 1.0, 0.1, 1e3)
    w = exact(weights) or [Fraction(1)] * n
    found = normal_equations(exact(x), exact(y), w, Fraction(penalty), intercept)
    a, b = case.let("x", flow(x)), case.let("y", flow(y))
    more = f", intercept = {flow(intercept)}" + (f", weights = {flow(weights)}" if weights else "")
    call = f"linear.ols({a}, {b}{more})" if penalty == 0 else f"linear.ridge({a}, {b}, lambda = {penalty!r}{more})"
    if penalty == 0 and n < d + intercept:
        return case.failing(call, "rows do not decide")
    if found is None:
        return case.failing(call, "constant|combination|leave it out|leave one out")
    sizes = [max(abs(v) for v in col) or 1.0 for col in zip(*x)]
    fit = case.let("m", call)
    # What the model predicts is sure also where coefficients are not
    fitted = [sum(c * Fraction(v) for c, v in zip(found, row)) + found[-1] for row in x]
    level = max(map(abs, y))
    close = 1e-6 if n >= d else 1e-4  # by products of rows, which lose more where columns are large beside the penalty
    case.many(f"linear.predict({fit}, {a})", fitted, close, max([level] + [1e-6 * abs(float(c)) * s for c, s in zip(found, sizes)]))
    worth = max(abs(float(c)) * s for c, s in zip(found, sizes + [1.0]))
    case.many(f"{fit}.coefficients * {flow(sizes)}", [c * Fraction(s) for c, s in zip(found, sizes)], 1e-4, max(worth, level * 1e-9))


def nets(case, data):
    """The gap to the minimum is at most what is said."""
    case.uses("linear")
    n, d = data.number(2, 20), data.number(1, 4)
    x = data.matrix(n, d, "normal", "ties", "constant", "tenths", "sparse")
    y = data.column(n, "normal", "ties", "tenths", "constant", "offset")
    penalty, share, intercept = data.pick(0.01, 0.1, 1.0, 10.0), data.pick(0.1, 0.5, 1.0), data.chance(0.7)
    a, b = case.let("x", flow(x)), case.let("y", flow(y))
    fit = case.let("m", f"linear.elastic_net({a}, {b}, lambda = {penalty!r}, l1_ratio = {share!r}, intercept = {flow(intercept)}, tolerance = 1e-10, iters = 100000)")
    ex, ey = exact(x), exact(y)
    centre = [mean(list(c)) for c in zip(*ex)] if intercept else [Fraction(0)] * d
    my = mean(ey) if intercept else Fraction(0)
    xc, yc = [[v - m for v, m in zip(row, centre)] for row in ex], [v - my for v in ey]
    l1, l2 = Fraction(penalty) * Fraction(share), Fraction(penalty) * (1 - Fraction(share))
    level = sum(v * v for v in yc) / n

    def conditions(values):
        if len(values) != d + 1:
            return f"{len(values)} values"
        w = [Fraction(v) for v in values[:d]]
        left = [t - sum(c * v for c, v in zip(w, row)) for t, row in zip(yc, xc)]
        for j in range(d):
            slope = sum(row[j] * r for row, r in zip(xc, left)) / n - l2 * w[j]
            off = abs(abs(slope) - l1) if w[j] and (slope > 0) == (w[j] > 0) else max(abs(slope) - l1, 0) if not w[j] else abs(slope) + l1
            size = root(sum(row[j] ** 2 for row in xc) / n)
            if off > 2e-5 * size * root(level) + 1e-12 and (w[j] == 0 or off * abs(w[j]) > 1e-9 * max(level, Fraction(1, 10**30))):
                return f"column {j}: {float(w[j])}, the slope there is {float(slope)}, the penalty {float(l1)}"
        if abs(Fraction(values[d]) - (my - sum(c * m for c, m in zip(w, centre)))) > Fraction(1e-7) * max(map(abs, ey + [Fraction(1)])):
            return f"intercept {values[d]}"
        return None

    case.many(f"concat({fit}.coefficients, [{fit}.intercept])", conditions)


def logistics(case, data):
    """The gradient vanishes at the minimum."""
    case.uses("linear")
    n, d = data.number(4, 24), data.number(1, 3)
    x = data.matrix(n, d, "normal", "ties", "constant", "tenths", "sparse", "offset")
    y = [data.chance(0.5) for _ in range(n)]
    scale = data.pick(1.0, 1.0, 1e-3, 1e-6, 1e-9, 1e3)
    weights = [scale * data.number(0, 3) for _ in range(n)] if data.chance(0.5) else []
    scale = scale if weights else 1.0
    penalty = scale * data.pick(0.01, 1.0, 10.0)
    intercept = data.chance(0.7)
    w = weights or [1.0] * n
    a, b = case.let("x", flow(x)), case.let("y", flow(y))
    more = f", weights = {flow(weights)}" if weights else ""
    seen = {t for t, v in zip(y, w) if v}
    call = f"linear.logistic({a}, {b}, lambda = {penalty!r}, intercept = {flow(intercept)}{more})"
    if not any(w):
        return case.failing(call, "all rows weigh nothing")
    if len(seen) < 2:
        return case.failing(call, "all outcomes are (yes|no)")
    fit = case.let("m", call)

    def conditions(values):
        if len(values) != d + 1:
            return f"{len(values)} values"
        centre = [sum(c) / n for c in zip(*x)] if intercept else [0.0] * d
        off = []
        for row, t, v in zip(x, y, w):
            z = math.fsum([c * u for c, u in zip(values, row)] + [values[d]])
            off.append(v * ((1 / (1 + math.exp(-z)) if z > -700 else 0.0) - t))
        for j in range(d + intercept):
            terms = [o * (row[j] - centre[j] if j < d else 1.0) for o, row in zip(off, x)] + ([penalty * values[j]] if j < d else [])
            slope, size = math.fsum(terms), math.fsum(map(abs, terms))
            if abs(slope) > 1e-5 * size + 1e-7 * sum(w) * (max(abs(row[j] - centre[j]) for row in x) if j < d else 1.0):
                return f"{'coefficient ' + str(j) if j < d else 'intercept'}: the slope is {slope} of terms of {size}"
        return None if intercept or values[d] == 0 else f"intercept {values[d]}"

    case.many(f"concat({fit}.coefficients, [{fit}.intercept])", conditions)


def softmaxes(case, data):
    case.uses("linear")
    n, d, k = data.number(4, 20), data.number(1, 3), data.number(2, 4)
    x = data.matrix(n, d, "normal", "ties", "constant", "tenths", "sparse")
    y = data.labels(n, k)
    classes = sorted(set(y))
    scale = data.pick(1.0, 1.0, 1e-3, 1e-6, 1e-9, 1e3)
    weights = [scale * data.number(0, 3) for _ in range(n)] if data.chance(0.5) else []
    penalty = (scale if weights else 1.0) * data.pick(0.01, 1.0, 10.0)
    w = weights or [1.0] * n
    a, b = case.let("x", flow(x)), case.let("y", flow(y))
    call = f"linear.softmax({a}, {b}, lambda = {penalty!r}{f', weights = {flow(weights)}' if weights else ''})"
    if not any(w) or len(classes) < 2:
        return case.failing(call, "all rows weigh nothing|all labels are")
    if len({t for t, v in zip(y, w) if v}) < len(classes):
        return case.one("1", 1)  # a class whose rows weigh nothing
    fit = case.let("m", call)
    c = len(classes)

    def conditions(values):
        if len(values) != c * (d + 1):
            return f"{len(values)} values"
        rows = [values[q * d:(q + 1) * d] for q in range(c)]
        level = values[c * d:]
        for q in range(c):
            for j in range(d + 1):
                terms = [penalty * rows[q][j]] if j < d else []
                for row, t, v in zip(x, y, w):
                    z = [math.fsum([r * u for r, u in zip(rows[p], row)] + [level[p]]) for p in range(c)]
                    e = [math.exp(s - max(z)) for s in z]
                    terms.append(v * (e[q] / sum(e) - (t == classes[q])) * (row[j] if j < d else 1.0))
                slope, size = math.fsum(terms), math.fsum(map(abs, terms))
                if abs(slope) > 1e-5 * size + 1e-7 * sum(w) * (max(abs(row[j]) for row in x) if j < d else 1.0):
                    return f"class {q}, column {j}: the slope is {slope} of terms of {size}"
        return None

    case.many(f"concat(reshape({fit}.coefficients, {c * d}), {fit}.intercept)", conditions)


# ---- neighbors, naive_bayes ----

def neighbours(case, data):
    case.uses("neighbors")
    n, d, m = data.number(1, 20), data.number(1, 3), data.number(1, 5)
    x = data.matrix(n, d)
    z = [list(data.pick(*x)) if data.chance(0.4) else row for row in data.matrix(m, d)]
    k = data.number(1, n)
    y = data.column(n, "normal", "tenths")
    far = data.pick("uniform", "distance")
    a, b, c = case.let("x", flow(x)), case.let("y", flow(y)), case.let("z", flow(z))
    if data.chance(0.1):
        return case.failing(f"neighbors.predict(neighbors.regressor({a}, {b}), concat({c}, {flow([[1e160] * d])}))" if n >= 5 else
                            f"neighbors.regressor(concat({a}, {flow([[-1e160] * d])}), concat({b}, [0.0]))", "squares of distances would be infinite|there are [0-9]+ points")
    fit = case.let("m", f'neighbors.regressor({a}, {b}, k = {k}, weights = "{far}")')
    near, values = [], []
    for q in z:
        squares_ = []
        for p in x:
            s = 0.0
            for u, v in zip(q, p):
                s += (u - v) * (u - v)  # as rounded: ties are those of the doubles
            squares_.append(s)
        order = sorted(range(n), key=lambda i: (squares_[i], i))[:k]
        near.append(order)
        distance = [math.sqrt(squares_[i]) for i in order]
        w = [1.0] * k if far == "uniform" else [float(v == 0) for v in distance] if 0 in distance else [1 / v for v in distance]
        values.append(math.fsum(v * y[i] for v, i in zip(w, order)) / math.fsum(w))
    found = case.let("f", f"neighbors.nearest({fit}, {c}, {k})")
    case.many(whole(f"{found}.position", m, k), flat(near), 0)
    case.many(f"neighbors.predict({fit}, {c})", values, 1e-9, max(map(abs, y)))


def bayes(case, data):
    case.uses("naive_bayes")
    n, d, k, m = data.number(2, 20), data.number(1, 3), data.number(2, 3), data.number(1, 4)
    family = data.pick("gaussian", "multinomial", "bernoulli")
    x = [[float(data.number(0, 4)) for _ in range(d)] for _ in range(n)] if family == "multinomial" else data.matrix(n, d, "normal", "ties", "offset", "tenths")
    z = [list(data.pick(*x)) for _ in range(m)]
    y = data.labels(n, k)
    classes = sorted(set(y))
    a, b, c = case.let("x", flow(x)), case.let("y", flow(y)), case.let("z", flow(z))
    alpha = data.pick(1.0, 0.5, 1e-3)
    call = f"naive_bayes.{family}({a}, {b}{'' if family == 'gaussian' else f', alpha = {alpha!r}'})"
    if len(classes) < 2:
        return case.failing(call, "all labels are")
    own = {u: [row for row, t in zip(x, y) if t == u] for u in classes}
    want = []
    widest = max(float(squares(list(col)) / n) for col in zip(*exact(x)))
    if family == "gaussian" and widest == 0:
        return case.one("1", 1)
    for q in z:
        for u in classes:
            s = math.log(len(own[u]) / n)
            columns = [exact(list(col)) for col in zip(*own[u])]
            if family == "gaussian":
                for j in range(d):
                    v = float(squares(columns[j]) / len(own[u])) + 1e-9 * widest
                    s -= 0.5 * (math.log(2 * math.pi * v) + float(Fraction(q[j]) - mean(columns[j])) ** 2 / v)
            elif family == "multinomial":
                total = sum(float(sum(col)) + alpha for col in columns)
                s += sum(q[j] * math.log((float(sum(columns[j])) + alpha) / total) for j in range(d))
            else:
                for j in range(d):
                    p = (sum(v > 0 for v in columns[j]) + alpha) / (len(own[u]) + 2 * alpha)
                    s += math.log(p if q[j] > 0 else 1 - p)
            want.append(s)
    fit = case.let("m", call)
    case.many(whole(f"naive_bayes.joint_log_likelihood({fit}, {c})", m, len(classes)), want, 1e-5)


# ---- tree ----

def trees(case, data):
    """A tree that grows to its end knows rows apart that differ; one split is the best that there is."""
    case.uses("tree")
    n, d = data.number(2, 24), data.number(1, 3)
    x = data.matrix(n, d, "normal", "ties", "tenths", "offset")
    if data.chance(0.3):  # neighbouring floats
        for row in x:
            row[0] = 1.0
            for _ in range(data.number(0, 3)):
                row[0] = math.nextafter(row[0], 2.0)
    level = data.pick(0.0, 1e9)
    y = [level + round(v, 3) for v in data.column(n, "normal", "ties", "tenths")]
    label = data.labels(n, 3)
    a, b, c = case.let("x", flow(x)), case.let("y", flow(y)), case.let("c", flow(label))
    same = {}
    for i, row in enumerate(x):
        same.setdefault(tuple(row), []).append(i)
    case.many(f"tree.predict(tree.regressor({a}, {b}), {a})", [mean([Fraction(y[i]) for i in same[tuple(row)]]) for row in x], 1e-12)
    classes = sorted(set(label))
    if len(classes) > 1:
        case.many(whole(f"tree.predict_prob(tree.classifier({a}, {c}), {a})", n, len(classes)),
                  [Fraction(sum(label[i] == u for i in same[tuple(row)]), len(same[tuple(row)])) for row in x for u in classes], 1e-12)
    e = exact(y)
    best = squares(e)
    for j in range(d):
        for at in {row[j] for row in x}:
            sides = [[v for v, row in zip(e, x) if (row[j] <= at) == side] for side in (True, False)]
            if all(sides):
                best = min(best, sum(map(squares, sides)))

    def right(values):
        left = sum((Fraction(v) - w) ** 2 for v, w in zip(values, e))
        return None if left <= best + Fraction(1e-6) * squares(e) + Fraction(1e-30) else f"{float(left)} is left by one split, {float(best)} by the best"

    case.many(f"tree.predict(tree.regressor({a}, {b}, max_depth = 1), {a})", right)


# ---- cluster, decomposition ----

def dense_groups(case, data):
    case.uses("cluster")
    n, d = data.number(1, 24), data.number(1, 2)
    x = data.matrix(n, d, "ties", "normal", "tenths")
    eps, least = data.pick(0.5, 1.0, 0.25, 1.5), data.number(1, 5)
    square = [[sum((u - v) * (u - v) for u, v in zip(p, q)) for q in x] for p in x]
    core = [sum(s <= eps * eps for s in row) >= least for row in square]
    label, clusters = [-1] * n, 0
    for i in range(n):
        if core[i] and label[i] < 0:
            label[i], queue = clusters, [i]
            while queue:
                p = queue.pop()
                for q in range(n):
                    if core[p] and square[p][q] <= eps * eps and label[q] < 0:
                        label[q] = clusters
                        queue.append(q)
            clusters += 1
    a = case.let("x", flow(x))
    fit = case.let("m", f"cluster.dbscan({a}, eps = {eps!r}, min_samples = {least})")
    case.many(f"{fit}.label", label, 0)
    case.many(f"{fit}.core", core, 0)
    case.one(f"{fit}.clusters", clusters, 0)


def merges(case, data):
    case.uses("cluster")
    n, d = data.number(1, 12), data.number(1, 3)
    linkage = data.pick("single", "complete", "average", "ward")
    x = data.matrix(n, d, *(("ties", "normal", "tenths") if linkage == "single" else ("normal",)), alike=0)
    k = data.number(1, n)
    groups, heights = [[i] for i in range(n)], []

    def apart(g, h):
        each = [math.dist(x[i], x[j]) for i in g for j in h]
        if linkage == "ward":
            centres = [[math.fsum(x[i][j] for i in of) / len(of) for j in range(d)] for of in (g, h)]
            return math.dist(*centres) * math.sqrt(2 * len(g) * len(h) / (len(g) + len(h)))
        return min(each) if linkage == "single" else max(each) if linkage == "complete" else math.fsum(each) / len(each)

    label = None
    while True:
        if len(groups) == k:
            label = [min(range(len(groups)), key=lambda g: i not in groups[g]) for i in range(n)]
        if len(groups) == 1:
            break
        height, p, q = min((apart(groups[p], groups[q]), p, q) for p in range(len(groups)) for q in range(p))
        heights.append(height)
        groups = [g for r, g in enumerate(groups) if r not in (p, q)] + [groups[p] + groups[q]]
    a = case.let("x", flow(x))
    fit = case.let("m", f'cluster.agglomerative({a}, k = {k}, linkage = "{linkage}")')
    case.many(f"{fit}.height", sorted(heights), 1e-7)
    if len(set(heights)) == len(heights) and (k == n or k == 1 or heights[n - k] - heights[n - k - 1] > 1e-9):
        first = []
        for v in label:
            if v not in first:
                first.append(v)
        case.many(f"{fit}.label", [first.index(v) for v in label], 0)


def centres(case, data):
    """Each point is at the nearest center; at the end of all rounds each center is the mean of its points."""
    case.uses("cluster")
    n, d = data.number(1, 20), data.number(1, 3)
    x = data.matrix(n, d)
    k = data.number(1, n)
    a = case.let("x", flow(x))
    fit = case.let("m", f"cluster.kmeans({a}, {k}, seed = {data.number(0, 9)}, tolerance = 0.0)")
    scale = max(max(map(abs, row)) for row in x) or 1.0

    def right(values):
        if len(values) != k * d + n + 1:
            return f"{len(values)} values"
        c = [values[q * d:(q + 1) * d] for q in range(k)]
        label, inertia = [int(v) for v in values[k * d:k * d + n]], values[-1]
        away = [[sum((u - v) ** 2 for u, v in zip(row, p)) for p in c] for row in x]
        for i in range(n):
            if away[i][label[i]] > min(away[i]) * (1 + 1e-9) + 1e-12 * scale**2:
                return f"row {i} is at center {label[i]}, {away[i]}"
        for q in range(k):
            own = [x[i] for i in range(n) if label[i] == q]
            if own and max(abs(math.fsum(col) / len(own) - v) for col, v in zip(zip(*own), c[q])) > 1e-9 * scale:
                return f"center {q} is no mean: {c[q]}"
        total = math.fsum(away[i][label[i]] for i in range(n))
        return None if abs(total - inertia) <= 1e-6 * total + 1e-12 * scale**2 else f"inertia {inertia}, by the points {total}"

    case.many(f"concat(reshape({fit}.centers, {k * d}), f64({fit}.label), [{fit}.inertia])", right)


def components(case, data):
    """Components are orthonormal, by falling variance, and what rows are made of."""
    case.uses("decomposition")
    n, d = data.number(2, 24), data.number(1, 4)
    x = data.matrix(n, d, "normal", "ties", "constant", "tenths", "sparse", "offset")
    a = case.let("x", flow(x))
    k = min(n, d)
    fit = case.let("m", f"decomposition.pca({a})")
    columns = [list(c) for c in zip(*exact(x))]
    total = float(sum(squares(c) for c in columns)) / (n - 1)
    scale = max(max(map(abs, row)) for row in x) or 1.0

    def right(values):
        if len(values) != k * d + k:
            return f"{len(values)} values"
        c, variance = [values[q * d:(q + 1) * d] for q in range(k)], values[k * d:]
        for p in range(k):
            for q in range(p + 1):
                if abs(math.fsum(u * v for u, v in zip(c[p], c[q])) - (p == q)) > 1e-9:
                    return f"components {p} and {q} are not orthonormal"
            if c[p][max(range(d), key=lambda j: abs(c[p][j]))] < 0:
                return f"component {p} has its largest element below 0"
        if any(u < v - 1e-9 * total for u, v in zip(variance, variance[1:])) or abs(math.fsum(variance) - total) > 1e-7 * total + 1e-12 * scale**2:
            return f"variances {variance} of {total}"
        for p in range(k):
            along = [math.fsum(u * float(v - mean(col)) for u, v, col in zip(c[p], row, columns)) for row in exact(x)]
            if abs(math.fsum(v * v for v in along) / (n - 1) - variance[p]) > 1e-7 * total + 1e-12 * scale**2:
                return f"variance along component {p} is not {variance[p]}"
        return None

    case.many(f"concat(reshape({fit}.components, {k * d}), {fit}.explained_variance)", right)
    case.many(whole(f"decomposition.invert({fit}, decomposition.apply({fit}, {a}))", n, d), flat(x), 1e-9, scale)


def parts(case, data):
    case.uses("decomposition")
    n, d = data.number(1, 8), data.number(1, 6)
    x = [[float(data.number(0, 4)) if data.chance(0.6) else 0.0 for _ in range(d)] for _ in range(n)]
    if data.chance(0.3):
        x = [[row[0] * v for v in x[0]] for row in x]
    k = data.number(1, min(n, d))
    a = case.let("x", flow(x))
    if not any(map(any, x)):
        return case.failing(f"decomposition.nmf({a}, {k})", "all values are zero")
    fit = case.let("m", f"decomposition.nmf({a}, {k})")
    size = math.sqrt(sum(v * v for v in flat(x)))

    def right(values):
        if len(values) != k * d + 1 or any(not v >= 0 for v in values):
            return f"{values}"
        return None if values[-1] <= size * (1 + 1e-9) else f"the distance left is {values[-1]} of {size}"

    case.many(f"concat(reshape({fit}.components, {k * d}), [{fit}.error])", right)


KINDS = {"scalers": scalers, "encoders": encoders, "imputed": imputed, "binned": binned, "polynomials": polynomials, "least_squares": least_squares,
         "nets": nets, "logistics": logistics, "softmaxes": softmaxes, "neighbours": neighbours, "bayes": bayes, "trees": trees, "dense_groups": dense_groups,
         "merges": merges, "centres": centres, "components": components, "parts": parts}
