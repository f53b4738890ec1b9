/* foreign_loops.c: loops and conditions of other languages, in flow: their brackets, and what they count
 * from.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

/* `for (let i = 0; i < n; i++)` */
static bool counting(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = IS(f, i, "for") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1, at = i + 2;
    if (close < 0) continue;
    if (ANY(f, at, "let var int const")) at++;
    if (!word(f, at) || !IS(f, at + 1, "=") || !IS(f, at + 3, ";") || !ANY(f, at + 5, "< <=")) continue;
    if (strcmp(TEXT(f, at, at), TEXT(f, at + 4, at + 4)) != 0) continue;
    int end = at + 6;
    while (end < close && !IS(f, end, ";")) end++;
    if (!IS(f, end + 1, TEXT(f, at, at)) && !IS(f, end + 1, "++")) continue;
    const char *by = SAY(f, "for %s in %s..%s%s", TEXT(f, at, at), TEXT(f, at + 2, at + 2),
                         TEXT(f, at + 6, end - 1), IS(f, at + 5, "<=") ? " + 1" : "");
    return PUT(f, i, close, by);
  }
  return false;
}

/* What a loop of R or Julia has in it, where positions count from 1; NULL: more than one position at once. */
static const char *from_one(FlForeign *f, const char *body) {
  FlForeign p = part(f, body);
  for (int i = p.tokens.n - 1; i > 0; i--) {
    int close =
        IS(&p, i, "[") && glued(&p, i) && (word(&p, i - 1) || ANY(&p, i - 1, ") ]")) ? pair(&p, i) : -1;
    if (close < 0 || literal(&p, i + 1)) continue;
    const char *at = TEXT(&p, i + 1, close - 1);
    if (strchr(at, ',') || strpbrk(at, "<>=:[")) return NULL;
    PUT(&p, i + 1, close - 1,
        at[strspn(at, "0123456789")] == 0 && *at ? SAY(f, "%d", atoi(at) - 1) : SAY(f, "%s - 1", at));
  }
  return p.text;
}

/* `for (i in 1:n) {`, `for i in seq_along(x) {` */
static bool counted_from_one(FlForeign *f) {
  for (int i = 0; i + 5 < f->tokens.n; i++) {
    int bracket = IS(f, i + 1, "(") ? 1 : 0, at = i + 1 + bracket, from = at + 2, brace = from;
    if (!IS(f, i, "for") || !word(f, at) || !IS(f, at + 1, "in")) continue;
    bool range = IS(f, from, "1") && IS(f, from + 1, ":"),
         call = ANY(f, from, "seq_along seq_len") && IS(f, from + 1, "(");
    while (brace < f->tokens.n && !IS(f, brace, "{") && !fl_foreign_kind(f, brace, FL_FOREIGN_LINE)) brace++;
    int last = brace - 1 - bracket, close = IS(f, brace, "{") ? pair(f, brace) : -1;
    if (!(range || call) || close < 0 || (call && pair(f, from + 1) != last)) continue;
    const char *body = from_one(f, TEXT(f, brace, close)), *n = TEXT(f, from + 2, last - call);
    if (!body) return false;
    if (IS(f, from, "seq_along")) n = SAY(f, "len(%s)", n);
    const char *to = n[strspn(n, "0123456789")] ? SAY(f, "%s + 1", n) : SAY(f, "%d", atoi(n) + 1);
    return PUT(f, i, close, SAY(f, "for %s in 1..%s %s", TEXT(f, at, at), to, body));
  }
  return false;
}

/* `for (v in xs)`, `for (const v of xs)`, `while (c)`, `if (c) a else b`: brackets go, braces come. */
static bool brackets(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = ANY(f, i, "for while if") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close < 0) continue;
    bool loop = IS(f, i, "for"), braces = IS(f, close + 1, "{");
    int at = loop && ANY(f, i + 2, "const let var") ? i + 3 : i + 2;
    if (loop && !(word(f, at) && ANY(f, at + 1, "in of"))) continue;
    if (!loop && (braces || close + 1 >= f->tokens.n || fl_foreign_kind(f, close + 1, FL_FOREIGN_LINE)))
      continue;
    if (!loop && !(word(f, close + 1) || fl_foreign_kind(f, close + 1, FL_FOREIGN_TEXT) ||
                   fl_foreign_kind(f, close + 1, FL_FOREIGN_NUMBER)))
      continue;
    if (!loop && ANY(f, close + 1, "and or in")) continue;
    const char *inner =
        loop ? SAY(f, "%s in %s", TEXT(f, at, at), TEXT(f, at + 2, close - 1)) : TEXT(f, i + 2, close - 1);
    if (braces) return PUT(f, i + 1, close, SAY(f, "%s", inner));
    int end = close + 1;
    while (end + 1 < f->tokens.n && !fl_foreign_kind(f, end + 1, FL_FOREIGN_LINE) &&
           !ANY(f, end + 1, "else ; } , )"))
      end = pair(f, end + 1) > end ? pair(f, end + 1) : end + 1;
    return PUT(f, i + 1, end, SAY(f, "%s { %s }", inner, TEXT(f, close + 1, end)));
  }
  return false;
}

/* `else x` without braces */
static bool other(FlForeign *f) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!IS(f, i, "else") || !IS(f, i - 1, "}") || ANY(f, i + 1, "{ if") ||
        fl_foreign_kind(f, i + 1, FL_FOREIGN_LINE))
      continue;
    int end = fl_foreign_end(f, i + 1);
    return PUT(f, i + 1, end, SAY(f, "{ %s }", TEXT(f, i + 1, end)));
  }
  return false;
}

bool fl_foreign_loops(FlForeign *f) { return counting(f) || counted_from_one(f) || brackets(f) || other(f); }
