/* foreign_series.c: what pandas calls a series of groups, `t.groupby("k")["x"].sum()`, which has its keys as
 * an index: in flow a table of two columns, so that what goes on with it names them.
 *
 * In: a statement, with its groups and aggregates rewritten already. Out: the two columns, or one change.
 * What always holds: of what has more columns than a key and a value nothing is said. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

enum { DEEPEST = 8 };

/* The first argument of a call that is all of the text and has one of these names; NULL: it is another. */
static const char *first_of(FlForeign *f, const char *text, const char *names, FlForeignArgs *args) {
  FlForeign p = part(f, text);
  if (!ANY(&p, 0, names) || !IS(&p, 1, "(") || pair(&p, 1) != p.tokens.n - 1) return NULL;
  args->n = 0;
  fl_foreign_split(&p, 2, p.tokens.n - 2, args);
  return args->n && !args->at[0].name ? args->at[0].text : NULL;
}

bool fl_foreign_series(FlForeign *f, const char *text, const char **key, const char **value) {
  FlForeignArgs args = {0}, of = {0};
  for (int deep = 0; deep < DEEPEST; deep++) {
    FlForeign p = part(f, text);
    const char *bound = p.tokens.n == 1 && word(&p, 0) ? fl_foreign_bound(f, text) : NULL;
    if (bound) text = bound;
    const char *inner = first_of(f, text, "sort top head tail derive", &args);
    if (!inner) break;
    text = inner;
  }
  if (first_of(f, text, "value_counts", &args) && args.n <= 2) {
    *key = args.n == 2 ? args.at[1].text : "value", *value = "count";
    return true;
  }
  if (first_of(f, text, "select", &args) && args.n == 3 && !args.at[1].name && args.at[2].name) {
    *key = args.at[1].text, *value = args.at[2].name; /* shares of it */
    return strstr(args.at[0].text, "value_counts(") == args.at[0].text;
  }
  const char *keys = first_of(f, text, "table", &args); /* a dictionary */
  FlForeign made = part(f, text);
  if (!keys && IS(&made, 0, "table") && args.n == 2 && IS(&made, 2, "key") &&
      strcmp(args.at[1].name, "value") == 0) {
    *key = "key", *value = "value";
    return true;
  }
  const char *groups = first_of(f, text, "summarize", &args);
  if (!groups || args.n != 2 || !args.at[1].name || !first_of(f, groups, "group_by", &of) || of.n < 2)
    return false;
  *key = "", *value = args.at[1].name;
  for (int k = 1; k < of.n; k++)
    *key = SAY(f, "%s%s%s", *key, k > 1 ? ", " : "", of.at[k].name ? of.at[k].name : of.at[k].text);
  return true;
}

/* `for k, g in t.groupby("k") {`, or in a name that is bound to such: of each key its rows, which pandas
 * sorts by key. */
bool fl_foreign_groups_in_turn(FlForeign *f) {
  for (int i = 0; i + 6 < f->tokens.n; i++) {
    int brace = i + 5;
    bool names = IS(f, i, "for") && word(f, i + 1) && IS(f, i + 2, ",") && word(f, i + 3);
    if (!names || !IS(f, i + 4, "in")) continue;
    while (brace < f->tokens.n && !IS(f, brace, "{")) brace++;
    const char *bound = brace == i + 6 ? fl_foreign_bound(f, TEXT(f, i + 5, i + 5)) : NULL;
    FlForeign p = part(f, bound ? bound : TEXT(f, i + 5, brace - 1));
    if (IS(&p, 0, "group_by") && pair(&p, 1) == 5 && p.tokens.n == 6) /* rewritten already */
      p = part(f, SAY(f, "%s |> group_by(%s)", TEXT(&p, 2, 2), TEXT(&p, 4, 4)));
    if (!word(&p, 0) || !ANY(&p, 1, ". |>") || !ANY(&p, 2, "groupby group_by")) continue;
    int list = IS(&p, 4, "[") ? 1 : 0, close = pair(&p, 3);
    const char *column = fl_foreign_plain(&p, 4 + list), *table = TEXT(&p, 0, 0);
    if (!column && IS(&p, 1, "|>") && word(&p, 4)) column = TEXT(&p, 4, 4);
    if (!column || close != 5 + 2 * list || close != p.tokens.n - 1) continue;
    const char *by = TEXT(f, i + 1, i + 1);
    return PUT(f, i, brace,
               SAY(f, "for %s in sort(distinct(%s, %s).%s) {\nlet %s = %s[%s.%s == %s]\n", by, table, column,
                   column, TEXT(f, i + 3, i + 3), table, table, column, by));
  }
  return false;
}

