/* foreign_groups.c: groups of rows as pandas, Polars and SQL have them: what is computed of each, for each
 * row of one, and their values side by side.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

/* `["x", "y"]`: `x = sum(x), y = sum(y)` */
static const char *of_several(FlForeign *f, const char *list, const char *aggregate) {
  FlForeignArgs names = {0};
  const char *columns = fl_foreign_argument(f, list, 'c'), *out = "";
  FlForeign p = part(f, columns ? columns : "");
  fl_foreign_split(&p, 0, p.tokens.n - 1, &names);
  for (int k = 0; k < names.n; k++)
    out = SAY(f, "%s%s%s = %s(%s)", out, k ? ", " : "", names.at[k].text, aggregate, names.at[k].text);
  return names.n ? out : NULL;
}

/* What a lambda between two brackets gives of a column; NULL: there is none. */
static const char *lambda_of(FlForeign *f, int open, int end, const char *column) {
  const char *text = TEXT(f, open + 1, end - 1);
  if (!fl_foreign_is_lambda(text)) return NULL;
  const char *body = fl_foreign_argument(f, text, 'b'), *name = fl_foreign_argument(f, text, 'v');
  return body ? fl_foreign_with(f, body, name, column) : NULL;
}

/* What a lambda of a group's rows gives, `g => len(g) > 3`, by their columns; NULL: it is no lambda. */
static const char *rows_test(FlForeign *f, int open, int end) {
  const char *text = TEXT(f, open + 1, end - 1);
  if (!fl_foreign_is_lambda(text)) return NULL;
  const char *body = fl_foreign_argument(f, text, 'b'), *name = fl_foreign_argument(f, text, 'v');
  if (!body) return NULL;
  FlForeign p = part(f, body);
  for (int i = 0; i + 3 < p.tokens.n; i++)
    if (IS(&p, i, "len") && IS(&p, i + 2, name) && pair(&p, i + 1) == i + 3) PUT(&p, i, i + 3, "count()");
  FlForeign by = part(f, fl_foreign_by_columns(f, p.text, name));
  return fl_foreign_by_rules(&by);
}

/* `rank(ascending=False, method="first")` of a column; NULL: it says more. */
static const char *ranked(FlForeign *f, const char *column, int open, int end) {
  FlForeignArgs args = {0};
  const char *of = column, *how = "";
  fl_foreign_split(f, open + 1, end - 1, &args);
  for (int k = 0; k < args.n; k++) {
    const char *name = args.at[k].name ? args.at[k].name : "", *value = args.at[k].text;
    const bool up = strcmp(name, "ascending") == 0;
    if (strcmp(name, "method") == 0) how = SAY(f, ", method = %s", value);
    else if (up && fl_foreign_same_word(value, "false")) of = SAY(f, "desc(%s)", column);
    else if (!up || !fl_foreign_same_word(value, "true")) return NULL;
  }
  return SAY(f, "rank(%s%s)", of, how);
}

/* What a method of groups gives for each row, as an expression of their column; NULL: it gives none. */
static const char *each_row(FlForeign *f, const char *name, const char *column, int open, int end) {
  FlForeign m = part(f, name);
  const char *plain = end == open + 2 ? fl_foreign_plain(f, open + 1) : NULL;
  const char *total = plain ? fl_foreign_aggregate(plain) : NULL;
  bool bare = end == open + 1;
  const char *lambda = lambda_of(f, open, end, column);
  if (IS(&m, 0, "transform") && lambda) return lambda;
  if (IS(&m, 0, "transform")) return total ? SAY(f, "%s(%s)", total, column) : NULL;
  if (ANY(&m, 0, "cumsum cumprod cummax cummin") && bare) return SAY(f, "%s(%s)", name, column);
  if (IS(&m, 0, "diff") && bare) return SAY(f, "%s - lag(%s)", column, column);
  if (IS(&m, 0, "shift")) return SAY(f, "lag(%s, %s)", column, bare ? "1" : TEXT(f, open + 1, end - 1));
  return IS(&m, 0, "rank") ? ranked(f, column, open, end) : NULL;
}

