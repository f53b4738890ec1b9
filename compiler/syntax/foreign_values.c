/* foreign_values.c: single values of other languages, in flow: patterns, positions, times, types, criteria.
 *
 * In: an argument as it is written. Out: what it is in flow. What always holds: what is not written out is
 * not guessed. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

/* A name: nothing but letters, digits and `_` */
static bool in_letters(const char *s) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return *s && !strchr("0123456789", *s) && strspn(s, letters) == strlen(s);
}

/* ">1" of Excel, "north", 3 */
static const char *criterion(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  const char *plain = p.tokens.n == 1 ? fl_foreign_plain(&p, 0) : NULL;
  if (!plain) return SAY(f, "== %s", text);
  size_t n = strspn(plain, "<>=");
  const char *value = plain + n, *sign = fl_arena_strndup(f->arena, plain, n);
  if (!n) sign = "==";
  if (strcmp(sign, "=") == 0) sign = "==";
  if (strcmp(sign, "<>") == 0) sign = "!=";
  bool number = *value && strspn(value, "0123456789.-") == strlen(value);
  return SAY(f, number ? "%s %s" : "%s \"%s\"", sign, value);
}

static const char *type_of(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  const char *plain = fl_foreign_plain(&p, 0),
             *name = plain ? plain : TEXT(&p, p.tokens.n - 1, p.tokens.n - 1);
  const char *by = fl_foreign_type(f, name);
  if (!by && (strcmp(name, "f64") == 0 || strcmp(name, "i64") == 0 || strcmp(name, "Utf8") == 0))
    by = name[0] == 'U' ? "text" : name;
  return by;
}

/* What makes integers of numbers elsewhere cuts what stands behind the point. */
static const char *whole(FlForeign *f, const char *text) {
  const char *type = type_of(f, text);
  return type && type[0] == 'i' ? SAY(f, "%s(trunc", type) : NULL;
}

/* A list's elements, between any brackets. */
static void elements(FlForeign *f, const char *list, FlForeignArgs *out) {
  const char *inner = list ? fl_foreign_argument(f, list, 'L') : NULL;
  FlForeign p = part(f, inner ? inner : "");
  fl_foreign_split(&p, 0, p.tokens.n - 1, out);
}

const char *fl_foreign_binned(FlForeign *f, const char *x, const char *bins, const char *labels,
                              bool right) {
  FlForeignArgs edges = {0}, names = {0};
  const char *out = "";
  elements(f, bins, &edges);
  elements(f, labels, &names);
  if (!names.n || edges.n != names.n + 1) return NULL;
  for (int k = 0; k < names.n; k++) {
    const char *low = edges.at[k].text, *high = edges.at[k + 1].text;
    FlForeign name = part(f, names.at[k].text);
    if (!literal(&name, 0) || name.tokens.n != 1) return NULL;
    const char *form = right ? "%s > %s and %s <= %s" : "%s >= %s and %s < %s";
    FlForeign asked = part(f, SAY(f, form, x, low, x, high));
    out = SAY(f, "%sif %s { %s } else ", out, fl_foreign_asked(&asked, 0, asked.tokens.n - 1),
              names.at[k].text);
  }
  return SAY(f, "%s{ null }", out);
}

const char *fl_foreign_each_quantile(FlForeign *f, const char *a, const char *list) {
  FlForeignArgs all = {0};
  const char *out = "";
  elements(f, list, &all);
  for (int k = 0; k < all.n; k++) out = SAY(f, "%s%squantile(%s, %s)", out, k ? ", " : "", a, all.at[k].text);
  return all.n ? out : NULL;
}

static const char *part_of_date(FlForeign *f, const char *text) {
  static const char *const parts = "year month day hour minute second quarter";
  FlForeign p = part(f, text);
  const char *name = SAY(f, "%s", TEXT(&p, 0, 0));
  for (char *c = (char *)(uintptr_t)name; *c; c++) *c |= 32;
  if (p.tokens.n < 3 || !ANY(&p, 1, "from FROM") || !strstr(parts, name)) return NULL;
  return SAY(f, "%s(%s)", name, TEXT(&p, 2, p.tokens.n - 1));
}

/* A pattern that is written out: 'P' a text without signs of patterns, 'R' any, '1' a text and all before its
 * first place. */
static const char *pattern(FlForeign *f, const char *text, char how) {
  FlForeign p = part(f, text);
  int at = IS(&p, 0, "r") && literal(&p, 1) ? 1 : 0;
  if (at + 1 != p.tokens.n || !literal(&p, at)) return how == 'P' && in_letters(text) ? text : NULL;
  const char *t = TEXT(&p, at, at), *inner = fl_arena_strndup(f->arena, t + 1, strlen(t) - 2);
  bool plain = !strpbrk(inner, "\\^$.|?*+()[]{}\"");
  if (how == 'P') return plain ? SAY(f, "\"%s\"", inner) : NULL;
  if (how == '1') return plain ? SAY(f, "r\"(?s)^(.*?)%s\"", inner) : NULL;
  if (strchr(inner, '"')) return NULL;
  const char *out = "";
  for (const char *c = inner; *c; c++) { /* in R and Python's plain texts a backslash is written twice */
    if (*c == '\\' && c[1] == '\\' && !at) c++;
    out = SAY(f, "%s%c", out, *c);
  }
  return SAY(f, "r\"%s\"", out);
}

