"""Writes messages.csv of the examples from docs/errors, and computes data/text.npz, what scikit-learn gives for text_features.flow beside
this file. Run: python3 tests/run/library/make_text.py (numpy and scikit-learn 1.9 are needed)."""
import csv
import pathlib
import re

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

HERE = pathlib.Path(__file__).parent / "data"
ROOT = HERE.parents[3]
KINDS = {"E00": "syntax", "E01": "syntax", "E02": "names", "E03": "types", "E04": "types", "E05": "types", "E06": "tables",
         "E07": "run time", "E09": "files"}

target = ROOT / "examples/data/messages.csv"
if not target.exists():  # a snapshot: pages may change afterwards
    with target.open("w") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["code", "kind", "page"])
        for page in sorted((ROOT / "docs/errors").glob("E*.md")):
            if page.stem[:3] in KINDS:
                out.writerow([page.stem, KINDS[page.stem[:3]], " ".join(page.read_text().split())])

with target.open() as f:
    pages = [row["page"] for row in csv.DictReader(f)]
odd = ["", "  \t ", "x", "\u00c9t\u00e9, na\u00efve caf\u00e9s  \n\n  et  \u03b1\u03b2\u03b3 \u6f22\u5b57\u6587\u5b57 a_b_c 1234 it's", "a b c", "ab\tcd  ef\ngh", "the THE The"]
train, test = pages[::4], pages[1::6] + odd
out = {}

# Name, vectoriser; of each the terms, and what it makes of other texts
stop = ["the", "is", "of", "a", "not"]
for name, m in (
    ("counts", CountVectorizer()),
    ("frequent", CountVectorizer(min_df=3, max_df=0.5)),
    ("share", CountVectorizer(min_df=0.1, max_df=20, binary=True)),
    ("runs", CountVectorizer(ngram_range=(1, 3), stop_words=stop, min_df=2)),
    ("pairs", CountVectorizer(ngram_range=(2, 2), lowercase=False, min_df=2)),
    ("pattern", CountVectorizer(token_pattern=r"(?u)`(\w+)`")),
    ("given", CountVectorizer(vocabulary=["table", "column", "nowhere", "of the", "file"], ngram_range=(1, 2))),
    ("characters", CountVectorizer(analyzer="char", ngram_range=(1, 3), min_df=3)),
    ("within", CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=3)),
    ("long", CountVectorizer(analyzer="char_wb", ngram_range=(5, 6), min_df=3)),
    ("tfidf", TfidfVectorizer()),
    ("sublinear", TfidfVectorizer(sublinear_tf=True, smooth_idf=False, norm="l1", min_df=2)),
    ("plain", TfidfVectorizer(norm=None, use_idf=False, ngram_range=(1, 2), min_df=2)),
):
    m.fit(train)
    out[f"{name}_terms"] = np.frombuffer("\n".join(m.get_feature_names_out()).encode(), np.uint8)
    texts = train + odd if name == "tfidf" else test
    x = m.transform(texts).tocsr()
    x.sort_indices()
    out |= {f"{name}_starts": x.indptr, f"{name}_columns": x.indices, f"{name}_values": x.data}
    print(name, x.shape, x.nnz)
# Of equally frequent terms any may stay: the limit is where the number of occurrences falls
times = np.sort(np.ravel(CountVectorizer().fit_transform(train).sum(0)))[::-1]
limit = next(k for k in range(40, 80) if times[k] < times[k - 1])
m = CountVectorizer(max_features=limit).fit(train)
out["most_terms"] = np.frombuffer("\n".join(m.get_feature_names_out()).encode(), np.uint8)
out["most_limit"] = np.array([limit])
for name, m in (
    ("hashed", HashingVectorizer()),
    ("hashed_few", HashingVectorizer(n_features=200, alternate_sign=False, norm="l1", ngram_range=(1, 2))),
    ("hashed_binary", HashingVectorizer(n_features=97, binary=True, norm=None)),
    ("hashed_signs", HashingVectorizer(n_features=50, norm=None, analyzer="char", ngram_range=(2, 2))),
):
    x = m.transform(test).tocsr()
    x.sort_indices()
    out |= {f"{name}_starts": x.indptr, f"{name}_columns": x.indices, f"{name}_values": x.data}
np.savez_compressed(HERE / "text.npz", **out)
