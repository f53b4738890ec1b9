"""The functions whose derivatives are checked: a row is a name, the operators of compiler/ad/rules/rules.def that it is
for, where its arguments lie, and what it does.

A function takes `u`, f64[size] by the expression SIZE of n and d, and gives an array of one dimension or a float.
`reverse=False`: forward mode alone. DOMAIN says how standard normal numbers `z` become a place where it is smooth. SHAPES are the n and d to try; most
hold 0 and 1 and odd ones."""

FLAT = [(0, 0), (1, 0), (3, 0), (7, 0)]
SOME = [(1, 0), (3, 0), (7, 0)]
MATRIX = [(1, 1), (3, 2), (2, 3), (5, 4)]
TALL = [(1, 1), (4, 2), (5, 3), (7, 5)]
SQUARE = [(1, 0), (2, 0), (3, 0), (5, 0)]
REAL = "z"
POSITIVE = "abs(z) + 0.4"
INSIDE = "0.85 * tanh(z)"
APART = "z + 3 * sign(z)"  # away from 0
SPREAD = "0.1 * tanh(z) + [for k in 0..len(z): 0.35 * f64(k * 5 % 37) - 4.0]"  # away from each other

ROWS = []


def row(name, ops, body, size="n", domain=REAL, shapes=FLAT, before="", second=True, scalar=False, reverse=True):
    body = f"[{body}]" if scalar else body
    ROWS.append(dict(name=name, ops=ops.split(), body=body, size=size, domain=domain, shapes=shapes, before=before,
                     second=second and reverse, reverse=reverse))


# ---- scalar operators, element by element
for name, op, domain in [
    ("sqrt", "SQRT", POSITIVE), ("exp", "EXP", REAL), ("expm1", "EXPM1", REAL), ("log", "LOG", POSITIVE),
    ("log2", "LOG2", POSITIVE), ("log10", "LOG10", POSITIVE), ("log1p", "LOG1P", POSITIVE), ("sin", "SIN", REAL),
    ("cos", "COS", REAL), ("tan", "TAN", INSIDE), ("asin", "ASIN", INSIDE), ("acos", "ACOS", INSIDE),
    ("atan", "ATAN", REAL), ("sinh", "SINH", REAL), ("cosh", "COSH", REAL), ("tanh", "TANH", REAL),
    ("erf", "ERF", REAL), ("erfc", "ERFC", REAL), ("gamma", "GAMMA", POSITIVE), ("lgamma", "LGAMMA", POSITIVE),
    ("cbrt", "CBRT", APART), ("digamma", "POLYGAMMA", POSITIVE), ("trigamma", "POLYGAMMA", POSITIVE), ("abs", "ABS", APART),
]:
    row(name, op, f"{name}(u)", domain=domain)
row("lgamma below 0", "LGAMMA POLYGAMMA", "lgamma(u - 3)", domain="0.5 + 0.3 * tanh(z)")
row("polygamma", "POLYGAMMA", "polygamma(3, u)", domain=POSITIVE)
row("neg", "NEG", "-u * 1.5")
row("clamp", "MIN MAX", "clamp(u, -0.7, 0.9)", domain="if_else(abs(z) > 0.8, 2.5 * sign(z), 0.4 * tanh(z))", second=False)
row("if_else", "SELECT", "if_else(u > 0, sin(u), u^3)", domain=APART)
row("null filled", "SELECT", "(if_else(u > 0, u^2, null) ?? 1.5) + 0 * u", domain=APART)
row("round to digits", "ROUND_DIGITS", "u * round(u, digits = 1)", domain="round(z, digits = 1) + 0.02", second=False)
row("steps", "SIGN FLOORDIV", "u * sign(u) + u // 1 + f64(floor(u)) * u", domain="z - z % 1 + 0.4", second=False)
pair = "let a = u[0..n]; let b = u[n..]; "
for name, op, body, domain in [
    ("add", "ADD", "a + 2 * b", REAL), ("sub", "SUB", "a - b * a", REAL), ("mul", "MUL", "a * b", REAL),
    ("div", "DIV", "a / b", APART), ("pow", "POW", "a ^ b", POSITIVE), ("square", "POW", "a ^ 2 + b ^ 3", REAL),
    ("root", "POW", "a ^ 0.3 + b ^ -1.5", POSITIVE), ("mod", "MOD", "a % 2.5 + b % 1.9", "z - z % 1 + 0.3"),
    ("atan2", "ATAN2", "atan2(a, b)", APART), ("hypot", "HYPOT", "hypot(a, b)", APART),
    ("fma", "FMA", "fma(a, b, a * 2)", REAL), ("min and max", "MIN MAX", "min(a, b) * max(a, 2 * b)", SPREAD),
]:
    row(name, op, f"{{ {pair}{body} }}", size="2 * n", domain=domain)
