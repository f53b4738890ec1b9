"""Makes texts.arrow, and prints what tests/run/files/arrow_texts.flow is to say of them, by pandas.

Columns of texts in every layout of Arrow, 6,000 rows in three batches: a dictionary of small unsigned indices whose values are not in
order, of which one stands there twice and one in no row; offsets of 32 and 64 bits and views with characters of several bytes, and
nulls. Run with pyarrow and pandas in this folder: python make_texts.py > ../arrow_texts.out"""
import pandas as pd
import pyarrow as pa

N = 6000
VALUES = ["pear", "Äpfel", "fig", "pear", "", "a text that is longer than twelve bytes"]
WORDS = ["x", "straße", "", "日本語", "plain words of more than twelve", "naïve words of more than twelve"]
index = [(k * 7 + k // 5) % len(VALUES) for k in range(N)]
words = [WORDS[(k * k + k // 3) % len(WORDS)] for k in range(N)]
some = [None if k % 11 == 3 else w for k, w in enumerate(words)]


def batch(begin, end):
    part = slice(begin, end)
    kinds = pa.DictionaryArray.from_arrays(pa.array(index[part], pa.uint8()), pa.array(VALUES), safe=False)
    maybe = pa.DictionaryArray.from_arrays(pa.array([None if k % 13 == 5 else index[k] for k in range(begin, end)], pa.int16()), pa.array(VALUES), safe=False)
    return pa.record_batch([kinds, maybe, pa.array(words[part], pa.string()), pa.array(some[part], pa.large_string()),
                            pa.array(some[part], pa.string_view())], names=["kind", "maybe", "word", "large", "view"])


options = pa.ipc.IpcWriteOptions(compression="zstd")
batches = [batch(0, 1000), batch(1000, 1007), batch(1007, N)]
with pa.ipc.new_file("texts.arrow", batches[0].schema, options=options) as out:
    for one in batches:
        out.write_batch(one)

t = pd.DataFrame({"kind": [VALUES[k] for k in index], "maybe": [None if k % 13 == 5 else VALUES[index[k]] for k in range(N)],
                  "word": words, "large": some, "view": some})
say = lambda v: "null" if v is None or v != v else v
order = lambda column: sorted(column.dropna().unique(), key=lambda v: v.encode())
for name in t.columns:
    for value in [*order(t[name]), None]:
        rows = t[t[name].isna() if value is None else t[name] == value]
        if len(rows):
            print(f"{name} {say(value)}: {len(rows)}, first {rows.index[0]}, last {rows.index[-1]}")
print((t.kind >= "fig").sum(), (t.kind == "pear").sum(), t.kind.str.startswith("pe").sum(), t.word.str.len().sum(), t.view.str.len().sum().astype(int))
low = t.reset_index().sort_values("kind", key=lambda c: c.map(lambda v: v.encode()), kind="stable")
print(*low["index"].iloc[[0, 2999, 5999]])
