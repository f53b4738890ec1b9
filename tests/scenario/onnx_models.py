"""Models written as ONNX, read back and evaluated by the small evaluator here, and by onnxruntime where Python has it, give what flow
predicts, to 1e-6 of the largest value."""
import csv
import importlib.util
import math
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

SCRIPT = """
import linear, tree, onnx
let n = 150
let x = [for i in 0..n, j in 0..4: random_normal(1, i, j)]
let y = [for i in 0..n: 2 * x[i, 0] - x[i, 1]^2 + 0.1 * x[i, 3] + 30]
let yes = [for i in 0..n: x[i, 0] + 0.5 * random_normal(2, i) > 0]
let kind = [for i in 0..n: if x[i, 0] > 0.6 { 20 } else if x[i, 1] > 0 { 7 } else { 300 }]
let two = [for i in 0..n: if yes[i] { 5 } else { 2 }]
write_npy(x, "x.npy")
fn one(v: f64[n]) -> f64[n, 1] = reshape(v, n, 1)

let ols = linear.ols(x, y)
write_bytes(onnx.model(ols), "ols.onnx")
write_csv(table(value = linear.predict(ols, x)), "ols.csv")
let ridge = linear.ridge(x, y, lambda = 3.0)
write_bytes(onnx.model(ridge), "ridge.onnx")
write_csv(table(value = linear.predict(ridge, x)), "ridge.csv")
let logistic = linear.logistic(x, yes)
write_bytes(onnx.model(logistic), "logistic.onnx")
write_csv(table(probability = linear.predict_prob(logistic, x), label = [for l in linear.predict_label(logistic, x): if l { 1 } else { 0 }]), "logistic.csv")
let softmax = linear.softmax(x, kind)
let p = linear.predict_prob(softmax, x)
write_bytes(onnx.model(softmax), "softmax.onnx")
write_csv(table(p0 = p[:, 0], p1 = p[:, 1], p2 = p[:, 2], label = linear.predict_label(softmax, x)), "softmax.csv")

let grown = tree.regressor(x, y, max_depth = 4)
write_bytes(onnx.model(grown, 4), "tree.onnx")
write_csv(table(value = tree.predict(grown, x)), "tree.csv")
let boosted = tree.boosting_regressor(x, y, rounds = 20)
write_bytes(onnx.model(boosted, 4), "boosting.onnx")
write_csv(table(value = tree.predict(boosted, x)), "boosting.csv")
let forest = tree.forest_classifier(x, kind, trees = 15, max_depth = 5, seed = 3)
let f = tree.predict_prob(forest, x)
write_bytes(onnx.model(forest, 4), "forest.onnx")
write_csv(table(p0 = f[:, 0], p1 = f[:, 1], p2 = f[:, 2], label = tree.predict_label(forest, x)), "forest.csv")
let classes = tree.boosting_classifier(x, two, rounds = 10)
let b = tree.predict_prob(classes, x)
write_bytes(onnx.model(classes, 4), "boosting_classes.onnx")
write_csv(table(p0 = b[:, 0], p1 = b[:, 1], label = tree.predict_label(classes, x)), "boosting_classes.csv")

let w1 = [for i in 0..6, j in 0..4: random_normal(5, i, j)]
let b1 = [for i in 0..6: random_normal(6, i)]
let w2 = [for i in 0..3, j in 0..6: random_normal(7, i, j)]
let b2 = [for i in 0..3: random_normal(8, i)]
let layers = [for k in 0..2: (w = if k == 0 { w1 } else { w2 }, b = if k == 0 { b1 } else { b2 })]
let z = max(0.0, x @ w1' + b1) @ w2' + b2
write_bytes(onnx.dense(layers), "dense.onnx")
write_csv(table(v0 = z[:, 0], v1 = z[:, 1], v2 = z[:, 2]), "dense.csv")
let t = tanh(x @ w1' + b1) @ w2' + b2
let e = exp(t)
let s = [for i in 0..n, k in 0..3: e[i, k] / sum(e[i, :])]
write_bytes(onnx.dense(layers, hidden = "tanh", last = "softmax"), "dense_tanh.onnx")
write_csv(table(v0 = s[:, 0], v1 = s[:, 1], v2 = s[:, 2]), "dense_tanh.csv")
"""
MODELS = ["ols", "ridge", "logistic", "softmax", "tree", "boosting", "forest", "boosting_classes", "dense", "dense_tanh"]


def fields(data):
    """The fields of a message of Protocol Buffers: {number: [values]}, integers, or bytes."""
    out, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            size = varint()
            value, at = data[at:at + size], at + size
            assert len(value) == size
        out.setdefault(key >> 3, []).append(value)
    return out