row("mod by an argument", "MOD FLOORDIV", f"{{ {pair}a % b }}", size="2 * n", domain="abs(z) % 0.3 + 0.5 + 4 * [for k in 0..len(z): if_else(k < n, 1.0, 0.6)]",
    second=False)

# ---- forms: reductions, loops, choices
for kind in ["sum", "mean"]:
    row(kind, "REDUCE MAP LOAD", f"{kind}(u^2) * {kind}(sin(u))", shapes=FLAT if kind == "sum" else SOME, scalar=True)
row("max min", "REDUCE", "max(u^3) * min(u / 3) + max(for v in u if v < 0: v^2)", domain=SPREAD, shapes=SOME, scalar=True)
row("product", "REDUCE", "product(u + 3)", scalar=True)
row("product with a zero", "REDUCE", "product(for i in 0..n: u[i] - if_else(i == 1, u0[1], 3.0))", shapes=[(3, 0), (7, 0)],
    before="let u0 = here", second=False, scalar=True)
row("sum of products", "REDUCE", "{ let s = sum(for i in 0..n: u[i] * sin(u[i])); dot(u, u) * s }", scalar=True)
row("var std", "REDUCE", "var(u) + std(2 * u) + std(u, ddof = 0)", shapes=[(2, 0), (3, 0), (7, 0)], scalar=True)
row("axis", "REDUCE MAP", "{ let m = reshape(u, n, d); concat(sum(m^2, axis = 0), mean(m, axis = 1), max(m, axis = 0), std(m, axis = 1)) }",
    size="n * d", domain=SPREAD, shapes=[(3, 2), (5, 4)])
row("nested loops", "MAP REDUCE", "[for i in 0..n: sum(for j in 0..n: (u[i] - u[j])^2 * max(for k in 0..n: u[k] * u[j]))]",
    domain=f"{SPREAD} + 5", shapes=SOME)
row("ragged, forward", "MAP REDUCE", "[for i in 0..n: sum(for j in 0..n if j < i: u[j] * u[i])]")
row("filter", "COLLECT", "{ let s = sum(u); [for v in u if v > 0: v^2 + s] }", domain=APART, shapes=[(0, 0), (3, 0), (7, 0)])
row("scan", "SCAN", "scan((s, v) => s * v + sin(s), 1.0, u)")
row("fold", "SCAN FOR", "fold((s, v) => s * v + cos(s), 0.5, u)", scalar=True)
row("for", "FOR STORE", "{ var a = u; for i in 1..n { a[i] = a[i - 1] * a[i] + 1.0 }; a }")
row("for scalars", "FOR", "{ var s = 1.0; for i in 0..n { s = s * u[i] + sin(s) }; s }", scalar=True)
row("while", "WHILE", "{ var s = sum(u^2) + 1; var k = 0; while k < 6 { s = s * 0.7 - 0.01 * s^2; k += 1 }; s }", domain="0.3 * z", second=True, scalar=True)
row("if", "IF", "{ let s = sum(u); if s > 0 { u * s } else { sin(u) - s } }")
row("match", "IF", "[for v in u: match v > 0 { true => v^2, _ => exp(v) }]", domain=APART)
row("stage", "STAGE", "squares(u) * sum(u)")
row("error on the way", "FAIL", "[for v in u: if v > 90 { error(\"too large\") } else { v^2 }]")

