/* foreign_spans.c: what other languages write in several statements and flow in one, or under another name:
 * a model that is made first and fitted later, a table that is changed where it is.
 *
 * In: a file and a statement with an error. Out: the text from that statement on, as far as it becomes
 * another one. What always holds: statements between are left as they are, but for the new name. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

static bool line(const FlForeign *f, int i) { return fl_foreign_kind(f, i, FL_FOREIGN_LINE); }

/* ---- a table under a new name ---- */

/* An expression in which the table's columns are names: `t.x`, `t["x"]`, `t$x`, rows of `t.apply(f, axis=1)`.
 */
const char *fl_foreign_by_columns(FlForeign *f, const char *text, const char *table) {
  FlForeign p = part(f, text);
  for (int i = p.tokens.n - 2; i >= 0; i--) {
    if (!IS(&p, i, table) || (i && ANY(&p, i - 1, ". $"))) continue;
    const char *name = IS(&p, i + 1, "[") ? fl_foreign_plain(&p, i + 2) : NULL;
    int close = IS(&p, i + 2, "apply") && IS(&p, i + 3, "(") ? pair(&p, i + 3) : -1;
    if (close > 6 && IS(&p, close - 2, "=") && IS(&p, close - 1, "1") && IS(&p, close - 4, ",") &&
        IS(&p, i + 4, "lambda") && IS(&p, i + 6, ":")) {
      FlForeign body = part(f, TEXT(&p, i + 7, close - 5));
      const char *row = TEXT(&p, i + 5, i + 5), *of = fl_foreign_by_columns(f, body.text, row);
      PUT(&p, i, close, SAY(f, "(%s)", of));
    } else if (name && IS(&p, i + 3, "]")) {
      PUT(&p, i, i + 3, name);
    } else if (ANY(&p, i + 1, ". $") && word(&p, i + 2) && !IS(&p, i + 3, "(")) {
      PUT(&p, i, i + 1, "");
    }
  }
  return p.text;
}

/* `t[["a", "b"]] = t["c"].str.split("-", expand=True)`: a column for each part. NULL: it is not that. */
static const char *split_columns(FlForeign *f, const char *table, const char *names, const char *value) {
  FlForeign p = part(f, fl_foreign_by_columns(f, value, table)), list = part(f, names);
  FlForeignArgs args = {0};
  int n = p.tokens.n;
  bool split = n == 12 && ANY(&p, 4, "split") && IS(&p, 2, "str") && IS(&p, 8, "expand") && literal(&p, 6);
  if (!split || !IS(&p, 10, "True") || !word(&p, 0)) return NULL;
  const char *out = SAY(f, "derive(%s", table);
  fl_foreign_split(&list, 1, list.tokens.n - 2, &args);
  for (int k = 0; k < args.n; k++) {
    const char *name = fl_foreign_argument(f, args.at[k].text, 'c');
    if (!name) return NULL;
    out = SAY(f, "%s, %s = split_part(%s, %s, %d)", out, name, TEXT(&p, 0, 0), TEXT(&p, 6, 6), k);
  }
  return SAY(f, "%s)", out);
}

/* `t["x"].ffill()`, `t.groupby("k")["x"].bfill()` for the column x of t: nulls of it are filled. NULL: it is
 * not that. */
static const char *nulls_filled(FlForeign *f, const char *table, const char *column, const char *value) {
  FlForeign p = part(f, value);
  int n = p.tokens.n, groups = IS(&p, 1, ".") && ANY(&p, 2, "groupby group_by") ? pair(&p, 3) : 0;
  int at = groups > 0 ? groups + 1 : 1;
  const char *name = IS(&p, at, "[") ? fl_foreign_plain(&p, at + 1) : NULL;
  if (IS(&p, at, ".") && word(&p, at + 1)) name = TEXT(&p, at + 1, at + 1), at--;
  bool own = IS(&p, 0, table) && name && strcmp(name, column) == 0 && n == at + 7 && pair(&p, n - 2) == n - 1;
  const char *fill = IS(&p, n - 3, "ffill") ? "down" : IS(&p, n - 3, "bfill") ? "up" : NULL;
  if (!own || !fill) return NULL;
  const char *keys = groups > 0 ? fl_foreign_argument(f, TEXT(&p, 4, groups - 1), 'c') : NULL;
  if (groups > 0)
    return keys ? SAY(f, "ungroup(fill_%s(group_by(%s, %s), %s))", fill, table, keys, column) : NULL;
  return SAY(f, "fill_%s(%s, %s)", fill, table, column);
}

