# The NPZ samples: python3 make_npz.py FOLDER (NumPy 2).
import sys

import numpy as np

folder = sys.argv[1]
arrays = dict(x=np.arange(12, dtype="f8").reshape(3, 4), n=np.arange(-2, 3, dtype="i2"), rate=np.float32(2.5),
              day=np.array(["2026-01-31", "1969-12-31"], "M8[D]"), big=np.arange(4, dtype=">u4"),
              f=np.asfortranarray(np.arange(6, dtype="i4").reshape(2, 3)), flag=np.array([True, False]),
              none=np.zeros((0, 2)))
np.savez(f"{folder}/plain.npz", **arrays)
np.savez_compressed(f"{folder}/packed.npz", **arrays)
np.savez(f"{folder}/objects.npz", x=np.arange(3.0), words=np.array(["a", "b"], object), names=np.array(["a", "bc"]))
texts = dict(words=np.array(["a", "zwölf", "\U0001F600", ""]), fixed=np.array([b"ab", b"c\xc3\xa4"]), title=np.array("one text"),
             big=np.array([["x", "yy"], ["", "z z"]], ">U3"), f=np.asfortranarray(np.array([["a", "b", "c"], ["d", "e", "f"]])),
             none=np.array([], "U5"), x=np.arange(4.0))
np.savez(f"{folder}/texts.npz", **texts)
np.savez_compressed(f"{folder}/texts_packed.npz", **texts)
np.save(f"{folder}/words.npy", texts["words"])
np.save(f"{folder}/latin.npy", np.array([b"\xe4"]))