# ---- arrays
row("index", "LOAD", "u[1] * u * u[-1]", shapes=[(3, 0), (7, 0)])
row("literal", "ARRAY", "[u[0]^2, u[1] * u[2], 1.0]", shapes=[(3, 0), (7, 0)])
row("slice", "ROWS", "concat(u[1..3]^2, u[2..])", shapes=[(3, 0), (7, 0)])
row("mask", "COMPRESS", "u[u > 0]^2", domain=APART, shapes=[(0, 0), (3, 0), (7, 0)])
row("indices", "TAKE", "u[[0, 2, 0, 1]]^2", shapes=[(3, 0), (7, 0)])
row("rows of a cube", "TAKE", "{ let m = reshape(u, n, 2, d); reshape(m[[0, 0, n - 1]]^2, 6 * d) }", size="2 * n * d", shapes=[(1, 1), (3, 2)])
row("list", "LIST_CONCAT LIST_OF LOAD", "{ let l = [for i in 0..n: u[0..i + 1] * u[i]]; concat(concat(l) * 2, l[1] * u[0]) }", shapes=[(3, 0), (7, 0)], reverse=False)
row("gather", "LOAD", "{ let m = reshape(u, n, d); gather(m, [0, n - 1, 0], [d - 1, 0, 0])^2 }", size="n * d", shapes=MATRIX)
row("concat", "CONCAT", "concat(u^2, [1.0], u[1..]) * 2", shapes=SOME)
row("reshape", "RESHAPE", "{ let m = reshape(u, d, n); reshape(m * sum(m, axis = 0), n * d) }", size="n * d", shapes=MATRIX + [(0, 3)])
row("transpose", "TRANSPOSE", "{ let m = reshape(u, n, d); reshape(m' * 2 * m[0, 0], n * d) }", size="n * d", shapes=MATRIX)
row("stack", "LIST_OF LIST_STACK", "{ let m = stack([u^2, sin(u), u * sum(u)]); m[1] * m[0] + m[2] }", shapes=SOME)
row("sums of blocks", "LIST_SUM", "linear.ridge(reshape(u, n, d), u[0..n]^2, lambda = 1.5).coefficients * sum(u)", size="n * d", shapes=[(2, 1), (5, 3)])
row("segment", "SEGMENT_SUM", "{ let l = [for i in 0..n: i % 3]; concat(segment_sum(u^2, l, 3), segment_mean(u, l, 3)) }",
    shapes=[(3, 0), (7, 0)])
row("segment of rows", "SEGMENT_SUM", "{ let m = reshape(u, n, d); reshape(segment_sum(m^2, [for i in 0..n: i % 2], 2), 2 * d) }",
    size="n * d", shapes=MATRIX)
row("sort", "TAKE", "sort(u)^2 * [for i in 0..n: f64(i)]", domain=SPREAD, shapes=SOME)
row("argsort", "TAKE", "(u^2)[argsort(u)] * u", domain=SPREAD, shapes=SOME)
row("cumulative", "SCAN RUNNING", "cumsum(u^2) + cumprod(u) + cummin(u) * cummax(u)", domain=SPREAD, shapes=SOME)
row("repeated", "MAP", "reshape([for i in 0..2 * n, j in 0..3: u[i % n] * f64(j)], 6 * n)", shapes=SOME)
row("padded", "MAP", "[for i in 0..n + 4: if i < 2 or i >= n + 2 { 0.0 } else { u[i - 2]^2 }]")
row("reversed", "MAP", "[for i in 0..n: u[n - 1 - i] * u[i]]")

# ---- linear algebra
matrix = "let a = reshape(u, n, d); "
apart = "let a = 0.3 * reshape(u, n, d) + [for i in 0..n, j in 0..d: if_else(i == j, 2.0 * f64(i) + 1.0, 0.0)]; "
row("matrix product", "MATMUL MATMUL_ADD", f"{{ {matrix}let g = a' @ a; concat(reshape(g @ g', d * d), a @ g[0], u[0..n] @ a, [dot(u, u)]) }}",
    size="n * d", shapes=MATRIX)