/* A column's value of comparisons, as they are where null meets none; NULL: nobody knows. */
static const char *compared(FlForeign *f, const char *table, const char *value) {
  FlForeign p = part(f, value);
  bool no = ANY(&p, 0, "~ not") && p.tokens.n > 1 && fl_foreign_operand(&p, p.tokens.n - 1) == 1;
  const char *of = no ? compared(f, table, TEXT(&p, 1, p.tokens.n - 1)) : NULL;
  if (no) return of ? SAY(f, "not (%s)", of) : NULL;
  int close = IS(&p, 0, "(") ? pair(&p, 0) : -1;
  bool cast = close > 0 && IS(&p, close + 1, ".") && IS(&p, close + 2, "astype") &&
              pair(&p, close + 3) == p.tokens.n - 1;
  const char *what = cast ? TEXT(&p, 0, close) : value,
             *then = cast ? TEXT(&p, close + 1, p.tokens.n - 1) : "";
  switch (fl_foreign_met(f, table, what)) {
  case FL_FOREIGN_UNMET: return SAY(f, cast ? "((%s) ?? false)%s" : "(%s) ?? false%s", what, then);
  case FL_FOREIGN_MET: return SAY(f, cast ? "((%s) ?? true)%s" : "(%s) ?? true%s", what, then);
  case FL_FOREIGN_UNKNOWN: return NULL;
  default: return value;
  }
}

/* The value that `= e` or `*= e`, from one token to another, gives a column; NULL: nobody knows. */
static const char *assigned(FlForeign *f, const char *table, const char *column, int sign, int last) {
  const char *value = fl_foreign_by_columns(f, TEXT(f, sign + 1, last), table), *op = TEXT(f, sign, sign);
  if (IS(f, sign, "=")) return compared(f, table, value);
  if (IS(f, sign, "<-")) return value; /* of R, where null stays */
  return SAY(f, "%s %s %s", column, IS(f, sign, "**=") ? "^" : fl_arena_strndup(f->arena, op, strlen(op) - 1),
             fl_foreign_argument(f, value, 'p'));
}

/* Has what the name at a token stands for another name, too, which is read later and would change with it:
 * `y = x`? */
static bool shared(FlForeign *f, int name) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    bool alone =
        IS(f, i, "=") && word(f, i - 1) && word(f, i + 1) && (i + 2 == f->tokens.n || line(f, i + 2));
    bool begins = i == 1 || line(f, i - 2) || ANY(f, i - 2, "let var");
    int other = IS(f, i - 1, TEXT(f, name, name)) ? i + 1 : i - 1, own = other == i + 1 ? i - 1 : i + 1;
    for (int k = name + 1; k < f->tokens.n && alone && begins && IS(f, own, TEXT(f, name, name)); k++)
      if (IS(f, k, TEXT(f, other, other)) && !IS(f, k - 1, ".")) return true;
  }
  return false;
}

