/* foreign_parts.c: parts of tables, arrays and texts, as other languages take them: rows and columns by
 * subscripts,
 * shapes, the piece of a text, the value of a key.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

/* `t.loc[mask, "x"]`, `t.iloc[0:2]` */
static bool located(FlForeign *f) {
  for (int i = 2; i + 1 < f->tokens.n; i++) {
    int close = ANY(f, i, "loc iloc") && IS(f, i - 1, ".") && IS(f, i + 1, "[") ? pair(f, i + 1) : -1;
    if (close < 0) continue;
    int from = fl_foreign_operand(f, i - 2), comma = fl_foreign_end(f, i + 2) + 1;
    const char *table = TEXT(f, from, i - 2), *rows_of = TEXT(f, i + 2, comma - 1);
    if (!IS(f, comma, ",")) return PUT(f, i - 1, i, "");
    const char *column = fl_foreign_plain(f, comma + 1);
    if (column && comma + 2 == close)
      return PUT(f, from, close,
                 IS(f, i + 2, ":") ? SAY(f, "%s.%s", table, column)
                                   : SAY(f, "%s.%s[%s]", table, column, rows_of));
    const char *names =
        IS(f, comma + 1, "[") ? fl_foreign_argument(f, TEXT(f, comma + 1, close - 1), 'c') : NULL;
    if (names)
      return PUT(
          f, from, close,
          SAY(f, IS(f, i + 2, ":") ? "select(%s%.0s, %s)" : "select(%s[%s], %s)", table, rows_of, names));
  }
  return false;
}

/* `t[t.x > 1, c("a", "b")]`, `t[t.x > 1, "a"]`, `t[, "a"]`, of R */
static bool framed(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    bool begins = IS(f, i, "[") && glued(f, i) && (word(f, i - 1) || ANY(f, i - 1, ") ]"));
    int close = begins ? pair(f, i) : -1, comma = close > 0 ? fl_foreign_end(f, i + 1) + 1 : -1;
    if (comma < i + 1 || !IS(f, comma, ",") || comma + 1 >= close) continue;
    bool condition = comma == i + 1;
    for (int k = i + 1; k < comma; k++) condition = condition || ANY(f, k, "< > <= >= == != %in% in");
    const char *name = comma + 2 == close ? fl_foreign_plain(f, comma + 1) : NULL, *names = NULL;
    if (IS(f, comma + 1, "c") && pair(f, comma + 2) == close - 1 && literal(f, comma + 3))
      names = fl_foreign_argument(f, TEXT(f, comma + 1, close - 1), 'c');
    if (!condition || !(name || names)) continue;
    int from = fl_foreign_operand(f, i - 1);
    const char *table = TEXT(f, from, i - 1);
    if (comma > i + 1) table = SAY(f, "%s[%s]", table, TEXT(f, i + 1, comma - 1));
    return PUT(f, from, close, names ? SAY(f, "select(%s, %s)", table, names) : SAY(f, "%s.%s", table, name));
  }
  return false;
}

/* `t[order(t$x, decreasing = TRUE), ]`, of R */
static bool ordered(FlForeign *f) {
  for (int i = 1; i + 3 < f->tokens.n; i++) {
    int close = IS(f, i, "[") && glued(f, i) && IS(f, i + 1, "order") ? pair(f, i) : -1, open = i + 2,
        end = pair(f, open);
    if (close < 0 || (end != close - 1 && !(end == close - 2 && IS(f, close - 1, ",")))) continue;
    FlForeignArgs args = {0};
    fl_foreign_split(f, open + 1, end - 1, &args);
    int from = fl_foreign_operand(f, i - 1);
    const char *table = TEXT(f, from, i - 1), *keys = "";
    bool down = false;
    for (int k = 0; k < args.n; k++)
      down = down || (args.at[k].name && strcmp(args.at[k].name, "decreasing") == 0 &&
                      fl_foreign_same_word(args.at[k].text, "true"));
    for (int k = 0; k < args.n; k++)
      if (!args.at[k].name)
        keys =
            SAY(f, down ? "%s, desc(%s)" : "%s, %s", keys, fl_foreign_by_columns(f, args.at[k].text, table));
    return PUT(f, from, close, SAY(f, "sort(%s%s)", table, keys));
  }
  return false;
}

