/* recover_habits.c: forms of SQL, pandas, Python, R and C that do not parse, in the words of flow.
 *
 * In: the token that does not fit and those around it. Out: one report, by the first rule that knows the
 * form, with an edit where one is sure. What always holds: an edit is made only where what stands around
 * binds less than what is written, so that it means what was meant. */
#include "syntax/recover_words.h"

#include <stdlib.h>

/* ---- SQL ---- */

static bool like(const Place *x) {
  static const char *const words[] = {"like", "LIKE", NULL};
  if (!is_any(x, x->found, words) || !fl_syntax_after_operand(x)) return false;
  return word_error(x, x->found,
                    "write `starts_with(w, \"a\")`, `ends_with(w, \"a\")`, `contains(w, \"a\")` or "
                    "`matches(w, \"a.*b\")`",
                    NULL, NULL, NULL);
}

static bool between(const Place *x) {
  static const char *const words[] = {"between", "BETWEEN", NULL}, *const ands[] = {"and", "AND", NULL};
  if (!is_any(x, x->found, words) || !fl_syntax_after_operand(x)) return false;
  const FlToken *from = operand_before(x), *low = x->next, *high = NULL;
  if (low->kind && is_any(x, low + 1, ands)) high = low + 2;
  const char *by = NULL, *value = text(x, from, x->prev);
  if (high && is_value(low) && is_value(high) && free_before(x, from) && free_behind(high))
    by = fl_arena_printf(x->p->arena, "%s >= %s and %s <= %s", value, text(x, low, low), value,
                         text(x, high, high));
  return word_error(x, x->found,
                    by ? fl_arena_printf(x->p->arena, "write `%s`", by) : "write `x >= a and x <= b`", from,
                    high, by);
}

/* `x is null`, `x is not None` */
static bool is_null(const Place *x) {
  static const char *const words[] = {"is", "IS", NULL}, *const nots[] = {"not", "NOT", NULL},
                           *const nulls[] = {"null", "NULL", "None", "na", "NA", NULL};
  if (!is_any(x, x->found, words) || !fl_syntax_after_operand(x)) return false;
  bool negated = is_any(x, x->next, nots);
  const FlToken *from = operand_before(x), *what = negated ? x->next + 1 : x->next;
  if (!is_any(x, what, nulls) || !free_before(x, from) || !free_behind(what)) return false;
  const char *by =
      fl_arena_printf(x->p->arena, negated ? "not is_null(%s)" : "is_null(%s)", text(x, from, x->prev));
  return word_error(x, x->found, fl_arena_printf(x->p->arena, "write `%s`", by), from, what, by);
}

static bool not_in(const Place *x) {
  static const char *const nots[] = {"not", "NOT", NULL}, *const ins[] = {"in", "IN", NULL};
  if (!is_any(x, x->found, nots) || !is_any(x, x->next, ins) || !fl_syntax_after_operand(x)) return false;
  const char *value = text(x, operand_before(x), x->prev);
  fl_syntax_say(x, FL_E0116, x->found->span, "`not` stands before what it negates",
                fl_arena_printf(x->p->arena, "write `not %s in ..`", value));
  return true;
}

/* `select(k, x as q)`, `cast(x as float)` */
static bool renamed(const Place *x) {
  static const char *const words[] = {"as", "AS", NULL}, *const casts[] = {"cast", "CAST", "try_cast", NULL};
  if (!is_any(x, x->found, words) || !fl_syntax_after_operand(x) || !x->bracket ||
      x->bracket->kind != FL_TOK_LPAREN)
    return false;
  const FlToken *from = operand_before(x);
  const char *value = text(x, from, x->prev);
  if (is_before(x, x->bracket) && is_any(x, x->bracket - 1, casts))
    return word_error(x, x->found,
                      fl_arena_printf(x->p->arena,
                                      "a type converts as a function: `f64(%s)`, `i64(%s)`, `text(%s)`",
                                      value, value, value),
                      NULL, NULL, NULL);
  bool whole = from == x->bracket + 1 || (is_before(x, from) && from[-1].kind == FL_TOK_COMMA);
  const char *by = whole && x->next->kind == FL_TOK_NAME
                       ? fl_arena_printf(x->p->arena, "%s = %s", as_name(x, x->next->name), value)
                       : NULL;
  return word_error(
      x, x->found,
      fl_arena_printf(x->p->arena, "a new name stands before what it names: `%s`", by ? by : "new = x"), from,
      x->next, by);
}

