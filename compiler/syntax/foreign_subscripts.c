/* foreign_subscripts.c: what stands in square brackets elsewhere, in flow: ranges, characters of texts,
 * columns, values by their key.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

/* `0..=3`; `1:3` behind `in`; in subscripts `a[1:3]`, `a[::2]`, `a[::-1]` */
static bool range(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    if (IS(f, i, "..=") && number(f, i + 1))
      return PUT(f, i, i + 1, SAY(f, "..%d", atoi(TEXT(f, i + 1, i + 1)) + 1));
    if (IS(f, i, "..=")) {
      int end = fl_foreign_end(f, i + 1);
      for (int k = i + 1; k <= end; k++)
        if (IS(f, k, "{")) end = k - 1;
      return PUT(f, i, end, SAY(f, "..%s + 1", TEXT(f, i + 1, end)));
    }
    if (IS(f, i, ":") && number(f, i - 1) && IS(f, i - 2, "in")) {
      if (number(f, i + 1)) return PUT(f, i, i + 1, SAY(f, "..%d", atoi(TEXT(f, i + 1, i + 1)) + 1));
      int end = word(f, i + 1) ? i + 1 : -1;
      if (end > 0 && IS(f, end + 1, "(")) end = pair(f, end + 1);
      if (end > 0) return PUT(f, i, end, SAY(f, "..%s + 1", TEXT(f, i + 1, end)));
    }
    int close = IS(f, i, "[") && i > 0 && glued(f, i) && operand(f, i - 1) ? pair(f, i) : -1;
    if (close < 0) continue;
    if (IS(f, close - 1, "end")) return PUT(f, close - 1, close - 1, close == i + 2 ? "-1" : "");
    const char *array = TEXT(f, fl_foreign_operand(f, i - 1), i - 1);
    if (IS(f, i + 1, "::") && IS(f, i + 2, "-") && IS(f, i + 3, "1") && close == i + 4)
      return PUT(f, fl_foreign_operand(f, i - 1), close,
                 SAY(f, "[for i in 0..len(%s): %s[len(%s) - 1 - i]]", array, array, array));
    if (IS(f, i + 1, "-") && close == i + 3 && number(f, i + 2) && !IS(f, i + 2, "1")) /* `a[-2]` */
      return PUT(f, i + 1, i + 1, SAY(f, "len(%s) - ", array));
    if (IS(f, i + 2, "::") && close == i + 4) /* `a[1::2]` */
      return PUT(f, i + 2, i + 2, SAY(f, "..len(%s) by ", array));
    if (IS(f, i + 2, ":") && IS(f, i + 4, ":") && close == i + 6) /* `a[1:9:2]` */
      return PUT(f, i + 2, i + 4, SAY(f, "..%s by ", TEXT(f, i + 3, i + 3)));
    if (IS(f, i + 1, "::") && close == i + 3) return PUT(f, i + 1, i + 1, SAY(f, "0..len(%s) by ", array));
    bool rows =
        IS(f, close - 1, ",") && close == i + 5 && number(f, i + 1) && IS(f, i + 2, ":") && number(f, i + 3);
    if (rows) /* of R, which counts from 1 and has the last */
      return PUT(f, i + 1, i + 4, SAY(f, "%d..%s", atoi(TEXT(f, i + 1, i + 1)) - 1, TEXT(f, i + 3, i + 3)));
    if (IS(f, close - 1, ",")) return PUT(f, close - 1, close - 1, "");
    for (int k = i + 1; k < close; k++) {
      if (pair(f, k) > k) k = pair(f, k);
      bool all = (k == i + 1 || IS(f, k - 1, ",")) && (k == close - 1 || IS(f, k + 1, ","));
      if (!IS(f, k, ":") || all) continue;
      bool below = k <= i + 2 && IS(f, k + 1, "-") && close == k + 3; /* `a[1:-2]` */
      if (below) return PUT(f, k, k + 1, SAY(f, "..len(%s) - ", array));
      bool last = close == k + 1 && k == i + 3 && IS(f, i + 1, "-"); /* `a[-2:]` */
      return last ? PUT(f, i + 1, k, SAY(f, "len(%s) - %s..", array, TEXT(f, i + 2, i + 2)))
                  : PUT(f, k, k, "..");
    }
  }
  return false;
}