/* `for k, v in s.items() {` of such a table, `for (k, v) in ..` */
bool fl_foreign_items(FlForeign *f) {
  for (int i = 0; i + 9 < f->tokens.n; i++) {
    if (IS(f, i, "for") && IS(f, i + 1, "(") && pair(f, i + 1) == i + 5 && IS(f, i + 3, ","))
      return PUT(f, i + 1, i + 5, TEXT(f, i + 2, i + 4));
    bool both = IS(f, i + 2, ","), loop = IS(f, i, "for") && word(f, i + 1) && (!both || word(f, i + 3));
    int in = both ? i + 4 : i + 2, from = in + 1, at = from;
    bool ordered = !both && IS(f, from, "sorted") && pair(f, from + 1) == from + 3; /* by its keys */
    if (ordered) at = from + 4;
    while (loop && at < f->tokens.n && !ANY(f, at, "{ items keys index"))
      at = pair(f, at) > at ? pair(f, at) + 1 : at + 1;
    bool method = IS(f, at - 1, ".") && ANY(f, at, both ? "items" : "keys index");
    if (!loop || !IS(f, in, "in") || (both && !method) || (!method && !ordered && !word(f, at - 1))) continue;
    int brace = !method ? at : pair(f, at + 1) == at + 2 ? at + 3 : at + 1;
    int close = IS(f, brace, "{") ? pair(f, brace) : -1;
    const char *key, *value, *of = TEXT(f, from, method ? at - 2 : at - 1);
    if (ordered) of = TEXT(f, from + 2, from + 2);
    if (close < 0 || !fl_foreign_series(f, of, &key, &value) || strchr(key, ',')) continue;
    if (!both) { /* keys alone: `d[k]` is the value */
      FlForeign p = part(f, TEXT(f, brace, close));
      bool rows = false; /* they are rows already */
      for (int k = 0; k < p.tokens.n; k++)
        rows = rows || (IS(&p, k, TEXT(f, i + 1, i + 1)) && IS(&p, k + 1, "."));
      const char *body = p.text, *row_name = TEXT(f, i + 1, i + 1); /* also in the braces of texts */
      rows = rows || strstr(body, SAY(f, "{%s.", row_name)) || strstr(body, SAY(f, "{%s[", row_name));
      if (rows) continue;
      for (int k = p.tokens.n - 4; k >= 0; k--)
        if (IS(&p, k, of) && IS(&p, k + 1, "[") && IS(&p, k + 2, TEXT(f, i + 1, i + 1)) && IS(&p, k + 3, "]"))
          PUT(&p, k, k + 3, SAY(f, "row.%s", value));
      if (IS(f, i + 1, "row")) continue;
      p.text =
          fl_foreign_with(f, p.text, SAY(f, "%s[%s]", of, TEXT(f, i + 1, i + 1)), SAY(f, "row.%s", value));
      const char *own = fl_foreign_with(f, p.text, TEXT(f, i + 1, i + 1), SAY(f, "row.%s", key));
      return PUT(f, i, close,
                 SAY(f, "for row in %s %s", ordered ? SAY(f, "sort(%s, %s)", of, key) : of, own));
    }
    const char *row = fl_foreign_new_name(f, "row", true), *body = TEXT(f, brace, close);
    if (!row) continue;
    body = fl_foreign_with(f, body, TEXT(f, i + 1, i + 1), SAY(f, "%s.%s", row, key));
    body = fl_foreign_with(f, body, TEXT(f, i + 3, i + 3), SAY(f, "%s.%s", row, value));
    return PUT(f, i, close, SAY(f, "for %s in %s %s", row, of, body));
  }
  return false;
}

/* `s / n * 100` of such a table: its value is computed with. */
bool fl_foreign_series_computed(FlForeign *f) {
  for (int i = 0; i + 4 < f->tokens.n; i++) {
    int close = ANY(f, i, "summarize derive") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    bool alone = close > 0 && ANY(f, close + 1, "+ - * /") && (i == 0 || ANY(f, i - 1, "= ( ,"));
    const char *key, *value;
    if (!alone || !fl_foreign_series(f, TEXT(f, i, close), &key, &value)) continue;
    int end = fl_foreign_end(f, close + 1);
    for (int k = close + 1; k <= end; k++) alone = alone && !ANY(f, k, "< > == != <= >= and or if else");
    if (!alone) continue;
    return PUT(f, i, end,
               SAY(f, "derive(%s, %s = %s %s)", TEXT(f, i, close), value, value, TEXT(f, close + 1, end)));
  }
  return false;
}

/* `t.set_index("day").resample("M")`, `t.resample("M", on="day")`: groups by the beginning of each month */
bool fl_foreign_resampled(FlForeign *f) {
  for (int i = 2; i + 3 < f->tokens.n; i++) {
    int close = IS(f, i, "resample") && IS(f, i - 1, ".") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    const char *unit = close > 0 ? fl_foreign_argument(f, TEXT(f, i + 2, i + 2), 'U') : NULL;
    bool on = unit && close == i + 7 && IS(f, i + 4, "on") && IS(f, i + 5, "=");
    int index = i - 5; /* set_index ( "day" ) . */
    bool set = unit && close == i + 3 && IS(f, index, "set_index") && IS(f, index - 1, ".") &&
               pair(f, index + 1) == i - 2;
    if (!on && !set) continue;
    int last = on ? i - 2 : index - 2, from = fl_foreign_operand(f, last);
    const char *day = fl_foreign_plain(f, on ? i + 6 : index + 2);
    if (day)
      return PUT(f, from, close,
                 SAY(f, "group_by(%s, %s = date_trunc(%s, %s))", TEXT(f, from, last), day, unit, day));
  }
  return false;
}