/* `count(*)`, `count(distinct x)` */
static bool counted(const Place *x) {
  static const char *const words[] = {"distinct", "DISTINCT", NULL}, *const counts[] = {"count", "COUNT",
                                                                                        NULL};
  const FlToken *open = x->bracket;
  if (!open || open->kind != FL_TOK_LPAREN || !is_before(x, open) || !is_any(x, open - 1, counts) ||
      open->match < 0)
    return false;
  const FlToken *end = &x->p->tokens.at[open->match];
  if (x->found->kind == FL_TOK_STAR && x->prev == open && x->next == end) {
    replace(
        fl_syntax_say(x, FL_E0101, x->found->span, "`*` is no expression", "rows are counted by `count()`"),
        x->found, x->found, "");
    return true;
  }
  if (!is_any(x, x->prev, words) || x->prev != open + 1 || end <= x->found) return false;
  const char *by = fl_arena_printf(x->p->arena, "n_distinct(%s)", text(x, x->found, end - 1));
  return word_error(x, x->prev, fl_arena_printf(x->p->arena, "different values are counted by `%s`", by),
                    open - 1, end, by);
}

/* `AND`, `OR`, `NOT`, `IN` */
static bool shouted(const Place *x) {
  static const char *const words[][2] = {{"AND", "and"}, {"OR", "or"}, {"IN", "in"}, {"NOT", "not"}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    const FlToken *t = is(x, x->found, words[k][0]) ? x->found : x->prev;
    if (t->kind != FL_TOK_NAME || !is(x, t, words[k][0])) continue;
    if (t == x->found ? !fl_syntax_after_operand(x) : !fl_syntax_begins_operand(x->found->kind)) continue;
    return word_error(x, t, fl_arena_printf(x->p->arena, "write `%s`", words[k][1]), t, t, words[k][1]);
  }
  return false;
}

/* `SELECT k, sum(x) FROM t WHERE ..`: the order of all of it changes. */
static bool query(const Place *x) {
  enum { FAR = 200 };
  static const char *const selects[] = {"select", "SELECT", "Select", NULL}, *const froms[] = {"from", "FROM",
                                                                                               "From", NULL};
  const FlToken *t = x->head;
  while (t < x->found && !(is_any(x, t, selects) && t[1].kind != FL_TOK_LPAREN)) t++;
  if (t >= x->found || t[1].kind == FL_TOK_ASSIGN) return false;
  const FlToken *from = t;
  while (from->kind && from < t + FAR && !is_any(x, from, froms)) from++;
  if (!from->kind || from == t + FAR) return false;
  const char *table = from[1].kind == FL_TOK_NAME ? as_name(x, from[1].name) : "t";
  const char *help = "a query is a pipe, in the order in which it is computed: `%s |> where(x > 1) |> "
                     "group_by(k) |> summarize(n = count()) |> sort(-n)`";
  return word_error(x, t, fl_arena_printf(x->p->arena, help, table), NULL, NULL, NULL);
}

/* Columns of `order by x desc, y`, as arguments: between two tokens. NULL: more than names and directions. */
static const char *columns_of(const Place *x, const FlToken *t, const FlToken *end, bool order) {
  static const char *const downs[] = {"desc", "DESC", NULL}, *const ups[] = {"asc", "ASC", NULL};
  const char *all = "";
  for (; t < end; t++) {
    if (t->kind != FL_TOK_NAME) return NULL;
    bool down = order && is_any(x, t + 1, downs), up = order && is_any(x, t + 1, ups);
    all =
        fl_arena_printf(x->p->arena, down ? "%s%sdesc(%s)" : "%s%s%s", all, *all ? ", " : "", text(x, t, t));
    t += 1 + (down || up);
    if (t < end && t->kind != FL_TOK_COMMA) return NULL;
  }
  return *all ? all : NULL;
}