/* `t[(t.x > 1) & (t.y == 0)]` of columns with nulls: such rows are left out, as they are there. */
static bool masked(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n && f->ways & FL_FOREIGN_NULLS; i++) {
    int close = IS(f, i, "[") && glued(f, i) && word(f, i - 1) && !IS(f, i - 2, ".") ? pair(f, i) : -1;
    const char *table = close > i + 3 ? TEXT(f, i - 1, i - 1) : "", *mask = TEXT(f, i + 1, close - 1);
    bool compared = false, other = strstr(mask, "!=") || strstr(mask, "not ") || strpbrk(mask, "~!");
    for (int k = i + 1; k < close; k++) compared = compared || ANY(f, k, "< > <= >= == and or");
    compared = compared || (close == i + 4 && IS(f, i + 1, table) && IS(f, i + 2, ".")); /* `t[t.x]` */
    if (!compared || other || !fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", table))) continue;
    const char *columns = fl_foreign_by_columns(f, mask, table);
    return PUT(f, i - 1, close, SAY(f, "where(%s, %s)", table, columns));
  }
  return false;
}

/* `m.shape[0]`; `print(t.shape)`, which shows both */
static bool shape(FlForeign *f) {
  for (int i = 2; i < f->tokens.n; i++) {
    if (!IS(f, i, "shape") || !IS(f, i - 1, ".")) continue;
    int from = fl_foreign_operand(f, i - 2);
    bool subscript = IS(f, i + 1, "[") && IS(f, i + 3, "]") && ANY(f, i + 2, "0 1");
    const char *of = TEXT(f, from, i - 2), *wide = "";
    if (fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", of))) wide = SAY(f, "len(column_names(%s))", of);
    else if (fl_foreign_holds(f, SAY(f, "let _of = len((%s)[0])", of))) wide = SAY(f, "len(%s[0])", of);
    if (subscript)
      return PUT(f, from, i + 3,
                 !IS(f, i + 2, "1") ? SAY(f, "len(%s)", of)
                 : *wide            ? wide
                                    : SAY(f, "len(%s[0])", of));
    bool printed = IS(f, from - 1, "(") && IS(f, from - 2, "print");
    if (printed && ANY(f, i + 1, ") ,") && *wide) return PUT(f, from, i, SAY(f, "len(%s), %s", of, wide));
  }
  return false;
}

/* `s.split(" ")[0]`, `.str.split("-").str[1]`, `.str.split("-").list.get(0)`: one part */
bool fl_foreign_part_of_text(FlForeign *f) {
  for (int i = 2; i + 4 < f->tokens.n; i++) {
    int close = IS(f, i, "split") && IS(f, i - 1, ".") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close != i + 3 || !literal(f, i + 2)) continue;
    int at = close + 1, last = -1;
    bool accessor =
        IS(f, at, ".") && ANY(f, at + 1, "str list") && (IS(f, at + 2, ".") || IS(f, at + 2, "["));
    if (accessor) at += 2;
    if (IS(f, at, "[")) last = pair(f, at++);
    else if (IS(f, at, ".") && ANY(f, at + 1, "get first last") && IS(f, at + 2, "("))
      last = pair(f, at + 2), at += 3;
    const char *k = TEXT(f, at, last - 1);
    if (last == at) k = IS(f, at - 2, "first") ? "0" : "-1";
    if (last < at || !*k || k[strspn(k, "-0123456789")]) continue;
    int end = IS(f, i - 2, "str") ? i - 4 : i - 2, from = fl_foreign_operand(f, end);
    return PUT(f, from, last, SAY(f, "split_part(%s, %s, %s)", TEXT(f, from, end), TEXT(f, i + 2, i + 2), k));
  }
  return false;
}

