/* foreign_query.c: queries of SQL as pipes.
 *
 * In: a statement. Out: one change: a query of one table or of joined ones becomes a pipe in the order in
 * which it is computed. What always holds: what has a clause or a window that is not known here is left as it
 * is. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_query.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

static const char *const clauses =
    "from FROM where WHERE group GROUP having HAVING order ORDER limit LIMIT offset OFFSET "
    "join JOIN left LEFT right RIGHT inner INNER full FULL cross CROSS union UNION";

/* ---- the list ---- */

/* One of the list behind `select`. */
static bool item(FlForeign *f, Query *q, int from, int to) {
  Item out = {0};
  bool as = to - from > 1 && ANY(f, to - 1, "as AS"), bare = to > from && word(f, to) && IS(f, to - 1, ")");
  if (as || bare) out.name = TEXT(f, to, to);
  int end = as ? to - 2 : bare ? to - 1 : to, over = from;
  if (from == to && IS(f, from, "*")) return q->all = true;
  while (over < end && !ANY(f, over, "over OVER")) over++;
  if (over < end && IS(f, over + 1, "(")) {
    out.text = fl_query_windows(f, q, from, end);
    if (!out.name) out.name = TEXT(f, from, from);
  } else {
    out.text = fl_query_expression(f, q, TEXT(f, from, end), &out.total);
  }
  if (!out.text) return false;
  FlForeign p = part(f, out.text);
  out.column = p.tokens.n == 1 && word(&p, 0);
  bool call = p.tokens.n == 4 && IS(&p, 1, "(") && word(&p, 2);
  if (!out.name && !out.column)
    out.name = call ? TEXT(&p, 2, 2) : strcmp(out.text, "count()") == 0 ? "n" : NULL;
  if (out.name && out.column && strcmp(out.name, out.text) == 0) out.name = NULL;
  fl_vec_push(f->arena, &q->items, out);
  return out.name || out.column;
}

/* ---- clauses ---- */

/* Two totals of one column are called by what they are, too: `min_day`, `max_day`. */
static void told_apart(FlForeign *f, Query *q) {
  for (int k = 0; k < q->items.n; k++)
    for (int i = 0; i < k; i++) {
      Item *a = &q->items.at[i], *b = &q->items.at[k];
      if (!a->name || !b->name || strcmp(a->name, b->name) != 0 || !a->total || !b->total) continue;
      Item *both[] = {a, b};
      const char *column = b->name;
      for (int n = 0; n < 2; n++) {
        FlForeign p = part(f, both[n]->text);
        both[n]->name = SAY(f, "%s_%s", TEXT(&p, 0, 0), column);
      }
    }
}

/* The keys of groups: what is selected by a name, or as it stands, or at a position, has its name. */
static const char *named_keys(FlForeign *f, Query *q) {
  FlForeign p = part(f, q->keys);
  FlForeignArgs keys = {0};
  const char *out = "";
  fl_foreign_split(&p, 0, p.tokens.n - 1, &keys);
  for (int n = 0; n < keys.n; n++) {
    const char *key = keys.at[n].text;
    bool position = strspn(key, "0123456789") == strlen(key), found = false;
    for (int k = 0; k < q->items.n && !found; k++) {
      Item *i = &q->items.at[k];
      bool own = i->name && strcmp(i->name, key) == 0;
      if (i->total || !(own || fl_foreign_same(i->text, key) || (position && k == atoi(key) - 1))) continue;
      out = i->name ? SAY(f, "%s%s%s = %s", out, n ? ", " : "", i->name, i->text)
                    : SAY(f, "%s%s%s", out, n ? ", " : "", i->text);
      i->key = found = true;
    }
    if (!found && position) return NULL;
    if (!found) out = SAY(f, "%s%s%s", out, n ? ", " : "", key);
  }
  return out;
}

#define FL_TABLE_READER(name, ...) #name,
static const char *const formats[] = {
#include "flow/formats.def"
};
#undef FL_TABLE_READER

