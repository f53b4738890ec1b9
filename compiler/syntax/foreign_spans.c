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

/* What a statement that changes a table gives; NULL: it changes none. */
static const char *changed(FlForeign *f, int first, int last) {
  const char *table = TEXT(f, first, first);
  if (IS(f, first + 1, "=") || IS(f, first + 1, "<-")) return TEXT(f, first + 2, last);
  int close = IS(f, first + 1, "[") ? pair(f, first + 1) : -1;
  const char *column = close == first + 3 ? fl_foreign_plain(f, first + 2) : NULL;
  int sign = close + 1;
  if (!column && ANY(f, first + 1, ". $") && word(f, first + 2) && ANY(f, first + 3, "= <-") &&
      !ANY(f, first + 2, "columns index"))
    column = TEXT(f, first + 2, first + 2), sign = first + 3;
  if (column && ANY(f, sign, "= <-"))
    return SAY(f, "derive(%s, %s = %s)", table, column,
               fl_foreign_by_columns(f, TEXT(f, sign + 1, last), table));
  if (!column && close > 0 && IS(f, first + 2, "[") && ANY(f, close + 1, "= <-"))
    return split_columns(f, table, TEXT(f, first + 2, close - 1), TEXT(f, close + 2, last));
  int in = IS(f, first + 2, "loc") && IS(f, first + 3, "[") ? pair(f, first + 3) : -1;
  column = in > 0 && IS(f, in - 2, ",") ? fl_foreign_plain(f, in - 1) : NULL;
  if (column && IS(f, in + 1, "="))
    return SAY(f, "derive(%s, %s = if %s { %s } else { %s })", table, column,
               fl_foreign_by_columns(f, TEXT(f, first + 4, in - 3), table),
               fl_foreign_by_columns(f, TEXT(f, in + 2, last), table),
               column);
  bool here = IS(f, first + 1, ".") && ANY(f, first + 2, "sort reverse") && IS(f, first + 3, "(");
  if (here && pair(f, first + 3) == last) /* `xs.sort()`, of lists */
    return IS(f, first + 2, "sort") ? SAY(f, "sorted(%s%s%s)", table, last > first + 4 ? ", " : "",
                                          TEXT(f, first + 4, last - 1))
                                    : SAY(f, "reversed(%s)", table);
  for (int i = first; i + 2 < last; i++) /* t.drop(.., inplace=True) */
    if (IS(f, i, ",") && IS(f, i + 1, "inplace") && IS(f, i + 2, "=") && ANY(f, i + 3, "True true"))
      return SAY(f, "%s%s", TEXT(f, first, i - 1), TEXT(f, i + 4, last));
  return NULL;
}

bool fl_foreign_in_place(FlForeign *f, int first, int last) {
  const char *now = word(f, first) ? changed(f, first, last) : NULL;
  return now && !ANY(f, first + 1, "= <-");
}