square = "let a = reshape(u[0..n * n], n, n) + 3.0 * eye(n); let b = u[n * n..]; "
row("solve", "SOLVE", f"{{ {square}solve(a, b) }}", size="n * n + n", domain="0.4 * z", shapes=SQUARE)
row("solve matrices", "SOLVE", f"{{ {square}reshape(solve(a, reshape(b, n, 2)), 2 * n) }}", size="n * n + 2 * n", domain="0.4 * z", shapes=SQUARE)
row("solve many", "SOLVE LINALG_PRODUCTS",
    "{ let a = reshape(u[0..2 * n * n], 2, n, n) + 3.0 * eye(n); let b = reshape(u[2 * n * n..], 2, n); reshape(solve(a, b), 2 * n) }",
    size="2 * n * n + 2 * n", domain="0.4 * z", shapes=SQUARE)
row("solve many matrices", "SOLVE",
    "{ let a = reshape(u[0..2 * n * n], 2, n, n) + 3.0 * eye(n); let b = reshape(u[2 * n * n..], 2, n, 2); reshape(solve(a, b), 4 * n) }",
    size="2 * n * n + 4 * n", domain="0.4 * z", shapes=SQUARE)
row("inv", "SOLVE", f"{{ {square}reshape(inv(a), n * n) }}", size="n * n + n", domain="0.4 * z", shapes=SQUARE)
row("det", "LINALG_DET", f"{{ {square}det(a) }}", size="n * n + n", domain="0.4 * z", shapes=SQUARE, scalar=True)
row("det of a singular matrix", "LINALG_DET", "{ let a = reshape(u, n, n); let e = reshape(here, n, n); det([for i in 0..n, j in 0..n: if_else(i == 0, e[1, j] + a[i, j] - e[i, j], a[i, j])]) }",
    size="n * n", shapes=[(2, 0), (3, 0)], second=False, scalar=True)
symmetric = "let r = reshape(u, n, n); let a = r @ r' + 2.0 * eye(n); "
row("cholesky", "LINALG_CHOLESKY", f"{{ {symmetric}reshape(cholesky(a), n * n) }}", size="n * n", shapes=SQUARE)
row("eigh", "LINALG_EIGH", "{ let r = reshape(u, n, n); let e = eigh(0.2 * (r + r') + [for i in 0..n, j in 0..n: if_else(i == j, 2.0 * f64(i), 0.0)]); concat(e.values, reshape(e.vectors, n * n)) }",
    size="n * n", shapes=SQUARE)
row("eigh values", "LINALG_EIGH", "{ let r = reshape(u, n, n); eigh(0.2 * (r + r') + [for i in 0..n, j in 0..n: if_else(i == j, 2.0 * f64(i), 0.0)]).values }", size="n * n", shapes=SQUARE)
# A rotation and a scale a place, so that no two eigenvalues are near each other; half of them complex.
turning = "let m = reshape(u, n, n); let a = [for i in 0..n, j in 0..n: 0.1 * m[i, j] + if_else(i == j, f64(i // 2) * 2.0 + 1.0, 0.0) + if_else(j == i + 1 and i % 2 == 0, 1.3, 0.0) - if_else(j == i - 1 and j % 2 == 0, 1.3, 0.0)]; let e = eig(a); "
row("eig", "LINALG_EIG", f"{{ {turning}concat(e.values.re, e.values.im, reshape(e.vectors.re, n * n), reshape(e.vectors.im, n * n)) }}",
    size="n * n", shapes=SQUARE)
row("eig values", "LINALG_EIG", f"{{ {turning}concat(e.values.re, e.values.im) }}", size="n * n", shapes=SQUARE)
row("qr", "LINALG_QR", f"{{ {apart}let f = qr(a); concat(reshape(f.q, n * min(n, d)), reshape(f.r, min(n, d) * d)) }}",
    size="n * d", shapes=MATRIX)
row("svd", "LINALG_SVD", f"{{ {apart}let f = svd(a); concat(reshape(f.u, n * min(n, d)), f.s, reshape(f.vt, min(n, d) * d)) }}",
    size="n * d", shapes=MATRIX)