/* A table that no name of the script is, but a file beside it, called so and by its format: it is read; else
 * its name. */
static const char *of_file(FlForeign *f, const char *name) {
  FlForeign file = file_of(f), alone = *f;
  alone.file = "";
  bool bound = fl_foreign_binding(&file, name, file.tokens.n) >= 0 ||
               fl_foreign_declared(f, name, "with WITH , param fn stage for");
  for (size_t k = 0; k < sizeof formats / sizeof *formats && !bound; k++) {
    const char *by = SAY(f, "read_%s(\"%s.%s\")", formats[k], name, formats[k]);
    if (fl_foreign_holds(&alone, SAY(f, "let _of = %s", by))) return by;
  }
  return name;
}

/* A table and what it is called in the query: the token behind both. */
static int named(FlForeign *f, Query *q, int at, int end, const char **table) {
  bool file = fl_foreign_plain(f, at) != NULL;
  if (!(word(f, at) || file) || ANY(f, at, clauses)) return -1;
  const char *dot = file ? strrchr(fl_foreign_plain(f, at), '.') : NULL;
  if (file && !dot) return -1;
  *table = file ? SAY(f, "read_%s(%s)", dot + 1, TEXT(f, at, at)) : TEXT(f, at, at);
  fl_vec_push(f->arena, &q->aliases, *table);
  if (!file && !IS(f, at + 1, "(")) *table = of_file(f, *table);
  at++;
  int call = IS(f, at, "(") && !file ? pair(f, at) : -1; /* a file that is read */
  if (call > 0 && call < end) *table = TEXT(f, at - 1, call), at = call + 1;
  if (at < end && ANY(f, at, "as AS")) at++;
  if (at < end && word(f, at) && !ANY(f, at, clauses) && !ANY(f, at, "on ON using USING")) {
    fl_vec_push(f->arena, &q->aliases, TEXT(f, at, at));
    at++;
  }
  return at;
}

/* `on a.k = b.k and a.l = b.l`, `using (k)`: the keys; NULL: another condition. *at: behind it. other: of the
 * aliases the first of the right table. */
static const char *joined_by(FlForeign *f, const Query *q, int other, int *at, int end) {
  if (ANY(f, *at, "using USING") && pair(f, *at + 1) > 0) {
    int close = pair(f, *at + 1);
    const char *keys = TEXT(f, *at + 2, close - 1);
    *at = close + 1;
    return strchr(keys, ',') ? SAY(f, "(%s)", keys) : keys;
  }
  const char *left = "", *right = "";
  if (!ANY(f, *at, "on ON")) return NULL;
  for (int i = *at + 1; i < end; i++) {
    int l = IS(f, i + 1, ".") ? i + 2 : i, sign = l + 1, r = IS(f, sign + 2, ".") ? sign + 3 : sign + 1;
    if (!word(f, l) || !ANY(f, sign, "= ==") || !word(f, r)) return NULL;
    bool turned = false; /* `on b.k = a.k` */
    for (int k = other; k < q->aliases.n; k++) turned = turned || (l > i && IS(f, i, q->aliases.at[k]));
    left = SAY(f, "%s%s%s", left, *left ? ", " : "", turned ? TEXT(f, r, r) : TEXT(f, l, l));
    right = SAY(f, "%s%s%s", right, *right ? ", " : "", turned ? TEXT(f, l, l) : TEXT(f, r, r));
    *at = i = r + 1;
    if (i >= end || !ANY(f, i, "and AND")) break;
  }
  return fl_foreign_keys(f, SAY(f, "[%s]", left), SAY(f, "[%s]", right));
}

