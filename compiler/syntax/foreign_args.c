/* foreign_args.c: what arguments of calls of other languages are in flow: columns by texts, lambdas,
 * aggregates. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

static const char *column(FlForeign *f, const char *text);

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static bool is_name(const char *s) {
  return *s && !strchr("0123456789", *s) && strspn(s, letters) == strlen(s);
}

/* A text with all of it in one pair of brackets: what stands in them; NULL: it is not so. */
static const char *in_brackets(FlForeign *f, const char *text, const char *opens) {
  FlForeign p = part(f, text);
  int n = p.tokens.n, at = IS(&p, 0, "c") && IS(&p, 1, "(") ? 1 : 0;
  if (n - at < 2 || !ANY(&p, at, opens) || pair(&p, at) != n - 1) return NULL;
  return TEXT(&p, at + 1, n - 2);
}

/* The name that an argument from one token to another has behind it, `e AS n`, `e.alias("n")`, which ends
 * before *end then; NULL: none. */
static const char *name_behind(FlForeign *f, int from, int *end) {
  int i = *end;
  const char *plain = IS(f, i, ")") && pair(f, i) == i - 2 ? fl_foreign_plain(f, i - 1) : NULL;
  if (i - from >= 2 && ANY(f, i - 1, "as AS") && (word(f, i) || TEXT(f, i, i)[0] == '`')) {
    *end = i - 2;
    return TEXT(f, i, i);
  }
  if (!plain || i - from < 5 || !ANY(f, i - 3, "alias label") || !IS(f, i - 4, ".")) return NULL;
  *end = i - 5;
  return column(f, TEXT(f, i - 1, i - 1));
}

void fl_foreign_split(FlForeign *f, int from, int to, FlForeignArgs *out) {
  while (from <= to) {
    int end = fl_foreign_end(f, from), at = from, dotted = 0;
    if (end > to) end = to;
    FlForeignArg a = {0};
    if (IS(f, at, ".") && IS(f, at + 2, "=")) at++;           /* .by = k, of dplyr */
    if (IS(f, at + 1, ".") && IS(f, at + 3, "=")) dotted = 2; /* na.rm = TRUE, of R */
    if (fl_foreign_kind(f, at, FL_FOREIGN_WORD) && IS(f, at + 1 + dotted, "=") && at + 1 + dotted < end) {
      a.name = TEXT(f, at, at + dotted);
      at += 2 + dotted;
    }
    from = end + 2;
    if (!a.name) a.name = name_behind(f, at, &end);
    a.text = TEXT(f, at, end);
    fl_vec_push(f->arena, out, a);
  }
}

bool fl_foreign_same_word(const char *a, const char *b) {
  while (*a && *b && (*a | 32) == (*b | 32)) a++, b++;
  return !*a && !*b;
}

/* ---- columns ---- */

static const char *column(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  const char *plain = p.tokens.n == 1 ? fl_foreign_plain(&p, 0) : NULL;
  if (!plain) return p.tokens.n == 1 && fl_foreign_kind(&p, 0, FL_FOREIGN_TEXT) ? NULL : text;
  return is_name(plain) ? plain : SAY(f, "`%s`", plain);
}

/* Columns between commas; how: 'c' as they are, 'd' downwards. n: how many. */
static const char *columns(FlForeign *f, const char *text, char how, int *n) {
  const char *inner = in_brackets(f, text, "[ ("), *out = "";
  FlForeign p = part(f, inner ? inner : text);
  FlForeignArgs args = {0};
  fl_foreign_split(&p, 0, p.tokens.n - 1, &args);
  *n = args.n;
  for (int k = 0; k < args.n; k++) {
    const char *one = args.at[k].name ? NULL : column(f, args.at[k].text);
    if (!one) return NULL;
    out = SAY(f, how == 'd' ? "%s%sdesc(%s)" : "%s%s%s", out, k ? ", " : "", one);
  }
  return out;
}