def packed(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value = shift = 0
    return out


def tensor(data):
    f = fields(data)
    code = {11: "d", 7: "q"}[f[2][0]]
    flat = [v for (v,) in struct.iter_unpack("<" + code, f[9][0])]
    dims = f.get(1, [])
    assert math.prod(dims) == len(flat)
    return flat if len(dims) == 1 else [flat[i * dims[1]:(i + 1) * dims[1]] for i in range(dims[0])]


def attribute(data):
    f = fields(data)
    kind = f[20][0]
    value = {2: lambda: f[3][0], 3: lambda: f[4][0].decode(), 4: lambda: tensor(f[5][0]), 7: lambda: packed(f[8][0]),
             8: lambda: [s.decode() for s in f[9]]}[kind]()
    return f[1][0].decode(), value


def ensemble(x, a):
    nodes = {key: k for k, key in enumerate(zip(a["nodes_treeids"], a["nodes_nodeids"]))}
    targets = {}
    for t, v, c, w in zip(a["target_treeids"], a["target_nodeids"], a["target_ids"], a["target_weights_as_tensor"]):
        targets.setdefault((t, v), []).append((c, w))
    out = []
    for row in x:
        sums = list(a["base_values_as_tensor"])
        for t in sorted(set(a["nodes_treeids"])):
            v = 0
            while a["nodes_modes"][nodes[t, v]] == "BRANCH_LEQ":
                k = nodes[t, v]
                v = a["nodes_truenodeids" if row[a["nodes_featureids"][k]] <= a["nodes_values_as_tensor"][k] else "nodes_falsenodeids"][k]
            for c, w in targets[t, v]:
                sums[c] += w
        out.append(sums)
    return out


def each(f, x):
    return [[f(v) for v in row] if isinstance(row, list) else f(row) for row in x]


def softmax(row):
    e = [math.exp(v - max(row)) for v in row]
    return [v / sum(e) for v in e]


def product(x, w):
    columns = list(zip(*w)) if isinstance(w[0], list) else None
    dot = lambda a, b: sum(p * q for p, q in zip(a, b))
    return [[dot(row, c) for c in columns] if columns else dot(row, w) for row in x]


def added(x, b):
    return [[v + w for v, w in zip(row, b)] if isinstance(row, list) else row + b[0] for row in x]


OPERATORS = {
    "MatMul": lambda a, x, w: product(x, w), "Add": lambda a, x, b: added(x, b), "Identity": lambda a, x: x, "Cast": lambda a, x: x,
    "Sigmoid": lambda a, x: each(lambda v: 1 / (1 + math.exp(-v)), x), "Relu": lambda a, x: each(lambda v: max(v, 0.0), x),
    "Tanh": lambda a, x: each(math.tanh, x), "Softmax": lambda a, x: [softmax(row) for row in x],
    "Greater": lambda a, x, y: [v > y[0] for v in x], "ArgMax": lambda a, x: [row.index(max(row)) for row in x],
    "Gather": lambda a, x, i: [x[k] for k in i], "Reshape": lambda a, x, s: [row[0] for row in x],
    "TreeEnsembleRegressor": lambda a, x: ensemble(x, a),
}


def evaluated(data, x):
    """The outputs of a model, one after the other."""
    graph = fields(fields(data)[7][0])
    values = {fields(t)[8][0].decode(): tensor(t) for t in graph[5]} if 5 in graph else {}
    values["x"] = x
    for n in graph[1]:
        f = fields(n)
        inputs = [values[name.decode()] for name in f[1]]
        values[f[2][0].decode()] = OPERATORS[f[4][0].decode()](dict(attribute(a) for a in f.get(5, [])), *inputs)
    return [values[fields(o)[1][0].decode()] for o in graph[12]]


def columns(outputs):
    return [[float(v) for o in outputs for v in (o[i] if isinstance(o[i], list) else [o[i]])] for i in range(len(outputs[0]))]


def near(found, expected):
    size = max(abs(v) for row in expected for v in row)
    return len(found) == len(expected) and all(len(a) == len(b) and all(abs(p - q) <= 1e-6 * size for p, q in zip(a, b)) for a, b in zip(found, expected))


place = Place()
place.write("m.flow", SCRIPT)
done = place.run("run", "m.flow")
check(done.returncode == 0, "the script runs", done.stderr)
raw = (place.path / "x.npy").read_bytes() if done.returncode == 0 else b""
start = 10 + int.from_bytes(raw[8:10], "little") if raw else 0
flat = [v for (v,) in struct.iter_unpack("<d", raw[start:])]
x = [flat[i:i + 4] for i in range(0, len(flat), 4)]
runtime = importlib.util.find_spec("onnxruntime")
for name in MODELS if raw else []:
    data = (place.path / f"{name}.onnx").read_bytes()
    with open(place.path / f"{name}.csv") as file:
        expected = [[float(v) for v in row] for row in list(csv.reader(file))[1:]]
    found = columns(evaluated(data, x))
    check(near(found, expected), f"{name}: the evaluator gives what flow predicts", f"{found[:3]} {expected[:3]}")
    if runtime:
        import numpy
        import onnxruntime

        given = onnxruntime.InferenceSession(data).run(None, {"x": numpy.array(x)})
        check(near(columns([g.tolist() for g in given]), expected), f"{name}: onnxruntime gives what flow predicts", f"{given[0][:3]} {expected[:3]}")
finish()