/* The tables behind `from`; the token behind them, or -1. */
static int tables(FlForeign *f, Query *q, int at, int end) {
  at = named(f, q, at, end, &q->tables);
  while (at >= 0 && at < end && ANY(f, at, "join JOIN left LEFT right RIGHT inner INNER full FULL")) {
    const char *how = ANY(f, at, "left LEFT")     ? ", how = \"left\""
                      : ANY(f, at, "right RIGHT") ? ", how = \"right\""
                      : ANY(f, at, "full FULL")   ? ", how = \"full\""
                                                  : "";
    while (at < end && !ANY(f, at, "join JOIN")) at++;
    const char *other;
    const int right = q->aliases.n;
    at = named(f, q, at + 1, end, &other);
    const char *keys = at < 0 ? NULL : joined_by(f, q, right, &at, end);
    if (!keys) return -1;
    q->tables = SAY(f, "%s |> join(%s, on = %s%s)", q->tables, other, keys, how);
  }
  return at;
}

/* `2`, in an order by positions */
static const char *by_position(const Query *q, const char *order) {
  size_t n = strspn(order, "0123456789");
  int k = n && !order[n] ? atoi(order) - 1 : -1;
  if (k < 0 || k >= q->items.n) return n && !order[n] ? NULL : order;
  return q->items.at[k].name ? q->items.at[k].name : q->items.at[k].text;
}

static const char *ordered(FlForeign *f, const Query *q, int from, int to) {
  const char *out = "";
  bool total = false;
  for (int at = from; at <= to;) {
    int end = fl_foreign_end(f, at), last;
    if (end > to) end = to;
    for (last = end; last > at && ANY(f, last, "asc ASC desc DESC first FIRST last LAST nulls NULLS");)
      last--;
    bool down = ANY(f, last + 1, "desc DESC");
    const char *key = by_position(q, fl_query_expression(f, q, TEXT(f, at, last), &total));
    for (int k = 0; key && k < q->items.n; k++) /* what is selected has its name */
      if (q->items.at[k].name && strcmp(q->items.at[k].text, key) == 0) key = q->items.at[k].name;
    if (!key) return NULL;
    out = SAY(f, down ? "%s%sdesc(%s)" : "%s%s%s", out, *out ? ", " : "", key);
    at = end + 2;
  }
  return out;
}

static bool clause(FlForeign *f, Query *q, int word_at, int to) {
  bool total = false, by = ANY(f, word_at + 1, "by BY");
  int from = word_at + 1 + by;
  if (from > to) return false;
  const char *text = fl_query_expression(f, q, TEXT(f, from, to), &total);
  if (ANY(f, word_at, "where WHERE")) q->where = text;
  else if (ANY(f, word_at, "having HAVING")) q->having = text;
  else if (ANY(f, word_at, "group GROUP") && by) q->keys = text;
  else if (ANY(f, word_at, "limit LIMIT") && from == to) q->limit = text;
  else if (ANY(f, word_at, "offset OFFSET") && from == to) q->offset = text;
  else if (ANY(f, word_at, "order ORDER") && by) return (q->order = ordered(f, q, from, to)) != NULL;
  else return false;
  return true;
}

/* ---- the pipe ---- */

static bool says(FlForeign *f, const char *text, const Query *q) {
  FlForeign p = part(f, text);
  for (int i = 0; i < p.tokens.n; i++)
    for (int k = 0; k < q->items.n; k++)
      if (q->items.at[k].name && IS(&p, i, q->items.at[k].name)) return true;
  return false;
}

/* The items as arguments of a verb; totals: of `summarize`, without the keys. NULL: they are more. */
static const char *arguments(FlForeign *f, const Query *q, bool totals) {
  const char *out = "";
  for (int k = 0; k < q->items.n; k++) {
    const Item *i = &q->items.at[k];
    if (totals && !i->total) {
      if (!q->keys || (!i->key && (!i->column || i->name))) return NULL;
      continue;
    }
    out = i->name ? SAY(f, "%s%s%s = %s", out, *out ? ", " : "", i->name, i->text)
                  : SAY(f, "%s%s%s", out, *out ? ", " : "", i->text);
  }
  return out;
}