/* Columns to sort by, each downwards where its own word in `ways` is `down`; one word is of all. */
const char *fl_foreign_directed(FlForeign *f, const char *text, const char *ways, const char *down) {
  const char *inner = in_brackets(f, text, "[ ("), *each = in_brackets(f, ways, "[ ("), *out = "";
  FlForeign p = part(f, inner ? inner : text), w = part(f, each ? each : ways);
  FlForeignArgs keys = {0}, words = {0};
  fl_foreign_split(&p, 0, p.tokens.n - 1, &keys);
  fl_foreign_split(&w, 0, w.tokens.n - 1, &words);
  if (words.n != 1 && words.n != keys.n) return NULL;
  for (int k = 0; k < keys.n; k++) {
    const char *one = keys.at[k].name ? NULL : column(f, keys.at[k].text);
    const char *way = words.at[words.n == 1 ? 0 : k].text;
    bool no = fl_foreign_same_word(way, "false") || strcmp(way, "0") == 0;
    if (!one || !(no || fl_foreign_same_word(way, "true") || strcmp(way, "1") == 0)) return NULL;
    out = SAY(f, no == (strcmp(down, "false") == 0) ? "%s%sdesc(%s)" : "%s%s%s", out, k ? ", " : "", one);
  }
  return out;
}

const char *fl_foreign_keys(FlForeign *f, const char *left, const char *right) {
  const char *l = in_brackets(f, left, "[ ("), *r = in_brackets(f, right, "[ ("), *out = "";
  FlForeign p = part(f, l ? l : left), q = part(f, r ? r : right);
  FlForeignArgs a = {0}, b = {0};
  fl_foreign_split(&p, 0, p.tokens.n - 1, &a);
  fl_foreign_split(&q, 0, q.tokens.n - 1, &b);
  bool alike = true;
  for (int k = 0; k < a.n && a.n == b.n; k++) {
    const char *one = column(f, a.at[k].text), *other = column(f, b.at[k].text);
    if (!one || !other) return NULL;
    bool same = strcmp(one, other) == 0;
    alike = alike && same;
    out = SAY(f, same ? "%s%s%s" : "%s%s%s = %s", out, k ? ", " : "", one, other);
  }
  if (a.n != b.n || !a.n) return NULL;
  return a.n == 1 && alike ? out : SAY(f, "(%s)", out);
}

/* `{"old": "new"}` as `new = old` */
static const char *renamed(FlForeign *f, const char *text) {
  const char *inner = in_brackets(f, text, "{"), *out = "";
  FlForeign p = part(f, inner ? inner : "");
  for (int at = 0; at < p.tokens.n; at += 4) {
    const char *old = fl_foreign_plain(&p, at), *now = fl_foreign_plain(&p, at + 2);
    if (!old || !now || !IS(&p, at + 1, ":")) return NULL;
    out = SAY(f, "%s%s%s = %s", out, at ? ", " : "", column(f, TEXT(&p, at + 2, at + 2)),
              column(f, TEXT(&p, at, at)));
  }
  return inner ? out : NULL;
}

/* `{"a": 1}` as `a = 1` */
static const char *named(FlForeign *f, const char *text) {
  FlForeign of_r = part(f, text);
  if (IS(&of_r, 0, "list") && pair(&of_r, 1) == of_r.tokens.n - 1) return TEXT(&of_r, 2, of_r.tokens.n - 2);
  const char *inner = in_brackets(f, text, "{"), *out = "";
  FlForeign p = part(f, inner ? inner : "");
  for (int at = 0; at < p.tokens.n; at = fl_foreign_end(&p, at) + 2) {
    int end = fl_foreign_end(&p, at);
    if (!IS(&p, at + 1, ":") || end < at + 2 || !fl_foreign_plain(&p, at)) return NULL;
    out = SAY(f, "%s%s%s = %s", out, at ? ", " : "", column(f, TEXT(&p, at, at)), TEXT(&p, at + 2, end));
  }
  return inner && *out ? out : NULL;
}

