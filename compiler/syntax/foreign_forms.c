/* foreign_forms.c: expressions of other languages, in flow: lambdas, operators, comprehensions, values.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

static bool line(const FlForeign *f, int i) {
  return i >= f->tokens.n || fl_foreign_kind(f, i, FL_FOREIGN_LINE);
}

/* ---- lambdas ---- */

/* `x => ..` or `(x, y) => ..`, of the names between two tokens; without types. */
static const char *head_of(FlForeign *f, int from, int to) {
  const char *names = "";
  int n = 0;
  for (int i = from; i <= to; i++) {
    if (ANY(f, i, "&")) continue;
    if (!word(f, i)) return NULL;
    names = SAY(f, "%s%s%s", names, n++ ? ", " : "", TEXT(f, i, i));
    if (IS(f, i + 1, ":")) i += 2;
    if (i < to && !IS(f, ++i, ",")) return NULL;
  }
  return n == 1 ? SAY(f, "%s =>", names) : SAY(f, "(%s) =>", names);
}

/* `|v| v * 2`, `lambda v: v * 2`, `function(v) v * 2`, `\(v) v * 2`, `v -> v * 2`, `~ .x * 2` */
static bool lambda(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int from = -1, to = -1, first = i, last = -1;
    if (IS(f, i, "|") && (i == 0 || ANY(f, i - 1, "( , ="))) {
      for (last = i + 1; last < f->tokens.n && (word(f, last) || ANY(f, last, ", & :")); last++) continue;
      if (!IS(f, last, "|")) continue;
      from = i + 1, to = last - 1;
    } else if (IS(f, i, "lambda")) {
      for (last = i + 1; word(f, last) || IS(f, last, ","); last++) continue;
      if (!IS(f, last, ":")) continue;
      from = i + 1, to = last - 1;
    } else if (ANY(f, i, "function fn \\") && IS(f, i + 1, "(") && pair(f, i + 1) > 0) {
      last = pair(f, i + 1);
      from = i + 2, to = last - 1;
    } else if (IS(f, i, "->") && !ANY(f, 0, "fn stage extern type @") && i > 0) {
      int open = IS(f, i - 1, ")") ? pair(f, i - 1) : -1;
      if (IS(f, i - 1, ")") && open < 0) continue;
      if (open < 0 && !word(f, i - 1)) continue;
      first = open >= 0 ? open : i - 1, last = i;
      from = open >= 0 ? open + 1 : i - 1, to = open >= 0 ? i - 2 : i - 1;
    } else {
      continue;
    }
    const char *head = head_of(f, from, to);
    if (head) return PUT(f, first, last, head);
  }
  return false;
}

/* `~ .x * 2`, of purrr, where an argument begins */
static bool formula_lambda(FlForeign *f) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!IS(f, i, "~") || !ANY(f, i - 1, "( , =")) continue;
    int end = fl_foreign_end(f, i + 1);
    const char *body = "";
    uint32_t at = f->tokens.at[i + 1].start;
    bool any = false;
    for (int k = i + 1; k <= end; k++) {
      bool own = IS(f, k, ".") && IS(f, k + 1, "x") && glued(f, k + 1) &&
                 !(k && glued(f, k) && (word(f, k - 1) || ANY(f, k - 1, ") ]")));
      if (!own) continue;
      const FlForeignToken *t = &f->tokens.at[k], *x = &f->tokens.at[k + 1];
      body = SAY(f, "%s%.*sv", body, (int)(t->start - at), f->text + at);
      at = x->start + x->len;
      any = true;
    }
    const FlForeignToken *last = &f->tokens.at[end];
    if (any)
      return PUT(f, i, end, SAY(f, "v => %s%.*s", body, (int)(last->start + last->len - at), f->text + at));
  }
  return false;
}

/* ---- operators ---- */

static const char *const operators[][2] = {
    {"&&", "and"},        {"===", "=="},      {"!==", "!="},    {"<>", "!="},       {"**", "^"},
    {"%%", "%"},          {"%/%", "//"},      {"%in%", "in"},   {"%*%", "@"},       {"%>%", "|>"},
    {".*", "*"},          {"./", "/"},        {".+", "+"},      {".-", "-"},        {".^", "^"},
    {"True", "true"},     {"False", "false"}, {"TRUE", "true"}, {"FALSE", "false"}, {"None", "null"},
    {"NULL", "null"},     {"AND", "and"},     {"OR", "or"},     {"IN", "in"},       {"nil", "null"},
    {"undefined", "null"}};