/* What a statement that changes a table gives; NULL: it changes none. */
static const char *changed(FlForeign *f, int first, int last) {
  static const char *const signs = "= <- += -= *= /= //= **=";
  const char *table = TEXT(f, first, first);
  if (IS(f, first + 1, "=") || IS(f, first + 1, "<-")) return TEXT(f, first + 2, last);
  if (shared(f, first)) return NULL;
  int close = IS(f, first + 1, "[") ? pair(f, first + 1) : -1;
  const char *column = close == first + 3 ? fl_foreign_plain(f, first + 2) : NULL;
  int sign = close + 1;
  if (!column && ANY(f, first + 1, ". $") && word(f, first + 2) && ANY(f, first + 3, signs) &&
      !ANY(f, first + 2, "columns index"))
    column = TEXT(f, first + 2, first + 2), sign = first + 3;
  if (column && ANY(f, sign, signs)) {
    const char *filled = nulls_filled(f, table, column, TEXT(f, sign + 1, last));
    if (filled && IS(f, sign, "=")) return filled;
    const char *value = assigned(f, table, column, sign, last);
    return value ? SAY(f, "derive(%s, %s = %s)", table, column, value) : NULL;
  }
  const char *array = column ? NULL : fl_foreign_part_given(f, first, last);
  if (array) return array;
  if (!column && close > 0 && IS(f, first + 2, "[") && ANY(f, close + 1, "= <-"))
    return split_columns(f, table, TEXT(f, first + 2, close - 1), TEXT(f, close + 2, last));
  int in = IS(f, first + 2, "loc") && IS(f, first + 3, "[") ? pair(f, first + 3) : -1;
  column = in > 0 && IS(f, in - 2, ",") ? fl_foreign_plain(f, in - 1) : NULL;
  const char *given = column && ANY(f, in + 1, signs) ? assigned(f, table, column, in + 1, last) : NULL;
  if (given)
    return SAY(f, "derive(%s, %s = if %s { %s } else { %s })", table, column,
               fl_foreign_by_columns(f, TEXT(f, first + 4, in - 3), table), given, column);
  bool here = IS(f, first + 1, ".") && ANY(f, first + 2, "sort reverse") && IS(f, first + 3, "(");
  if (here && pair(f, first + 3) == last) /* `xs.sort()`, of lists */
    return IS(f, first + 2, "sort")
               ? SAY(f, "sorted(%s%s%s)", table, last > first + 4 ? ", " : "", TEXT(f, first + 4, last - 1))
               : SAY(f, "reversed(%s)", table);
  for (int i = first; i + 2 < last; i++) /* t.drop(.., inplace=True), t["x"].fillna(0, inplace=True) */
    if (IS(f, i, ",") && IS(f, i + 1, "inplace") && IS(f, i + 2, "=") && ANY(f, i + 3, "True true")) {
      const char *now = SAY(f, "%s%s", TEXT(f, first, i - 1), TEXT(f, i + 4, last));
      const char *of = close == first + 3 ? fl_foreign_plain(f, first + 2) : NULL;
      if (!of && IS(f, first + 1, ".") && IS(f, first + 3, ".")) of = TEXT(f, first + 2, first + 2);
      return of ? SAY(f, "derive(%s, %s = %s)", table, of, fl_foreign_by_columns(f, now, table)) : now;
    }
  return NULL;
}

bool fl_foreign_in_place(FlForeign *f, int first, int last) {
  const char *now = word(f, first) ? changed(f, first, last) : NULL;
  return now && !ANY(f, first + 1, "= <-");
}

static bool new_table(FlForeign *f, int first, int last, FlForeignSpan *out) {
  const char *name = TEXT(f, first, first);
  int bound = word(f, first) ? fl_foreign_binding(f, name, first) : -1;
  if (bound < 0) return false;
  const char *value = changed(f, first, last), *by = value ? fl_foreign_new_name(f, name, false) : NULL;
  if (!by) return false;
  int end = last;
  const char *rest = fl_foreign_renamed(f, last + 1, name, by, &end);
  FlForeign p = part(f, SAY(f, "let %s = %s", by, value));
  out->now = fl_foreign_by_rules(&p);
  bool own = IS(f, bound - 1, "var") && IS(f, first + 1, "=") && !p.changes; /* it is flow */
  if (!out->now || own) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->now = SAY(f, "%s%s", out->now, rest);
  out->last = end;
  return true;
}

/* ---- a model that is fitted later ---- */

