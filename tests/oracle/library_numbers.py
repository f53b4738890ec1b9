"""Models of `signal`, `sparse`, `text_features`, the folds of `model_selection`, and linear algebra, by their definitions."""
import cmath
import math
import re
from fractions import Fraction

from library_data import exact, flow, root, solved
from library_fits import flat, whole


# ---- signal ----

def transform(v, sign=-1):
    n = len(v)
    turn = [cmath.exp(sign * 2j * cmath.pi * k / n) for k in range(n)]
    return [sum(x * turn[k * i % n] for i, x in enumerate(v)) for k in range(n)]


def window(name, n):
    a = {"hann": (0.5, 0.5, 0.0), "hamming": (0.54, 0.46, 0.0), "blackman": (0.42, 0.5, 0.08), "boxcar": (1.0, 0.0, 0.0)}[name]
    return [a[0] - a[1] * math.cos(2 * math.pi * i / n) + a[2] * math.cos(4 * math.pi * i / n) if n > 1 else 1.0 for i in range(n)]


def spectra(case, data):
    case.uses("signal")
    n = data.number(1, 40)
    x = data.column(n, "normal", "constant", "ties", "sparse", "offset")
    fs, name = data.pick(1.0, 10.0, 0.5), data.pick("hann", "hamming", "blackman", "boxcar")
    nperseg = data.number(1, 48)
    overlap = data.number(0, nperseg - 1)
    k = min(nperseg, n)
    step = k - min(overlap, k - 1)
    w = window(name, k)
    if sum(v * v for v in w) == 0:
        return case.one("1", 1)
    pieces = []
    for at in range(0, n - k + 1, step):
        piece = x[at:at + k]
        level = math.fsum(piece) / k
        z = transform([(v - level) * u for v, u in zip(piece, w)])[:k // 2 + 1]
        pieces.append([abs(v) ** 2 / (fs * sum(u * u for u in w)) * (1 if q == 0 or k % 2 == 0 and q == k // 2 else 2) for q, v in enumerate(z)])
    a = case.let("x", flow(x))
    p = case.let("p", f'signal.welch({a}, fs = {fs!r}, nperseg = {nperseg}, noverlap = {overlap}, window = "{name}")')
    power = max(v * v for v in x) * k / fs
    case.many(f"{p}.power", [math.fsum(c) / len(pieces) for c in zip(*pieces)], 1e-9, power)
    case.many(f"{p}.frequency", [q * fs / k for q in range(k // 2 + 1)], 1e-12)


def convolutions(case, data):
    case.uses("signal")
    n, m = data.number(1, 14), data.number(1, 14)
    x, h = data.column(n, "normal", "ties", "sparse"), data.column(m, "normal", "ties", "sparse")
    full = [sum(Fraction(x[k - j]) * Fraction(h[j]) for j in range(m) if 0 <= k - j < n) for k in range(n + m - 1)]
    a, b = case.let("x", flow(x)), case.let("h", flow(h))
    size = {"full": n + m - 1, "same": n, "valid": max(n, m) - min(n, m) + 1}
    scale = max(map(abs, x)) * max(map(abs, h)) * min(n, m)
    for mode, s in size.items():
        first = (n + m - 1 - s) // 2
        for how in ("convolve", "fft_convolve"):
            case.many(f'signal.{how}({a}, {b}, mode = "{mode}")', full[first:first + s], 1e-12, scale)
    turned = [sum(Fraction(x[k - j]) * Fraction(h[m - 1 - j]) for j in range(m) if 0 <= k - j < n) for k in range(n + m - 1)]
    case.many(f"signal.correlate({a}, {b})", turned, 1e-12, scale)


def filters(case, data):
    case.uses("signal")
    n, m, k = data.number(1, 20), data.number(1, 5), data.number(1, 4)
    x = data.column(n, "normal", "ties", "constant")
    b = [data.number(-4, 4) / 4 for _ in range(m)]
    a = [data.pick(1.0, 2.0, -0.5)] + [data.number(-2, 2) / 8 for _ in range(k - 1)]
    y = []
    for i in range(n):
        y.append((sum(Fraction(b[j]) * Fraction(x[i - j]) for j in range(min(m, i + 1))) -
                  sum(Fraction(a[j]) * y[i - j] for j in range(1, min(k, i + 1)))) / Fraction(a[0]))
    t = case.let("x", flow(x))
    case.many(f"signal.lfilter({flow(b)}, {flow(a)}, {t})", y, 1e-9)
    middle, level = Fraction(n - 1, 2), sum(exact(x)) / n
    spread = sum((i - middle) ** 2 for i in range(n))
    slope = sum((i - middle) * (v - level) for i, v in enumerate(exact(x))) / spread if spread else Fraction(0)
    case.many(f"signal.detrend({t})", [v - level - slope * (i - middle) for i, v in enumerate(exact(x))], 1e-9, max(map(abs, x)))
    z = transform(x)
    share = [1 if q in (0, Fraction(n, 2)) else 2 if q < Fraction(n, 2) else 0 for q in range(n)]
    back = [v / n for v in transform([s * v for s, v in zip(share, z)], 1)]
    h = case.let("h", f"signal.hilbert({t})")
    case.many(f"{h}.im", [v.imag for v in back], 1e-9, max(map(abs, x)))
    count = data.number(1, 30)
    case.many(f"signal.resample({t}, {count})", resampled(x, count), 1e-9, max(map(abs, x)))


def resampled(x, count):
    """Through the points as a sum of waves up to half the lower rate; the wave at that rate is a cosine."""
    n = len(x)
    z, least = transform(x), min(n, count)
    out = []
    for i in range(count):
        v = z[0].real
        for q in range(1, least // 2 + 1):
            wave = z[q] * cmath.exp(2j * cmath.pi * q * i / count)
            half = 2 * q == least
            v += (wave.real if n == count or count > n else 2 * wave.real) if half else 2 * wave.real
        out.append(v / n)
    return out


def peaks(case, data):
    case.uses("signal")
    n = data.number(1, 40)
    x = data.column(n, "ties", "tenths", "normal", "sparse")
    found, i = [], 1
    while i < n - 1:
        if x[i] > x[i - 1]:
            j = i
            while j + 1 < n and x[j + 1] == x[i]:
                j += 1
            if j + 1 < n and x[j + 1] < x[i]:
                found.append((i + j) // 2)
            i = j
        i += 1
    height, distance, least = data.pick(-math.inf, 0.0, 0.5), data.number(1, 4), data.pick(0.0, 0.5, 1.0)
    found = [p for p in found if x[p] >= height]
    for p in sorted(range(len(found)), key=lambda p: (x[found[p]], p), reverse=True) if distance > 1 else ():
        if found[p] is not None:
            for q in range(len(found)):
                if q != p and found[q] is not None and abs(found[q] - found[p]) < distance:
                    found[q] = None
    found = [p for p in found if p is not None]

    def prominence(p):
        ends = []
        for side in (range(p, -1, -1), range(p, n)):
            low = x[p]
            for q in side:
                if x[q] > x[p]:
                    break
                low = min(low, x[q])
            ends.append(low)
        return x[p] - max(ends)

    a = case.let("x", flow(x))
    if found:
        case.many(f"signal.prominences({a}, {flow(found)})", [prominence(p) for p in found], 1e-12)
    case.many(f"signal.find_peaks({a}, height = {flow(height)}, distance = {distance}, prominence = {least!r})",
              [p for p in found if least == 0 or prominence(p) >= least], 0)


# ---- sparse ----

def sparse_matrix(data, n, d):
    return [[data.number(-3, 3) / data.pick(1, 2) if data.chance(0.4) else 0.0 for _ in range(d)] for _ in range(n)]


def sparse(case, data):
    case.uses("sparse")
    n, d, k = data.number(1, 6), data.number(1, 6), data.number(1, 4)
    x, y, z = sparse_matrix(data, n, d), sparse_matrix(data, d, k), sparse_matrix(data, n, d)
    triplets = [(i, j, v) for i, row in enumerate(x) for j, v in enumerate(row) if v]
    triplets += [(i, j, -0.5) for i, j, _ in triplets[:2]] + [(i, j, 0.5) for i, j, _ in triplets[:2]]
    data.rng.shuffle(triplets)
    if triplets and data.chance(0.7):
        rows, columns, values = (list(c) for c in zip(*triplets))
        m = case.let("m", f"sparse.from_triplets({flow(rows)}, {flow(columns)}, {flow(values)}, {n}, {d})")
    else:
        m = case.let("m", f"sparse.from_dense({flow(x)})")
    other, beside = case.let("o", f"sparse.from_dense({flow(y)})"), case.let("z", f"sparse.from_dense({flow(z)})")

    def same(text, rows):
        case.many(whole(f"sparse.to_dense({text})", len(rows), len(rows[0]) if rows else 0), flat(rows), 1e-12)

    columns = [list(c) for c in zip(*x)]
    same(m, x)
    same(f"sparse.transpose({m})", columns)
    same(f"sparse.product({m}, {other})", [[math.fsum(u * v for u, v in zip(row, col)) for col in zip(*y)] for row in x])
    alpha, beta = data.pick(1.0, -2.0, 0.0), data.pick(1.0, 0.5)
    same(f"sparse.add({m}, {beside}, alpha = {alpha!r}, beta = {beta!r})", [[alpha * u + beta * v for u, v in zip(p, q)] for p, q in zip(x, z)])
    pick = [data.number(0, n - 1) for _ in range(data.number(1, 5))]
    same(f"sparse.take({m}, {flow(pick)})", [x[i] for i in pick])
    some = data.rng.sample(range(d), data.number(1, d))
    same(f"sparse.take_columns({m}, {flow(some)})", [[row[j] for j in some] for row in x])
    low, high = sorted(data.number(0, n) for _ in range(2))
    if low < high:
        same(f"sparse.slice({m}, {low}, {high})", x[low:high])
    same(f"sparse.hstack({m}, {beside})", [p + q for p, q in zip(x, z)])
    same(f"sparse.vstack({m}, {beside})", x + z)
    v, w = data.column(d, "normal", "ties"), data.column(n, "normal", "ties")
    case.many(f"sparse.matvec({m}, {flow(v)})", [math.fsum(a * b for a, b in zip(row, v)) for row in x], 1e-12, 10.0)
    case.many(f"sparse.matvec_t({m}, {flow(w)})", [math.fsum(a * b for a, b in zip(col, w)) for col in columns], 1e-12, 10.0)
    same(f"sparse.scale_rows(sparse.scale_columns({m}, {flow(v)}), {flow(w)})", [[w[i] * x[i][j] * v[j] for j in range(d)] for i in range(n)])
    case.many(f"sparse.row_sums({m})", [math.fsum(r) for r in x], 1e-12)
    case.many(f"sparse.column_sums({m})", [math.fsum(c) for c in columns], 1e-12)
    norm = data.pick("l1", "l2", "max")
    size = [sum(map(abs, r)) if norm == "l1" else max(map(abs, r)) if norm == "max" else math.sqrt(sum(v * v for v in r)) for r in x]
    same(f'sparse.normalise({m}, norm = "{norm}")', [[v / s if s else 0.0 for v in r] for r, s in zip(x, size)])


# ---- text_features ----

WORDS = ["tea", "Tea", "cup", "été", "ÉTÉ", "a", "it's", "x_1", "42", "日本", "the", "THE", "naïve", "ﬁne", "cup-tea", "", "  ", "\n", "über"]


def terms_of(text, kind, low, high, stop):
    s = text.lower()
    if kind == "word":
        words = [w for w in re.findall(r"\b\w\w+\b", s) if w not in stop]
        return [" ".join(words[i:i + k]) for k in range(low, high + 1) for i in range(len(words) - k + 1)]
    if kind == "char":
        s = re.sub(r"\s\s+", " ", s)
        return [s[i:i + k] for k in range(low, high + 1) for i in range(len(s) - k + 1)]
    out = []
    for w in s.split():
        w = f" {w} "
        for k in range(low, high + 1):
            out += [w[i:i + k] for i in range(len(w) - k + 1)] or [w]
            if len(w) <= k:
                break
    return out


def words(case, data):
    case.uses("text_features", "sparse")
    n = data.number(1, 6)
    texts = [data.pick(" ", ", ", "  ").join(data.pick(*WORDS) for _ in range(data.number(0, 7))) for _ in range(n)]
    kind = data.pick("word", "word", "char", "char_wb")
    low = data.number(1, 3)
    high = low + data.number(0, 2)
    stop = data.pick([], ["the", "cup"]) if kind == "word" else []
    counts = []
    for t in texts:
        c = {}
        for term in terms_of(t, kind, low, high, stop):
            c[term] = c.get(term, 0) + 1
        counts.append(c)
    documents = {}
    for c in counts:
        for term in c:
            documents[term] = documents.get(term, 0) + 1
    least, most = data.pick((1.0, 1.0), (2.0, 1.0), (1.0, 0.5), (0.3, 0.9))
    lower = least * n if least < 1 else least
    upper = most * n if most <= 1 else most
    terms = sorted((t for t, m in documents.items() if lower <= m <= upper), key=lambda s: s.encode())
    a = case.let("x", flow(texts))
    more = f'analyzer = "{kind}", ngram_range = ({low}, {high}), min_df = {least!r}, max_df = {most!r}' + (f", stop_words = {flow(stop)}" if stop else "")
    if not terms:
        return case.failing(f"text_features.count_vectorizer({a}, {more})", "hold no terms|none of")
    m = case.let("m", f"text_features.count_vectorizer({a}, {more})")
    case.one(f"len({m}.terms)", len(terms), 0)
    case.texts(f"{m}.terms", terms)
    case.many(whole(f"sparse.to_dense(text_features.apply({m}, {a}))", n, len(terms)), [float(c.get(t, 0)) for c in counts for t in terms], 0)
    smooth, sub, norm = data.chance(0.5), data.chance(0.5), data.pick("l1", "l2", "none")
    idf = [math.log((n + smooth) / (documents[t] + smooth)) + 1 for t in terms]
    want = []
    for c in counts:
        row = [(1 + math.log(c[t]) if sub else c[t]) * f if t in c else 0.0 for t, f in zip(terms, idf)]
        size = 1.0 if norm == "none" else math.fsum(map(abs, row)) if norm == "l1" else math.sqrt(math.fsum(v * v for v in row))
        want += [v / (size or 1.0) for v in row]
    w = case.let("w", f'text_features.tfidf_vectorizer({a}, {more}, smooth_idf = {flow(smooth)}, sublinear_tf = {flow(sub)}, norm = "{norm}")')
    case.many(whole(f"sparse.to_dense(text_features.apply({w}, {a}))", n, len(terms)), want, 1e-12, 1.0)


# ---- folds ----

def folds(case, data):
    case.uses("model_selection")
    n, k = data.number(2, 20), data.number(2, 5)
    kind = data.pick("kfold", "group_kfold", "time_series_split", "leave_one_group_out", "stratified_kfold")
    if kind == "kfold":
        call, tests = f"model_selection.kfold({n}, {k})", []
        for f in range(k):
            first = f * (n // k) + min(f, n % k)
            tests.append(list(range(first, first + n // k + (f < n % k))))
        bad = "cannot be divided" if k > n else None
    elif kind == "time_series_split":
        gap, size = data.number(0, 2), data.number(0, 3)
        s = size or n // (k + 1)
        call = f"model_selection.time_series_split({n}, {k}, test_size = {size}, gap = {gap})"
        bad = "are too few" if s == 0 or n - gap - k * s <= 0 else None
        tests = [list(range(n - (k - f) * s, n - (k - f - 1) * s)) for f in range(k)]
    elif kind == "stratified_kfold":
        y = [data.pick("b", "a", "c") for _ in range(n)]
        call = f"model_selection.stratified_kfold({flow(y)}, {k})"
        order = list(dict.fromkeys(y))
        rank = sorted(order.index(v) for v in y)
        share = [[sum(v == c for v in rank[f::k]) for c in range(len(order))] for f in range(k)]
        tests, left = [[] for _ in range(k)], [[f for f in range(k) for _ in range(share[f][c])] for c in range(len(order))]
        for i, v in enumerate(y):
            tests[left[order.index(v)].pop(0)].append(i)
        bad = "cannot be divided" if k > n else "no label has" if max(y.count(v) for v in order) < k else None
    else:
        g = [data.number(0, 5) * 3 for _ in range(n)]
        names = sorted(set(g))
        call = f"model_selection.{kind}({flow(g)}" + (f", {k})" if kind == "group_kfold" else ")")
        bad = "cannot be divided" if kind == "group_kfold" and k > len(names) else "only one group" if kind != "group_kfold" and len(names) < 2 else None
        if kind == "leave_one_group_out":
            tests = [[i for i in range(n) if g[i] == name] for name in names]
        else:
            if len({g.count(v) for v in names}) < len(names):
                return case.one("1", 1)  # which of groups of one size comes first is not said
            rows, at = [0] * k, {}
            for name in sorted(names, key=g.count, reverse=True):
                f = rows.index(min(rows))
                at[name] = f
                rows[f] += g.count(name)
            tests = [[i for i in range(n) if at[g[i]] == f] for f in range(k)]
    if bad:
        return case.failing(f"len({call})", bad)
    f = case.let("f", call)
    case.many(f"[for f in {f}: len(f.test)]", [len(t) for t in tests], 0)
    case.many(f"[for f in {f}, i in f.test: i]", flat(tests), 0)
    if kind != "time_series_split":
        case.many(f"[for f in {f}, i in f.train: i]", [i for t in tests for i in range(n) if i not in t], 0)


# ---- linear algebra ----

def whole_matrix(data, n, d, rank=None):
    """Of small integers, and of no more than that rank."""
    if rank is None or rank >= min(n, d):
        return [[float(data.number(-4, 4)) for _ in range(d)] for _ in range(n)]
    left, right = [[data.number(-2, 2) for _ in range(rank)] for _ in range(n)], [[data.number(-2, 2) for _ in range(d)] for _ in range(rank)]
    return [[float(sum(left[i][k] * right[k][j] for k in range(rank))) for j in range(d)] for i in range(n)]


def determinant(a):
    n, rows, sign = len(a), [list(r) for r in exact(a)], Fraction(1)
    for c in range(n):
        p = next((r for r in range(c, n) if rows[r][c] != 0), None)
        if p is None:
            return Fraction(0)
        if p != c:
            rows[c], rows[p], sign = rows[p], rows[c], -sign
        for r in range(c + 1, n):
            f = rows[r][c] / rows[c][c]
            rows[r] = [u - f * v for u, v in zip(rows[r], rows[c])]
        sign *= rows[c][c]
    return sign


def times(a, b):
    columns = list(zip(*b))
    return [[sum(u * v for u, v in zip(row, col)) for col in columns] for row in a]


def pseudo_inverse(a):
    """By a basis of its rows: a = f @ g of full rank, and then g' (g g')^-1 (f' f)^-1 f' in fractions."""
    rows, pivots = [list(r) for r in exact(a)], []
    for c in range(len(rows[0])):
        p = next((r for r in range(len(pivots), len(rows)) if rows[r][c] != 0), None)
        if p is None:
            continue
        k = len(pivots)
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [v / rows[k][c] for v in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][c]:
                f = rows[r][c]
                rows[r] = [u - f * v for u, v in zip(rows[r], rows[k])]
        pivots.append(c)
    if not pivots:
        return [[Fraction(0)] * len(a) for _ in a[0]], 0
    g, f = rows[:len(pivots)], [[Fraction(row[c]) for c in pivots] for row in a]
    gt, ft = [list(c) for c in zip(*g)], [list(c) for c in zip(*f)]
    right = list(zip(*[solved(times(ft, f), list(col)) for col in zip(*ft)]))
    return times(gt, list(zip(*[solved(times(g, gt), list(col)) for col in zip(*right)]))), len(pivots)


def systems(case, data):
    n = data.number(1, 5)
    kind = data.pick("f64", "f64", "f32")
    a = whole_matrix(data, n, n, data.number(0, n) if data.chance(0.3) else None)
    scale = data.pick(1.0, 1.0, 2.0**400 if kind == "f64" else 2.0**20, 2.0**-400 if kind == "f64" else 2.0**-20)
    close, det = (1e-9, 1e-10) if kind == "f64" else (2e-3, 1e-4)
    b = [float(data.number(-5, 5)) for _ in range(n)]
    t = case.let("a", f"{kind}({flow([[v * scale for v in row] for row in a])})")
    if data.chance(0.3):
        t = case.let("t", f"{t}'")
        a = [list(c) for c in zip(*a)]
    d = determinant(a)
    if scale == 1:
        case.one(f"det({t})", d, det, math.prod(math.sqrt(sum(v * v for v in row)) for row in a))
    if d == 0:
        return None
    x = solved(exact(a), exact(b))
    worth = max(map(abs, map(float, x))) * max(1.0, max(map(abs, flat(a))) ** n / abs(float(d)) * 1e-3)
    case.many(f"solve({t}, {kind}({flow(b)})) * {kind}({scale!r})", x, close, worth)
    inverse = [solved(exact(a), [Fraction(i == j) for i in range(n)]) for j in range(n)]
    case.many(whole(f"inv({t}) * {kind}({scale!r})", n, n), [inverse[j][i] for i in range(n) for j in range(n)], close, max(abs(float(v)) for v in flat(inverse)))
    return None


def singular(case, data):
    """Matrices that have no inverse as their columns are zero: no rounding hides it."""
    n = data.number(1, 5)
    a = whole_matrix(data, n, n)
    j = data.number(0, n - 1)
    a = [[0.0 if q == j else v for q, v in enumerate(row)] for row in a]
    if data.chance(0.5):
        a = [list(c) for c in zip(*a)]
    t = case.let("a", flow(a))
    if data.chance(0.3):
        return case.one(f"det({t})", 0.0, 0)
    case.failing(data.pick(f"inv({t})", f"solve({t}, ones({n}))"), "singular")


def shortest(case, data):
    """Least squares and pseudo-inverses of any rank."""
    n, d = data.number(1, 6), data.number(1, 6)
    a = whole_matrix(data, n, d, data.number(0, min(n, d)))
    b = [float(data.number(-5, 5)) for _ in range(n)]
    plus, rank = pseudo_inverse(a)
    t = case.let("a", flow(a))
    case.many(whole(f"pinv({t}, rcond = 1e-10)", d, n), flat(plus), 1e-7, max([abs(float(v)) for v in flat(plus)] + [1e-3]))
    fit = case.let("f", f"lstsq({t}, {flow(b)}, rcond = 1e-10)")
    case.one(f"{fit}.rank", rank, 0)
    x = [sum(u * Fraction(v) for u, v in zip(row, b)) for row in plus]
    case.many(f"{fit}.x", x, 1e-7, max([abs(float(v)) for v in x] + [1e-3]))
    for order, size in {"1": max(sum(map(abs, c)) for c in zip(*a)), "inf": max(sum(map(abs, r)) for r in a)}.items():
        case.one(f"norm({t}, {order})", size, 1e-12)
    case.one(f"norm({t})", root(Fraction(sum(v * v for v in flat(a)))), 1e-12)


def factors(case, data):
    """Decompositions multiply to the matrix, and their parts are what they are said to be."""
    n, d = data.number(1, 5), data.number(1, 5)
    kind = data.pick("svd", "qr", "eigh", "cholesky")
    scale = data.pick(1.0, 1e-150, 1e150)
    if kind in ("eigh", "cholesky"):
        g = whole_matrix(data, n, n, data.number(0, n) if kind == "eigh" else None)
        a = times(g, [list(c) for c in zip(*g)]) if data.chance(0.5) or kind == "cholesky" else [[g[i][j] + g[j][i] for j in range(n)] for i in range(n)]
        if kind == "cholesky":
            a = [[v + (i == j) for j, v in enumerate(row)] for i, row in enumerate(a)]
        d = n
    else:
        a = whole_matrix(data, n, d, data.number(0, min(n, d)))
    size = max(map(abs, flat(a))) or 1.0
    t = case.let("a", f"{flow(a)} * {scale!r}")
    k = min(n, d)
    back = f" / {scale!r}"

    def unit(rows, m):
        def check(values):
            if len(values) != rows * m:
                return f"{len(values)} values"
            c = [values[j::m] for j in range(m)]
            bad = [(p, q) for p in range(m) for q in range(p + 1) if not abs(math.fsum(u * v for u, v in zip(c[p], c[q])) - (p == q)) < 1e-10]
            return f"columns {bad} are not orthonormal" if bad else None
        return check

    def order(up):
        return lambda values: None if all((u <= v) == up or u == v for u, v in zip(values, values[1:])) and (up or all(v >= 0 for v in values)) else f"{values}"

    f = case.let("f", f"{kind}({t})")
    if kind == "svd":
        case.many(whole(f"({f}.u * {f}.s) @ {f}.vt{back}", n, d), flat(a), 1e-12, size)
        case.many(whole(f"{f}.u", n, k), unit(n, k))
        case.many(whole(f"{f}.vt'", d, k), unit(d, k))
        case.many(f"{f}.s", order(False))
    elif kind == "qr":
        case.many(whole(f"{f}.q @ {f}.r{back}", n, d), flat(a), 1e-12, size)
        case.many(whole(f"{f}.q", n, k), unit(n, k))
        case.many(f"[for i in 0..{k}, j in 0..{d} if j < i or (i == j and {f}.r[i, j] < 0): {f}.r[i, j]]", lambda values: f"{values}" if any(values) else None)
    elif kind == "eigh":
        case.many(whole(f"({f}.vectors * {f}.values) @ {f}.vectors'{back}", n, n), flat(a), 1e-12, size)
        case.many(whole(f"{f}.vectors", n, n), unit(n, n))
        case.many(f"{f}.values", order(True))
    else:
        case.many(whole(f"{f} @ {f}'{back}", n, n), flat(a), 1e-12, size)
        case.many(f"[for i in 0..{n}, j in 0..{n} if j > i: {f}[i, j]]", [0.0] * (n * (n - 1) // 2), 0)


def transforms(case, data):
    n = data.pick(1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 30, 31, 49, 64, 97, 121)
    kind = data.pick("f64", "f64", "f32")
    close = 1e-12 if kind == "f64" else 1e-6
    x, y = data.column(n, "normal", "ties", "sparse", "constant"), data.column(n, "normal", "ties")
    if kind == "f32":
        x, y = ([round(v * 8) / 8 for v in of] for of in (x, y))
    a, b = case.let("x", f"{kind}({flow(x)})"), case.let("y", f"{kind}({flow(y)})")
    z = transform(list(map(complex, x, y)))
    scale = sum(map(abs, x + y)) + 1e-30
    f = case.let("f", f"fft((re = {a}, im = {b}))")
    case.many(f"{f}.re", [v.real for v in z], close, scale)
    case.many(f"{f}.im", [v.imag for v in z], close, scale)
    case.many(f"ifft({f}).re", x, close, scale)
    r = case.let("r", f"rfft({a})")
    half = transform(x)[:n // 2 + 1]
    case.many(f"{r}.im", [v.imag for v in half], close, scale)
    case.many(f"irfft({r}, n = {n})", x, close, scale)


KINDS = {"spectra": spectra, "convolutions": convolutions, "filters": filters, "peaks": peaks, "sparse": sparse, "words": words, "folds": folds,
         "systems": systems, "singular": singular, "shortest": shortest, "factors": factors, "transforms": transforms}