/* `np.corrcoef(a, b)[0, 1]`, `select(t, x, y).corr().iloc[0, 1]` */
static bool correlation(FlForeign *f) {
  for (int i = 0; i + 8 < f->tokens.n; i++) {
    int open = i + 1, last = IS(f, i, "select") && IS(f, open, "(") ? pair(f, open) : -1, at = last + 5;
    bool table =
        last == i + 7 && IS(f, last + 1, ".") && IS(f, last + 2, "corr") && pair(f, last + 3) == last + 4;
    if (table && IS(f, at, ".") && ANY(f, at + 1, "iloc loc")) at += 2;
    int end = table && IS(f, at, "[") ? pair(f, at) : -1;
    if (end == at + 4 && strcmp(TEXT(f, at + 1, at + 1), TEXT(f, at + 3, at + 3)) != 0) {
      const char *t = TEXT(f, i + 2, i + 2);
      return PUT(f, i, end, SAY(f, "corr(%s.%s, %s.%s)", t, TEXT(f, i + 4, i + 4), t, TEXT(f, i + 6, i + 6)));
    }
    int close = IS(f, i, "np") && IS(f, i + 2, "corrcoef") && IS(f, i + 3, "(") ? pair(f, i + 3) : -1;
    if (close < 0 || !IS(f, close + 1, "[") || pair(f, close + 1) != close + 5 || !ANY(f, close + 2, "0 1"))
      continue;
    if (ANY(f, close + 4, "0 1") && !IS(f, close + 2, TEXT(f, close + 4, close + 4)))
      return PUT(f, i, close + 5, SAY(f, "corr(%s)", TEXT(f, i + 4, close - 1)));
  }
  return false;
}

/* `slice(1:3)`, of dplyr: the first rows */
static bool first_rows(FlForeign *f) {
  for (int i = 1; i + 4 < f->tokens.n; i++)
    if (IS(f, i, "slice") && IS(f, i - 1, "|>") && pair(f, i + 1) == i + 5 && IS(f, i + 2, "1") &&
        IS(f, i + 3, ":"))
      return PUT(f, i, i + 5, SAY(f, "head(%s)", TEXT(f, i + 4, i + 4)));
  return false;
}

/* `np.where(c)[0]`: positions, which numpy has one array of for each dimension */
static bool positions(FlForeign *f) {
  for (int i = 0; i + 6 < f->tokens.n; i++) {
    bool asked = IS(f, i, "np") && IS(f, i + 1, ".") && ANY(f, i + 2, "where nonzero");
    int close = asked ? pair(f, i + 3) : -1;
    bool one = close > 0 && fl_foreign_end(f, i + 4) == close - 1;
    if (one && IS(f, close + 1, "[") && IS(f, close + 2, "0") && IS(f, close + 3, "]"))
      return PUT(f, i, close + 3, SAY(f, "np.flatnonzero(%s)", TEXT(f, i + 4, close - 1)));
  }
  return false;
}

static bool most_frequent(FlForeign *f) { /* `x.mode()[0]`: it is one value here */
  for (int i = 2; i + 3 < f->tokens.n; i++) {
    int at = IS(f, i, "mode") && IS(f, i - 1, ".") && pair(f, i + 1) == i + 2 ? i + 3 : -1;
    if (at < 0) continue;
    if (IS(f, at, ".") && ANY(f, at + 1, "iloc values")) at += 2;
    bool first = IS(f, at, "[") && IS(f, at + 1, "0") && IS(f, at + 2, "]");
    int from = fl_foreign_operand(f, i - 2);
    if (first) return PUT(f, from, at + 2, SAY(f, "mode(%s)", TEXT(f, from, i - 2)));
  }
  return false;
}

/* What rows of a table are known by elsewhere: of groups their one key, or what `set_index` says; *table: the
 * table. NULL: neither. */