/* `("", "_r")`: what the columns of the right table get; NULL: those of the left one get something, too. */
static const char *suffix(FlForeign *f, const char *text) {
  if (!*text) return "";
  FlForeign p = part(f, text);
  if (p.tokens.n == 1 && fl_foreign_plain(&p, 0)) return SAY(f, ", suffix = %s", text);
  const char *inner = in_brackets(f, text, "( [");
  FlForeign pair_of = part(f, inner ? inner : "");
  bool right = pair_of.tokens.n == 3 && IS(&pair_of, 0, "\"\"") && fl_foreign_plain(&pair_of, 2);
  return right ? SAY(f, ", suffix = %s", TEXT(&pair_of, 2, 2)) : NULL;
}

/* `{"a": 1}` as arms of a `match` */
static const char *arms(FlForeign *f, const char *text) {
  const char *inner = in_brackets(f, text, "{"), *out = "";
  FlForeign p = part(f, inner ? inner : "");
  for (int at = 0; at < p.tokens.n; at = fl_foreign_end(&p, at) + 2) {
    int end = fl_foreign_end(&p, at);
    if (!IS(&p, at + 1, ":") || end < at + 2) return NULL;
    out = SAY(f, "%s%s%s => %s", out, at ? ", " : "", TEXT(&p, at, at), TEXT(&p, at + 2, end));
  }
  return inner && *out ? out : NULL;
}

/* ---- single arguments ---- */

/* `x` of `t.x`; `value` of what has no name */
static const char *last_name(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  int n = p.tokens.n;
  return n > 2 && word(&p, n - 1) && IS(&p, n - 2, ".") ? TEXT(&p, n - 1, n - 1) : "value";
}

/* `x` of `summarize(t, x = mean(y))`, whose table is in no groups; NULL: it is another call. */
static const char *only_column(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  FlForeignArgs args = {0};
  if (!IS(&p, 0, "summarize") || pair(&p, 1) != p.tokens.n - 1 || strstr(text, "group_by")) return NULL;
  fl_foreign_split(&p, 2, p.tokens.n - 2, &args);
  return args.n == 2 ? args.at[1].name : NULL;
}

/* `t` of `t.x` */
static const char *before_name(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  return TEXT(&p, 0, p.tokens.n - 3);
}

/* The one column of a table that a call mentions: `day` of `month(t.day)`, `date_trunc("month", t.day)` */
static const char *one_column(const FlForeign *p) {
  const char *name = NULL;
  for (int i = 2; i + 1 < p->tokens.n; i++) {
    if (!word(p, i) || !IS(p, i - 1, ".") || !word(p, i - 2)) continue;
    if (name || IS(p, i + 1, "(")) return NULL;
    name = TEXT(p, i, i);
  }
  return name;
}

static const char *primary(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  int n = p.tokens.n;
  return n && fl_foreign_operand(&p, n - 1) == 0 && !ANY(&p, 0, "- not if for") ? text : SAY(f, "(%s)", text);
}

static const char *how_joined(FlForeign *f, const char *text) {
  if (!*text || strcmp(text, "\"inner\"") == 0) return "";
  return SAY(f, ", how = %s", strcmp(text, "\"outer\"") == 0 ? "\"full\"" : text);
}

/* Without the `d.` of a lambda's row; NULL: the row itself is used. */
static const char *of_row(FlForeign *f, const char *text) {
  if (!fl_foreign_is_lambda(text)) return text;
  const char *name = fl_foreign_lambda_name(f, text), *body = fl_foreign_lambda_body(f, text);
  FlForeign p = part(f, body ? body : "");
  for (int i = p.tokens.n - 1; i >= 0; i--) {
    if (!IS(&p, i, name) || (i && IS(&p, i - 1, "."))) continue;
    if (!IS(&p, i + 1, ".")) return NULL;
    fl_foreign_put(&p, i, i + 1, "");
  }
  return p.text;
}