/* `t.isnull().sum()` of a table: the nulls of each column */
bool fl_foreign_nulls(FlForeign *f) {
  for (int i = 2; i + 2 < f->tokens.n; i++) {
    bool all = IS(f, i, "null_count");
    int close = (all || ANY(f, i, "isnull isna")) && IS(f, i - 1, ".") && IS(f, i + 1, "(") ? i + 2 : -1;
    bool sum = IS(f, close + 1, ".") && IS(f, close + 2, "sum") && pair(f, close + 3) == close + 4;
    if (close < 0 || pair(f, i + 1) != close || !(all || sum)) continue;
    int from = fl_foreign_operand(f, i - 2);
    const char *table = TEXT(f, from, i - 2);
    int end = all ? close : close + 4;
    bool field = IS(f, end + 1, ".") && word(f, end + 2) && !IS(f, end + 3, "(");
    const char *column = IS(f, end + 1, "[") ? fl_foreign_plain(f, end + 2) : NULL;
    if (field) column = TEXT(f, end + 2, end + 2);
    if (!fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", table))) continue;
    if (column) return PUT(f, from, end + (field ? 2 : 3), SAY(f, "count(is_null(%s.%s))", table, column));
    return PUT(f, from, end, SAY(f, "select(describe(%s), column, nulls)", table));
  }
  return false;
}

FlForeignMet fl_foreign_met(FlForeign *f, const char *table, const char *text) {
  FlForeign p = part(f, text);
  const char *now = fl_foreign_by_rules(&p);
  int below = 0, other = 0, joined = 0;
  if (now) p = part(f, now);
  for (int i = 0; now && i < p.tokens.n; i++) {
    if (IS(&p, i, "match")) return FL_FOREIGN_NEVER;
    below += ANY(&p, i, "< > <= >= ==") || (IS(&p, i, "in") && !IS(&p, i - 2, "for"));
    other += IS(&p, i, "!=");
    joined += ANY(&p, i, "not ?? if is_null");
  }
  if (!below && !other) return FL_FOREIGN_NEVER;
  const char *of = table ? SAY(f, "let _t = derive(%s, of_ = %s)\nlet _of: %%s[_] = _t.of_", table, now)
                         : SAY(f, "let _of: %%s[_] = %s", now);
  const char *mark = strstr(of, "%s");
  const char *may = SAY(f, "%.*sbool?%s", (int)(mark - of), of, mark + 2),
             *never = SAY(f, "%.*sbool%s", (int)(mark - of), of, mark + 2);
  if (!fl_foreign_holds(f, may) || fl_foreign_holds(f, never)) return FL_FOREIGN_NEVER;
  if (joined || other > 1 || (other && below)) return FL_FOREIGN_UNKNOWN;
  return other ? FL_FOREIGN_MET : FL_FOREIGN_UNMET;
}

/* deep: so many names were followed */
static bool is_numpy(FlForeign *f, const char *text, int deep) {
  FlForeign p = part(f, text);
  bool any = false;
  for (; deep < DEEPEST && p.tokens.n == 1 && word(&p, 0); deep++) {
    const char *bound = fl_foreign_bound(f, TEXT(&p, 0, 0));
    if (!bound || fl_foreign_same(bound, p.text)) return false;
    p = part(f, bound);
  }
  if (IS(&p, 0, "np") && IS(&p, 1, ".")) return true;
  for (int i = 1; i + 1 < p.tokens.n; i++) /* what models give, and columns as arrays */
    if (IS(&p, i, ".") &&
        ANY(&p, i + 1, "fit_transform predict predict_proba to_numpy values coef_ cluster_centers_ labels_"))
      return true;
  bool chain = word(&p, 0) && ANY(&p, 1, ". [") && fl_foreign_operand(&p, p.tokens.n - 1) == 0;
  if (deep == DEEPEST) return false;
  if (chain && is_numpy(f, TEXT(&p, 0, 0), deep + 1)) return true;
  for (int i = 0; i < p.tokens.n && p.tokens.n > 1; i++) { /* `a * 2`, `(a - b) / 2` */
    if (!word(&p, i) || IS(&p, i + 1, "(")) continue;
    bool alone = !(i && IS(&p, i - 1, ".")) && !IS(&p, i + 1, ".");
    if (!alone || !is_numpy(f, TEXT(&p, i, i), deep + 1)) return false;
    any = true;
  }
  return any;
}

bool fl_foreign_is_numpy(FlForeign *f, const char *text) { return is_numpy(f, text, 0); }

const char *fl_foreign_matrix(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  const char *now = fl_foreign_by_rules(&p);
  if (!now || !fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", now))) return text;
  FlForeignArgs args = {0};
  if (!first_of(f, now, "select", &args)) return SAY(f, "matrix(%s)", now);
  return SAY(f, "matrix%s", strchr(now, '('));
}