/* dplyr's `distinct(k)` has these columns alone, unless all are kept: the arguments between two tokens. */
static const char *distinct_of(FlForeign *f, int from, int to) {
  for (int i = from; i <= to; i++)
    if (IS(f, i, ",") && IS(f, i + 1, ".") && IS(f, i + 2, "keep_all"))
      return SAY(f, "|> distinct(%s)", TEXT(f, from, i - 1));
  return SAY(f, "|> select(%s) |> distinct()", TEXT(f, from, to));
}

static bool operator_of(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    if (literal(f, i) || (i && IS(f, i - 1, ".")) || IS(f, i + 1, "=")) continue;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++) {
      if (!IS(f, i, operators[k][0]) || (word(f, i) && IS(f, i + 1, "("))) continue;
      const char *by = operators[k][1];
      int close = IS(f, i, "%>%") && IS(f, i + 1, "distinct") && IS(f, i + 2, "(") ? pair(f, i + 2) : -1;
      if (close > i + 3) return PUT(f, i, close, distinct_of(f, i + 3, close - 1)); /* of dplyr */
      bool spaced = !word(f, i) && (glued(f, i) || glued(f, i + 1)) && by[0] >= 'a';
      return PUT(f, i, i, spaced ? SAY(f, " %s ", by) : by);
    }
    bool asked = literal(f, i - 1) && i > 1 && ANY(f, i - 2, "== != < > <= >= <> === !== = like LIKE");
    bool text = (literal(f, i - 1) && !asked) || literal(f, i + 1);
    if (IS(f, i, "||") || (IS(f, i, "|") && operand(f, i - 1)))
      return PUT(f, i, i, text && !IS(f, i, "|") ? "+" : glued(f, i) ? " or " : "or");
    if (IS(f, i, "&") && operand(f, i - 1))
      return PUT(f, i, i, text && (literal(f, i - 1) || i < 2 || !ANY(f, i - 2, "== != < >")) ? "+" : "and");
    bool before = i > 0 && operand(f, i - 1) && !ANY(f, i - 1, "and or in not if while");
    if (ANY(f, i, "! ~") && !before && (operand(f, i + 1) || IS(f, i + 1, "(")) && glued(f, i + 1))
      return PUT(f, i, i, "not ");
    if (IS(f, i, "NOT") && !before) return PUT(f, i, i, "not");
    if (IS(f, i, "$") && word(f, i - 1) && word(f, i + 1)) return PUT(f, i, i, ".");
  }
  return false;
}

/* `x not in (a, b)`, `x in (a, b)`: values stand in square brackets, and `not` before them. */
static bool membership(FlForeign *f) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (ANY(f, i, "not NOT") && ANY(f, i + 1, "in IN") && operand(f, i - 1)) {
      int from = fl_foreign_operand(f, i - 1);
      const char *value = TEXT(f, from, i - 1);
      int end = IS(f, i + 2, "(") || IS(f, i + 2, "[") ? pair(f, i + 2) : fl_foreign_end(f, i + 2);
      if (end > i) return PUT(f, from, end, SAY(f, "not (%s in %s)", value, TEXT(f, i + 2, end)));
    }
    int both = ANY(f, i, "not NOT") && ANY(f, i + 1, "between BETWEEN") ? i + 3 : -1;
    while (both > 0 && both < f->tokens.n && !ANY(f, both, "and AND , )")) both++;
    if (both > 0 && ANY(f, both, "and AND") && operand(f, i - 1) && operand(f, both + 1)) {
      int from = fl_foreign_operand(f, i - 1);
      const char *value = TEXT(f, from, i - 1);
      return PUT(f, from, both + 1,
                 SAY(f, "(%s < %s or %s > %s)", value, TEXT(f, i + 2, both - 1), value,
                     TEXT(f, both + 1, both + 1)));
    }
    int close = ANY(f, i, "in IN") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close < 0 || !operand(f, i - 1) || ANY(f, 0, "for")) continue;
    for (int k = i + 2; k < close; k++)
      if (IS(f, k, ",") || (close == i + 3 && literal(f, k)))
        return PUT(f, i, close, SAY(f, "in [%s]", TEXT(f, i + 2, close - 1)));
  }
  return false;
}