/* `model = Estimator(..)` and `model.fit(x, y)`, or `z = model.fit_transform(x)`, in one */
static bool fitted_later(FlForeign *f, int first, int last, FlForeignSpan *out) {
  int at = ANY(f, first, "let var") ? first + 1 : first, call = at + 2;
  while (IS(f, call + 1, ".")) call += 2;
  bool made =
      word(f, at) && ANY(f, at + 1, "= <-") && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", TEXT(f, call, call)[0]);
  if (!made || !IS(f, call + 1, "(") || pair(f, call + 1) != last) return false;
  const char *model = TEXT(f, at, at);
  int fit = last + 1;
  while (fit < f->tokens.n && !IS(f, fit, model)) fit++;
  int open = fit + 3,
      close = ANY(f, fit + 2, "fit fit_transform") && IS(f, fit + 1, ".") ? pair(f, open) : -1;
  int begin = fit;
  while (begin > last + 1 && !line(f, begin - 1)) begin--;
  if (close < 0 || (close + 1 < f->tokens.n && !line(f, close + 1))) return false;
  const char *given = TEXT(f, open + 1, close - 1), *x = TEXT(f, open + 1, fl_foreign_end(f, open + 1));
  bool both = IS(f, fit + 2, "fit_transform");
  FlForeign p = part(f, SAY(f, "let %s = %s.fit(%s)", model, TEXT(f, at + 2, last), both ? x : given));
  const char *fits = fl_foreign_by_rules(&p), *then = "";
  if (!fits) return false;
  if (both || begin < fit) { /* what was fitted is used */
    FlForeign file = part(f, SAY(f, "%s\n%s\n", f->text, fits));
    const char *what = both ? SAY(f, "%s%s.transform(%s)", TEXT(f, begin, fit - 1), model, x) : NULL;
    if (!what) return false;
    FlForeign q = {.arena = f->arena, .text = what, .file = file.text, .all = &file.tokens};
    q.judge = f->judge, q.of = f->of;
    fl_foreign_tokens(f->arena, what, strlen(what), &q.tokens);
    then = fl_foreign_by_rules(&q);
    if (!then) return false;
    then = SAY(f, "\n%s", then);
  }
  int from = last + 1;
  while (line(f, from)) from++;
  const char *between = from < begin ? SAY(f, "%s\n", TEXT(f, from, begin - 2)) : "";
  out->now = SAY(f, "%s%s%s", between, fits, then);
  out->judged = (uint32_t)strlen(out->now);
  out->last = close;
  return true;
}

/* ---- what a loop fills ---- */

/* `name = []` or `name = {}` from one token to another, and a loop behind it whose body is one statement. */
typedef struct Filling {
  const char *name;
  int over, over_end; /* what the loop goes over */
  int first, last;    /* the names of its elements */
  int test, test_end; /* a condition; test_end < test: none */
  int body, end;      /* the statement; end: the last token of the loop */
} Filling;

/* The token from which a block goes on behind its head, which ends at a `:` or a `{`; braces: their end. */
static int inside(const FlForeign *f, int at, int *close) {
  *close = IS(f, at, "{") ? pair(f, at) : -1;
  for (at++; line(f, at);) at++;
  return at;
}

static int head_end(const FlForeign *f, int at) {
  while (at < f->tokens.n && !line(f, at) && !ANY(f, at, ": {"))
    at = pair(f, at) > at ? pair(f, at) + 1 : at + 1;
  return ANY(f, at, ": {") ? at : -1;
}