/* A key of groups: one that is computed has a name. */
static const char *key(FlForeign *f, const FlForeignArg *a) {
  int n;
  FlForeign p = part(f, a->text);
  if (a->name) return SAY(f, "%s = %s", a->name, a->text);
  bool call =
      word(&p, 0) && IS(&p, 1, "(") && pair(&p, 1) == p.tokens.n - 1 && !ANY(&p, 0, "c desc list cols");
  const char *of = call ? one_column(&p) : NULL; /* pandas calls it so, too */
  if (call && !of && ANY(&p, 0, "year month day quarter weekday hour minute iso_week day_of_year") &&
      p.tokens.n == 4)
    of = fl_foreign_declared(f, ".", "pl") ? TEXT(&p, 2, 2) : NULL; /* and Polars, of a column in a verb */
  return call ? SAY(f, "%s = %s", of ? of : TEXT(&p, 0, 0), a->text) : columns(f, a->text, 'c', &n);
}

/* A condition: in quotes, of a row, or `x = 1` */
static const char *condition(FlForeign *f, const FlForeignArg *a) {
  FlForeign p = part(f, a->text);
  if (a->name) return SAY(f, "%s == %s", a->name, a->text);
  const char *quoted = p.tokens.n == 1 && fl_foreign_kind(&p, 0, FL_FOREIGN_TEXT) ? TEXT(&p, 0, 0) : NULL;
  return quoted ? fl_arena_strndup(f->arena, quoted + 1, strlen(quoted) - 2) : of_row(f, a->text);
}

/* `"sum"`, `np.sum`, `sum` */
static const char *aggregate(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  int at = ANY(&p, 0, FL_FOREIGN_PACKAGES) && IS(&p, 1, ".") ? 2 : 0;
  const char *plain = fl_foreign_plain(&p, at);
  return at + 1 == p.tokens.n ? fl_foreign_aggregate(plain ? plain : TEXT(&p, at, at)) : NULL;
}

/* Columns, in brackets where they are several; of a join `c("a" = "b")`, `[a == b]`, too. */
static const char *keys(FlForeign *f, const char *text) {
  const char *inner = in_brackets(f, text, "[ ("), *left = "", *right = "";
  FlForeign p = part(f, inner ? inner : text);
  for (int at = 0; at < p.tokens.n; at += 4) {
    bool texts = fl_foreign_plain(&p, at) && IS(&p, at + 1, "=") && fl_foreign_plain(&p, at + 2);
    bool both = (texts || (word(&p, at) && IS(&p, at + 1, "==") && word(&p, at + 2))) &&
                (at + 3 == p.tokens.n || IS(&p, at + 3, ","));
    if (!both) {
      int n;
      const char *all = columns(f, text, 'c', &n);
      return all && n > 1 ? SAY(f, "(%s)", all) : all;
    }
    left = SAY(f, "%s%s%s", left, at ? ", " : "", TEXT(&p, at, at));
    right = SAY(f, "%s%s%s", right, at ? ", " : "", TEXT(&p, at + 2, at + 2));
  }
  return fl_foreign_keys(f, SAY(f, "[%s]", left), SAY(f, "[%s]", right));
}

/* `[a, b]` as `a', b'` */
static const char *transposed(FlForeign *f, const char *text) {
  const char *inner = in_brackets(f, text, "[ ("), *out = "";
  FlForeign p = part(f, inner ? inner : "");
  FlForeignArgs all = {0};
  fl_foreign_split(&p, 0, p.tokens.n - 1, &all);
  for (int k = 0; k < all.n; k++) out = SAY(f, "%s%s%s'", out, k ? ", " : "", primary(f, all.at[k].text));
  return all.n ? out : NULL;
}