static const char *index_of(FlForeign *f, const char *text, const char **table) {
  FlForeign p = part(f, text);
  int n = p.tokens.n, close = n > 4 && IS(&p, n - 1, ")") ? pair(&p, n - 1) : -1;
  *table = text;
  if (close > 2 && IS(&p, close - 1, "set_index") && IS(&p, close - 2, ".") &&
      fl_foreign_plain(&p, close + 1)) {
    *table = TEXT(&p, 0, close - 3);
    return close + 2 == n - 1 ? fl_foreign_argument(f, TEXT(&p, close + 1, close + 1), 'c') : NULL;
  }
  const char *bound = n == 1 && word(&p, 0) ? fl_foreign_bound(f, text) : NULL, *inner;
  if (bound) return strchr(bound, '(') ? index_of(f, bound, &inner) : NULL;
  int open =
      n > 7 && IS(&p, 0, "summarize") && pair(&p, 1) == n - 1 && IS(&p, 2, "group_by") ? pair(&p, 3) : -1;
  bool one = open > 0 && IS(&p, open - 2, ",") && word(&p, open - 1) && fl_foreign_end(&p, 4) == open - 3;
  return one ? TEXT(&p, open - 1, open - 1) : NULL;
}

/* `x.loc["v", "c"]`, `x.loc["v"]["c"]`, `x.loc["v"]` of what is known by a key; `t.set_index("k")`, where no
 * key is asked */
static bool by_index(FlForeign *f) {
  for (int i = 2; i + 3 < f->tokens.n; i++) {
    int close = IS(f, i, "loc") && IS(f, i - 1, ".") && IS(f, i + 1, "[") ? pair(f, i + 1) : -1;
    bool value = close > 0 && (literal(f, i + 2) || fl_foreign_kind(f, i + 2, FL_FOREIGN_NUMBER));
    if (!value || (close != i + 3 && !(close == i + 5 && IS(f, i + 3, ",") && fl_foreign_plain(f, i + 4))))
      continue;
    int from = fl_foreign_operand(f, i - 2), end = close;
    FlForeign of = part(f, TEXT(f, from, i - 2));
    const char *table, *now = fl_foreign_by_rules(&of), *key = index_of(f, TEXT(f, from, i - 2), &table);
    if (!key && now) key = index_of(f, now, &table);
    if (!key || IS(f, close + 1, "=")) continue;
    const char *column = close == i + 5 ? fl_foreign_plain(f, i + 4) : NULL;
    bool then =
        !column && IS(f, close + 1, "[") && fl_foreign_plain(f, close + 2) && pair(f, close + 1) == close + 3;
    if (then) column = fl_foreign_plain(f, close + 2), end = close + 3;
    return PUT(f, from, end,
               SAY(f, column ? "where(%s, %s == %s).%s[0]" : "where(%s, %s == %s)[0]", table, key,
                   TEXT(f, i + 2, i + 2), column));
  }
  FlForeign file = file_of(f);
  const char *name = ANY(f, 0, "let var") ? TEXT(f, 1, 1) : TEXT(f, 0, 0);
  for (int i = 0; i + 1 < file.tokens.n; i++)
    if (IS(&file, i, name) && IS(&file, i + 1, ".") && ANY(&file, i + 2, "loc resample index")) return false;
  for (int i = 2; i + 3 < f->tokens.n; i++) {
    bool last = IS(f, i, "set_index") && IS(f, i - 1, ".") && pair(f, i + 1) == i + 3;
    if (last && fl_foreign_plain(f, i + 2) && !IS(f, i + 4, ".") && !IS(f, i + 4, "["))
      return PUT(f, i - 1, i + 3, "");
  }
  return false;
}