/* The query as a pipe; NULL: it is more than one says. */
static const char *piped(FlForeign *f, const Query *q) {
  bool totals = q->keys != NULL;
  for (int k = 0; k < q->items.n; k++) totals = totals || q->items.at[k].total;
  const char *out = q->tables, *listed = arguments(f, q, totals);
  bool late = q->order && says(f, q->order, q);
  if (!listed || (totals && (q->windows || q->all)) || (q->all && q->items.n && !q->windows)) return NULL;
  if (q->where) out = SAY(f, "%s |> where(%s)", out, q->where);
  if (q->keys) out = SAY(f, "%s |> group_by(%s)", out, q->keys);
  bool named_having = q->having && says(f, q->having, q);
  if (q->having && !q->keys) return NULL;
  if (q->having && !named_having) out = SAY(f, "%s |> where(%s)", out, q->having);
  if (totals && *listed) out = SAY(f, "%s |> summarize(%s)", out, listed);
  if (totals && !*listed) out = SAY(f, "%s |> summarize(n = count()) |> drop(n)", out);
  if (named_having) out = SAY(f, "%s |> where(%s)", out, q->having);
  if (q->windows) out = fl_query_derived(f, q, out);
  if (!out) return NULL;
  bool before = q->order && !late && !q->windows && !q->distinct;
  if (before) out = SAY(f, "%s |> sort(%s)", out, q->order);
  if (!totals && !q->windows && !q->all) out = SAY(f, "%s |> select(%s)", out, listed);
  if (q->distinct) out = SAY(f, "%s |> distinct", out);
  if (q->order && !before) out = SAY(f, "%s |> sort(%s)", out, q->order);
  if (q->limit && q->offset) return SAY(f, "(%s)[%s..%s + %s]", out, q->offset, q->offset, q->limit);
  return q->limit ? SAY(f, "%s |> head(%s)", out, q->limit) : out;
}

/* `select x, sum(y) from t where c group by x having h order by x desc limit n`, from one token to another */
static const char *query(FlForeign *f, int first, int last) {
  Query q = {.partition = "", .window = ""};
  int from = first + 1, end = last + 1;
  while (from < end && !ANY(f, from, "from FROM")) from = pair(f, from) > from ? pair(f, from) + 1 : from + 1;
  int at = from < end ? tables(f, &q, from + 1, end) : -1, list = first + 1;
  if (at < 0) return NULL;
  q.distinct = ANY(f, list, "distinct DISTINCT") && !IS(f, list + 1, "(");
  for (list += q.distinct; list < from;) {
    int to = fl_foreign_end(f, list);
    if (to >= from) to = from - 1;
    if (!item(f, &q, list, to)) return NULL;
    list = to + 2;
  }
  while (at < end) {
    int to = at + 1;
    while (to < end && !ANY(f, to, clauses)) to = pair(f, to) > to ? pair(f, to) + 1 : to + 1;
    if (!clause(f, &q, at, to - 1)) return NULL;
    at = to;
  }
  if (q.keys && !(q.keys = named_keys(f, &q))) return NULL;
  told_apart(f, &q);
  return piped(f, &q);
}

/* `select .. union all select ..`: tables below each other; `union`: each row once. An order behind them is
 * of both, which no part of them says. */
static const char *queries(FlForeign *f, int first, int last) {
  if (IS(f, last, ";")) last--;
  const char *out = "";
  bool once = false;
  for (int from = first, n = 0; from <= last; n++) {
    int to = from;
    while (to <= last && !ANY(f, to, "union UNION")) to = pair(f, to) > to ? pair(f, to) + 1 : to + 1;
    if (n == 0 && to > last) return query(f, first, last);
    for (int k = from; k < to; k++)
      if (ANY(f, k, "order ORDER limit LIMIT")) return NULL;
    const char *one = ANY(f, from, "select SELECT") ? query(f, from, to - 1) : NULL;
    if (!one) return NULL;
    out = SAY(f, "%s%s%s", out, n ? ", " : "", one);
    bool all = ANY(f, to + 1, "all ALL");
    once = once || (to <= last && !all);
    from = to + 1 + all;
  }
  return SAY(f, once ? "distinct(concat(%s))" : "concat(%s)", out);
}