/* `x like 'a%'`, `DATE '2024-02-01'`, `INTERVAL '7' DAY` */
static bool of_queries(FlForeign *f) {
  for (int i = 0; i + 1 < f->tokens.n; i++) {
    const char *plain = fl_foreign_plain(f, i + 1);
    if (!plain) continue;
    if (ANY(f, i, "date DATE Date")) return PUT(f, i, i + 1, SAY(f, "date(\"%s\")", plain));
    if (ANY(f, i, "timestamp TIMESTAMP")) return PUT(f, i, i + 1, SAY(f, "datetime(\"%s\")", plain));
    bool no = i > 1 && ANY(f, i - 1, "not NOT");
    int end = i - 1 - no, n = (int)strlen(plain);
    if (!ANY(f, i, "like LIKE") || end < 0 || !operand(f, end) || !n) continue;
    bool before = plain[0] == '%', behind = plain[n - 1] == '%' && n > 1;
    const char *part = fl_arena_strndup(f->arena, plain + before, (size_t)(n - before - behind));
    if (strpbrk(part, "%_")) continue;
    int from = fl_foreign_operand(f, end);
    const char *of = TEXT(f, from, end), *name = before && behind ? "contains"
                                                 : before         ? "ends_with"
                                                                  : "starts_with";
    const char *by =
        before || behind ? SAY(f, "%s(%s, \"%s\")", name, of, part) : SAY(f, "%s == \"%s\"", of, part);
    return PUT(f, from, i + 1, no ? SAY(f, "not %s", by) : by);
  }
  return false;
}

/* `mean(x, na.rm = TRUE)`, `skipna=True`: nulls are left out anyway. */
static bool needless(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    int name = IS(f, i + 1, "na") && IS(f, i + 2, ".") && IS(f, i + 3, "rm") ? i + 3 : i + 1;
    if (IS(f, i + 1, ".") && IS(f, i + 2, "groups")) name = i + 2;
    bool one_key = IS(f, i + 1, "coalesce") && ANY(f, i + 3, "True true"); /* as joins have it here */
    bool any = name > i + 1 || one_key || ANY(f, name, "skipna ignore_index inplace n_jobs");
    if (!IS(f, i, ",") || !any || !IS(f, name + 1, "=")) continue;
    return PUT(f, i, fl_foreign_end(f, name + 2), "");
  }
  return false;
}

/* `p as i64`, `cast(x as float)` */
static bool conversion(FlForeign *f) {
  static const char *const own = "i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 text bool";
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!ANY(f, i, "as AS") || !operand(f, i - 1)) continue;
    const char *name = TEXT(f, i + 1, i + 1), *by = ANY(f, i + 1, own) ? name : fl_foreign_type(f, name);
    int from = fl_foreign_operand(f, i - 1);
    bool cast = from >= 2 && IS(f, from - 1, "(") && ANY(f, from - 2, "cast CAST try_cast");
    if (cast && !by)
      by = ANY(f, i + 1, "varchar VARCHAR TEXT char")   ? "text"
           : ANY(f, i + 1, "INT INTEGER BIGINT bigint") ? "i64"
           : ANY(f, i + 1, "FLOAT DOUBLE REAL")         ? "f64"
                                                        : NULL;
    if (!by) continue;
    bool whole = !cast && by[0] == 'i'; /* as of a float cuts what is behind the point */
    const char *call = SAY(f, whole ? "%s(trunc(%s))" : "%s(%s)", by, TEXT(f, from, i - 1));
    return cast && pair(f, from - 1) == i + 2 ? PUT(f, from - 2, i + 2, call) : PUT(f, from, i + 1, call);
  }
  return false;
}

/* `where(x = 1 and y = 2)`: in conditions `=` asks. */
static bool equals(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = ANY(f, i, "where filter") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    int if_to = ANY(f, i, "if while") && !IS(f, i + 1, "(") ? i + 1 : -1;
    for (; if_to > 0 && if_to < f->tokens.n && !IS(f, if_to, "{") && !line(f, if_to); if_to++) continue;
    int end = close > 0 ? close : IS(f, if_to, "{") ? if_to : -1;
    for (int k = i + 1 + (close > 0); k < end; k++) {
      if (IS(f, k, "=")) return PUT(f, k, k, glued(f, k) ? " == " : "==");
      if (pair(f, k) > k && k > i + 1) k = pair(f, k);
    }
  }
  return false;
}

/* ---- ranges, subscripts ---- */

/* `0 < x < 10` */
static bool chained(FlForeign *f) {
  static const char *const signs = "< > <= >=";
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!ANY(f, i, signs) || !operand(f, i - 1)) continue;
    int next = i + 1;
    while (next < f->tokens.n && !ANY(f, next, signs) && !line(f, next) &&
           !ANY(f, next, "and or not == != , : ; { } ) ] = => if else & |"))
      next = pair(f, next) > next ? pair(f, next) + 1 : next + 1;
    if (!ANY(f, next, signs) || next == i + 1 || !operand(f, next - 1)) continue;
    return PUT(f, next, next, SAY(f, "and %s %s", TEXT(f, i + 1, next - 1), TEXT(f, next, next)));
  }
  return false;
}