row("singular values", "LINALG_SVD", f"{{ {apart}svd(a).s }}", size="n * d", shapes=MATRIX)
row("lstsq", "LINALG_LSTSQ", "{ let a = 0.3 * reshape(u[0..n * d], n, d) + [for i in 0..n, j in 0..d: if_else(i == j, 2.0 * f64(i) + 1.0, 0.0)]; let f = lstsq(a, u[n * d..]); concat(f.x, f.s) }",
    size="n * d + n", shapes=MATRIX)
row("lstsq of a matrix", "LINALG_LSTSQ", "{ let a = 0.3 * reshape(u[0..n * d], n, d) + [for i in 0..n, j in 0..d: if_else(i == j, 2.0 * f64(i) + 1.0, 0.0)]; reshape(lstsq(a, reshape(u[n * d..], n, 2)).x, 2 * d) }",
    size="n * d + 2 * n", shapes=MATRIX)
row("pinv", "LINALG_PINV", f"{{ {apart}reshape(pinv(a), n * d) }}", size="n * d", shapes=MATRIX)
row("norm", "MATMUL", f"{{ {matrix}[norm(u), norm(u, ord = 1), norm(u, ord = inf), norm(a), norm(a, ord = 1), norm(a, ord = inf)] }}",
    size="n * d", domain="0.05 * tanh(z) + [for k in 0..len(z): 0.3 * 1.2 ^ k]", shapes=MATRIX)
row("spectral norm", "LINALG_SVD", f"{{ {apart}norm(a, ord = 2) }}", size="n * d", shapes=MATRIX, scalar=True)

# ---- transforms
row("fft", "FFT", "{ let z = fft(u); let w = ifft((re = z.re^2, im = z.im * z.re)); concat(z.re, z.im, w.re, w.im) }", shapes=SOME)
row("fft of rows", "FFT", "{ let z = fft(reshape(u, n, d)); reshape(z.re * z.im, n * d) }", size="n * d", shapes=MATRIX)
row("rfft", "RFFT", "{ let z = rfft(u); concat(z.re^2, z.im) }", shapes=SOME)
row("irfft", "IRFFT", "{ let z = rfft(u); irfft((re = z.re^2, im = z.im * 3), n = n) }", shapes=SOME)
row("irfft of even size", "IRFFT", "irfft((re = u[0..n + 1]^2, im = u[n + 1..] * u[0]))", size="2 * n + 2", shapes=SOME)

# ---- aggregates and windows, of arrays and of tables
row("mad", "AGGREGATE", "[mad(exp(u)), mad(u * (u + 9))]", shapes=SOME, domain=SPREAD)
row("median quantile", "AGGREGATE", "[median(u), quantile(u, 0.3), quantile(u^2, 0.85)]", shapes=SOME, domain=SPREAD)
row("cov corr", "AGGREGATE", f"{{ {pair}[cov(a, b), corr(a, b), weighted_mean(a, b^2)] }}", size="2 * n", shapes=[(3, 0), (7, 0)])
row("first last", "AGGREGATE", "[first(u)^2, last(u) * first(u)]", shapes=SOME)
table = "let t = table(x = u, k = [for i in 0..n: i % 2], y = u^2 + 1); "
row("table column", "MAP", f"{{ {table}t.x * t.y }}")
row("where derive", "COMPRESS MAP", f"{{ {table}let s = t |> where(k == 0) |> derive(z = x * y - (mean(x) ?? 0.0)); s.z * s.x }}",
    shapes=[(3, 0), (7, 0)])
for kind in ["sum(x)", "mean(x)", "min(x)", "max(x)", "var(x)", "std(x)", "median(x)", "quantile(x, 0.4)", "mad(exp(x))", "first(x)", "last(x)",
             "cov(x, y)", "corr(x, y)", "weighted_mean(x, y)"]:
    row(f"summarize {kind}", "AGGREGATE", f"{{ {table}(t |> group_by(k) |> summarize(s = {kind})).s ?? 0.5 }}",
        shapes=[(3, 0), (8, 0)] if kind[0] != "c" else [(6, 0), (8, 0)], domain=SPREAD)