/* `t.loc[group_by(t, k)["x"].idxmax()]`: the row of each group with its most; also some columns of them */
static bool most_of_groups(FlForeign *f) {
  for (int i = 2; i + 8 < f->tokens.n; i++) {
    int close = IS(f, i, "loc") && IS(f, i - 1, ".") && IS(f, i + 1, "[") ? pair(f, i + 1) : -1;
    bool groups = close > 0 && IS(f, i + 2, TEXT(f, i - 2, i - 2)) && IS(f, i + 3, ".") &&
                  ANY(f, i + 4, "groupby group_by");
    int keys = groups ? pair(f, i + 5) : -1, at = keys + 1;
    const char *column = IS(f, at, "[") ? fl_foreign_plain(f, at + 1) : NULL;
    if (keys < 0 || !(column || (IS(f, at, ".") && word(f, at + 1)))) continue;
    if (!column) column = TEXT(f, at + 1, at + 1), at--;
    bool most = IS(f, at + 4, "idxmax"), least = IS(f, at + 4, "idxmin");
    int end = IS(f, at + 3, ".") && (most || least) && pair(f, at + 5) == at + 6 ? at + 6 : -1;
    const char *by = end > 0 ? fl_foreign_argument(f, TEXT(f, i + 6, keys - 1), 'c') : NULL;
    if (!by || (end + 1 != close && !IS(f, end + 1, ","))) continue;
    const char *rows = SAY(f, "ungroup(top(group_by(%s, %s), 1, by = %s%s))", TEXT(f, i - 2, i - 2), by,
                           least ? "-" : "", column);
    const char *some = end + 1 < close ? fl_foreign_argument(f, TEXT(f, end + 2, close - 1), 'c') : NULL;
    if (end + 1 < close && !some) continue;
    return PUT(f, i - 2, close, some ? SAY(f, "select(%s, %s)", rows, some) : rows);
  }
  return false;
}

/* `t.duplicated("k").sum()`, `t[~t.duplicated("k")]` */
static bool duplicates(FlForeign *f) {
  for (int i = 2; i + 2 < f->tokens.n; i++) {
    int close = IS(f, i, "duplicated") && IS(f, i - 1, ".") && word(f, i - 2) && IS(f, i + 1, "(")
                    ? pair(f, i + 1)
                    : -1,
        n = 0;
    if (close < 0) continue;
    FlForeignArgs args = {0};
    fl_foreign_split(f, i + 2, close - 1, &args);
    for (int k = 0; k < args.n; k++) n += args.at[k].name && strcmp(args.at[k].name, "subset") != 0;
    const char *by = args.n == 1 && !n ? fl_foreign_argument(f, args.at[0].text, 'c') : args.n ? NULL : "";
    const char *t = TEXT(f, i - 2, i - 2),
               *left = by ? SAY(f, "distinct(%s%s%s)", t, *by ? ", " : "", by) : NULL;
    bool counted = IS(f, close + 1, ".") && IS(f, close + 2, "sum") && pair(f, close + 3) == close + 4;
    if (left && counted) return PUT(f, i - 2, close + 4, SAY(f, "(len(%s) - len(%s))", t, left));
    bool mask = IS(f, i - 5, t) && IS(f, i - 4, "[") && ANY(f, i - 3, "~ not") && pair(f, i - 4) == close + 1;
    if (left && mask) return PUT(f, i - 5, close + 1, left);
  }
  return false;
}

/* `s["north"]` of groups with one aggregate: the value of that key */
bool fl_foreign_value_of_key(FlForeign *f) {
  if (most_frequent(f) || by_index(f)) return true;
  for (int i = 1; i + 1 < f->tokens.n; i++) { /* `"a" in d`, of its keys */
    const char *key, *value;
    bool asked = IS(f, i, "in") && !IS(f, i - 2, "for") && word(f, i + 1) && !ANY(f, i + 2, ". [ (");
    if (asked && fl_foreign_series(f, TEXT(f, i + 1, i + 1), &key, &value) && !strchr(key, ','))
      return PUT(f, i + 1, i + 1, SAY(f, "%s.%s", TEXT(f, i + 1, i + 1), key));
  }
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    int at = IS(f, i - 1, "loc") && IS(f, i - 2, ".") ? i - 3 : i - 1,
        close = IS(f, i, "[") ? pair(f, i) : -1;
    const char *key, *value;
    if (close != i + 2 || !fl_foreign_plain(f, i + 1) || !word(f, at) || IS(f, at - 1, ".")) continue;
    const char *name = TEXT(f, at, at), *asked = fl_foreign_plain(f, i + 1);
    if (!fl_foreign_series(f, name, &key, &value) || IS(f, close + 1, "=") || strchr(key, ',')) continue;
    if (strcmp(asked, key) == 0 || strcmp(asked, value) == 0) continue;
    return PUT(f, at, close, SAY(f, "where(%s, %s == \"%s\").%s[0]", name, key, asked, value));
  }
  return false;
}

