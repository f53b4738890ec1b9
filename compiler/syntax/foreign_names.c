/* foreign_names.c: what names stand for: those that the file gives, by what and where, and what types,
 * aggregates and modules of other languages are called here.
 *
 * In: a file's tokens and a name. Out: where it is bound, or its name in flow. What always holds: this is the
 * only place that looks up a binding, and rules of rewriting ask for such names here alone; what is said of a
 * name where nothing is rewritten stands in sema/habits.def. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

enum { MOST_NAMES = 50 };

/* ---- what the file binds ---- */

bool fl_foreign_declared(const FlForeign *f, const char *name, const char *how) {
  FlForeign file = file_of(f);
  for (int i = 1; i < file.tokens.n; i++)
    if (IS(&file, i, name) && ANY(&file, i - 1, how)) return true;
  return false;
}

int fl_foreign_binding(const FlForeign *f, const char *name, int before) {
  for (int i = before - 1; i >= 0; i--) {
    if (!IS(f, i, name)) continue;
    int first = i, last = i; /* of `a, b = ..`, `let (a, b) = ..` */
    while (first > 1 && IS(f, first - 1, ",") && word(f, first - 2)) first -= 2;
    while (IS(f, last + 1, ",") && word(f, last + 2)) last += 2;
    if (IS(f, first - 1, "(") && pair(f, first - 1) == last + 1) first--, last++;
    bool own = ANY(f, first - 1, "let var param const") && !IS(f, first - 2, "."); /* not `np.var(a)` */
    bool begins = first == 0 || fl_foreign_kind(f, first - 1, FL_FOREIGN_LINE);
    if (own || (begins && ANY(f, last + 1, "= <-"))) return i;
  }
  return -1;
}

const char *fl_foreign_bound(const FlForeign *f, const char *name) {
  FlForeign file = file_of(f);
  int at = fl_foreign_binding(&file, name, file.tokens.n);
  if (at < 0) return NULL;
  int first = at, sign = at + 1; /* of `a, b = x, y` */
  while (first > 1 && IS(&file, first - 1, ",") && word(&file, first - 2)) first -= 2;
  while (IS(&file, sign, ",") && word(&file, sign + 1)) sign += 2;
  if (!ANY(&file, sign, "= <-")) return NULL;
  const char *own = NULL;
  for (int k = first, value = sign + 1; k < sign; k += 2) {
    int end = fl_foreign_end(&file, value);
    if (k + 1 < sign && !IS(&file, end + 1, ",")) return NULL;
    if (k == at) own = TEXT(&file, value, end);
    value = end + 2;
  }
  return own;
}

const char *fl_foreign_new_name(const FlForeign *f, const char *name, bool own) {
  FlForeign file = file_of(f);
  size_t n = strlen(name);
  bool numbered = n > 2 && name[n - 2] == '_' && strchr("23456789", name[n - 1]);
  const char *stem = numbered && !own ? fl_arena_strndup(f->arena, name, n - 2) : name;
  for (int k = own ? 1 : 2; k < MOST_NAMES; k++) {
    const char *by = k == 1 ? name : SAY(f, "%s_%d", stem, k);
    bool there = false;
    for (int i = 0; i < file.tokens.n; i++) there = there || IS(&file, i, by);
    if (!there) return by;
  }
  return NULL;
}

bool fl_foreign_is_module(const FlForeign *f, const char *name) {
  FlForeign file = file_of(f), p = part((FlForeign *)(uintptr_t)f, name);
  bool importing = false;
  for (int i = 0; i < file.tokens.n; i++) {
    if (fl_foreign_kind(&file, i, FL_FOREIGN_LINE)) importing = false;
    else if (IS(&file, i, "import")) importing = true;
    else if (importing && IS(&file, i, name)) return true;
  }
  return ANY(&p, 0, FL_FOREIGN_PACKAGES);
}

/* ---- other names for them ---- */