row("summarize nulls", "AGGREGATE", f"{{ {table}let s = t |> derive(w = if_else(x > 0, x^2, null)) |> group_by(k) |> summarize(a = sum(w), b = mean(w), c = std(w), d = max(w), e = median(w), f = corr(w, y), g = first(w), h = last(w), i = quantile(w, 0.2)); concat(s.a, s.b ?? 1.5, s.c ?? 0.5, s.d ?? 0.25, s.e ?? 1.0, s.f ?? 2.0, s.g ?? 1.0, s.h ?? 1.0, s.i ?? 1.0) }}",
    shapes=[(3, 0), (9, 0)], domain=SPREAD)
row("aggregates of some", "AGGREGATE", f"{{ {table}let s = t |> group_by(k) |> summarize(a = sum(x, where = x > 0), b = mean(y, where = x > 0), c = std(x, where = y > 0), d = max(x, where = x < 0), e = weighted_mean(x, y, where = x > 0)); concat(s.a, s.b ?? 1.5, s.c ?? 0.5, s.d ?? 0.25, s.e ?? 1.0) }}",
    shapes=[(3, 0), (9, 0)], domain=SPREAD)
row("reductions of some", "REDUCE", "[sum(u * u, where = u > 0), product(u, where = u < 1), sum(sqrt(u), where = u > 0.5)]", shapes=FLAT, domain=SPREAD)
row("sort and join", "TAKE", f"{{ {table}let o = table(k = [1, 3], w = [u[0]^2, 2.0]); let j = t |> sort(-x) |> join(o, on = (k), how = \"left\"); j.x * (j.w ?? 0.5) }}",
    domain=SPREAD, shapes=[(3, 0), (7, 0)])
row("lag lead", "TAKE", f"{{ {table}let s = t |> derive(p = lag(x) ?? 0.0, q = lead(x, 2) ?? 1.0); s.p * s.q + s.x }}", shapes=[(3, 0), (7, 0)])
for kind in ["cumsum", "cumprod", "cummin", "cummax"]:
    row(f"{kind} of groups", "RUNNING", f"{{ {table}(t |> group_by(k) |> derive(s = {kind}(x)) |> ungroup).s }}", domain=SPREAD, shapes=[(1, 0), (3, 0), (7, 0)])
    row(f"{kind} of nulls", "RUNNING", f"{{ {table}(t |> derive(s = {kind}(if_else(x > 0, x, null)))).s ?? 0.5 }}", shapes=[(3, 0), (7, 0)], domain=SPREAD)
row("cumprod with zeros", "RUNNING", "{ let t = table(x = [for i in 0..n: u[i] - if_else(i % 3 == 2, u0[i], 0.0)]); (t |> derive(s = cumprod(x))).s }",
    shapes=[(3, 0), (7, 0)], before="let u0 = here", second=False)
for kind in ["sum", "mean", "a => var(a, ddof = 0)", "std", "min", "max", "first", "last", "median", "a => quantile(a, 0.3)"]:
    row(f"rolling {kind}", "ROLLING", f"{{ {table}(t |> derive(s = rolling(x, 3, {kind}))).s ?? 0.5 }}", domain=SPREAD, shapes=[(1, 0), (4, 0), (9, 0)])
row("rolling in groups", "ROLLING", f"{{ {table}let s = t |> group_by(k) |> derive(a = rolling(x, 2, mean), b = rolling(if_else(x > 0, x, null), 3, max, min_periods = 1), c = rolling(x, 3, std, min_periods = 2)) |> ungroup; concat(s.a ?? 0.5, s.b ?? 0.25, s.c ?? 0.1) }}",
    shapes=[(3, 0), (9, 0)], domain=SPREAD)
row("rolling by time", "ROLLING", f"{{ let t = table(x = u, w = [for i in 0..n: i // 2 * 2]); let s = t |> derive(a = rolling(x, 3, sum, by = w), b = rolling(x, 3, min, by = w)); s.a * s.b }}",
    domain=SPREAD, shapes=[(3, 0), (9, 0)])
row("rank", "RANK", f"{{ {table}u * (t |> derive(r = rank(x))).r }}", domain=SPREAD, shapes=[(3, 0), (7, 0)], second=False)

