/* foreign_texts.c: texts of other languages, in flow: their quotes, what is filled into them, what prints
 * them.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_words.h"

#include <stdlib.h>

/* `'a'`, and `x ${p}` in backticks, which stands for no name here */
static bool quotes(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    if (!literal(f, i)) continue;
    const char *t = TEXT(f, i, i), *inner = fl_arena_strndup(f->arena, t + 1, strlen(t) - 2);
    bool python = i > 0 && IS(f, i - 1, "f") && glued(f, i);
    if (t[0] == '\'' && !strchr(inner, '"')) {
      const char *by = "";
      for (const char *c = inner; *c; c++)
        by = SAY(f, !python && (*c == '{' || *c == '}') ? "%s\\%c" : "%s%c", by, *c);
      return PUT(f, python ? i - 1 : i, i, SAY(f, "\"%s\"", by));
    }
    if (python && t[0] == '"') return PUT(f, i - 1, i - 1, "");
    bool dollars = t[0] == '`' && strstr(inner, "${") != NULL && !strchr(inner, '"');
    bool julia = t[0] == '"' && strstr(inner, "$(") != NULL && !strchr(inner, '{') && !strchr(inner, '\\');
    if (!dollars && !julia) continue;
    const char *by = "";
    for (const char *c = inner; *c; c++) {
      if (*c == '$' && c[1] == (dollars ? '{' : '(')) by = SAY(f, "%s{", by), c++;
      else if (julia && *c == ')') by = SAY(f, "%s}", by);
      else by = SAY(f, "%s%c", by, *c);
    }
    return PUT(f, i, i, SAY(f, "\"%s\"", by));
  }
  return false;
}

/* The token from which braces say how a value is printed: `:` outside of brackets; or their end. */
static int format_of(const FlForeign *p) {
  int at = 0;
  while (at < p->tokens.n && !ANY(p, at, ": !")) at = pair(p, at) > at ? pair(p, at) + 1 : at + 1;
  return at;
}

/* `"{t['x'].mean():.2f}"`: what stands in braces is written as anywhere else. */
static bool braces(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    const char *t = literal(f, i) ? TEXT(f, i, i) : "";
    bool single = t[0] == '\'' && i > 0 && IS(f, i - 1, "f") && glued(f, i);
    if ((t[0] != '"' && !single) || strncmp(t, "\"\"\"", 3) == 0 || strchr(t, '\\')) continue;
    const char *out = "", *at = t;
    bool any = false;
    for (const char *open; (open = strchr(at, '{')) != NULL;) {
      const char *close = strchr(open, '}');
      if (!close || open[1] == '{' || close == open + 1) return false;
      FlForeign p = part(f, fl_arena_strndup(f->arena, open + 1, (size_t)(close - open - 1)));
      int end = format_of(&p);
      size_t n = end < p.tokens.n ? p.tokens.at[end].start : strlen(p.text);
      const char *how = p.text + n;
      FlForeign value = part(f, fl_arena_strndup(f->arena, p.text, n));
      const char *now = strchr("!=", how[0]) && how[0] ? NULL : fl_foreign_by_rules(&value);
      if (!now || strchr(now, '\n') || strchr(now, '{')) return false;
      any = any || strncmp(now, p.text, n) != 0 || strlen(now) != n;
      out = SAY(f, "%s%.*s{%s%s}", out, (int)(open - at), at, now, how);
      at = close + 1;
    }
    if (any && !(single && strchr(out, '"'))) return PUT(f, i, i, SAY(f, "%s%s", out, at));
  }
  return false;
}

/* `"x is $p"` of a name that there is, in what prints it */
static bool dollar(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    if (!literal(f, i) || i < 2 || !ANY(f, i - 2, "println print")) continue;
    const char *t = TEXT(f, i, i), *sign = strchr(t, '$');
    size_t n = sign ? strspn(sign + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") : 0;
    if (!n || t[0] != '"') continue;
    const char *name = fl_arena_strndup(f->arena, sign + 1, n);
    if (!fl_foreign_declared(f, name, "let var param")) continue;
    return PUT(f, i, i, SAY(f, "%.*s{%s}%s", (int)(sign - t), t, name, sign + 1 + n));
  }
  return false;
}