/* `group_by(t, k)["x"].sum()`, `.size()`, `.agg(..)`: an aggregate of groups */
static bool of_groups(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = IS(f, i, "group_by") && IS(f, i + 1, "(") && !(i && IS(f, i - 1, ".")) ? pair(f, i + 1) : -1,
        dot = close + 1;
    if (close < 0) continue;
    const char *columns = NULL, *several = NULL;
    int list = IS(f, dot, "[") && IS(f, dot + 1, "[") ? pair(f, dot + 1) : -1;
    if (list > 0 && IS(f, list + 1, "]")) several = TEXT(f, dot + 1, list), dot = list + 2;
    else if (IS(f, dot, ".") && word(f, dot + 1) && IS(f, dot + 2, "."))
      columns = TEXT(f, dot + 1, dot + 1), dot += 2;
    int open = dot + 2, end = IS(f, dot, ".") && word(f, dot + 1) && IS(f, open, "(") ? pair(f, open) : -1;
    if (end < 0) continue;
    int comma = fl_foreign_end(f, i + 2) + 1;
    const char *keys =
        comma < close ? fl_foreign_argument(f, SAY(f, "[%s]", TEXT(f, comma + 1, close - 1)), 'k') : NULL;
    if (IS(f, dot + 1, "cumcount") && end == open + 1 && keys && !several)
      return PUT(
          f, i, end,
          SAY(f, "derive(%s, cumcount = row_number(), by = %s).cumcount", TEXT(f, i + 2, comma - 1), keys));
    const char *name = TEXT(f, dot + 1, dot + 1), *aggregate = fl_foreign_aggregate(name), *what = NULL;
    const char *made = IS(f, dot + 1, "apply") && !columns && !several ? rows_test(f, open, end) : NULL;
    if (made) return PUT(f, i, end, SAY(f, "summarize(%s, value = %s)", TEXT(f, i, close), made));
    const char *test = IS(f, dot + 1, "filter") && !columns ? rows_test(f, open, end) : NULL;
    if (test) return PUT(f, i, end, SAY(f, "ungroup(where(%s, %s))", TEXT(f, i, close), test));
    if (columns && IS(f, dot + 1, "describe") && end == open + 1)
      what = SAY(
          f,
          "count = count(%1$s), mean = mean(%1$s), std = std(%1$s), min = min(%1$s), q25 = quantile(%1$s, "
          "0.25), median = median(%1$s), q75 = quantile(%1$s, 0.75), max = max(%1$s)",
          columns);
    else if (several) what = aggregate && end == open + 1 ? of_several(f, several, aggregate) : NULL;
    else if (columns && ANY(f, dot + 1, "agg aggregate apply") && lambda_of(f, open, end, columns))
      what = SAY(f, "%s = %s", columns, lambda_of(f, open, end, columns));
    else if (ANY(f, dot + 1, "agg aggregate summarize summarise"))
      what = fl_foreign_aggregates(f, columns, open + 1, end - 1);
    else if (columns && each_row(f, name, columns, open, end)) {
      const char *each = each_row(f, name, columns, open, end);
      if (keys)
        return PUT(f, i, end,
                   SAY(f, "derive(%s, %s = %s, by = %s).%s", TEXT(f, i + 2, comma - 1), columns, each, keys,
                       columns));
    } else if (ANY(f, dot + 1, "size len count") && !columns && end == open + 1)
      what = SAY(f, "%s = count()", name);
    else if (aggregate && columns && end == open + 1)
      what = SAY(f, "%s = %s(%s)", columns, aggregate, columns);
    else if (aggregate && !columns && end == open + 1) what = SAY(f, "each(numeric(), %s)", aggregate);
    if (what) return PUT(f, i, end, SAY(f, "summarize(%s, %s)", TEXT(f, i, close), what));
  }
  return false;
}

/* `group_by(t, a, b).size().unstack(fill_value=0)`, `pd.crosstab(t.a, t.b)`: a column for each b */
static bool unstacked(FlForeign *f) {
  for (int i = 0; i + 6 < f->tokens.n; i++) {
    bool cross = IS(f, i, "pd") && IS(f, i + 2, "crosstab") && IS(f, i + 3, "(");
    int open = cross ? i + 3 : i + 1, close = cross || IS(f, i, "group_by") ? pair(f, open) : -1, end = close;
    FlForeignArgs args = {0};
    if (close < 0 || (i && IS(f, i - 1, "."))) continue;
    fl_foreign_split(f, open + 1, close - 1, &args);
    const char *table = args.n ? args.at[0].text : "", *value = "count()", *keys[2] = {NULL, NULL};
    bool zeros = cross, alike = args.n == (cross ? 2 : 3);
    for (int k = 0; k < 2 && alike; k++) {
      FlForeign p = part(f, args.at[cross ? k : k + 1].text);
      bool field = cross && p.tokens.n == 3 && word(&p, 0) && IS(&p, 1, ".") && word(&p, 2);
      if (cross && k == 0) table = TEXT(&p, 0, 0);
      alike = cross ? field && IS(&p, 0, table) : p.tokens.n == 1;
      keys[k] = TEXT(&p, p.tokens.n - 1, p.tokens.n - 1);
    }
    if (!alike) continue;
    if (!cross) {
      int dot = close + 1;
      bool field = IS(f, dot, ".") && word(f, dot + 1) && IS(f, dot + 2, ".");
      const char *of = field ? TEXT(f, dot + 1, dot + 1) : NULL;
      if (of) dot += 2;
      const char *by = of ? fl_foreign_aggregate(TEXT(f, dot + 1, dot + 1)) : NULL;
      bool counted = !of && IS(f, dot + 1, "size"), called = pair(f, dot + 2) == dot + 3;
      int stack = dot + 5, last = pair(f, stack + 1);
      if (!called || !(by || counted) || !IS(f, stack, "unstack") || last < 0) continue;
      zeros = IS(f, stack + 2, "fill_value") && IS(f, stack + 4, "0") && last == stack + 5;
      if (!zeros && last != stack + 2) continue;
      if (by) value = SAY(f, "%s(%s)", by, of);
      end = last;
    }
    const char *out =
        SAY(f, "group_by(%s, %s) |> pivot(name = %s, value = %s)", table, keys[0], keys[1], value);
    if (zeros) out = SAY(f, "%s |> derive(each(except(%s), v => v ?? 0))", out, keys[0]);
    return PUT(f, i, end, out);
  }
  return false;
}

bool fl_foreign_groups(FlForeign *f) { return unstacked(f) || of_groups(f); }