/* `|> order by x desc`, `|> group by k` */
static bool verb_by(const Place *x) {
  static const char *const bys[] = {"by", "BY", NULL}, *const groups[] = {"group", "GROUP", NULL},
                           *const orders[] = {"order", "ORDER", "sort", NULL};
  bool order = is_any(x, x->prev, orders);
  if (!is_any(x, x->found, bys) || !(order || is_any(x, x->prev, groups))) return false;
  const FlToken *end = x->next;
  while (end->kind == FL_TOK_NAME || end->kind == FL_TOK_COMMA) end++;
  const char *columns = columns_of(x, x->next, end, order), *verb = order ? "sort" : "group_by";
  const char *by = columns ? fl_arena_printf(x->p->arena, "%s(%s)", verb, columns) : NULL;
  return word_error(x, x->found,
                    fl_arena_printf(x->p->arena, "write `%s`",
                                    by      ? by
                                    : order ? "sort(desc(x), y)"
                                            : "group_by(k)"),
                    x->prev, end - 1, by);
}

/* `row_number() OVER (PARTITION BY k)` */
static bool window(const Place *x) {
  static const char *const overs[] = {"OVER", "over", NULL};
  if (!is_any(x, x->found, overs) || x->next->kind != FL_TOK_LPAREN) return false;
  return word_error(x, x->found,
                    "a window is of the rows of a group: `t |> sort(y) |> group_by(k) |> derive(i = "
                    "row_number(), so_far = cumsum(x))`",
                    NULL, NULL, NULL);
}

/* The first of these words at the place or behind it, in the same brackets; NULL: the brackets end before. */
static const FlToken *word_ahead(const Place *x, const FlToken *t, const char *const *words) {
  for (; t->kind; t++) {
    if (t->kind == FL_TOK_ELSE ? is_any(x, t, words) : t->kind == FL_TOK_NAME && is_any(x, t, words))
      return t;
    if (t->match >= 0 && &x->p->tokens.at[t->match] < t) return NULL;
    if (t->match >= 0) t = &x->p->tokens.at[t->match];
  }
  return NULL;
}

/* What stands between two tokens; NULL: nothing. */
static const char *between_tokens(const Place *x, const FlToken *a, const FlToken *b) {
  return a && b && a + 1 < b ? text(x, a + 1, b - 1) : NULL;
}

/* `CASE WHEN c THEN a WHEN d THEN b ELSE e END` */
static bool case_when(const Place *x) {
  static const char *const cases[] = {"CASE", "case", NULL}, *const whens[] = {"WHEN", "when", NULL},
                           *const thens[] = {"THEN", "then", NULL}, *const ends[] = {"END", "end", NULL},
                           *const nexts[] = {"WHEN", "when", "ELSE", "else", "END", "end", NULL};
  if (!is_any(x, x->prev, cases) || !is_any(x, x->found, whens)) return false;
  const char *by = "";
  const FlToken *t = x->found, *last = NULL;
  while (t && by && is_any(x, t, whens)) {
    const FlToken *then = word_ahead(x, t + 1, thens), *next = then ? word_ahead(x, then + 1, nexts) : NULL;
    const char *c = between_tokens(x, t, then), *a = between_tokens(x, then, next);
    by = c && a ? fl_arena_printf(x->p->arena, "%sif %s { %s } else ", by, c, a) : NULL;
    t = next;
  }
  last = t && by ? word_ahead(x, t, ends) : NULL;
  const char *other = last == t ? "null" : between_tokens(x, t, last);
  by = last && other ? fl_arena_printf(x->p->arena, "%s{ %s }", by, other) : NULL;
  return word_error(x, x->prev,
                    by ? fl_arena_printf(x->p->arena, "write `%s`", by)
                       : "write `if c { a } else { b }`, or `match x { 1 => a, _ => b }`",
                    x->prev, last, by);
}

/* ---- pandas, Polars, Python, R ---- */