# ---- the library: losses, activations, layers
row("loss rmse", "SQRT", "metrics.rmse([for i in 0..n: 0.2 * f64(i)], u)", shapes=SOME, domain=APART, scalar=True)
row("loss mae", "ABS", "metrics.mae(0.2 * [for i in 0..n: f64(i)], u)", shapes=SOME, domain=APART, scalar=True)
row("losses", "AGGREGATE ABS", "{ let t = 0.2 * [for i in 0..n: f64(i) + 0.5]; [metrics.mse(t, u), metrics.median_absolute_error(0 * u, u), metrics.max_error(0 * u, u), metrics.mape(t, u), metrics.explained_variance(t^2, u)] }",
    shapes=[(3, 0), (7, 0)], domain="[for k in 0..len(z): 0.05 * tanh(z[k]) + 3.0 * 1.2 ^ k]")
row("loss brier", "MUL", "metrics.brier([for i in 0..n: i % 2 == 0], u)", shapes=SOME, domain="0.5 + 0.4 * tanh(z)", scalar=True)
row("loss metrics.cross_entropy", "LOG", "metrics.cross_entropy([for i in 0..n: i % d], reshape(u, n, d))", size="n * d", shapes=[(3, 2), (5, 4)],
    domain="0.5 + 0.4 * tanh(z)", scalar=True)
row("nearest centers", "NEAREST", "{ let x = reshape(u[0..n * d], n, d); let f = nearest_centers(x, reshape(u[n * d..], 2, d) + [[4.0], [0.0]][:, [for j in 0..d: 0]]); concat(f.distance, reshape(f.total, 2 * d)) }",
    size="n * d + 2 * d", shapes=[(3, 1), (5, 3)], domain="0.4 * tanh(z) + [for k in 0..len(z): if_else(k // max(d, 1) % 2 == 0 and k < n * d, 4.0, 0.0)]")
row("nearest of moved centers", "NEAREST_MOVED", "{ let x = reshape(u, n, d); let c = [[0.0], [4.0]][:, [for j in 0..d: 0]]; let f = nearest_moved(x, c + 0.5, c, [for i in 0..n: 0], [for i in 0..n: 0.0]); reshape(f.total * f.total, 2 * d) }",
    size="n * d", shapes=[(3, 1), (5, 3)], domain="0.4 * tanh(z) + [for k in 0..len(z): if_else(k // max(d, 1) % 2 == 0 and k < n * d, 4.0, 0.0)]")
row("loss r2", "REDUCE", "metrics.r2([for i in 0..n: f64(i * i) + 1], u)", shapes=[(3, 0), (7, 0)], scalar=True)
row("loss log_loss", "LOG", "metrics.log_loss([for i in 0..n: i % 2 == 0], u)", shapes=SOME, domain="0.5 + 0.4 * tanh(z)", scalar=True)
row("loss nn", "ABS", "[nn.mse(u, 0.5), nn.mae(u, 0.5), nn.huber(u, 0.5), nn.huber(u, 0.5, delta = 2.0)]", shapes=SOME,
    domain="if_else(z > 0, 4 + 0.2 * tanh(z), 0.2 * tanh(z) - 0.1)")
row("loss binary_cross_entropy", "LOG LOG1P", "nn.binary_cross_entropy(u, [for i in 0..n: f64(i % 2)])", shapes=SOME,
    domain="0.5 + 0.4 * tanh(z)", scalar=True)
row("loss binary_cross_entropy_with_logits", "LOG1P EXP", "nn.binary_cross_entropy_with_logits(u, [for i in 0..n: f64(i % 2)])", shapes=SOME,
    domain=APART, scalar=True)
row("loss cross_entropy", "EXP", f"{{ {matrix}[nn.cross_entropy(a, [for i in 0..n: i % d])] }}", size="n * d", shapes=MATRIX)
for name in ["relu", "leaky_relu", "elu", "gelu", "sigmoid", "silu", "softplus"]:
    row(f"nn.{name}", "MAP", f"nn.{name}(u) * u", domain=APART)
