"""The meaning of aggregates, of values that are not null, and of ranks and tiles."""
import math

from values import exact, key, mean_of, descending, quantile_of, smallest, sqrt_of, std_of, sum_of, to_float, variance_of


def aggregate_of(name, kind, ddof=1):
    return {"sum": lambda v: sum_of(v, kind), "mean": mean_of, "min": lambda v: smallest(v), "max": lambda v: smallest(v, -1),
            "first": lambda v: v[0] if v else None, "last": lambda v: v[-1] if v else None, "mode": mode_of,
            "median": lambda v: quantile_of(v, 0.5), "var": lambda v: rounded(variance_of(v, ddof)), "std": lambda v: std_of(v, ddof)}[name]


def rounded(value):
    return value if value is None or isinstance(value, float) else to_float(value)


def mode_of(values):
    """The most frequent; of equally frequent ones the smallest (a doubt: the page does not say)."""
    if not values:
        return None
    counts = {}
    for v in values:
        counts.setdefault(key(v), [0, v])[0] += 1
    return min(counts.items(), key=lambda item: (-item[1][0], item[0]))[1][1]


def covariance(pairs, scaled):
    if len(pairs) < 2:
        return None
    if not all(math.isfinite(v) for pair in pairs for v in pair):
        return math.nan
    xs, ys = [[exact(pair[k]) for pair in pairs] for k in (0, 1)]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    both = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    if not scaled:
        return to_float(both / (len(pairs) - 1))
    spread = sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys)
    if spread == 0:
        return math.nan
    return sqrt_of(both * both / spread) * (1 if both > 0 else -1)


def weighted(pairs):
    if not pairs:
        return None
    if not all(math.isfinite(v) for pair in pairs for v in pair):
        above, below = sum(x * w for x, w in pairs), sum(w for _, w in pairs)
        return above / below if below else math.nan
    total = sum(exact(w) for _, w in pairs)
    return math.nan if total == 0 else to_float(sum(exact(x) * exact(w) for x, w in pairs) / total)


def tiles(n, k):
    """Parts of equal size, the first ones one larger where it does not divide."""
    size, more = divmod(n, k)
    return [part + 1 for part in range(k) for _ in range(size + (part < more))]


def tiles_by(values, k):
    order = sorted((i for i, v in enumerate(values) if v is not None), key=lambda i: key(values[i]))
    out = [None] * len(values)
    for i, tile in zip(order, tiles(len(order), k)):
        out[i] = tile
    return out


def ranks(values, down, method):
    order = descending(values) if down else [key(v) for v in values]
    places = sorted((i for i, v in enumerate(values) if v is not None), key=lambda i: order[i])
    out, at, dense = [None] * len(values), 0, 0
    while at < len(places):
        end = at
        while end < len(places) and order[places[end]] == order[places[at]]:
            end += 1
        dense += 1
        for k in range(at, end):
            out[places[k]] = {"average": (at + 1 + end) / 2, "min": at + 1, "max": end, "dense": dense, "first": k + 1}[method]
        at = end
    return out