/* `lambda x, y: x + y` */
static bool lambda(const Place *x) {
  const FlToken *word = is(x, x->found, "lambda") ? x->found : x->prev, *t = word + 1;
  if (word->kind != FL_TOK_NAME || !is(x, word, "lambda")) return false;
  while (t->kind == FL_TOK_NAME || t->kind == FL_TOK_COMMA) t++;
  if (t->kind != FL_TOK_COLON) return false;
  const char *names = t > word + 1 ? text(x, word + 1, t - 1) : "";
  const char *by = fl_arena_printf(x->p->arena, t == word + 2 ? "%s =>" : "(%s) =>", names);
  return word_error(x, word, fl_arena_printf(x->p->arena, "a lambda is written `%s ...`", by), word, t, by);
}

/* `function(x) x + 1` */
static bool r_function(const Place *x) {
  if (x->prev->kind != FL_TOK_RPAREN || x->prev->match < 0 || x->found->kind == FL_TOK_NEWLINE) return false;
  const FlToken *open = &x->p->tokens.at[x->prev->match];
  if (!is_before(x, open) || !is(x, open - 1, "function")) return false;
  bool one = open + 2 == x->prev && open[1].kind == FL_TOK_NAME;
  const char *names = one ? text(x, open + 1, open + 1) : text(x, open, x->prev);
  const char *by = fl_arena_printf(x->p->arena, "%s =>", names);
  return word_error(x, open - 1, fl_arena_printf(x->p->arena, "a lambda is written `%s ...`", by), open - 1,
                    x->prev, by);
}

/* `dplyr::filter(t, x > 1)` */
static bool of_namespace(const Place *x) {
  bool second = x->prev->kind == FL_TOK_COLON && x->found->kind == FL_TOK_COLON && is_before(x, x->prev);
  const FlToken *first = second ? x->prev : x->found, *package = first - 1;
  if (first->kind != FL_TOK_COLON || first[1].kind != FL_TOK_COLON || !first[1].glued ||
      first == x->p->tokens.at || package->kind != FL_TOK_NAME || first[2].kind != FL_TOK_NAME)
    return false;
  const char *name = text(x, first + 2, first + 2);
  const char *help = fl_arena_printf(x->p->arena, "a function is its name: `%s`", name);
  FlDiag *d = fl_syntax_say(x, FL_E0112, first->span, "`:` cannot stand here", help);
  replace(d, package, first + 1, "");
  return true;
}

/* `"{:.2f}".format(x)`, `"{}"`: a text with nothing in its braces */
static bool empty_braces(const Place *x) {
  if (x->prev->kind != FL_TOK_INTERP_BEGIN ||
      (x->found->kind != FL_TOK_FORMAT && x->found->kind != FL_TOK_INTERP_END))
    return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "nothing stands in these braces",
                "what is filled in stands there: `\"{x}\"`, with two digits `\"{x:.2f}\"`; a brace alone is "
                "`\\{`");
  return true;
}

/* `return` before what a function gives at its end anyway */
static bool returned(const Place *x) {
  const FlToken *t = x->found, *begin = x->bracket;
  if (!is(x, x->prev, "return") || x->prev != x->head || !begin || begin->kind != FL_TOK_LBRACE) return false;
  while (is_before(x, begin) && begin[-1].kind != FL_TOK_NEWLINE && begin[-1].kind != FL_TOK_LBRACE)
    begin = begin[-1].match >= 0 && &x->p->tokens.at[begin[-1].match] < begin - 1
                ? &x->p->tokens.at[begin[-1].match]
                : begin - 1;
  if (begin->kind != FL_TOK_FN && begin->kind != FL_TOK_STAGE) return false;
  while (t->kind && t->kind != FL_TOK_NEWLINE && t->kind != FL_TOK_RBRACE)
    t = t->match >= 0 && &x->p->tokens.at[t->match] > t ? &x->p->tokens.at[t->match] + 1 : t + 1;
  while (t->kind == FL_TOK_NEWLINE) t++;
  if (t->kind != FL_TOK_RBRACE) return false;
  word_error(x, x->prev, "a block gives its last expression; leave `return` out", x->prev, x->prev, "");
  return true;
}