/* ---- what stands in a pipe ---- */

/* `join(u on a = b)`: without the brackets */
static bool join_in_brackets(FlForeign *f) {
  for (int i = 1; i + 4 < f->tokens.n; i++) {
    bool step = ANY(f, i, "join JOIN") && ANY(f, i - 1, "|> left LEFT right RIGHT full FULL inner INNER");
    int close = step && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    for (int k = i + 3; k < close && k < i + 6; k++)
      if (ANY(f, k, "on ON using USING") && !IS(f, k + 1, "=") && !IS(f, k - 1, ","))
        return PUT(f, i + 1, close, SAY(f, " %s", TEXT(f, i + 2, close - 1)));
  }
  return false;
}

/* `|> order by x desc`, `|> group by k`, `|> limit 3`, `|> left join u on a = b`: clauses as steps of a pipe
 * */
static bool clause_in_pipe(FlForeign *f) {
  static const char *const flow[][2] = {{"order ORDER", "sort"},
                                        {"group GROUP", "group_by"},
                                        {"limit LIMIT", "head"},
                                        {"where WHERE", "where"},
                                        {"select SELECT", "select"}};
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!IS(f, i - 1, "|>") || IS(f, i + 1, "(") || IS(f, i + 1, "|>")) continue;
    int from = i + 1 + ANY(f, i + 1, "by BY"), end = from;
    while (end + 1 < f->tokens.n && !IS(f, end + 1, "|>") && !fl_foreign_kind(f, end + 1, FL_FOREIGN_LINE))
      end = pair(f, end + 1) > end ? pair(f, end + 1) : end + 1;
    int join = ANY(f, i, "left LEFT right RIGHT full FULL inner INNER") ? i + 1 : i, keys_at = join + 2;
    if (ANY(f, join, "join JOIN") && word(f, join + 1)) {
      Query q = {0};
      const char *other, *keys = NULL;
      keys_at = named(f, &q, join + 1, end + 1, &other);
      if (keys_at > 0) keys = joined_by(f, &q, 0, &keys_at, end + 1);
      bool inner = join == i || ANY(f, i, "inner INNER");
      const char *how = ANY(f, i, "left LEFT") ? "left" : ANY(f, i, "right RIGHT") ? "right" : "full";
      if (keys && keys_at == end + 1)
        return PUT(f, i, end,
                   inner ? SAY(f, "join(%s, on = %s)", other, keys)
                         : SAY(f, "join(%s, on = %s, how = \"%s\")", other, keys, how));
    }
    for (size_t k = 0; k < sizeof flow / sizeof *flow && from < f->tokens.n; k++)
      if (ANY(f, i, flow[k][0]))
        return PUT(
            f, i, end,
            SAY(f, "%s(%s)", flow[k][1], k == 0 ? fl_foreign_order(f, from, end) : TEXT(f, from, end)));
  }
  return false;
}

