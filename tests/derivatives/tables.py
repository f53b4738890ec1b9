"""Whether the rows cover the tables: each operator of rules.def has a row, each operator of ops.def that takes floats
and gives floats is in rules.def, each function of builtins.def that gives floats and each loss of the library is in a
row, or stands here with its reason."""
import re

# Operators that take and give values of any type, but no floats from floats.
NO_FLOATS = {
    "nothing comes in": "CONST",
    "positions, counts, groups or yes and no come out": "DIM SORT_PERM TOP_ROWS GROUP DISTINCT GROUP_ORDER SHIFT_ROWS ROLLING_BOUNDS JOIN JOIN_RANGE JOIN_REST JOIN_ASOF "
    "PIVOT_ROWS SPLIT_ROWS GROUP_PARTS KFOLD_ROWS SEGMENT_COUNT ENCODE_LEVELS LEVEL_CODE SAME_LEVELS SAME_COLUMNS",
    "texts and bytes": "LIST_LEVELS SPLIT_TEXT EXTRACT_ALL JOIN_TEXT TO_TEXT BYTES_OF",
    "decimals, which are whole numbers of units": "DECIMAL_OF_REAL",
    "random numbers, of a seed": "PERMUTATION CHOICE RANDOM RANDOM_NORMAL",
    "made by optimisations, which come later": "AGGREGATES IN_KEYS KEY_SET PARTIAL SORT_VALUES SORT_ROWS GROUP_ROWS TEXT_VALUES BY_CODES ROW_PART PICK BESIDE",
    "files, the world and people": "READ_TABLE READ_TABLE_SOME TABLE_PARTS TABLE_PART TABLE_END READ_NPY "
    "READ_NPZ READ_IMAGE READ_WAV READ_HDF5 READ_MAT LOAD_VALUE FILES FILE_PATH FILE_OF ENV NOW PRINT SHOW WRITE_TABLE "
    "WRITE_NPY WRITE_IMAGE WRITE_NPZ WRITE_JSON SHOW_PLOT WRITE_PLOT SAVE_VALUE NOTE",
}
# Builtins without a row: what they give is no float, or does not depend on floats in a way that has a derivative.
WITHOUT_ROW = {
    "yes and no, positions, counts": "is_nan is_finite is_null any all argmin argmax count n_distinct row_number ntile segment_count complete",
    "integers and decimals": "decimal ceil trunc wrap_add wrap_sub wrap_mul i8 i16 i32 i64 u8 u16 u32 u64 bytes choice permutation integers random_int subseed",
    "of a seed": "random random_normal uniform normal",
    "constants": "zeros ones",
    "refused": "mode exec sql",
    "rows, columns and files as they are": "select drop rename desc head tail sample top distinct join_asof pivot unpivot drop_null "
    "fill_null fill_down fill_up split kfold matrix column_names expect_columns expect_labels expect_probabilities describe value_counts numeric cols except each one_hot category levels codes",
    "what the checks are made of": "grad value_and_grad jvp",
    "a type alone, and its text": "f32 text format",
    "tuples as vectors, in tests/run/derivatives": "flatten unflatten",
}
TEXTS = ("text", "dates", "plots", "files and people")
# The losses of the library.
LIBRARY = {
    "metrics": "mse rmse mae median_absolute_error max_error mape r2 explained_variance log_loss cross_entropy brier",
    "nn": "mse mae huber cross_entropy binary_cross_entropy binary_cross_entropy_with_logits",
}


def scopes(words):
    return {w for group in words.values() for w in group.split()}


def check_tables(root, rows, refused, check):
    rules = re.findall(r"^FL_AD_(RULE|SCALAR|STEP|FORM|NONE)\((\w+)", (root / "compiler/ad/rules/rules.def").read_text(), re.M)
    kinds = {op: kind for kind, op in rules}
    covered = {op for row in rows for op in row["ops"]} | {op for op, *_ in refused}
    covered |= {"CONVERT", "CUSTOM"}  # exact: tests/run/derivatives/forward.flow, own.flow
    for op in kinds:
        check(op in covered, f"{op} of rules.def has a row")
    for op in covered:
        check(op in kinds, f"{op}, which has a row, is in rules.def")
    known = scopes(NO_FLOATS)
    ops = re.findall(r'^FL_OP\((\w+), "\w+", \w+, "([^"]*)"', (root / "compiler/ir/ops.def").read_text(), re.M)
    check(len(ops) > 150, f"ops.def is read: {len(ops)} operators")
    for op, signature in ops:
        takes, gives = signature.split(":")
        if set(takes) & set("TNFA*?f") and set(gives) & set("TNFA*?f"):
            check((op in kinds) != (op in known), f"{op} is in rules.def, or is known to give no floats of floats")
    for op in known:
        check(op in dict(ops), f"{op}, which is known to give no floats of floats, is in ops.def")

    text = (root / "compiler/sema/builtins/builtins.def").read_text()
    section, named = "", []
    for line in text.splitlines():
        title = re.match(r"/\* -- (\w[\w ]*)", line)
        section = title.group(1) if title else section
        found = re.match(r"FL_[A-Z_]+\(([\w.]+),", line)
        if found and not section.startswith(TEXTS):
            named.append(found.group(1))
    check(len(named) > 100, f"builtins.def is read: {len(named)} functions")
    words = set(re.findall(r"[a-z_]\w*", " ".join(row["body"] + " " + row["domain"] for row in rows)))
    for name in (n for n in named if n != "transpose"):  # the row of `'`
        check((name in words) != (name in scopes(WITHOUT_ROW)), f"the builtin {name} has a row, or a reason for having none")
    bodies = " ".join(row["body"] for row in rows)
    for module, losses in LIBRARY.items():
        text = (root / f"stdlib/{module}.flow").read_text()
        for name in losses.split():
            check(re.search(rf"^fn {name}\b", text, re.M), f"{module}.{name} is there")
            check(re.search(rf"\b{module}\.{name}\b", bodies), f"{module}.{name} has a row")