/* `1:3`, whose end is in it */
static bool range_of(const Place *x) {
  if (x->found->kind != FL_TOK_COLON || x->prev->kind != FL_TOK_INT || !is_value(x->next)) return false;
  if (!x->found->glued || !x->next->glued) return false;
  if (x->bracket && x->bracket->kind == FL_TOK_LBRACKET) return false;
  const FlToken *to = x->next;
  const char *end = to->kind == FL_TOK_INT ? fl_arena_printf(x->p->arena, "%lld", atoll(text(x, to, to)) + 1)
                                           : fl_arena_printf(x->p->arena, "%s + 1", text(x, to, to));
  const char *by = fl_arena_printf(x->p->arena, "%s..%s", text(x, x->prev, x->prev), end);
  FlDiag *d = fl_syntax_say(x, FL_E0112, x->found->span, "`:` cannot stand here",
                            fl_arena_printf(x->p->arena, "a range ends before its end: `%s`", by));
  replace(d, x->prev, to, by);
  return true;
}

/* `mean(x, na.rm = TRUE)` */
static bool dotted_argument(const Place *x) {
  if (x->found->kind != FL_TOK_ASSIGN || x->prev->kind != FL_TOK_NAME || !x->bracket ||
      x->bracket->kind != FL_TOK_LPAREN || !is_before(x, x->prev) || x->prev[-1].kind != FL_TOK_DOT ||
      x->prev - 1 == x->p->tokens.at || x->prev[-2].kind != FL_TOK_NAME)
    return false;
  static const char *const yes[] = {"TRUE", "T", "true", NULL};
  const FlToken *from = x->prev - 2, *behind = x->next + 1;
  bool nulls = is(x, from, "na") && is(x, x->prev, "rm") && is_any(x, x->next, yes) &&
               (behind->kind == FL_TOK_COMMA || behind->kind == FL_TOK_RPAREN);
  FlDiag *d = fl_syntax_say(x, FL_E0101, x->found->span, "the name of an argument has no point",
                            nulls ? "aggregates leave nulls out: `na.rm` is not needed"
                                  : "parameters of a function are said by `flowc explain NAME`");
  if (nulls && from[-1].kind == FL_TOK_COMMA) replace(d, from - 1, x->next, "");
  return true;
}

/* `distinct(k, .keep_all = TRUE)`, `summarise(n = n(), .by = k)` */
static bool pointed_argument(const Place *x) {
  const FlToken *name = x->next, *value = name + 2;
  if (x->found->kind != FL_TOK_DOT || name->kind != FL_TOK_NAME) return false;
  if (name[1].kind != FL_TOK_ASSIGN) return false;
  if (x->prev->kind != FL_TOK_COMMA && x->prev->kind != FL_TOK_LPAREN) return false;
  static const char *const needless[] = {"keep_all", "groups", NULL};
  bool none = is_any(x, name, needless),
       last =
           x->prev->kind == FL_TOK_COMMA && (value[1].kind == FL_TOK_COMMA || value[1].kind == FL_TOK_RPAREN);
  const char *help = none ? "`.%s` is not needed" : "write `%s = ..`";
  FlDiag *d = fl_syntax_say(x, FL_E0101, x->found->span, "the name of an argument has no point",
                            fl_arena_printf(x->p->arena, help, name->name));
  if (!none) replace(d, x->found, x->found, "");
  else if (last) replace(d, x->prev, value, "");
  return true;
}

/* `for i, row in ..` */
static bool loop_names(const Place *x) {
  if (x->found->kind != FL_TOK_COMMA || x->head->kind != FL_TOK_FOR || x->prev != x->head + 1) return false;
  const FlToken *t = x->found;
  while (t->kind == FL_TOK_COMMA || t->kind == FL_TOK_NAME) t++;
  if (t->kind != FL_TOK_IN) return false;
  const char *by = fl_arena_printf(x->p->arena, "(%s)", text(x, x->prev, t - 1));
  FlDiag *d = fl_syntax_say(
      x, FL_E0101, x->found->span, "expected `in`, found `,`",
      fl_arena_printf(x->p->arena,
                      "the parts of a tuple stand in brackets: `for %s in ..`; numbers with values are "
                      "`for i in 0..len(a) { .. a[i] .. }`",
                      by));
  replace(d, x->prev, t - 1, by);
  return true;
}