/* `name[:2]`, `name[0]`, `name[-3:]` of a text */
static bool characters(FlForeign *f) {
  for (int i = 1; i < f->tokens.n; i++) {
    bool str = IS(f, i - 1, "str") && IS(f, i - 2, ".");
    bool begins = IS(f, i, "[") && glued(f, i) && operand(f, i - 1) && (str || f->ways & FL_FOREIGN_TEXTS);
    int close = begins ? pair(f, i) : -1, from = close > 0 ? fl_foreign_operand(f, i - 1) : -1, sign = -1;
    for (int k = i + 1; k < close; k++) {
      if (ANY(f, k, ", :: = == [ (")) close = -1;
      if (ANY(f, k, ": ..")) sign = k;
    }
    if (i + 4 < f->tokens.n && begins && IS(f, i + 1, "::") && IS(f, i + 2, "-") && IS(f, i + 3, "1"))
      return PUT(f, fl_foreign_operand(f, i - 1), i + 4,
                 SAY(f, "reverse_text(%s)", TEXT(f, fl_foreign_operand(f, i - 1), i - 1)));
    if (close < 0 || from < 0) continue;
    const char *of = TEXT(f, from, str ? i - 3 : i - 1);
    const char *begin = sign > i + 1 ? TEXT(f, i + 1, sign - 1) : "0",
               *end = sign < close - 1 ? TEXT(f, sign + 1, close - 1) : NULL;
    if (sign < 0) {
      int at = number(f, i + 1) && close == i + 2 ? atoi(TEXT(f, i + 1, i + 1)) : -1;
      if (at >= 0) return PUT(f, from, close, SAY(f, "slice(%s, %d, %d)", of, at, at + 1));
      if (IS(f, i + 1, "-") && IS(f, i + 2, "1") && close == i + 3)
        return PUT(f, from, close, SAY(f, "slice(%s, -1)", of));
      continue;
    }
    return PUT(f, from, close,
               end ? SAY(f, "slice(%s, %s, %s)", of, begin, end) : SAY(f, "slice(%s, %s)", of, begin));
  }
  return false;
}

/* `t["x"]`: `t.x`; `t[["x", "y"]]`: the columns; `m[0][1]` stays. */
static bool column(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    if (!IS(f, i, "[") || !glued(f, i) || !operand(f, i - 1)) continue;
    const char *name = fl_foreign_plain(f, i + 1);
    if (name && *name &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(name) &&
        IS(f, i + 2, "]") && !(fl_foreign_operand(f, i - 1) == 0 && IS(f, i + 3, "=")))
      return PUT(f, i, i + 2, SAY(f, ".%s", name));
    int close = IS(f, i + 1, "[") ? pair(f, i + 1) : -1;
    if (close < 0 || !IS(f, close + 1, "]") || !literal(f, i + 2)) continue;
    int from = fl_foreign_operand(f, i - 1);
    int call = IS(f, i - 1, ")") ? pair(f, i - 1) - 1 : -1;
    if (ANY(f, call, "groupby group_by GroupBy")) continue; /* of groups the columns are aggregated */
    const char *names = "";
    for (int k = i + 2; names && k < close; k += 2)
      names = fl_foreign_plain(f, k) ? SAY(f, "%s, %s", names, fl_foreign_plain(f, k)) : NULL;
    if (names) return PUT(f, from, close + 1, SAY(f, "select(%s%s)", TEXT(f, from, i - 1), names));
  }
  return false;
}

/* `f(x)` and `[["a", "b"]]` on the next line, within brackets: a subscript of it */
static bool on_next_line(FlForeign *f) {
  for (int i = 1; i < f->tokens.n; i++)
    if (IS(f, i, "[") && !glued(f, i) && ANY(f, i - 1, ") ]") && IS(f, i + 1, "["))
      return PUT(f, i - 1, i, SAY(f, "%s[", TEXT(f, i - 1, i - 1)));
  return false;
}

bool fl_foreign_subscripts(FlForeign *f) {
  return characters(f) || on_next_line(f) || range(f) || fl_foreign_value_of_key(f) || column(f);
}
