/* foreign_lambdas.c: lambdas as arguments: their names, what they give, what folds by them.
 *
 * In: an argument as it is written. Out: what it is in flow, or NULL: it is no lambda, and no name of a
 * function. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static bool is_name(const char *s) {
  return *s && !strchr("0123456789", *s) && strspn(s, letters) == strlen(s);
}

/* What stands in braces that are all of a text; NULL: it is not so. */
static const char *inside(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  int n = p.tokens.n;
  return n > 1 && IS(&p, 0, "{") && pair(&p, 0) == n - 1 ? TEXT(&p, 1, n - 2) : NULL;
}

/* `x => body`: the tokens of its arrow, or -1. */
static int arrow(const FlForeign *p) {
  if (fl_foreign_kind(p, 0, FL_FOREIGN_WORD) && IS(p, 1, "=>")) return 1;
  int close = IS(p, 0, "(") ? pair(p, 0) : -1;
  return close > 0 && IS(p, close + 1, "=>") ? close + 1 : -1;
}

bool fl_foreign_is_lambda(const char *text) {
  const char *sign = strstr(text, "=>");
  if (!sign) return false;
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_(), ");
  return n >= (size_t)(sign - text);
}

const char *fl_foreign_lambda_name(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  int at = arrow(&p);
  if (at < 0) return is_name(text) ? "v" : NULL;
  if (at == 1) return TEXT(&p, 0, 0);
  return at == 3 ? TEXT(&p, 1, 1) : TEXT(&p, 0, at - 1);
}

const char *fl_foreign_lambda_body(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  int at = arrow(&p);
  if (at < 0) return is_name(text) ? SAY(f, "%s(v)", text) : NULL;
  const char *body = TEXT(&p, at + 1, p.tokens.n - 1);
  const char *one = IS(&p, at + 1, "{") ? inside(f, body) : NULL;
  return one && !strchr(one, '\n') ? one : body;
}

/* A reduction by `(s, v) => s + v` from 0, or from the first, is a sum; by any other it is a fold. */
const char *fl_foreign_folded(FlForeign *f, const FlForeignArgs *args) {
  const char *lambda = NULL, *begin = NULL, *array = NULL;
  for (int k = 0; k < args->n; k++) {
    const FlForeignArg *a = &args->at[k];
    if (!a->param) continue;
    if (strcmp(a->param, "f") == 0) lambda = a->text;
    if (strcmp(a->param, "s") == 0) begin = a->text;
    if (strcmp(a->param, "a") == 0) array = a->text;
  }
  if (!lambda || !array) return NULL;
  FlForeign p = part(f, lambda);
  bool sum = arrow(&p) == 5 && p.tokens.n == 9 && IS(&p, 7, "+") && (!begin || atof(begin) == 0);
  sum = sum && (IS(&p, 6, TEXT(&p, 1, 1)) || IS(&p, 6, TEXT(&p, 3, 3)));
  if (sum) return SAY(f, "sum(%s)", array);
  const char *a = fl_foreign_argument(f, array, 'p');
  return begin ? SAY(f, "fold(%s, %s, %s)", lambda, begin, array)
               : SAY(f, "fold(%s, %s[0], %s[1..])", lambda, a, a);
}