/* `zip(a, b)` */
static const char *keys_of_zip(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  FlForeignArgs args = {0};
  if (!IS(&p, 0, "zip") || pair(&p, 1) != p.tokens.n - 1) return NULL;
  fl_foreign_split(&p, 2, p.tokens.n - 2, &args);
  return args.n == 2 ? SAY(f, "key = %s, value = %s", args.at[0].text, args.at[1].text) : NULL;
}

const char *fl_foreign_argument(FlForeign *f, const char *text, char how) {
  int n = 0;
  const char *all, *other;
  switch (how) {
  case 0: return text;
  case 'c': return columns(f, text, 'c', &n);
  case 'd': return columns(f, text, 'd', &n);
  case 'k': return keys(f, text);
  case 'r': return renamed(f, text);
  case 'm': return arms(f, text);
  case 'v': return fl_foreign_lambda_name(f, text);
  case 'b': return fl_foreign_lambda_body(f, text);
  case 'a': return aggregate(f, text);
  case 'p': return primary(f, text);
  case 'l': all = in_brackets(f, text, "[ ("); return all ? all : text;
  case 'L': return in_brackets(f, text, "[ (");
  case 'i': all = in_brackets(f, text, "[ ( {"); return all ? SAY(f, "[%s]", all) : text;
  case 'h': return how_joined(f, text);
  case 'w': return condition(f, &(FlForeignArg){.text = text});
  case 'N': return named(f, text);
  case 'C': return last_name(f, text);
  case 'H': return before_name(f, text);
  case 'O': return only_column(f, text);
  case 'M': return fl_foreign_matrix(f, text);
  case 'S': return suffix(f, text);
  case 'Z': return keys_of_zip(f, text);
  case 'T': return transposed(f, text);
  case 'K': return fl_foreign_series(f, text, &all, &other) ? all : NULL;
  case 'X': return fl_foreign_series(f, text, &other, &all) ? all : NULL;
  default: return fl_foreign_value(f, text, how);
  }
}

/* ---- lists of arguments ---- */

/* `x` of `mean(x)`; NULL: it is no aggregate of a name. */
static const char *of_column(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  if (p.tokens.n == 3 && IS(&p, 0, "count") && IS(&p, 1, "(")) return "count";
  bool call = p.tokens.n == 4 && IS(&p, 1, "(") && fl_foreign_kind(&p, 2, FL_FOREIGN_WORD);
  return call && fl_foreign_aggregate(TEXT(&p, 0, 0)) ? TEXT(&p, 2, 2) : NULL;
}

