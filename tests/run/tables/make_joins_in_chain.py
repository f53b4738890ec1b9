#!/usr/bin/env python3
"""What joins_in_chain.flow prints, in plain Python: each join a dictionary of the right rows by their keys. Prints it."""
import datetime
import math

n = 60000
floats = [math.nan, 0.0, -0.0, 2.5, math.inf, -1.5, 1e300]
day = datetime.date(2020, 1, 1)
t = [dict(a=i * 7919 % 5003, b=i * 104729 % 997, c=None if i % 5 == 1 else i * 611953 % 4001, x=floats[i % 7], d=day + datetime.timedelta(i % 900),
          s=f"text {i * 31 % 2003}", i=i) for i in range(n)]
one = [dict(a=j, g=j * 17 % 301, v=j % 11) for j in range(5003)]
twice = [dict(b=j % 997, w=j) for j in range(1994)]
few = [dict(c=None if j % 3 == 0 else j, z=j) for j in range(200)]
groups = [dict(g=j, h=j % 2) for j in range(301) if j % 43 == 5]
odd = [dict(x=math.nan, y=1), dict(x=2.5, y=2), dict(x=0.0, y=3)]
dates = [dict(d=datetime.date(2020, 2, 3), e=1), dict(d=datetime.date(2021, 1, 1), e=2), dict(d=datetime.date(2030, 1, 1), e=3)]
texts = [dict(s=f"text {j * 100}", q=j) for j in range(400)]


def key(row, on):
    """None where a key is null; NaN is one value."""
    values = [row[k] for k in on]
    return None if None in values else tuple("nan" if v != v else v for v in values)


def join(left, right, *on, how="inner"):
    by = {}
    for r in right:
        by.setdefault(key(r, on), []).append(r)
    out = []
    for l in left:
        found = by.get(key(l, on), []) if key(l, on) is not None else []
        if how in ("semi", "anti"):
            out += [l] if bool(found) == (how == "semi") else []
        else:
            out += [{**r, **l} for r in found] or ([dict(l)] if how == "left" else [])
    return out


def say(name, rows):
    print(name, len(rows), sum(r["i"] for r in rows), sum(r["i"] * (k % 1009) % 10007 for k, r in enumerate(rows)))


def without(k):
    return [r for r in one if r["v"] != k]


say("by null keys", join(join(join(t, without(0), "a"), twice, "b"), few, "c"))
say("semi", join(join(join(t, without(1), "a"), twice, "b"), few, "c", how="semi"))
say("right table's", join(join(join(t, without(2), "a"), twice, "b"), groups, "g"))
say("of it again", join(join(join(t, join(without(3), groups, "g"), "a"), twice, "b", how="semi"), few, "c"))
say("floats", join([r for r in join(join(t, without(4), "a"), odd, "x") if r["v"] < 3], few, "c"))
say("dates", join(join(join(t, without(5), "a"), twice, "b"), dates, "d"))
say("texts", join(join(join(t, without(6), "a"), twice, "b"), texts, "s"))
say("filters", join(join([r for r in join([r for r in t if r["i"] % 3], without(7), "a") if r["v"] * 2 > 3], twice, "b"), few, "c"))
say("left between", join(join(join(t, without(8), "a"), few, "c", how="left"), dates, "d"))
say("anti between", join(join(join(t, without(9), "a"), few, "c", how="anti"), texts, "s"))
say("two keys", join(join(join(t, without(10), "a"), twice, "b"), [dict(c=r["c"], s=r["s"], k=r["i"]) for r in t if r["i"] % 301 == 0], "c", "s"))
wide = join(join(t, one, "a"), twice, "b")
print(len(wide), sum(r["w"] for r in wide))
say("seen", join(wide, few, "c"))
found = {}
for r in join(join(t, one, "a"), few, "c"):
    found.setdefault(r["g"], []).append(r["z"])
best = sorted(found, key=lambda g: (-len(found[g]), g))[:3]
for g in best:
    print(g, len(found[g]), sum(found[g]))
z, q, c = {r["z"] for r in few}, {str(r["q"]) for r in texts}, {r["c"] for r in few} - {None}
print(sum(r["a"] + 1 not in z for r in t), sum(str(r["a"]) in q for r in t), sum(not any(r["x"] == o["x"] for o in odd) for r in t),
      sum((-1 if r["c"] is None else r["c"]) not in c for r in t))