static bool filling(const FlForeign *f, int first, int last, const char *brackets, Filling *out) {
  int at = ANY(f, first, "let var") ? first + 1 : first, i = last + 1, close = -1, inner = -1;
  if (!word(f, at) || !ANY(f, at + 1, "= <-") || !ANY(f, at + 2, brackets) || pair(f, at + 2) != last ||
      last != at + 3)
    return false;
  while (line(f, i)) i++;
  out->name = TEXT(f, at, at);
  out->first = i + 1;
  for (at = i + 1; at < f->tokens.n && !ANY(f, at, "in : {"); at++) continue;
  int head = IS(f, i, "for") && IS(f, at, "in") ? head_end(f, at + 1) : -1;
  if (head < 0) return false;
  out->last = at - 1, out->over = at + 1, out->over_end = head - 1;
  out->test = 0, out->test_end = -1;
  int body = inside(f, head, &close);
  if (IS(f, body, "if")) {
    head = head_end(f, body + 1);
    if (head < 0) return false;
    out->test = body, out->test_end = head - 1;
    body = inside(f, head, &inner);
  }
  out->body = body, out->end = fl_foreign_end(f, body);
  int next = out->end + 1;
  for (int k = 0; k < 2; k++) { /* the braces of both end here */
    int brace = k == 0 ? inner : close;
    if (brace < 0) continue;
    while (line(f, next)) next++;
    if (next != brace) return false;
    out->end = next++;
  }
  if (next < f->tokens.n && !line(f, next)) return false;
  while (line(f, next)) next++;
  if (close >= 0 || next >= f->tokens.n) return true;
  return !strchr(" \t", f->text[f->tokens.at[next].start - 1]); /* the loop ends here */
}

/* What a loop fills, as one binding. */
static bool bound_as(FlForeign *f, const Filling *x, const char *value, FlForeignSpan *out) {
  FlForeign p = part(f, SAY(f, "let %s = %s", x->name, value));
  out->now = fl_foreign_by_rules(&p);
  if (!out->now) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->last = x->end;
  return true;
}

/* `for v in a: if c: acc.append(e)`: all that a comprehension says */
static bool filled_by_loop(FlForeign *f, const Filling *x, FlForeignSpan *out) {
  int body = x->body, close = IS(f, body + 3, "(") ? pair(f, body + 3) : -1;
  bool adds = IS(f, body, x->name) && IS(f, body + 1, ".") && ANY(f, body + 2, "append push");
  if (!adds || close != fl_foreign_end(f, body)) return false;
  const char *test = x->test_end >= x->test ? SAY(f, " %s", TEXT(f, x->test, x->test_end)) : "";
  return bound_as(f, x,
                  SAY(f, "[for %s in %s%s: %s]", TEXT(f, x->first, x->last), TEXT(f, x->over, x->over_end),
                      test, TEXT(f, body + 4, close - 1)),
                  out);
}

/* `n[k] = n.get(k, 0) + 1`, or `+ e`: how often each value is there, or a sum of each group of rows */
static bool totalled_by_loop(FlForeign *f, const Filling *x, FlForeignSpan *out) {
  int at = x->body, close = IS(f, at, x->name) && IS(f, at + 1, "[") ? pair(f, at + 1) : -1;
  if (close < 0 || x->test_end >= x->test) return false;
  const char *key = TEXT(f, at + 2, close - 1);
  FlForeign head = part(f, SAY(f, "= %s.get(%s, 0) +", x->name, key));
  int value = close + 1 + head.tokens.n, stop = fl_foreign_end(f, value), rows = x->over_end - 2;
  if (stop < value || !fl_foreign_same(head.text, TEXT(f, close + 1, value - 1))) return false;
  const char *of = TEXT(f, x->over, x->over_end), *row = TEXT(f, x->last, x->last);
  if (IS(f, value, "1") && stop == value && strcmp(key, row) == 0)
    return bound_as(f, x, SAY(f, "value_counts(%s)", of), out);
  if (!ANY(f, rows, "iterrows iter_rows") || pair(f, rows + 1) != rows + 2) return false;
  FlForeign by = part(f, fl_foreign_by_columns(f, key, row));
  FlForeign sum = part(f, fl_foreign_by_columns(f, TEXT(f, value, stop), row));
  const char *called = sum.tokens.n == 1 && word(&sum, 0) ? sum.text : "total";
  if (by.tokens.n != 1 || !word(&by, 0)) return false;
  return bound_as(f, x,
                  SAY(f, "summarize(group_by(%s, %s), %s = sum(%s))", TEXT(f, x->over, rows - 2), by.text,
                      called, sum.text),
                  out);
}