/* An argument of a verb that computes columns: `mean(x).alias("m")`, `mean(x)`, `m = ("x", "mean")` */
static const char *computed(FlForeign *f, const FlForeignArg *a) {
  const char *text = a->text, *name = a->name;
  FlForeign p = part(f, text);
  int n = p.tokens.n;
  for (int i = n - 3; i > 0; i--) { /* `mean("x")` */
    const char *plain = IS(&p, i, "(") && pair(&p, i) == i + 2 ? fl_foreign_plain(&p, i + 1) : NULL;
    if (plain && fl_foreign_aggregate(TEXT(&p, i - 1, i - 1)))
      PUT(&p, i + 1, i + 1, column(f, TEXT(&p, i + 1, i + 1)));
  }
  text = p.text;
  bool rows = n == 5 && IS(&p, 0, "(") && fl_foreign_plain(&p, 1) && ANY(&p, 3, "\"size\" 'size'");
  if (name && rows) return SAY(f, "%s = count()", name); /* `n = ("x", "size")` */
  if (name && n == 5 && IS(&p, 0, "(") && fl_foreign_plain(&p, 1) && fl_foreign_plain(&p, 3) &&
      fl_foreign_aggregate(fl_foreign_plain(&p, 3)))
    return SAY(f, "%s = %s(%s)", name, fl_foreign_aggregate(fl_foreign_plain(&p, 3)),
               fl_foreign_plain(&p, 1));
  int comma =
      name && IS(&p, 0, "(") && pair(&p, 0) == n - 1 && fl_foreign_plain(&p, 1) && IS(&p, 2, ",") ? 2 : 0;
  const char *lambda = comma ? TEXT(&p, 3, n - 2) : "";
  if (fl_foreign_is_lambda(lambda)) /* `n = ("x", s => max(s) - min(s))` */
    return SAY(f, "%s = %s", name,
               fl_foreign_with(f, fl_foreign_lambda_body(f, lambda), fl_foreign_lambda_name(f, lambda),
                               column(f, TEXT(&p, 1, 1))));
  if (name) return of_row(f, text) ? SAY(f, "%s = %s", name, of_row(f, text)) : NULL;
  if (IS(&p, 0, "[") && pair(&p, 0) == n - 1) { /* a list of such */
    FlForeignArgs inner = {0};
    fl_foreign_split(&p, 1, n - 2, &inner);
    return fl_foreign_rest(f, &inner, 'e');
  }
  if (IS(&p, 0, "{")) return fl_foreign_aggregates(&p, NULL, 0, n - 1);
  const char *of = of_column(f, text);
  for (int i = 0; i < n && !of && n > 1 && !ANY(&p, 0, "each numeric all cols except");
       i++) { /* what is computed of a column has its name */
    bool column = fl_foreign_kind(&p, i, FL_FOREIGN_WORD) && !IS(&p, i + 1, "(") && !IS(&p, i + 1, ".") &&
                  !(i && IS(&p, i - 1, ".")) &&
                  !ANY(&p, i, "if else not and or null true false in for match outer");
    if (column) of = TEXT(&p, i, i);
  }
  return of ? SAY(f, "%s = %s", of, text) : text;
}

/* A column that a `select` takes. */
static const char *selected(FlForeign *f, const FlForeignArg *a) {
  FlForeign p = part(f, a->text);
  int n, close = IS(&p, 1, "(") ? pair(&p, 1) : -1;
  if (a->name) return SAY(f, "%s = %s", a->name, a->text);
  if (IS(&p, 0, "exclude") && close == p.tokens.n - 1)
    return SAY(f, "except(%s)", columns(f, TEXT(&p, 2, close - 1), 'c', &n));
  if (of_column(f, a->text)) return NULL; /* `summarize` is meant */
  FlForeignArgs list = {0};
  if (IS(&p, 0, "[") && pair(&p, 0) == p.tokens.n - 1) fl_foreign_split(&p, 1, p.tokens.n - 2, &list);
  if (list.n) return fl_foreign_rest(f, &list, 's');
  const char *all = columns(f, a->text, 'c', &n);
  bool plain = p.tokens.n == 1 || ANY(&p, 0, "each numeric all cols except [ ( c") || IS(&p, 0, "-");
  return plain ? all : computed(f, a);
}

/* An aggregate of a column, alone or with a name; NULL: it is none. */
static const char *aggregated(FlForeign *f, const FlForeignArg *a) {
  FlForeign p = part(f, a->text);
  FlForeignArgs list = {0};
  if (!a->name && IS(&p, 0, "[") && pair(&p, 0) == p.tokens.n - 1)
    fl_foreign_split(&p, 1, p.tokens.n - 2, &list);
  if (list.n) return fl_foreign_rest(f, &list, 'A');
  const char *made = computed(f, a), *value = made ? strstr(made, " = ") : NULL;
  return value && of_column(f, value + 3) ? made : NULL;
}