row("nn.softmax", "EXP", f"{{ {matrix}concat(reshape(nn.softmax(a), n * d), reshape(nn.log_softmax(a), n * d), nn.log_sum_exp(a)) }}", size="n * d",
    shapes=MATRIX)
row("nn.dropout", "SELECT", "nn.dropout(u^2, 3)")
row("nn.dense", "MATMUL", f"{{ let x = reshape(u[0..n * d], n, d); reshape(nn.dense(x, (w = reshape(u[n * d..n * d + 2 * d], 2, d), b = u[n * d + 2 * d..])), 2 * n) }}",
    size="n * d + 2 * d + 2", shapes=MATRIX)
row("nn.conv2d", "MATMUL", "{ let x = reshape(u[0..16 * n], n, 1, 4, 4); reshape(nn.conv2d(x, (w = reshape(u[16 * n..16 * n + 8], 2, 1, 2, 2), b = u[16 * n + 8..])), 18 * n) }",
    size="16 * n + 10", shapes=[(1, 0), (2, 0)])
row("nn.max_pool2d", "REDUCE", "reshape(nn.max_pool2d(reshape(u, n, 1, 4, 4))^2, 4 * n)", size="16 * n", domain=SPREAD, shapes=[(1, 0)])
row("nn.avg_pool2d", "REDUCE", "reshape(nn.avg_pool2d(reshape(u, n, 1, 4, 4))^2, 4 * n)", size="16 * n", shapes=[(1, 0), (3, 0)])
row("nn.batch_norm", "REDUCE", "{ let x = reshape(u[0..n * d], n, d); reshape(nn.batch_norm(x, (w = u[n * d..n * d + d], b = u[n * d + d..])), n * d) }",
    size="n * d + 2 * d", shapes=[(3, 2), (5, 4)])
row("nn.batch_norm2d", "REDUCE", "{ let x = reshape(u[0..4 * n * d], n, d, 2, 2); reshape(nn.batch_norm2d(x, (w = u[4 * n * d..4 * n * d + d], b = u[4 * n * d + d..])), 4 * n * d) }",
    size="4 * n * d + 2 * d", shapes=[(1, 1), (3, 2)])
row("nn.lstm", "FOR MATMUL", "{ let x = reshape(u[0..2 * n * d], n, 2, d); let w = reshape(u[2 * n * d..2 * n * d + 8 * d], 8, d); let r = u[2 * n * d + 8 * d..]; reshape(nn.lstm(x, (w = w, u = reshape(r[0..16], 8, 2), b = r[16..])).h, 4) }",
    size="2 * n * d + 8 * d + 24", shapes=[(1, 1), (3, 2)])
row("nn.gru_cell", "MATMUL", "{ let x = reshape(u[0..n * d], n, d); let w = reshape(u[n * d..n * d + 6 * d], 6, d); let r = u[n * d + 6 * d..]; reshape(nn.gru_cell(x, reshape(r[24..], n, 2), (w = w, u = reshape(r[0..12], 6, 2), b = r[12..18], v = r[18..24])), 2 * n) }",
    size="n * d + 6 * d + 24 + 2 * n", shapes=[(1, 1), (3, 2)])

# What no derivative goes through: the program, and the words of the message at their place.
REFUSED = [
    ("CALL", "fn f(x: f64, n: i64) -> f64 = if n == 0 { x } else { x * f(x, n - 1) }\nprint(grad(u => f(u, 3))(2.0))", "calls itself", 2),
    ("EXTERN", "extern fn cbrt(x: f64) -> f64 from \"m\"\nprint(grad(u => cbrt(u))(2.0))", "C function", 2),
    ("AGGREGATE", "print(grad(u => mode(u))([1.0, 2.0]))", "`mode`", 1),
    ("EXEC", "stage go(x: f64[n]) -> f64[_] { let t: (y: f64)[_] = exec(\"cat\", table(y = x)); t.y }\nprint(grad(u => sum(go(u)))([1.0, 2.0]))", "`exec`", 1),
    ("SQL", "print(grad(u => sum(sql(\"select x from t\", t = table(x = u)).x))([1.0, 2.0]))", "`sql`", 1),
]
