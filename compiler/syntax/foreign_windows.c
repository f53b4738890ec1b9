/* foreign_windows.c: windows of queries, `f(x) over (partition by k order by y)`, as steps of a pipe.
 *
 * In: an expression of a query. Out: the same in flow, with its window as the query's; then the steps that
 * compute them. What always holds: the windows of a query are one, and another one is not known. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_query.h"
#include "syntax/foreign_words.h"

/* Aggregates and columns by their names here: `COUNT(*)`, `AVG(x)`, `s.x` */
const char *fl_query_expression(FlForeign *f, const Query *q, const char *text, bool *total) {
  FlForeign p = part(f, text);
  for (int i = p.tokens.n - 1; i >= 0; i--) {
    int close = IS(&p, i + 1, "(") ? pair(&p, i + 1) : -1;
    for (int k = 0; k < q->aliases.n; k++)
      if (IS(&p, i, q->aliases.at[k]) && IS(&p, i + 1, ".") && !(i && IS(&p, i - 1, ".")))
        PUT(&p, i, i + 1, "");
    const char *by = close > 0 && word(&p, i) ? fl_foreign_aggregate(TEXT(&p, i, i)) : NULL;
    if (!by) continue;
    *total = true;
    if (close == i + 3 && IS(&p, i + 2, "*")) PUT(&p, i, close, "count()");
    else if (ANY(&p, i + 2, "distinct DISTINCT") && strcmp(by, "count") == 0)
      PUT(&p, i, i + 2, "n_distinct(");
    else PUT(&p, i, i, by);
  }
  return p.text;
}

/* `f(x) over (partition by k order by y)` up to the token `close`; its window is the query's. NULL: another
 * one. */
static const char *windowed(FlForeign *f, Query *q, int from, int over, int close) {
  int at = over + 2;
  const char *keys = "", *order = "";
  if (ANY(f, at, "partition PARTITION")) {
    int end = at + 2;
    while (end < close && !ANY(f, end, "order ORDER rows ROWS range RANGE")) end++;
    keys = TEXT(f, at + 2, end - 1);
    at = end;
  }
  if (ANY(f, at, "order ORDER")) {
    order = fl_foreign_order(f, at + 2, close - 1);
    for (int k = at; k < close; k++)
      if (ANY(f, k, "rows ROWS range RANGE")) return NULL;
    at = close;
  }
  if (at != close || (q->windows && (strcmp(q->partition, keys) != 0 || strcmp(q->window, order) != 0)))
    return NULL;
  q->windows = true, q->partition = keys, q->window = order;
  const char *name = TEXT(f, from, from);
  bool total = false;
  if (fl_foreign_same_word(name, "row_number")) return *order ? "row_number() + 1" : NULL;
  if (fl_foreign_same_word(name, "rank") || fl_foreign_same_word(name, "dense_rank"))
    return *order && !strchr(order, ',')
               ? SAY(f, "rank(%s, method = \"%s\")", order, strlen(name) == 4 ? "min" : "dense")
               : NULL;
  if (fl_foreign_same_word(name, "lag") || fl_foreign_same_word(name, "lead"))
    return *order ? SAY(f, "%s%s", strlen(name) == 3 ? "lag" : "lead",
                        fl_query_expression(f, q, TEXT(f, from + 1, over - 1), &total))
                  : NULL;
  if (*order && fl_foreign_same_word(name, "sum") && !ANY(f, from + 2, "distinct DISTINCT")) {
    q->running = true; /* rows that are equal in the order have the sum up to the last of them */
    return SAY(f, "cumsum%s", fl_query_expression(f, q, TEXT(f, from + 1, over - 1), &total));
  }
  return *order || !fl_foreign_aggregate(name) ? NULL
                                               : fl_query_expression(f, q, TEXT(f, from, over - 1), &total);
}

/* An expression in which `f(x) over (..)` stands, with its window as the query's; NULL: another window. */
const char *fl_query_windows(FlForeign *f, Query *q, int from, int to) {
  const char *out = "";
  bool total = false;
  int rest = from;
  for (int over = from + 1; over < to; over++) {
    int close = ANY(f, over, "over OVER") && IS(f, over + 1, "(") ? pair(f, over + 1) : -1;
    int call = close > 0 ? fl_foreign_operand(f, over - 1) : -1;
    if (call < rest) continue;
    const char *by = windowed(f, q, call, over, close);
    if (!by) return NULL;
    const char *before = call > rest ? fl_query_expression(f, q, TEXT(f, rest, call - 1), &total) : "";
    out = SAY(f, "%s%s%s%s", out, before, *before ? " " : "", by);
    rest = over = close + 1;
  }
  if (rest == from || total) return NULL;
  return rest <= to ? SAY(f, "%s %s", out, fl_query_expression(f, q, TEXT(f, rest, to), &total)) : out;
}

const char *fl_query_derived(FlForeign *f, const Query *q, const char *out) {
  const char *made = "", *names = "";
  for (int k = 0; k < q->items.n; k++) {
    const Item *i = &q->items.at[k];
    if (i->name) made = SAY(f, "%s, %s = %s", made, i->name, i->text);
    names = SAY(f, "%s%s%s", names, *names ? ", " : "", i->name ? i->name : i->text);
  }
  if (*q->window) out = SAY(f, "%s |> sort(%s)", out, q->window);
  const char *keys = strchr(q->partition, ',') ? SAY(f, "(%s)", q->partition) : q->partition;
  out =
      *keys ? SAY(f, "%s |> derive(by = %s%s)", out, keys, made) : SAY(f, "%s |> derive(%s)", out, made + 2);
  FlForeign order = part(f, q->window);
  FlForeignArgs by = {0};
  fl_foreign_split(&order, 0, order.tokens.n - 1, &by);
  const char *peers = q->partition;
  for (int k = 0; k < by.n && q->running; k++) {
    FlForeign one = part(f, by.at[k].text);
    bool down = IS(&one, 0, "desc") && pair(&one, 1) == one.tokens.n - 1;
    peers = SAY(f, "%s%s%s", peers, *peers ? ", " : "", down ? TEXT(&one, 2, one.tokens.n - 2) : one.text);
  }
  for (int k = 0; k < q->items.n && q->running; k++)
    if (q->items.at[k].name && strstr(q->items.at[k].text, "cumsum(")) {
      const char *sum = q->items.at[k].text; /* nulls have no sum here */
      if (!q->tables ||
          !fl_foreign_holds(f, SAY(f, "let _t = derive(%s, of_ = (%s) == (%s))\nlet _of: bool[_] = _t.of_",
                                   q->tables, sum, sum)))
        return NULL;
      out = SAY(f,
                strchr(peers, ',') ? "%s |> derive(by = (%s), %s = last(%s))"
                                   : "%s |> derive(by = %s, %s = last(%s))",
                out, peers, q->items.at[k].name, q->items.at[k].name);
    }
  return q->all ? out : SAY(f, "%s |> select(%s)", out, names);
}

const char *fl_foreign_order(FlForeign *f, int from, int to) {
  const char *out = "";
  for (int at = from; at <= to;) {
    int end = fl_foreign_end(f, at);
    if (end > to) end = to;
    bool down = ANY(f, end, "desc DESC"), up = ANY(f, end, "asc ASC");
    out = SAY(f, down ? "%s%sdesc(%s)" : "%s%s%s", out, *out ? ", " : "", TEXT(f, at, end - (down || up)));
    at = end + 2;
  }
  return out;
}