/* The text of a literal with its places filled by the arguments from `at` to `end`: `{}`, `{:.2f}`, `%d`.
 * NULL: not so. */
static const char *filled(FlForeign *f, int text, int at, int end, char sign) {
  const char *t = TEXT(f, text, text), *by = "";
  int k = 0;
  for (const char *c = t; *c; c++) {
    size_t format = *c == sign && sign == '{' ? strcspn(c, "}") : 0;
    size_t letters = *c == '%' && sign == '%' ? 1 + strspn(c + 1, ".0123456789") : 0;
    if (*c == '{' && sign == '{' && c[1] >= 'a' && c[1] <= 'z') return NULL;
    if (!format && !letters) {
      by = SAY(f, "%s%c", by, *c);
      continue;
    }
    if (at > end) return NULL;
    int last = fl_foreign_end(f, at);
    if (last > end) last = end;
    const char *how = format        ? fl_arena_strndup(f->arena, c + 1, format - 1)
                      : letters > 1 ? SAY(f, ":%.*s%s", (int)letters - 1, c + 1, c[letters] == 'f' ? "f" : "")
                                    : "";
    if (*how && *how != ':') how = how[1] == ':' ? how + 1 : "";
    by = SAY(f, "%s{%s%s}", by, TEXT(f, at, last), strcmp(how, ":?") == 0 ? "" : how);
    c += format ? format : letters;
    at = last + 2;
    k++;
  }
  return k ? by : NULL;
}

static bool printed(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int macro = ANY(f, i, "println print printf format eprintln cat") ? i : -1;
    int open = macro >= 0 ? (IS(f, i + 1, "!") && IS(f, i + 2, "(") ? i + 2
                             : IS(f, i + 1, "(")                    ? i + 1
                                                                    : -1)
                          : -1;
    int close = pair(f, open);
    bool rust = open == i + 2, own = IS(f, i, "print") && !rust;
    bool line = IS(f, i, "cat") && close > open + 3 && IS(f, close - 1, "\"\\n\"") && IS(f, close - 2, ",");
    if (line) return PUT(f, i, close, SAY(f, "print(%s)", TEXT(f, open + 1, close - 3)));
    if (close > 0 && literal(f, open + 1) && (IS(f, open + 2, ",") || rust) && !own) {
      const char *made = filled(f, open + 1, open + 3, close - 1, IS(f, i, "printf") ? '%' : '{');
      if (made || rust)
        return PUT(
            f, i, close,
            SAY(f, IS(f, i, "format") ? "%s" : "print(%s)", made ? made : TEXT(f, open + 1, open + 1)));
    }
    bool console = IS(f, i, "console") && IS(f, i + 1, ".") && IS(f, i + 2, "log");
    if (console) return PUT(f, i, i + 2, "print");
    if (!literal(f, i)) continue;
    int method = IS(f, i + 1, ".") && IS(f, i + 2, "format") && IS(f, i + 3, "(") ? pair(f, i + 3) : -1;
    const char *made = method > 0 ? filled(f, i, i + 4, method - 1, '{') : NULL;
    if (made) return PUT(f, i, method, made);
    int tuple = IS(f, i + 1, "%") && IS(f, i + 2, "(") ? pair(f, i + 2) : -1,
        end = IS(f, i + 1, "%") ? fl_foreign_end(f, i + 2) : -1;
    made = tuple > 0 ? filled(f, i, i + 3, tuple - 1, '%') : end > 0 ? filled(f, i, i + 2, end, '%') : NULL;
    if (made) return PUT(f, i, tuple > 0 ? tuple : end, made);
  }
  return false;
}

bool fl_foreign_texts(FlForeign *f) {
  static FlForeignRule *const rules[] = {braces, quotes, printed, dollar};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
    if (rules[k](f)) return true;
  return false;
}