/* `select(x, f(y) over (partition by k order by z) as n)`, `derive(..)`: the window is the verb's. */
static bool window_in_verb(FlForeign *f) {
  for (int i = 2; i + 3 < f->tokens.n; i++) {
    int close = ANY(f, i, "select derive mutate with_columns") && IS(f, i - 1, "|>") && IS(f, i + 1, "(")
                    ? pair(f, i + 1)
                    : -1;
    Query q = {.partition = "", .window = ""};
    bool good = close > 0;
    for (int at = i + 2, end; good && at < close; at = end + 2) {
      const bool named = word(f, at) && IS(f, at + 1, "=");
      end = fl_foreign_end(f, at);
      good = item(f, &q, named ? at + 2 : at, end);
      if (good && named && q.items.n) q.items.at[q.items.n - 1].name = TEXT(f, at, at);
    }
    if (!good || !q.windows) continue;
    q.all = q.all || !IS(f, i, "select");
    int begin = fl_foreign_begin(f, i - 2);
    while (begin > 0 && IS(f, begin - 1, "|>")) begin = fl_foreign_begin(f, begin - 2);
    q.tables = TEXT(f, begin, i - 2);
    const char *made = fl_query_derived(f, &q, "");
    if (made) return PUT(f, i - 1, close, made + 1);
  }
  return false;
}

/* ---- where queries stand ---- */

/* `(select avg(x) from t where c)` as a value, `x in (select k from t)` as an array: `mean(t.x)`, `t.k` */
static bool one_value(FlForeign *f) {
  for (int i = 0; i + 4 < f->tokens.n; i++) {
    int close = IS(f, i, "(") && ANY(f, i + 1, "select SELECT") ? pair(f, i) : -1;
    bool array = ANY(f, i - 1, "in IN");
    if (close < 0 || !(array || ANY(f, i - 1, "< > <= >= = == != <> + - * /"))) continue;
    int call = IS(f, i + 3, "(") ? pair(f, i + 3) : i + 2, from = call + 1;
    const char *by = call > i + 2 ? fl_foreign_aggregate(TEXT(f, i + 2, i + 2)) : NULL;
    bool one = call == i + 2 ? array : !array && by && call == i + 5;
    if (!one || !ANY(f, from, "from FROM") || !word(f, from + 1)) continue;
    const char *table = TEXT(f, from + 1, from + 1), *x = by ? TEXT(f, i + 4, i + 4) : TEXT(f, i + 2, i + 2);
    bool where = ANY(f, from + 2, "where WHERE");
    if (!where && from + 2 != close) continue;
    for (int k = from + 3; k < close; k++)
      if (ANY(f, k, clauses)) return false;
    if (where) table = SAY(f, "(%s |> where(%s))", table, TEXT(f, from + 3, close - 1));
    return PUT(f, i, close, by ? SAY(f, "%s(%s.%s)", by, table, x) : SAY(f, "%s.%s", table, x));
  }
  return false;
}

/* `with a as (select ..) select ..`: the tables have their names. */
static bool with_names(FlForeign *f) {
  if (!ANY(f, 0, "with WITH")) return false;
  const char *out = "";
  int at = 1;
  for (;; at++) {
    int close = word(f, at) && ANY(f, at + 1, "as AS") && IS(f, at + 2, "(") ? pair(f, at + 2) : -1;
    if (close < 0) return false;
    out = SAY(f, "%slet %s = %s\n", out, TEXT(f, at, at), TEXT(f, at + 3, close - 1));
    at = close + 1;
    if (!IS(f, at, ",")) break;
  }
  const char *rest = ANY(f, at, "select SELECT") ? query(f, at, f->tokens.n - 1) : NULL;
  if (!rest) return false;
  FlForeign p = part(f, out);
  for (int i = p.tokens.n - 1; i >= 0; i--) {
    if (!ANY(&p, i, "select SELECT")) continue;
    int end = i;
    while (end + 1 < p.tokens.n && !(fl_foreign_kind(&p, end + 1, FL_FOREIGN_LINE) && IS(&p, end + 2, "let")))
      end++;
    if (end + 1 == p.tokens.n && fl_foreign_kind(&p, end, FL_FOREIGN_LINE)) end--;
    const char *by = query(&p, i, end);
    if (!by) return false;
    PUT(&p, i, end, by);
  }
  return PUT(f, 0, f->tokens.n - 1, SAY(f, "%s%s |> show", p.text, rest));
}