/* A position that counts from 1 */
static const char *from_zero(FlForeign *f, const char *text) {
  if (text[strspn(text, "0123456789")] == 0)
    return *text && *text != '0' ? SAY(f, "%d", atoi(text) - 1) : NULL;
  return text[0] == '-' ? NULL : SAY(f, "%s - 1", fl_foreign_argument(f, text, 'p'));
}

/* A day or a time that is written out */
static const char *moment(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  const char *plain = p.tokens.n == 1 ? fl_foreign_plain(&p, 0) : NULL;
  if (!plain || strlen(plain) < 10 || plain[4] != '-' || plain[7] != '-') return NULL;
  return SAY(f, strlen(plain) == 10 ? "date(\"%s\")" : "datetime(\"%s\")", plain);
}

/* A unit of time: `"month"`, `"1mo"`, `"M"` */
static const char *unit(FlForeign *f, const char *text) {
  static const char *const units[][2] = {
      {"ME", "month"},   {"QE", "quarter"}, {"YE", "year"},   {"QS", "quarter"}, {"YS", "year"},
      {"1y", "year"},    {"1q", "quarter"}, {"1mo", "month"}, {"1w", "week"},    {"1d", "day"},
      {"1h", "hour"},    {"Y", "year"},     {"Q", "quarter"}, {"M", "month"},    {"MS", "month"},
      {"W", "week"},     {"D", "day"},      {"d", "day"},     {"h", "hour"},     {"H", "hour"},
      {"min", "minute"}, {"1m", "minute"},  {"1s", "second"}, {"s", "second"}};
  FlForeign p = part(f, text);
  const char *plain = p.tokens.n == 1 ? fl_foreign_plain(&p, 0) : NULL;
  for (size_t k = 0; plain && k < sizeof units / sizeof *units; k++)
    if (strcmp(units[k][0], plain) == 0 || strcmp(units[k][1], plain) == 0)
      return SAY(f, "\"%s\"", units[k][1]);
  return NULL;
}

/* Numbers at random that stand before a statement, or were made in it: each draws others. */
static int drawn(const FlForeign *f) {
  static const char *const draws =
      "random random_normal random_int uniform normal integers rand randn randint "
      "standard_normal permutation choice shuffle";
  FlForeign file = file_of(f);
  int n = 0;
  for (int i = 0; i < file.tokens.n && file.tokens.at[i].start < f->start; i++)
    n += ANY(&file, i, draws) && IS(&file, i + 1, "(");
  for (int i = 0; i < f->tokens.n; i++) n += ANY(f, i, draws) && IS(f, i + 1, "(") && !IS(f, i - 1, ".");
  return n;
}

const char *fl_foreign_seed(FlForeign *f, const char *name) {
  FlForeign p = part(f, name);
  const char *bound = p.tokens.n == 1 && word(&p, 0) ? fl_foreign_bound(f, name) : NULL;
  if (IS(&p, 4, "default_rng") && p.tokens.n == 8 && pair(&p, 5) == 7) return TEXT(&p, 6, 6);
  bool seed = bound && (strstr(bound, "default_rng(") || strspn(bound, "0123456789") == strlen(bound));
  if (!seed) return NULL;
  return drawn(f) ? SAY(f, "%s + %d", name, drawn(f)) : name;
}

/* Of how many in a hundred, or a share, which is below 1; 1 may be either. */
static const char *share(FlForeign *f, const char *text) {
  if (!*text || text[strspn(text, "0123456789.")] || atof(text) == 1) return NULL;
  return atof(text) < 1 ? text : SAY(f, "%g", atof(text) / 100);
}

const char *fl_foreign_value(FlForeign *f, const char *text, char how) {
  switch (how) {
  case 't': return type_of(f, text);
  case 'P': return pattern(f, text, 'P');
  case 'R': return pattern(f, text, 'R');
  case '1': return pattern(f, text, '1');
  case '2': return strchr(text, '$') || text[0] != '"' ? NULL : SAY(f, "\"$\\{1}%s", text + 1);
  case 'z': return from_zero(f, text);
  case 'D': return moment(f, text);
  case 'U': return unit(f, text);
  case 'q': return text[strspn(text, "0123456789.")] ? NULL : SAY(f, "%g", atof(text) / 100);
  case 'Y': return share(f, text);
  case 'n': return SAY(f, text[0] == '"' ? "parse_i64(%s)" : "i64(trunc(%s))", text);
  case 'I': return whole(f, text);
  case 'f': return SAY(f, text[0] == '"' ? "parse_f64(%s)" : "f64(%s)", text);
  case 'x': return criterion(f, text);
  case 'g': return fl_foreign_seed(f, text);
  case 's': return SAY(f, "%d", 1 + drawn(f));
  case 'y': return part_of_date(f, text);
  default: return NULL;
  }
}
