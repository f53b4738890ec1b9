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
  const char *groups = first_of(f, text, "summarize", &args);
  if (!groups || args.n != 2 || !args.at[1].name || !first_of(f, groups, "group_by", &of) || of.n != 2)
    return false;
  *key = of.at[1].name ? of.at[1].name : of.at[1].text, *value = args.at[1].name;
  return true;
}

/* `for k, g in t.groupby("k") {`: of each key its rows, which pandas sorts by key. */
bool fl_foreign_groups_in_turn(FlForeign *f) {
  for (int i = 0; i + 10 < f->tokens.n; i++) {
    int at = i + 5; /* the table */
    bool names = IS(f, i, "for") && word(f, i + 1) && IS(f, i + 2, ",") && word(f, i + 3);
    bool groups = IS(f, at + 1, ".") && ANY(f, at + 2, "groupby group_by");
    if (!names || !IS(f, i + 4, "in") || !word(f, at) || !groups) continue;
    int list = IS(f, at + 4, "[") ? 1 : 0, close = pair(f, at + 3);
    const char *column = fl_foreign_plain(f, at + 4 + list), *table = TEXT(f, at, at);
    if (!column || close != at + 5 + 2 * list || !IS(f, close + 1, "{")) continue;
    const char *by = TEXT(f, i + 1, i + 1);
    return PUT(f, i, close + 1,
               SAY(f, "for %s in sort(distinct(%s, %s).%s) {\nlet %s = %s[%s.%s == %s]\n", by, table, column,
                   column, TEXT(f, i + 3, i + 3), table, table, column, by));
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
    if (fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", table)))
      return PUT(f, from, all ? close : close + 4, SAY(f, "select(describe(%s), column, nulls)", table));
  }
  return false;
}

const char *fl_foreign_matrix(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  const char *now = fl_foreign_by_rules(&p);
  if (!now || !fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", now))) return text;
  FlForeignArgs args = {0};
  if (!first_of(f, now, "select", &args)) return SAY(f, "matrix(%s)", now);
  return SAY(f, "matrix%s", strchr(now, '('));
}