/* Of one subscript, from one token to another, what a position says that it takes; "" all; NULL: it is not
 * written out. */
static const char *taken(FlForeign *f, int from, int to, const char *position) {
  int sign = from;
  while (sign <= to && !ANY(f, sign, ": ..")) sign++;
  for (int i = from; i <= to; i++)
    if (i != sign && !fl_foreign_kind(f, i, FL_FOREIGN_NUMBER)) return NULL;
  if (sign > to) return from == to ? SAY(f, "%s == %s", position, TEXT(f, from, to)) : NULL;
  if (sign > from + 1 || to > sign + 1) return NULL;
  const char *low = sign > from ? SAY(f, "%s >= %s", position, TEXT(f, from, from)) : "",
             *high = to > sign ? SAY(f, "%s < %s", position, TEXT(f, to, to)) : "";
  return SAY(f, "%s%s%s", low, *low && *high ? " and " : "", high);
}

/* `a[a > 5] = 0`, `a[1:3] = 0`, `m[0, :] += 1`, for a number: the new array, of the same type. */
const char *fl_foreign_part_given(FlForeign *f, int first, int last) {
  static const char *const signs = "= += -= *= /=";
  int close = word(f, first) && IS(f, first + 1, "[") ? pair(f, first + 1) : -1, sign = close + 1;
  if (close < 0 || !ANY(f, sign, signs) || last > sign + 2) return NULL;
  bool negative = last == sign + 2 && IS(f, sign + 1, "-");
  if (!fl_foreign_kind(f, last, FL_FOREIGN_NUMBER) || !(last == sign + 1 || negative)) return NULL;
  const char *a = TEXT(f, first, first), *value = TEXT(f, sign + 1, last), *asked = NULL, *element = a;
  int comma = fl_foreign_end(f, first + 2) + 1;
  bool mask = false, range = false;
  for (int i = first + 2; i < close; i++) mask = mask || ANY(f, i, "< > <= >= == !=");
  for (int i = first + 2; i < close; i++) range = range || ANY(f, i, ": ..");
  if (!mask && !range) return NULL; /* one element is given a value so in flow, too */
  if (!mask) {
    bool two = IS(f, comma, ",");
    const char *rows = taken(f, first + 2, comma - 1, "i"),
               *columns = two ? taken(f, comma + 1, close - 1, "j") : "";
    if (!rows || !columns || !(*rows || *columns)) return NULL;
    asked = SAY(f, "%s%s%s", rows, *rows && *columns ? " and " : "", columns);
    element = SAY(f, two ? "%s[i, j]" : "%s[i]", a);
  }
  if (!IS(f, sign, "="))
    value = SAY(f, "%s %s %s", element, fl_arena_strndup(f->arena, TEXT(f, sign, sign), 1), value);
  FlForeign where = part(f, TEXT(f, first + 2, close - 1));
  const char *by =
      mask ? SAY(f, "if_else(%s, %s, %s)", fl_foreign_by_rules(&where), value, a)
           : SAY(f, "[for i in 0..len(%s)%s: if %s { %s } else { %s }]", a,
                 IS(f, comma, ",") ? SAY(f, ", j in 0..len(%s[0])", a) : "", asked, value, element);
  return fl_foreign_holds(f, SAY(f, "var _of = %s\n_of = %s", a, by)) ? by : NULL;
}

bool fl_foreign_parts(FlForeign *f) {
  static FlForeignRule *const rules[] = {most_of_groups, duplicates, ordered,     masked,     framed,
                                         located,        shape,      correlation, first_rows, positions};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
    if (rules[k](f)) return true;
  return false;
}