/* `x != null`, `x == None` */
static bool compared_null(FlForeign *f) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!ANY(f, i, "== !=") || !ANY(f, i + 1, "null NULL None NA") || !operand(f, i - 1)) continue;
    int from = fl_foreign_operand(f, i - 1);
    return PUT(f, from, i + 1,
               SAY(f, IS(f, i, "==") ? "is_null(%s)" : "not is_null(%s)", TEXT(f, from, i - 1)));
  }
  return false;
}

/* `collect::<Vec<f64>>()` */
static bool turbofish(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    if (!IS(f, i, "::") || !IS(f, i + 1, "<")) continue;
    int end = i + 1;
    while (end < f->tokens.n && !IS(f, end, "(")) end++;
    return PUT(f, i, end - 1, "");
  }
  return false;
}

/* `x::int` */
static bool postfix_cast(FlForeign *f) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    const char *by = IS(f, i, "::") && operand(f, i - 1) && word(f, i + 1) && !IS(f, i + 2, "(")
                         ? fl_foreign_type(f, TEXT(f, i + 1, i + 1))
                         : NULL;
    if (IS(f, i, "::") && ANY(f, i + 1, "text varchar")) by = "text";
    if (!by || IS(f, i + 2, "(")) continue;
    int from = fl_foreign_operand(f, i - 1);
    return PUT(f, from, i + 1, SAY(f, "%s(%s)", by, TEXT(f, from, i - 1)));
  }
  return false;
}

/* ---- comprehensions ---- */

/* `[e for v in a if c]`, `sum(e for v in a)`, with several `for` */
static bool comprehension(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = ANY(f, i, "[ (") ? pair(f, i) : -1, at = i + 1;
    if (close < 0 || IS(f, i + 1, "for")) continue;
    for (; at < close && !IS(f, at, "for"); at++) {
      if (IS(f, at, ",")) at = close;
      else if (pair(f, at) > at) at = pair(f, at);
    }
    if (at >= close || !operand(f, at - 1)) continue;
    const char *head = TEXT(f, at, close - 1);
    bool colon = false;
    for (int k = at + 1; k < close; k++) {
      if (pair(f, k) > k) k = pair(f, k);
      colon |= IS(f, k, ":") || IS(f, k, "{");
      if (IS(f, k, "for") && IS(f, at, "for")) { /* the next one stands behind a comma */
        int begin = k;
        return PUT(f, begin - 1, begin, SAY(f, "%s,", TEXT(f, begin - 1, begin - 1)));
      }
    }
    if (colon && !IS(f, close, "]")) continue;
    if (colon) return false;
    const char *body = TEXT(f, i + 1, at - 1);
    return PUT(f, i + 1, close - 1, SAY(f, "%s: %s", head, body));
  }
  return false;
}

/* `for i, v in enumerate(a)`, `for x, y in zip(a, b)`, `for i, (x, y) in enumerate(zip(a, b), 1)`: in
 * comprehensions and loops. */