/* `col("x")`: a column's name alone; `col` is a word of declarations. */
static bool column_call(const Place *x) {
  if (!is(x, x->prev, "col") || x->found->kind != FL_TOK_LPAREN || x->found->match < 0) return false;
  const FlToken *end = &x->p->tokens.at[x->found->match];
  bool plain = x->next->kind == FL_TOK_TEXT && end == x->next + 1;
  const char *name = plain ? name_in(x, x->next) : "x";
  FlDiag *d = fl_syntax_say(x, FL_E0109, x->prev->span, "a column is not called by `col(..)`",
                            fl_arena_printf(x->p->arena, "inside of a verb its name says it: `%s`", name));
  bool of = is_before(x, x->prev) && x->prev[-1].kind == FL_TOK_DOT &&
            x->prev - 1 > x->p->tokens.at; /* pl.col("x") */
  if (plain && (!of || x->prev[-2].kind == FL_TOK_NAME)) replace(d, of ? x->prev - 2 : x->prev, end, name);
  return true;
}

/* `{"x": "mean"}`: what is meant depends on what it is given to. */
static bool mapping(const Place *x) {
  if (x->found->kind != FL_TOK_COLON || !x->bracket || x->bracket->kind != FL_TOK_LBRACE ||
      x->prev->kind != FL_TOK_TEXT)
    return false;
  static const char *const totals[] = {"agg", "aggregate", "summarize", "summarise", NULL};
  const char *help = "values with names are a tuple, `(a = 1, b = 2)`; there are no dictionaries";
  const char *old = name_in(x, x->prev), *value = x->next->kind == FL_TOK_TEXT ? name_in(x, x->next) : NULL;
  const FlToken *from = x->bracket;
  while (is_before(x, from) && from[-1].kind != FL_TOK_NEWLINE) from--;
  for (const FlToken *t = from; value && t < x->bracket; t++) {
    if (is(x, t, "rename"))
      help = fl_arena_printf(x->p->arena,
                             "a new name stands before the old one, without quotes: `t |> rename(%s = %s)`",
                             value, old);
    if (is_any(x, t, totals))
      help = fl_arena_printf(x->p->arena,
                             "an aggregate is named with `=`: `t |> group_by(k) |> summarize(%s = %s(%s))`",
                             old, value, old);
  }
  fl_syntax_say(x, FL_E0112, x->found->span, "`:` cannot stand here", help);
  return true;
}

/* `derive("q" = x)` */
static bool quoted_name(const Place *x) {
  if (x->found->kind != FL_TOK_ASSIGN || x->prev->kind != FL_TOK_TEXT || !x->bracket ||
      x->bracket->kind != FL_TOK_LPAREN)
    return false;
  const char *by = name_in(x, x->prev);
  FlDiag *d = fl_syntax_say(x, FL_E0101, x->prev->span, "a name stands here without quotes",
                            fl_arena_printf(x->p->arena, "write `%s = ..`", by));
  replace(d, x->prev, x->prev, by);
  return true;
}

/* `a[1:]`, `a[:2]`, `a[0:2]` */
static bool slice(const Place *x) {
  if (!x->bracket || x->bracket->kind != FL_TOK_LBRACKET) return false;
  bool before = x->prev->kind == FL_TOK_COLON && is_value(x->found) && x->prev == x->bracket + 1;
  const FlToken *colon = before ? x->prev : x->found;
  if (colon->kind != FL_TOK_COLON || (!before && x->prev->kind == FL_TOK_TEXT)) return false;
  FlDiag *d = fl_syntax_say(x, FL_E0112, colon->span, "`:` cannot stand here",
                            "a range is written with two points: x[1..4], x[..4], x[1..]");
  replace(d, colon, colon, "..");
  return true;
}