/* Texts and values as pieces of one text; of a list those in it. */
static const char *pieces(FlForeign *f, const FlForeignArgs *args, const char *gap) {
  const char *out = "", *list;
  for (int k = 0; k < args->n; k++) {
    const FlForeignArg *a = &args->at[k];
    if (a->param) continue;
    if (!k && (list = in_brackets(f, a->text, "["))) {
      FlForeignArgs inner = {0};
      FlForeign p = part(f, list);
      fl_foreign_split(&p, 0, p.tokens.n - 1, &inner);
      return pieces(f, &inner, gap);
    }
    if (a->name || (a->text[0] != '"' && strchr(a->text, '"'))) return NULL;
    size_t n = strlen(a->text);
    bool number = n && strspn(a->text, "0123456789.") == n;
    const char *one = a->text[0] == '"' ? fl_arena_strndup(f->arena, a->text + 1, n - 2)
                      : number          ? a->text
                                        : SAY(f, "{%s}", a->text);
    out = SAY(f, "%s%s%s", out, k ? gap : "", one);
  }
  return out;
}

const char *fl_foreign_rest(FlForeign *f, const FlForeignArgs *args, char how) {
  if (how == 'j' || how == 'J') {
    const char *gap = how == 'j' ? "" : " ";
    for (int k = 0; k < args->n; k++)
      if (args->at[k].param && strcmp(args->at[k].param, "sep") == 0)
        gap = condition(f, &(FlForeignArg){.text = args->at[k].text});
    return pieces(f, args, gap);
  }
  const char *out = "";
  int n = 0;
  for (int k = 0, m; k < args->n; k++) {
    const FlForeignArg *a = &args->at[k];
    if (a->param) continue;
    const char *one = how == 'e'   ? computed(f, a)
                      : how == 's' ? selected(f, a)
                      : how == 'A' ? aggregated(f, a)
                      : how == 'W' ? condition(f, a)
                      : how == 'G' ? key(f, a)
                      : how == 'c' ? columns(f, a->text, 'c', &m)
                                   : a->text;
    if (!one) return NULL;
    bool named = a->name && how != 'e' && how != 's' && how != 'A' && how != 'W' && how != 'G';
    out = SAY(f, "%s%s%s%s%s", out, n++ ? ", " : "", named ? a->name : "", named ? " = " : "", one);
  }
  return out;
}

/* One column's aggregates: "mean", ["mean", "max"]. prefix: their names have the column's before them. */
static const char *aggregates_of(FlForeign *f, const char *column_name, const char *text, bool prefix) {
  const char *inner = in_brackets(f, text, "["), *out = "";
  FlForeign p = part(f, inner ? inner : text);
  for (int at = 0; at < p.tokens.n; at++) {
    if (IS(&p, at, ",")) continue;
    if (ANY(&p, at, "np pd") && IS(&p, at + 1, ".")) at += 2;
    const char *plain = fl_foreign_plain(&p, at), *name = plain ? plain : TEXT(&p, at, at),
               *by = fl_foreign_aggregate(name);
    if (!by) return NULL;
    const char *called = !inner ? column_name : prefix ? SAY(f, "%s_%s", column_name, name) : name;
    out = SAY(f, "%s%s%s = %s(%s)", out, *out ? ", " : "", called, by, column_name);
  }
  return out;
}

const char *fl_foreign_aggregates(FlForeign *f, const char *chosen, int from, int to) {
  FlForeignArgs args = {0};
  if (IS(f, from, "{") && pair(f, from) == to) {
    const char *out = "";
    for (int at = from + 1; at < to; at = fl_foreign_end(f, at) + 2) {
      const char *name = fl_foreign_plain(f, at);
      const char *one = name && IS(f, at + 1, ":")
                            ? aggregates_of(f, name, TEXT(f, at + 2, fl_foreign_end(f, at + 2)), true)
                            : NULL;
      if (!one) return NULL;
      out = SAY(f, "%s%s%s", out, *out ? ", " : "", one);
    }
    return out;
  }
  if (chosen) return aggregates_of(f, chosen, TEXT(f, from, to), false);
  fl_foreign_split(f, from, to, &args);
  return fl_foreign_rest(f, &args, 'e');
}
