# NumPy's times of every unit, missing and far ones: python3 make_times.py FOLDER (NumPy 2) writes times.npz, packed_nat.npz
# and the *.npy of npy_times.flow and its brothers (years, no_unit, nat are those of tests/diag/files), prints npy_times.out.
import sys

import numpy as np

folder = sys.argv[1]


def shown(x):
    """As flow shows it: a day where the unit has no smaller part, else a moment; spans as days and a clock."""
    if np.isnat(x):
        return "null"
    unit = np.datetime_data(x.dtype)[0]
    if x.dtype.kind == "M":
        if unit in "YMWD":
            return str(x.astype("M8[D]"))
        text = str(x.astype("M8[us]"))
        return (text[:-7] if text.endswith(".000000") else text) + "Z"
    micros = int(x.astype("m8[us]").astype("i8"))
    days, rest = divmod(abs(micros), 86400000000)
    clock = f"{rest // 3600000000:02}:{rest // 60000000 % 60:02}:{rest // 1000000 % 60:02}"
    clock += f".{rest % 1000000:06}".rstrip("0") if rest % 1000000 else ""
    return ("-" if micros < 0 else "") + (f"{days}d " if days else "") + clock


arrays = {}
for unit in "Y M W D h m s ms us ns ps fs as 25s 7D 3M 100ms".split():
    small = {"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12}.get(unit, 1)
    values = np.array([0, 1, -1, 5, -(2**63), 1000, -1001], "i8")
    values[values > -(2**62)] *= small
    arrays["M_" + unit] = values.view(f"M8[{unit}]")
    if unit not in ("Y", "M", "3M"):
        arrays["m_" + unit] = values.view(f"m8[{unit}]")
arrays["far"] = np.array(["0001-01-01", "9999-12-31T23:59:59.999999", "NaT", "1582-10-15T00:00:00.000001"], "M8[us]")
arrays["big"] = arrays["M_ms"].astype(">M8[ms]")
arrays["turned"] = np.asfortranarray(arrays["M_us"][:6].reshape(2, 3))
arrays["none"] = np.array([], "M8[s]")
np.savez(f"{folder}/times.npz", **arrays)
np.savez_compressed(f"{folder}/packed_nat.npz", t=np.concatenate([np.zeros(99999, "M8[us]"), np.array(["NaT"], "M8[us]")]),
                    one=np.datetime64("NaT", "s"), day=np.datetime64("2026-01-05"))
for name, a in arrays.items():
    print(f"{name}: " + "|".join(shown(x) for x in np.ascontiguousarray(a).ravel()))
for name, values, dtype in [("nat", [0, 1, -(2**63), -(2**63)], "M8[us]"), ("parts", [1000, 2000, 1500], "M8[ns]"),
                            ("too_far", [0, 1, 2, 2**60], "M8[s]"), ("years", [0], "m8[Y]"), ("no_unit", [-(2**63)], "M8")]:
    np.save(f"{folder}/{name}.npy", np.array(values, "i8").view(dtype).reshape((2, 2) if name == "nat" else -1))
np.save(f"{folder}/empty_rows.npy", np.empty((10**9, 0)))  # many rows, no elements
