"""What the oracles try, what they wait for, and what they do not know.

Types: bool, all integers, f32, f64, text, date, datetime, duration, category (in tables), each also with null.
Tables: empty ones, one row, many equal keys, NaN, infinities, -0.0; made of literals, of halves put together, chosen by
an `if`; pipelines at the top level, in functions and in stages. Programs: scalars, arrays of rank 1 and 2.

SWITCHED_OFF: features that flow does not have yet as the page says; each with the reason. A generator asks `on(name)`.
COVERED: functions of compiler/sema/builtins/builtins.def, and which oracle tries them; that they do occur is checked by
tests/scenario/oracle_*.py. NOT_COVERED: all others, with the reason. tests/lint/oracle.py finds what is in neither.
"""
SWITCHED_OFF = {
    "category or null by one condition": "if_else(b, c, null) of a category c, where b is one for all rows, is refused (E0303)",
    "min of dates": "min(a, b) of dates, datetimes and durations is refused (E0312)",
}

BOTH = """
    sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh erf erfc gamma lgamma cbrt atan2
    hypot fma is_nan is_finite abs sign clamp round floor ceil trunc wrap_add wrap_sub wrap_mul i16 i32 i64 u8
    u32 f32 f64 text format if_else is_null sum min max any all count cumsum cumprod cummin cummax concat
    n_chars lower upper title trim trim_start trim_end contains starts_with ends_with replace find split_part
    slice reverse_text repeat_text edit_distance matches count_matches extract replace_regex pad parse_f64
    parse_i64 parse_date parse_datetime try_parse_f64 try_parse_i64 try_parse_datetime try_parse_date date
    datetime year quarter month day weekday day_of_year iso_week iso_year days_in_month hour minute second
    microsecond date_trunc add_months months years weeks days hours minutes seconds milliseconds microseconds sort
"""
PIPELINES = """
    median quantile mode n_distinct first last where select drop rename derive group_by ungroup summarize desc
    head tail sample top distinct join join_asof pivot unpivot drop_null fill_null fill_down fill_up value_counts complete numeric
    std var cov corr weighted_mean describe
    cols except each row_number lag lead rank ntile rolling category codes table write_csv
"""
PROGRAMS = """
    i8 u16 u64 product mean argmin argmax len scan fold zeros ones eye reshape bytes transpose gather argsort
    segment_sum segment_count split_text join_text extract_all date_range print
"""
COVERED = {**{name: ("pipelines", "programs") for name in BOTH.split()}, **{name: ("pipelines",) for name in PIPELINES.split()},
           **{name: ("programs",) for name in PROGRAMS.split()}}
IMPLICIT = {"desc", "category", "table", "write_csv", "print"}  # in every script

NOT_COVERED = {
    "special functions, to a tolerance": """
        digamma trigamma polygamma
    """,
    "derivatives: tests/random and tests/derivatives": """
        grad value_and_grad jvp flatten unflatten
    """,
    "linear algebra, transforms: library.py, as all of stdlib; compared with numpy and scipy in tests/run": """
        dot solve inv det cholesky qr svd eigh eig lstsq pinv norm fft ifft rfft irfft nearest_centers nearest_moved
    """,
    "random numbers: which they are is not on the page": """
        random random_normal random_int uniform normal integers subseed permutation choice split kfold
    """,
    "texts as people write numbers: its rules are not on the page": """
        parse_number try_parse_number
    """,
    "decimals: tests/oracle/decimals.py, which is run by tests/scenario/decimals.py": """
        decimal
    """,
    "compared with numpy in tests/verbs and tests/groups": """
        mad
    """,
    "not modelled yet": """
        error stack segment_mean matrix column_names expect_columns expect_labels expect_probabilities levels one_hot
    """,
    "plots": """
        plot.scatter plot.line plot.bar plot.hist plot.layers
    """,
    "the world and files: tests/run/files and tests/scenario": """
        now today env file files exec sql read_npy read_npz read_image read_wav read_hdf5 read_mat load show write_plot
        write_json write_jsonl write_npy write_bytes write_npz write_image save note
    """,
}
NOT_COVERED = {name: reason for reason, names in NOT_COVERED.items() for name in names.split()}


def on(name):
    return name not in SWITCHED_OFF
