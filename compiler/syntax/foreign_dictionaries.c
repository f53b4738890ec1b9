/* foreign_dictionaries.c: dictionaries of other languages, in flow: tuples with names, or tables of keys and
 * values, by how the file asks them.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

/* How the file asks a dictionary: by texts alone, by what loops go over (WALKED), or by other values
 * (INDEXED), which would be positions of a table. */
typedef enum Asked { BY_TEXTS, WALKED, INDEXED } Asked;

static Asked asked(const FlForeign *f, const char *name) {
  FlForeign file = file_of(f);
  Asked how = BY_TEXTS;
  const char *key = "";
  for (int i = 1; i + 2 < file.tokens.n; i++) {
    if (!IS(&file, i, name)) continue;
    if (IS(&file, i - 1, "in")) how = WALKED, key = TEXT(&file, i - 2, i - 2);
    if (IS(&file, i + 1, ".") && ANY(&file, i + 2, "items keys values get")) how = WALKED;
    if (IS(&file, i + 1, "[") && !literal(&file, i + 2) && !IS(&file, i + 2, key)) return INDEXED;
  }
  return how;
}

/* `{k: v for x in a}` */
static bool mapped(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = IS(f, i, "{") ? pair(f, i) : -1, colon = i + 1;
    if (close < 0) continue;
    while (colon < close && !IS(f, colon, ":"))
      colon = pair(f, colon) > colon ? pair(f, colon) + 1 : colon + 1;
    int at = colon + 1;
    while (at < close && !IS(f, at, "for")) at = pair(f, at) > at ? pair(f, at) + 1 : at + 1;
    if (at >= close || at == colon + 1 || colon == i + 1) continue;
    if (word(f, i - 2) && IS(f, i - 1, "=") && asked(f, TEXT(f, i - 2, i - 2)) == INDEXED) continue;
    const char *head = TEXT(f, at, close - 1);
    return PUT(f, i, close,
               SAY(f, "table(key = [%s: %s], value = [%s: %s])", head, TEXT(f, i + 1, colon - 1), head,
                   TEXT(f, colon + 1, at - 1)));
  }
  return false;
}

/* `let { x, y } = t` */
static bool taken_apart(FlForeign *f) {
  int close = ANY(f, 0, "let var const") && IS(f, 1, "{") ? pair(f, 1) : -1;
  if (close < 0 || !IS(f, close + 1, "=")) return false;
  int end = fl_foreign_end(f, close + 2);
  const char *of = TEXT(f, close + 2, end), *out = "";
  for (int i = 2; i < close; i += 2) {
    if (!word(f, i) || !(IS(f, i + 1, ",") || i + 1 == close)) return false;
    out = SAY(f, "%s%slet %s = %s.%s", out, i > 2 ? "\n" : "", TEXT(f, i, i), of, TEXT(f, i, i));
  }
  return PUT(f, 0, end, out);
}

/* `{"a": 1, "b": 2}` as `table(key = ["a", "b"], value = [1, 2])` */
static const char *keys_and_values(FlForeign *f, int open, int close) {
  const char *keys = "", *values = "";
  for (int at = open + 1; at < close; at = fl_foreign_end(f, at) + 2) {
    int end = fl_foreign_end(f, at), sign = at;
    while (sign < end && !IS(f, sign, ":")) sign = pair(f, sign) > sign ? pair(f, sign) + 1 : sign + 1;
    if (sign >= end) return NULL;
    keys = SAY(f, "%s%s%s", keys, *keys ? ", " : "", TEXT(f, at, sign - 1));
    values = SAY(f, "%s%s%s", values, *values ? ", " : "", TEXT(f, sign + 1, end));
  }
  return *keys ? SAY(f, "table(key = [%s], value = [%s])", keys, values) : NULL;
}

/* `{"a": 1, b: 2}`, `["a": 1]` */
static bool mapping(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    bool list = IS(f, i, "[") && literal(f, i + 1) && !(glued(f, i) && operand(f, i - 1));
    int close = IS(f, i, "{") || list ? pair(f, i) : -1;
    if (close < i + 4 || !IS(f, i + 2, ":") || (i && ANY(f, i - 1, ") else agg aggregate"))) continue;
    bool argument = i > 1 && ANY(f, i - 1, "( =") && !ANY(f, 0, "let var const") && !word(f, 0 + (i == 1));
    bool call = false;
    for (int k = 0; k < i; k++)
      call |= ANY(f, k,
                  "agg aggregate rename replace map with_columns fillna fill_null replace_na "
                  "DataFrame");
    if (call || argument) continue;
    const char *all = "";
    for (int at = i + 1; all && at < close; at = fl_foreign_end(f, at) + 2) {
      const char *name = word(f, at) ? TEXT(f, at, at) : fl_foreign_plain(f, at);
      bool plain = name && *name &&
                   strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == strlen(name);
      all = plain && IS(f, at + 1, ":") ? SAY(f, "%s%s%s = %s", all, *all ? ", " : "", name,
                                              TEXT(f, at + 2, fl_foreign_end(f, at + 2)))
                                        : NULL;
    }
    const char *name = word(f, i - 2) && IS(f, i - 1, "=") ? TEXT(f, i - 2, i - 2) : NULL;
    const Asked how = name ? asked(f, name) : BY_TEXTS;
    const char *table = how == WALKED ? keys_and_values(f, i, close) : NULL;
    if (table) return PUT(f, i, close, table);
    if (how == INDEXED) continue;
    if (all) return PUT(f, i, close, SAY(f, "(%s)", all));
  }
  return false;
}

bool fl_foreign_dictionaries(FlForeign *f) { return mapped(f) || taken_apart(f) || mapping(f); }