/* A text literal in which what braces hold has the new name. */
static const char *filled(FlForeign *f, const char *text, const char *name, const char *by) {
  size_t n = strlen(name);
  FlText1 out = {0};
  int deep = 0;
  for (const char *c = text; *c; c++) {
    bool escape = *c == '\\' && c[1], own = c == text || (!in_word(c[-1]) && c[-1] != '.');
    if (!escape) deep += *c == '{' ? 1 : *c == '}' ? -1 : 0;
    bool here = deep > 0 && own && strncmp(c, name, n) == 0 && !in_word(c[n]);
    if (here) fl_text_addz(&out, by);
    else fl_text_add(&out, c, 1 + escape);
    c += here ? n - 1 : escape;
  }
  const char *all = fl_arena_strndup(f->arena, out.s, out.len);
  fl_text_reset(&out);
  return all;
}

const char *fl_foreign_renamed(FlForeign *f, int from, const char *name, const char *by, int *last) {
  const char *out = "";
  const FlForeignToken *before = from > 0 && from < f->tokens.n ? &f->tokens.at[from - 1] : NULL;
  uint32_t at = before ? before->start + before->len : 0;
  for (int i = from; i < f->tokens.n; i++) {
    const FlForeignToken *t = &f->tokens.at[i];
    const char *old = TEXT(f, i, i), *now = old;
    bool argument = IS(f, i + 1, "=") && i && ANY(f, i - 1, "( ,");
    if (literal(f, i)) now = filled(f, old, name, by);
    else if (IS(f, i, name) && !(i && ANY(f, i - 1, ". $")) && !argument) now = by;
    if (strcmp(old, now) == 0) continue;
    out = SAY(f, "%s%.*s%s", out, (int)(t->start - at), f->text + at, now);
    at = t->start + t->len;
    *last = i;
  }
  return out;
}

const char *fl_foreign_with(FlForeign *f, const char *text, const char *name, const char *by) {
  FlForeign p = part(f, text);
  int last = -1;
  const char *out = fl_foreign_renamed(&p, 0, name, by, &last);
  return last < 0 ? text : SAY(f, "%s%s", out, text + p.tokens.at[last].start + p.tokens.at[last].len);
}

/* ---- what things are called ---- */

typedef struct Word {
  const char *here, *elsewhere; /* between blanks */
} Word;

static const char *among(const Word *words, size_t n, const char *name) {
  size_t len = strlen(name);
  for (size_t k = 0; k < n; k++)
    for (const char *w = words[k].elsewhere; (w = strstr(w, name)); w += len)
      if ((w == words[k].elsewhere || w[-1] == ' ') && (!w[len] || w[len] == ' ')) return words[k].here;
  return NULL;
}

const char *fl_foreign_aggregate(const char *name) {
  static const Word words[] = {{"mean", "mean avg average AVG"},
                               {"sum", "sum SUM"},
                               {"max", "max MAX"},
                               {"min", "min MIN"},
                               {"std", "std sd stddev STDDEV STDDEV_SAMP"},
                               {"count", "count COUNT"},
                               {"first", "first"},
                               {"last", "last"},
                               {"n_distinct", "nunique n_unique n_distinct"},
                               {"median", "median MEDIAN"},
                               {"var", "var variance VARIANCE VAR_SAMP"}};
  return *name ? among(words, sizeof words / sizeof *words, name) : NULL;
}

const char *fl_foreign_type(const FlForeign *f, const char *name) {
  static const Word words[] = {{"f64", "float double number Float64 float64"},
                               {"i64", "int Int64 int64 usize integer Integer"},
                               {"text", "str string String"},
                               {"bool", "boolean Bool Boolean"}};
  if (fl_foreign_declared(f, name, "def fn stage function")) return NULL;
  return *name ? among(words, sizeof words / sizeof *words, name) : NULL;
}

const char *fl_foreign_module(const char *name) {
  static const Word words[] = {{"linear", "linear_model linear"},
                               {"tree", "ensemble tree"},
                               {"cluster", "cluster"},
                               {"metrics", "metrics"},
                               {"neighbors", "neighbors"},
                               {"naive_bayes", "naive_bayes"},
                               {"preprocess", "preprocessing preprocess"},
                               {"decomposition", "decomposition"},
                               {"model_selection", "model_selection"}};
  return *name ? among(words, sizeof words / sizeof *words, name) : NULL;
}