/* `sqldf("select ..")`, `duckdb.sql("select ..").df()`: the query that the text has */
static bool in_text(FlForeign *f) {
  for (int i = 0; i + 3 < f->tokens.n; i++) {
    bool of_engine =
        ANY(f, i, "sqldf read_sql read_sql_query") || (ANY(f, i, "sql query") && IS(f, i - 1, "."));
    int close = of_engine && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    const char *t = close > 0 && literal(f, i + 2) ? TEXT(f, i + 2, i + 2) : "";
    size_t quotes = strncmp(t, "\"\"\"", 3) == 0 ? 3 : 1, n = strlen(t);
    while (n > 2 * quotes && strchr(" \n\t", t[quotes])) t++, n--;
    if (n < 2 * quotes + 6 ||
        (strncmp(t + quotes, "select", 6) != 0 && strncmp(t + quotes, "SELECT", 6) != 0))
      continue;
    int first = fl_foreign_operand(f, i);
    if (IS(f, close + 1, ".") && ANY(f, close + 2, "df pl fetchdf to_df collect") && IS(f, close + 3, "("))
      close = pair(f, close + 3);
    const char *text = fl_arena_strndup(f->arena, t + quotes, n - 2 * quotes);
    return PUT(f, first, close, SAY(f, first == 0 ? "%s" : "(%s)", text));
  }
  return false;
}

/* `case when c then a when d then b else e end` */
static bool case_of(FlForeign *f) {
  for (int i = f->tokens.n - 1; i >= 0; i--) {
    if (!ANY(f, i, "case CASE") || !ANY(f, i + 1, "when WHEN")) continue;
    const char *by = "";
    int at = i + 1, from = i + 2, then = -1;
    for (; at < f->tokens.n && !ANY(f, at, "end END"); at++) {
      if (pair(f, at) > at) at = pair(f, at);
      else if (ANY(f, at, "then THEN")) {
        by = SAY(f, "%sif %s { ", by, fl_foreign_asked(f, from, at - 1));
        then = at + 1;
      } else if (ANY(f, at, "when WHEN else ELSE") && then > 0) {
        by = SAY(f, "%s%s } else ", by, TEXT(f, then, at - 1));
        from = at + 1;
        then = -1;
      }
    }
    if (at >= f->tokens.n || at == from) return false;
    by = then > 0 ? SAY(f, "%s%s } else { null }", by, TEXT(f, then, at - 1))
                  : SAY(f, "%s{ %s }", by, TEXT(f, from, at - 1));
    return PUT(f, i, at, by);
  }
  return false;
}

bool fl_foreign_query(FlForeign *f) {
  bool any = false;
  if (join_in_brackets(f) || clause_in_pipe(f) || window_in_verb(f)) return true;
  for (int i = 0; i < f->tokens.n && !any; i++)
    any = ANY(f, i, "select SELECT Select case CASE sqldf") ||
          (literal(f, i) && ANY(f, i - 2, "sql read_sql read_sql_query query"));
  if (!any) return false;
  if (in_text(f)) return true;
  for (int i = f->tokens.n - 1; i > 0; i--) /* a query goes over lines */
    if (fl_foreign_kind(f, i, FL_FOREIGN_LINE) && ANY(f, 0, "select SELECT with WITH"))
      return PUT(f, i, i, " ");
  if (case_of(f) || one_value(f) || with_names(f)) return true;
  for (int i = f->tokens.n - 1; i >= 0; i--) {
    bool begins = i == 0 || ANY(f, i - 1, "= <- (");
    if (!begins || !ANY(f, i, "select SELECT Select") || IS(f, i + 1, "(")) continue;
    bool inside = i && IS(f, i - 1, "(");
    const char *by = queries(f, i, (inside ? pair(f, i - 1) : f->tokens.n) - 1);
    if (by) return PUT(f, i, (inside ? pair(f, i - 1) : f->tokens.n) - 1, i ? by : SAY(f, "%s |> show", by));
  }
  return false;
}