static bool side_by_side(FlForeign *f) {
  for (int i = 0; i + 6 < f->tokens.n; i++) {
    if (!IS(f, i, "for")) continue;
    const char *names[4] = {NULL}, *by[4] = {NULL};
    int at = i + 1, n = 0;
    for (; at < f->tokens.n && n < 4 && (word(f, at) || ANY(f, at, "( ) ,")) && !IS(f, at, "in"); at++)
      if (word(f, at)) names[n++] = TEXT(f, at, at);
    int call = at + 1,
        close = n > 1 && n < 4 && IS(f, at, "in") && IS(f, call + 1, "(") ? pair(f, call + 1) : -1;
    if (close < 0) continue;
    FlForeignArgs args = {0}, pairs = {0};
    fl_foreign_split(f, call + 2, close - 1, &args);
    bool numbered = IS(f, call, "enumerate");
    FlForeign zip = part(f, numbered && args.n ? args.at[0].text : TEXT(f, call, close));
    bool zipped = IS(&zip, 0, "zip") && IS(&zip, 1, "(") && pair(&zip, 1) == zip.tokens.n - 1;
    if (zipped) fl_foreign_split(&zip, 2, zip.tokens.n - 2, &pairs);
    else if (numbered && args.n) fl_vec_push(f->arena, &pairs, args.at[0]);
    if (!pairs.n || pairs.n + numbered != n || (numbered && args.n > 2)) continue;
    const char *at_i = numbered ? names[0] : "i", *start = numbered && args.n == 2 ? args.at[1].text : "0";
    if (strcmp(start, "0") != 0) at_i = fl_foreign_new_name(f, "i", true);
    if (!at_i) continue;
    if (at_i != names[0]) by[0] = SAY(f, "(%s + %s)", at_i, start);
    bool plain = true; /* what stands in the braces of a text has no quotes */
    for (int k = numbered; k < n; k++) {
      FlForeign of = part(f, pairs.at[k - numbered].text);
      const char *now = fl_foreign_by_rules(&of);
      plain = plain && now && !strchr(now, '"');
      by[k] = SAY(f, "%s[%s]", now ? now : "", at_i);
    }
    bool loop = IS(f, close + 1, "{");
    if (!loop && !ANY(f, i - 1, "[ ( , :")) continue; /* its value stands before it yet */
    int end = loop ? pair(f, close + 1) : close + 1;
    if (!loop)
      while (end < f->tokens.n && !ANY(f, end, "] )")) end = pair(f, end) > end ? pair(f, end) + 1 : end + 1;
    if (end <= close + 1 - loop || end > f->tokens.n) continue;
    const char *body = TEXT(f, close + 1, loop ? end : end - 1), *gap = IS(f, close + 1, ":") ? "" : " ";
    if (!plain && strchr(body, '{')) continue;
    for (int k = 0; k < n; k++)
      if (by[k] && !(numbered && k == 0 && at_i == names[0]))
        body = fl_foreign_with(f, body, names[k], by[k]);
    return PUT(f, i, loop ? end : end - 1,
               SAY(f, "for %s in 0..len(%.*s)%s%s", at_i, (int)(strlen(by[numbered]) - strlen(at_i) - 2),
                   by[numbered], gap, body));
  }
  return false;
}

/* ---- values ---- */

/* `x -= e`, `x++` */
static bool short_change(FlForeign *f) {
  for (int i = 1; i < f->tokens.n; i++) {
    bool whole = ANY(f, i, "++ --") && fl_foreign_kind(f, i - 1, FL_FOREIGN_WORD) &&
                 (line(f, i + 1) || ANY(f, i + 1, "} ;"));
    if (whole && IS(f, i, "++")) return PUT(f, i, i, " += 1");
    if (whole) return PUT(f, i - 1, i, SAY(f, "%s = %s - 1", TEXT(f, i - 1, i - 1), TEXT(f, i - 1, i - 1)));
    if (i + 1 >= f->tokens.n) break;
    if (!ANY(f, i, "-= *= /= **= //= %=")) continue;
    int from = fl_foreign_operand(f, i - 1), end = fl_foreign_end(f, i + 1);
    const char *sign = TEXT(f, i, i), *left = TEXT(f, from, i - 1), *right = TEXT(f, i + 1, end);
    const char *by = IS(f, i, "**=") ? "^" : fl_arena_strndup(f->arena, sign, strlen(sign) - 1);
    bool one = fl_foreign_operand(f, end) == i + 1;
    return PUT(f, from, end, SAY(f, one ? "%s = %s %s %s" : "%s = %s %s (%s)", left, left, by, right));
  }
  return false;
}

/* `[...a, 4.0]` */
static bool spread(FlForeign *f) {
  for (int i = 0; i + 2 < f->tokens.n; i++) {
    int close = IS(f, i, "[") && IS(f, i + 1, "...") ? pair(f, i) : -1,
        end = close > 0 ? fl_foreign_end(f, i + 2) : -1;
    if (end < 0 || IS(f, end + 2, "...")) continue;
    if (end + 1 == close) return PUT(f, i, close, TEXT(f, i + 2, end));
    return PUT(f, i, close, SAY(f, "concat(%s, [%s])", TEXT(f, i + 2, end), TEXT(f, end + 2, close - 1)));
  }
  return false;
}

/* A lambda of one line whose block gives back its value */
static bool block_of_lambda(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++)
    if (IS(f, i, "{") && IS(f, i - 1, "=>") && IS(f, i + 1, "return")) return PUT(f, i + 1, i + 1, "");
  return false;
}

bool fl_foreign_forms(FlForeign *f) {
  static FlForeignRule *const rules[] = {block_of_lambda,
                                         formula_lambda,
                                         lambda,
                                         of_queries,
                                         membership,
                                         needless,
                                         conversion,
                                         compared_null,
                                         chained,
                                         turbofish,
                                         postfix_cast,
                                         operator_of,
                                         equals,
                                         side_by_side,
                                         fl_foreign_part_of_text,
                                         fl_foreign_subscripts,
                                         comprehension,
                                         short_change,
                                         fl_foreign_dictionaries,
                                         spread};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
    if (rules[k](f)) return true;
  return false;
}