static bool new_table(FlForeign *f, int first, int last, FlForeignSpan *out) {
  const char *name = TEXT(f, first, first);
  if (!word(f, first) || fl_foreign_binding(f, name, first) < 0) return false;
  const char *value = changed(f, first, last), *by = value ? fl_foreign_new_name(f, name, false) : NULL;
  if (!by) return false;
  int end = last;
  const char *rest = fl_foreign_renamed(f, last + 1, name, by, &end);
  FlForeign p = part(f, SAY(f, "let %s = %s", by, value));
  out->now = fl_foreign_by_rules(&p);
  if (!out->now) return false;
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

/* ---- a list that a loop fills ---- */

/* `acc = []`, `for v in a: if c: acc.append(e)`: all that a comprehension says */
static bool filled_by_loop(FlForeign *f, int first, int last, FlForeignSpan *out) {
  int at = ANY(f, first, "let var") ? first + 1 : first, i = last + 1;
  if (!word(f, at) || !ANY(f, at + 1, "= <-") || !IS(f, at + 2, "[") || pair(f, at + 2) != last ||
      last != at + 3)
    return false;
  while (line(f, i)) i++;
  int in = i + 2, colon = in, test = -1;
  if (!IS(f, i, "for") || !word(f, i + 1) || !IS(f, in, "in")) return false;
  while (colon < f->tokens.n && !IS(f, colon, ":")) colon++;
  int body = colon + 1, end = colon;
  while (line(f, body)) body++;
  if (IS(f, body, "if")) {
    for (test = body, end = body; end < f->tokens.n && !line(f, end) && !IS(f, end, ":"); end++) continue;
    if (!IS(f, end, ":")) return false;
    for (body = end + 1; line(f, body);) body++;
  }
  bool adds = IS(f, body, TEXT(f, at, at)) && IS(f, body + 1, ".") && IS(f, body + 2, "append") &&
              IS(f, body + 3, "(");
  int close = adds ? pair(f, body + 3) : -1, next = close + 1;
  if (close < 0 || !line(f, next)) return false;
  while (line(f, next)) next++;
  if (next < f->tokens.n) { /* the loop ends here */
    char before = f->text[f->tokens.at[next].start - 1];
    if (before == ' ' || before == '\t') return false;
  }
  const char *condition = test > 0 ? SAY(f, " %s", TEXT(f, test, end - 1)) : "";
  FlForeign p = part(f, SAY(f, "let %s = [for %s in %s%s: %s]", TEXT(f, at, at), TEXT(f, i + 1, i + 1),
                            TEXT(f, in + 1, colon - 1), condition, TEXT(f, body + 4, close - 1)));
  out->now = fl_foreign_by_rules(&p);
  if (!out->now) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->last = close;
  return true;
}

/* `n = {}`, `for v in a: n[v] = n.get(v, 0) + 1`: how often each value is there */
static bool counted_by_loop(FlForeign *f, int first, int last, FlForeignSpan *out) {
  int i = last + 1, end;
  if (!word(f, first) || !IS(f, first + 1, "=") || !IS(f, first + 2, "{") || last != first + 3) return false;
  while (line(f, i)) i++;
  if (!IS(f, i, "for") || !word(f, i + 1) || !IS(f, i + 2, "in")) return false;
  const char *name = TEXT(f, first, first), *of = TEXT(f, i + 1, i + 1);
  for (end = i + 3; end < f->tokens.n && !IS(f, end, ":"); end++) continue;
  int at = end + 1;
  while (line(f, at)) at++;
  const char *body = SAY(f, "%s[%s] = %s.get(%s, 0) + 1", name, of, name, of);
  int close = at + 15;
  if (close > f->tokens.n || !fl_foreign_same(body, TEXT(f, at, close - 1))) return false;
  FlForeign p = part(f, SAY(f, "let %s = value_counts(%s)", name, TEXT(f, i + 3, end - 1)));
  out->now = fl_foreign_by_rules(&p);
  if (!out->now || (close < f->tokens.n && !line(f, close))) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->last = close - 1;
  return true;
}

/* `n = {}`, `for _, r in t.iterrows(): n[r["k"]] = n.get(r["k"], 0) + r["x"]`: a sum of each group */
static bool summed_by_loop(FlForeign *f, int first, int last, FlForeignSpan *out) {
  int i = last + 1, in, end;
  if (!word(f, first) || !IS(f, first + 1, "=") || !IS(f, first + 2, "{") || last != first + 3) return false;
  while (line(f, i)) i++;
  for (in = i; in < f->tokens.n && !ANY(f, in, "in :"); in++) continue;
  for (end = in; end < f->tokens.n && !IS(f, end, ":"); end++) continue;
  bool rows = IS(f, in, "in") && ANY(f, end - 3, "iterrows iter_rows") && pair(f, end - 2) == end - 1;
  int at = end + 1;
  while (line(f, at)) at++;
  const char *name = TEXT(f, first, first), *row = TEXT(f, in - 1, in - 1);
  int close = IS(f, i, "for") && rows && IS(f, at, name) && IS(f, at + 1, "[") ? pair(f, at + 1) : -1;
  if (close < 0) return false;
  const char *key = TEXT(f, at + 2, close - 1);
  FlForeign head = part(f, SAY(f, "= %s.get(%s, 0) +", name, key));
  int value = close + 1 + head.tokens.n, stop = fl_foreign_end(f, value);
  if (stop < value || !fl_foreign_same(head.text, TEXT(f, close + 1, value - 1))) return false;
  FlForeign by = part(f, fl_foreign_by_columns(f, key, row));
  FlForeign sum = part(f, fl_foreign_by_columns(f, TEXT(f, value, stop), row));
  const char *called = sum.tokens.n == 1 && word(&sum, 0) ? sum.text : "total";
  if (by.tokens.n != 1 || !word(&by, 0)) return false;
  FlForeign p = part(f, SAY(f, "let %s = summarize(group_by(%s, %s), %s = sum(%s))", name,
                            TEXT(f, in + 1, end - 5), by.text, called, sum.text));
  out->now = fl_foreign_by_rules(&p);
  if (!out->now) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->last = stop;
  return true;
}

/* Where numpy goes, what says that `x.std()` is of a numpy array, and so of n and not n - 1, goes with it: it
 * is written `np.std(x)` before. */
static bool deviations(FlForeign *f, int first, int last, FlForeignSpan *out) {
  bool numpy = false;
  const char *rest = "";
  int end = last;
  for (int i = first; i <= last; i++) numpy = numpy || IS(f, i, "np");
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
  if (i < 0 || !ANY(f, i + 1, "= <-")) return false;
  *first = i && ANY(f, i - 1, "let var") ? i - 1 : i;
  *last = fl_foreign_end(f, i + 2);
  return true;
}

static bool by_loop(FlForeign *f, int first, int last, FlForeignSpan *out) {
  return filled_by_loop(f, first, last, out) || counted_by_loop(f, first, last, out) ||
         summed_by_loop(f, first, last, out);
}

bool fl_foreign_span(FlForeign *f, int first, int last, bool early, FlForeignSpan *out) {
  out->first = first;
  if (early) return deviations(f, first, last, out);
  if (fl_foreign_picture(f, first, out)) return true;
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