/* `[2 * v for v in a]`, `sum(v for v in a)` */
static bool generator_behind(const Place *x) {
  const FlToken *open = x->bracket;
  if (x->found->kind != FL_TOK_FOR || !open || open->kind == FL_TOK_LBRACE || !fl_syntax_after_operand(x))
    return false;
  const char *sample =
      open->kind == FL_TOK_LBRACKET ? "write `[for x in a: 2 * x]`" : "write `sum(for x in a: 2 * x)`";
  fl_syntax_say(x, FL_E0101, x->found->span, "`for` stands before what is computed", sample);
  return true;
}

/* Where what other packages have is here; "": in the language itself. */
static const char *const packages[][2] = {
    {"cluster", "cluster"},
    {"decomposition", "decomposition"},
    {"ensemble", "tree"},
    {"feature_extraction", "text_features"},
    {"linear_model", "linear"},
    {"metrics", "metrics"},
    {"model_selection", "model_selection"},
    {"naive_bayes", "naive_bayes"},
    {"neighbors", "neighbors"},
    {"neural_network", "nn"},
    {"preprocessing", "preprocess"},
    {"tree", "tree"},
    {"stats", "stats"},
    {"torch", "nn"},
    {"math", ""},
    {"numpy", ""},
    {"pandas", ""},
    {"polars", ""},
    {"datetime", ""},
};

static bool imported_from(const Place *x) {
  if (!is(x, x->prev, "from") || x->prev != x->head || x->found->kind != FL_TOK_NAME) return false;
  const FlToken *last = x->found;
  while (last[1].kind == FL_TOK_DOT && last[2].kind == FL_TOK_NAME) last += 2;
  const char *module = last->name;
  for (size_t k = 0; k < sizeof packages / sizeof *packages; k++)
    if (is(x, last, packages[k][0]) || is(x, x->found, packages[k][0])) module = packages[k][1];
  const char *help = !*module                 ? "what it has is part of the language: nothing is imported"
                     : is(x, last, "sklearn") ? "the library is `linear`, `tree`, `cluster`, `metrics`, ..: "
                                                "`import linear`, and `linear.ols(x, y)`"
                                              : fl_arena_printf(x->p->arena,
                                                                "write `import %s`; its functions are "
                                                                "`%s.name`: `flowc doc %s` lists them",
                                                                module, module, module);
  return word_error(x, x->prev, help, NULL, NULL, NULL);
}

static bool remainder_of(const Place *x) { /* y %% 2 */
  if (x->found->kind != FL_TOK_PERCENT || x->prev->kind != FL_TOK_PERCENT || !x->found->glued) return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "`%%` is not an operator", "the remainder is written `a % b`");
  return true;
}

/* ---- R and pandas: all rows ---- */

static bool subscript_left_out(const Place *x) {
  if (x->found->kind != FL_TOK_COMMA || x->prev->kind != FL_TOK_LBRACKET || !x->prev->glued) return false;
  fl_syntax_say(x, FL_E0101, x->found->span, "nothing stands before this `,`",
                "a column of a table is `t.x`, several are `t |> select(x, y)`; all along an axis of an "
                "array is `:`");
  return true;
}

static bool (*const rules[])(const Place *) = {
    like,
    between,
    shouted,
    query,
    case_when,
    lambda,
    returned,
    range_of,
    dotted_argument,
    pointed_argument,
    loop_names,
    verb_by,
    window,
    r_function,
    of_namespace,
    empty_braces,
    is_null,
    not_in,
    renamed,
    counted,
    column_call,
    mapping,
    quoted_name,
    fl_syntax_choice_by_words,
    slice,
    generator_behind,
    imported_from,
    remainder_of,
    fl_syntax_increment,
    fl_syntax_counting_for,
    fl_syntax_comment,
    fl_syntax_choice_behind,
    subscript_left_out,
};

bool fl_syntax_habit(const FlSyntaxPlace *x) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
    if (rules[i](x)) return true;
  return false;
}