/* Where numpy goes, what says that `x.std()` is of a numpy array, and so of n and not n - 1, goes with it: it
 * is written `np.std(x)` before. */
static bool deviations(FlForeign *f, int first, int last, FlForeignSpan *out) {
  bool numpy = false;
  const char *rest = "";
  int end = last;
  for (int i = first; i <= last; i++) numpy = numpy || IS(f, i, "np");
  int sign = ANY(f, first, "let var") ? first + 2 : first + 1; /* what is made of what numpy made */
  numpy = numpy || (IS(f, sign, "=") && fl_foreign_is_numpy(f, TEXT(f, sign + 1, last)));
  for (int i = last + 1; i + 3 < f->tokens.n && numpy; i++) {
    bool asked = word(f, i) && IS(f, i + 1, ".") && ANY(f, i + 2, "std var") && IS(f, i + 3, "(");
    if (!asked || IS(f, i - 1, ".") || !fl_foreign_is_numpy(f, TEXT(f, i, i))) continue;
    const FlForeignToken *from = &f->tokens.at[end], *t = &f->tokens.at[i];
    uint32_t at = from->start + from->len;
    bool more = pair(f, i + 3) != i + 4;
    rest = SAY(f, "%s%.*snp.%s(%s%s", rest, (int)(t->start - at), f->text + at, TEXT(f, i + 2, i + 2),
               TEXT(f, i, i), more ? ", " : "");
    end = i += 3;
  }
  if (end == last) return false;
  FlForeign p = part(f, TEXT(f, first, last));
  out->now = fl_foreign_by_rules(&p);
  if (!out->now) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->now = SAY(f, "%s%s", out->now, rest);
  out->last = end;
  return true;
}

/* The statement before a loop that gives the name of what it fills: `acc = []` */
static bool empty_before(const FlForeign *f, int *first, int *last) {
  int i = *first - 1;
  while (i >= 0 && line(f, i)) i--;
  if (i < 3 || !IS(f, *first, "for") || !ANY(f, i, "] }") || pair(f, i) != i - 1) return false;
  *last = i;
  *first = ANY(f, i - 4, "let var") ? i - 4 : i - 3;
  return true;
}

/* The statement that makes the model whose `fit` stands from `first` on: its tokens. */
static bool maker(const FlForeign *f, int *first, int *last) {
  int at = *first;
  while (at < *last && !(ANY(f, at + 2, "fit fit_transform") && IS(f, at + 1, ".") && word(f, at))) at++;
  int i = at < *last ? fl_foreign_binding(f, TEXT(f, at, at), *first) : -1;
  if (i < 0 || !ANY(f, i + 1, "= <-") || IS(f, i - 1, ",")) return false;
  *first = i && ANY(f, i - 1, "let var") ? i - 1 : i;
  *last = fl_foreign_end(f, i + 2);
  return true;
}

static bool by_loop(FlForeign *f, int first, int last, FlForeignSpan *out) {
  Filling x;
  return (filling(f, first, last, "[", &x) && filled_by_loop(f, &x, out)) ||
         (filling(f, first, last, "{", &x) && totalled_by_loop(f, &x, out));
}

bool fl_foreign_span(FlForeign *f, int first, int last, bool early, FlForeignSpan *out) {
  out->first = first;
  if (early) return deviations(f, first, last, out);
  if (fl_foreign_picture(f, first, out) || fl_foreign_scope(f, first, last, out)) return true;
  if (new_table(f, first, last, out) || fitted_later(f, first, last, out)) return true;
  int begin = first, end = last;
  if (by_loop(f, first, last, out)) return true;
  if (empty_before(f, &begin, &end)) {
    out->first = begin;
    if (by_loop(f, begin, end, out)) return true;
  }
  if (!maker(f, &first, &last)) return false;
  out->first = first;
  return fitted_later(f, first, last, out);
}
