/* foreign_blocks.c: statements of other languages, in flow: blocks by indentation, functions, loops,
 * bindings.
 *
 * In: a statement. Out: one change. What always holds: what a block has in it stays as it is. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

#include <stdlib.h>

/* ---- blocks by indentation ---- */

enum { DEEPEST = 50 };

/* A line that begins a block: its length without the `:`; 0: none. */
static size_t begins_block(const char *line, size_t n) {
  static const char *const words[] = {"if ",  "if(", "for ",  "while ", "while(",
                                      "def ", "fn ", "elif ", "else:",  "else :"};
  while (n && strchr(" \t\r", line[n - 1])) n--;
  if (!n || line[n - 1] != ':') return 0;
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strncmp(line, words[k], strlen(words[k])) == 0) return n - 1;
  return 0;
}

static bool indented(FlForeign *f) {
  FlText1 out = {0};
  size_t deep[DEEPEST];
  int n = 0, blocks = 0;
  for (const char *line = f->text; *line && n < DEEPEST;) {
    size_t len = strcspn(line, "\n"), in = strspn(line, " \t"),
           head = in < len ? begins_block(line + in, len - in) : 0;
    bool goes_on = !strncmp(line + in, "else", 4) || !strncmp(line + in, "elif", 4), joined = false;
    while (in < len && n && deep[n - 1] >= in) {
      joined = goes_on && deep[n - 1] == in;
      fl_text_addf(&out, "%s%.*s}", out.len ? "\n" : "", (int)deep[n - 1], line);
      n--;
    }
    const char *rest = line + in;
    if (head) {
      bool elif = !strncmp(rest, "elif", 4);
      if (!joined) fl_text_addf(&out, "%s%.*s", out.len ? "\n" : "", (int)in, line);
      while (head && rest[head - 1] == ' ') head--;
      fl_text_addf(&out, "%s%s%.*s {", joined ? " " : "", elif ? "else if" : "", (int)(head - (elif ? 4 : 0)),
                   rest + (elif ? 4 : 0));
      deep[n++] = in;
      blocks++;
    } else {
      fl_text_addf(&out, "%s%.*s", out.len ? "\n" : "", (int)len, line);
    }
    line += len + (line[len] == '\n');
  }
  while (n)
    fl_text_addf(&out, "\n%.*s}", (int)deep[--n], "                                                  ");
  if (blocks && n < DEEPEST) {
    f->text = fl_arena_strndup(f->arena, out.s, out.len);
    f->tokens.n = 0;
    fl_foreign_tokens(f->arena, f->text, strlen(f->text), &f->tokens);
  }
  fl_text_reset(&out);
  return blocks > 0;
}

/* `if c: a`, on one line */
static bool block_of_line(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    bool begins = i == 0 || fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) || ANY(f, i - 1, "{ }");
    if (!begins || !ANY(f, i, "if for while elif else")) continue;
    int colon = i + 1;
    while (colon < f->tokens.n && !ANY(f, colon, ": {") && !fl_foreign_kind(f, colon, FL_FOREIGN_LINE))
      colon = pair(f, colon) > colon ? pair(f, colon) + 1 : colon + 1;
    if (!IS(f, colon, ":") || colon + 1 >= f->tokens.n || f->tokens.at[colon + 1].glued ||
        fl_foreign_kind(f, colon + 1, FL_FOREIGN_LINE))
      continue;
    int end = colon + 1;
    while (end + 1 < f->tokens.n && !fl_foreign_kind(f, end + 1, FL_FOREIGN_LINE) &&
           !ANY(f, end + 1, "else }"))
      end = pair(f, end + 1) > end ? pair(f, end + 1) : end + 1;
    PUT(f, colon, end, SAY(f, " { %s }", TEXT(f, colon + 1, end)));
    return !IS(f, i, "elif") || PUT(f, i, i, "else if");
  }
  return false;
}

/* ---- functions ---- */

/* What a function says of itself, as its first statement */
static bool said_of_itself(FlForeign *f) {
  for (int i = 1; i < f->tokens.n; i++) {
    if (!literal(f, i) || !fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) ||
        !fl_foreign_kind(f, i + 1, FL_FOREIGN_LINE))
      continue;
    int first = 0, next = i + 1;
    while (first < i && !IS(f, first, "{")) first++;
    while (fl_foreign_kind(f, next, FL_FOREIGN_LINE)) next++;
    if (first == i - 2 && !IS(f, next, "}") && ANY(f, 0, "def fn")) return PUT(f, i - 1, i, "");
  }
  return false;
}

/* `def f(x) {`, `function f(x) {`, `func f(x) {` */
static bool function(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    bool begins = i == 0 || fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) || ANY(f, i - 1, "{ }");
    if (begins && ANY(f, i, "def function func fun") && word(f, i + 1) && IS(f, i + 2, "("))
      return PUT(f, i, i, "fn");
  }
  return false;
}

/* `f <- function(x) body`, `const f = function(x) {..}` */
static bool bound_function(FlForeign *f) {
  int at = ANY(f, 0, "let const var") ? 1 : 0;
  if (!word(f, at) || !ANY(f, at + 1, "<- =") || !IS(f, at + 2, "function") || !IS(f, at + 3, "("))
    return false;
  int close = pair(f, at + 3);
  if (close < 0) return false;
  const char *by =
      SAY(f, "fn %s%s%s", TEXT(f, at, at), TEXT(f, at + 3, close), IS(f, close + 1, "{") ? "" : " =");
  return PUT(f, 0, close, by);
}

/* `f(x) = x * 2`; behind `fn` it is flow already. */
static bool short_function(FlForeign *f) {
  int close = word(f, 0) && IS(f, 1, "(") ? pair(f, 1) : -1;
  if (close < 0 || !IS(f, close + 1, "=") || ANY(f, 0, "let var fn stage param")) return false;
  for (int i = 2; i < close; i++)
    if (!word(f, i) && !IS(f, i, ",")) return false;
  return PUT(f, 0, 0, SAY(f, "fn %s", TEXT(f, 0, 0)));
}

/* `function f(x)` .. `end`, of Julia, whose head is `fn f(x)` by now */
static bool ends_by_word(FlForeign *f) {
  int n = f->tokens.n;
  if (!n || !IS(f, n - 1, "end")) return false;
  for (int i = 0; i < n; i++) {
    if (pair(f, i) > i) i = pair(f, i);
    else if (fl_foreign_kind(f, i, FL_FOREIGN_LINE)) {
      if (!ANY(f, 0, "fn for while if")) return false;
      PUT(f, n - 1, n - 1, "}");
      return PUT(f, i - 1, i - 1, SAY(f, "%s {", TEXT(f, i - 1, i - 1)));
    }
  }
  return false;
}

/* The first token of the statement whose block ends at `close`: `if`, `fn`, ...; of a chain of `if` and
 * `else` its `if`. -1: none. */
static int head_of_block(const FlForeign *f, int close) {
  int i = pair(f, close);
  while (i > 0 && !fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) && !ANY(f, i - 1, "{ ;")) {
    i--;
    if (pair(f, i) >= 0 && pair(f, i) < i) i = pair(f, i);
  }
  return i;
}

static int behind_lines(const FlForeign *f, int i) {
  while (i < f->tokens.n && (fl_foreign_kind(f, i, FL_FOREIGN_LINE) || IS(f, i, ";"))) i++;
  return i;
}

/* The last brace of the chain of `if` and `else` in which a block ends. */
static int end_of_chain(const FlForeign *f, int close) {
  while (IS(f, behind_lines(f, close + 1), "else")) {
    int at = behind_lines(f, close + 1);
    while (at < f->tokens.n && !IS(f, at, "{")) at++;
    if (pair(f, at) < 0) return close;
    close = pair(f, at);
  }
  return close;
}

/* Is what ends before the brace `close` the value of the function around it? */
static bool gives(const FlForeign *f, int close) {
  for (;;) {
    int head = head_of_block(f, close);
    if (ANY(f, head, "fn def function stage")) return true;
    if (!ANY(f, head, "if }") && !IS(f, head, "else")) return false;
    int next = behind_lines(f, end_of_chain(f, close) + 1);
    if (!IS(f, next, "}")) return false;
    close = next;
  }
}

/* `return x` where a function ends with it */
static bool returned(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    if (!IS(f, i, "return") || i + 1 >= f->tokens.n) continue;
    int end = fl_foreign_end(f, i + 1), next = behind_lines(f, end + 1);
    if (IS(f, next, "}") && gives(f, next)) return PUT(f, i, end, TEXT(f, i + 1, end));
  }
  return false;
}

/* `if c { return a }` and more behind it, which is its `else` */
static bool returned_early(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    if (!IS(f, i, "return") || i + 1 >= f->tokens.n) continue;
    int close = behind_lines(f, fl_foreign_end(f, i + 1) + 1);
    if (!IS(f, close, "}")) continue;
    int head = head_of_block(f, close), rest = behind_lines(f, close + 1);
    if (!IS(f, head, "if") || rest >= f->tokens.n || ANY(f, rest, "else }")) continue;
    for (int k = head, block = k; k < close; k++) { /* every block of the chain must end so */
      if (!IS(f, k, "{")) continue;
      block = pair(f, k) - 1;
      while (block > k && (fl_foreign_kind(f, block, FL_FOREIGN_LINE) || IS(f, block, ";"))) block--;
      while (block > k && !IS(f, block, "return") && !fl_foreign_kind(f, block, FL_FOREIGN_LINE)) block--;
      if (!IS(f, block, "return")) return false;
      k = pair(f, k);
    }
    int last = rest;
    while (last < f->tokens.n && !IS(f, last, "}"))
      last = pair(f, last) > last ? pair(f, last) + 1 : last + 1;
    if (last >= f->tokens.n || !gives(f, last)) continue;
    while (fl_foreign_kind(f, last - 1, FL_FOREIGN_LINE)) last--;
    return PUT(f, close, last - 1, SAY(f, "} else {\n%s\n}", TEXT(f, rest, last - 1)));
  }
  return false;
}

/* ---- bindings and types ---- */

/* `x = 5` and `x <- 5` of a name that there is not yet; one that changes later is a variable. */
static bool bound(FlForeign *f) {
  if (!word(f, 0) || !ANY(f, 1, "= <- :=") || fl_foreign_is_any(f, 0, "let var param")) return false;
  const char *name = TEXT(f, 0, 0);
  if (fl_foreign_declared(f, name, "let var param fn stage for")) return false;
  FlForeign file = file_of(f);
  int times = 0, before = 0;
  while (before < file.tokens.n && file.tokens.at[before].start < f->start) before++;
  if (fl_foreign_binding(&file, name, before) >= 0) return false; /* it changes */
  for (int i = 0; i + 1 < file.tokens.n; i++)
    times +=
        fl_foreign_is(&file, i, name) && fl_foreign_is_any(&file, i + 1, "= += <- -= *= ++") &&
        (i == 0 || fl_foreign_kind(&file, i - 1, FL_FOREIGN_LINE) || fl_foreign_is_any(&file, i - 1, "{"));
  const char *word_of = times > 1 ? "var" : "let";
  if (!IS(f, 1, "<-")) return PUT(f, 0, 1, SAY(f, "%s %s =", word_of, name));
  for (int i = f->tokens.n - 2; i > 2; i--) /* R counts from 1 */
    if (fl_foreign_kind(f, i, FL_FOREIGN_NUMBER) && IS(f, i - 1, "[") && IS(f, i + 1, "]") &&
        f->tokens.at[i - 1].glued)
      PUT(f, i, i, SAY(f, "%d", atoi(TEXT(f, i, i)) - 1));
  return PUT(f, 0, 1, SAY(f, "%s %s =", word_of, name));
}

/* `xs = []`, which something is added to later, but by the loop behind it: of what type says the first that
 * is. */
static bool list_begun(FlForeign *f) {
  int at = ANY(f, 0, "let var") ? 1 : 0;
  if (!word(f, at) || !IS(f, at + 1, "=") || !IS(f, at + 2, "[") || pair(f, at + 2) != at + 3) return false;
  FlForeign file = file_of(f);
  const char *name = TEXT(f, at, at);
  int next = fl_foreign_binding(&file, name, file.tokens.n) + 4;
  while (fl_foreign_kind(&file, next, FL_FOREIGN_LINE)) next++;
  if (IS(&file, next, "for")) return false;
  for (int i = 0; at + 4 == f->tokens.n && i + 4 < file.tokens.n; i++) {
    bool added = IS(&file, i, name) && ANY(&file, i + 2, "append push");
    bool joined = IS(&file, i, "concat") && IS(&file, i + 2, name) && IS(&file, i + 4, "[");
    if (!(added && IS(&file, i + 3, "(")) && !joined) continue;
    int first = added ? i + 4 : i + 5;
    const char *type = literal(&file, first)                    ? "text"
                       : strchr(TEXT(&file, first, first), '.') ? "f64"
                                                                : "i64";
    return PUT(f, 0, at + 3, SAY(f, "var %s: %s[_] = []", name, type));
  }
  return false;
}

/* The brace that closes the block around a token; the number of tokens where there is none. */
static int block_end(const FlForeign *f, int i) {
  while (i < f->tokens.n && !IS(f, i, "}")) i = pair(f, i) > i ? pair(f, i) + 1 : i + 1;
  return i;
}

/* Is a name bound by the file outside of all blocks, or by the statement before a token? */
static bool bound_before(const FlForeign *f, int before, const char *name) {
  FlForeign file = file_of(f);
  if (fl_foreign_declared(f, name, "let var param for fn stage")) return true;
  int at = fl_foreign_binding(&file, name, file.tokens.n);
  for (; at >= 0; at = fl_foreign_binding(&file, name, at))
    if (!file.tokens.at[at].start || file.text[file.tokens.at[at].start - 1] == '\n') return true;
  for (int i = 0; i < before; i++) {
    bool binds = ANY(f, i - 1, "let var for ,") || (IS(f, i - 1, "(") && ANY(f, 0, "fn def"));
    if (IS(f, i, name) && binds) return true;
  }
  return false;
}

/* Have two names the same letters but for one that is added, left out or another? */
static bool spelt_alike(const char *a, const char *b) {
  int letters[128] = {0}, off = 0;
  for (const char *c = a; *c; c++) letters[*c & 127]++;
  for (const char *c = b; *c; c++) letters[*c & 127]--;
  for (int k = 0; k < 128; k++) off += abs(letters[k]);
  return strlen(a) > 2 && strlen(b) > 2 && off <= 2;
}

/* Is a name a misspelt variable of the file? */
static bool of_variable(FlForeign *f, const char *name) {
  FlForeign file = file_of(f);
  for (int i = 1; i < file.tokens.n; i++)
    if (IS(&file, i - 1, "var") && spelt_alike(name, TEXT(&file, i, i))) return true;
  return false;
}

/* `x = 5` in a block, of a name that there is not yet */
static bool bound_inside(FlForeign *f) {
  if (!ANY(f, 0, "for while if fn def")) return false;
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    bool begins = fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) || IS(f, i - 1, "{");
    if (!begins || !word(f, i) || !ANY(f, i + 1, "= <-")) continue;
    const char *name = TEXT(f, i, i);
    if (bound_before(f, i, name) || of_variable(f, name)) continue;
    int end = block_end(f, i), times = 0, outside = 0;
    for (int k = i; k + 1 < f->tokens.n; k++) {
      bool changes = IS(f, k, name) && ANY(f, k + 1, "= <- += -= *= /=");
      times += changes;
      outside += changes && k > end;
    }
    if (outside || end >= f->tokens.n) continue;
    return PUT(f, i, i + 1, SAY(f, "%s %s =", times > 1 ? "var" : "let", name));
  }
  return false;
}

/* `b := b + m` of a variable that there is */
static bool assigned(FlForeign *f) {
  for (int i = 0; i + 1 < f->tokens.n; i++) {
    bool begins = i == 0 || fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) || ANY(f, i - 1, "{ ;");
    if (begins && word(f, i) && IS(f, i + 1, ":=") && fl_foreign_declared(f, TEXT(f, i, i), "var"))
      return PUT(f, i + 1, i + 1, "=");
  }
  return false;
}

/* `a, b = x, y`: one by one, where no value says one of the names. */
static bool each_bound(FlForeign *f, int first, int sign, int n) {
  const char *out = "";
  int at = sign + 1;
  for (int k = 0; k < n; k++) {
    int name = first + 2 * k, end = fl_foreign_end(f, at);
    if (end < at || !IS(f, end + 1, ",") != (k == n - 1)) return false;
    for (int i = at; i <= end; i++)
      for (int other = 0; other < n; other++)
        if (IS(f, i, TEXT(f, first + 2 * other, first + 2 * other)) && !IS(f, i - 1, ".")) return false;
    out = SAY(f, "%s%slet %s = %s", out, k ? "\n" : "", TEXT(f, name, name), TEXT(f, at, end));
    at = end + 2;
  }
  return !IS(f, 0, "(") && at > f->tokens.n && PUT(f, 0, f->tokens.n - 1, out);
}

/* `a, b = f(x)`, `(a, b) = f(x)`, `let a, b = f(x)`, `let [a, b] = f(x)` */
static bool several_bound(FlForeign *f) {
  bool list = ANY(f, 0, "let var const") && IS(f, 1, "[") && pair(f, 1) > 0; /* of JavaScript */
  if (list) return PUT(f, 0, pair(f, 1), SAY(f, "let %s", TEXT(f, 2, pair(f, 1) - 1)));
  int first = IS(f, 0, "(") || (ANY(f, 0, "let var") && !IS(f, 1, "(")) ? 1 : 0, at = first, n = 0;
  const char *names = "";
  for (; word(f, at); at += 2) {
    names = SAY(f, "%s%s%s", names, n++ ? ", " : "", TEXT(f, at, at));
    if (!IS(f, at + 1, ",")) break;
  }
  int sign = at + 1 + IS(f, 0, "(");
  if (n < 2 || !IS(f, sign, "=") || (IS(f, 0, "(") && !IS(f, at + 1, ")"))) return false;
  if (IS(f, fl_foreign_end(f, sign + 1) + 1, ",")) return each_bound(f, first, sign, n);
  const char *value = TEXT(f, sign + 1, f->tokens.n - 1), *parts = fl_foreign_new_name(f, "parts", true);
  bool counts =
      n == 2 && IS(f, sign + 1, "np") && IS(f, sign + 3, "unique") && strstr(value, "return_counts");
  if (!parts || !(counts || f->ways & FL_FOREIGN_SECOND)) return PUT(f, 0, sign, SAY(f, "let (%s) =", names));
  if (counts) value = SAY(f, "sort(value_counts(%s), value)", TEXT(f, sign + 5, fl_foreign_end(f, sign + 5)));
  const char *out = SAY(f, "let %s = %s", parts, value);
  for (int k = 0; k < n; k++) {
    const char *name = TEXT(f, first + 2 * k, first + 2 * k);
    out = counts ? SAY(f, "%s\nlet %s = %s.%s", out, name, parts, k ? "count" : "value")
                 : SAY(f, "%s\nlet %s = %s[%d]", out, name, parts, k);
  }
  return PUT(f, 0, f->tokens.n - 1, out);
}

/* `const f = (a, b = 2) => a * b`: lambdas have no defaults. */
static bool defaults_of_lambda(FlForeign *f) {
  int at = ANY(f, 0, "const let var") ? 1 : 0, close = IS(f, at + 2, "(") ? pair(f, at + 2) : -1;
  if (!word(f, at) || !IS(f, at + 1, "=") || close < 0 || !IS(f, close + 1, "=>")) return false;
  bool any = false;
  for (int i = at + 3; i < close; i++) any = any || IS(f, i, "=");
  const char *head =
      SAY(f, "fn %s%s%s", TEXT(f, at, at), TEXT(f, at + 2, close), IS(f, close + 2, "{") ? "" : " =");
  return any && PUT(f, 0, close + 1, head);
}

static bool word_bound(FlForeign *f) {
  if (IS(f, 0, "let") && IS(f, 1, "mut")) return PUT(f, 0, 1, "var");
  bool arrow = ANY(f, 0, "let var") && word(f, 1) && IS(f, 2, "<-");
  for (int i = 3; i < f->tokens.n; i++) /* who knows from what number it counts? */
    if (IS(f, i, "[") && fl_foreign_kind(f, i + 1, FL_FOREIGN_NUMBER)) arrow = false;
  if (arrow) return PUT(f, 2, 2, "=");
  if (ANY(f, 0, "const val auto") && word(f, 1)) return PUT(f, 0, 0, "let");
  return false;
}

/* `x: float`, `-> str`, `Vec<f64>`, `list[float]` */
static bool type(FlForeign *f) {
  for (int i = 1; i + 1 < f->tokens.n; i++) {
    if (!ANY(f, i, ": ->") || !ANY(f, 0, "fn let var stage type param struct")) continue;
    int at = IS(f, i + 1, "&") ? i + 2 : i + 1;
    bool many = ANY(f, at, "Vec list List Array Vector") && ANY(f, at + 1, "< [ {") && word(f, at + 2) &&
                ANY(f, at + 3, "> ] }");
    const char *name = TEXT(f, many ? at + 2 : at, many ? at + 2 : at), *by = fl_foreign_type(f, name);
    if (many) return PUT(f, i + 1, at + 3, SAY(f, "%s[_]", by ? by : name));
    if (ANY(f, at, "list tuple dict") && ANY(f, at + 1, ", ) = {")) return PUT(f, i, at, "");
    if (by && word(f, at) && !IS(f, at + 1, "(")) return PUT(f, i + 1, at, by);
  }
  return false;
}

/* `struct P { x: f64, y: f64 }` */
static bool structure(FlForeign *f) {
  if (!ANY(f, 0, "struct type interface") || !word(f, 1)) return false;
  int open = IS(f, 2, "{") ? 2 : IS(f, 2, "=") && IS(f, 3, "{") ? 3 : -1, close = pair(f, open);
  if (close < 0) return false;
  return PUT(f, 0, close, SAY(f, "type %s = (%s)", TEXT(f, 1, 1), TEXT(f, open + 1, close - 1)));
}

/* `import numpy as np`: nothing of it is needed. */
static bool imported(FlForeign *f) {
  static const char *const needless =
      "numpy pandas polars math dplyr tidyverse datetime matplotlib Statistics DataFrames seaborn plotly csv "
      "re sys os json collections itertools functools statistics warnings ggplot2 readr tidyr stringr "
      "lubridate";
  bool from = IS(f, 0, "from") && ANY(f, 1, needless);
  bool library = ANY(f, 0, "library require") && IS(f, 1, "(") && f->tokens.n == 4;
  const char *module = library ? fl_foreign_module(TEXT(f, 2, 2)) : NULL;
  if (module) return PUT(f, 0, 3, SAY(f, "import %s", module));
  library = library && ANY(f, 2, needless);
  if (!from && !library && !(ANY(f, 0, "import using") && ANY(f, 1, needless))) return false;
  for (int i = 1; i < f->tokens.n; i++)
    if (fl_foreign_kind(f, i, FL_FOREIGN_LINE) || (IS(f, i, ",") && !from)) return false;
  return PUT(f, 0, f->tokens.n - 1, "");
}

/* `np.random.seed(42)`: each draw has its own seed here. */
static bool seeded(FlForeign *f) {
  return IS(f, 0, "np") && IS(f, 2, "random") && IS(f, 4, "seed") && pair(f, 5) == f->tokens.n - 1 &&
         PUT(f, 0, f->tokens.n - 1, "");
}

/* A function that calls itself says what it gives: in the second way a float. */
static bool of_itself(FlForeign *f) {
  int close = IS(f, 0, "fn") && IS(f, 2, "(") ? pair(f, 2) : -1;
  if (close < 0 || !f->changes || IS(f, close + 1, "->")) return false;
  for (int i = close + 1; i < f->tokens.n; i++)
    if (IS(f, i, TEXT(f, 1, 1)) && IS(f, i + 1, "("))
      return PUT(f, close, close, f->ways & FL_FOREIGN_SECOND ? ") -> f64" : ") -> i64");
  return false;
}

/* `slope, intercept = np.polyfit(x, y, 1)` */
static bool line_fitted(FlForeign *f) {
  FlForeignArgs args = {0};
  int at = IS(f, 1, ",") ? 0 : IS(f, 0, "let") ? 2 : 1, call = IS(f, at + 3, ")") ? at + 5 : at + 4;
  if (!word(f, at) || !IS(f, at + 1, ",") || !word(f, at + 2) || !ANY(f, call - 1, "=") ||
      !IS(f, call, "np") || !IS(f, call + 2, "polyfit") || pair(f, call + 3) != f->tokens.n - 1)
    return false;
  fl_foreign_split(f, call + 4, f->tokens.n - 2, &args);
  if (args.n != 3 || strcmp(args.at[2].text, "1") != 0) return false;
  const char *x = args.at[0].text, *y = args.at[1].text, *slope = TEXT(f, at, at);
  return PUT(f, 0, f->tokens.n - 1,
             SAY(f, "let %s = corr(%s, %s) * std(%s) / std(%s)\nlet %s = mean(%s) - %s * mean(%s)", slope, x,
                 y, y, x, TEXT(f, at + 2, at + 2), y, slope, x));
}

/* `a, b = b, a + b` in a block: new values first, where old ones are read. */
static bool exchanged(FlForeign *f) {
  for (int i = 1; i + 6 < f->tokens.n; i++) {
    bool begins = fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) || IS(f, i - 1, "{");
    if (!begins || !word(f, i) || !IS(f, i + 1, ",") || !word(f, i + 2) || !IS(f, i + 3, "=")) continue;
    int first = fl_foreign_end(f, i + 4), second = fl_foreign_end(f, first + 2);
    if (!IS(f, first + 1, ",") || second < first + 2 || IS(f, second + 1, ",")) continue;
    const char *a = TEXT(f, i, i), *b = TEXT(f, i + 2, i + 2), *x = TEXT(f, i + 4, first),
               *y = TEXT(f, first + 2, second), *next = SAY(f, "next_%s", a);
    bool read = false;
    for (int k = first + 2; k <= second; k++) read = read || IS(f, k, a);
    return PUT(f, i, second,
               read ? SAY(f, "let %s = %s\n%s = %s\n%s = %s", next, x, b, y, a, next)
                    : SAY(f, "%s = %s\n%s = %s", a, x, b, y));
  }
  return false;
}

/* `from sklearn.linear_model import LinearRegression` */
static bool learning(FlForeign *f) {
  if (!IS(f, 0, "from") || !IS(f, 1, "sklearn") || !IS(f, 2, ".") || !IS(f, 4, "import")) return false;
  const char *module = fl_foreign_module(TEXT(f, 3, 3));
  return module && PUT(f, 0, f->tokens.n - 1, SAY(f, "import %s", module));
}

/* `b.append(x)`, `push!(b, x)` of a variable */
static bool appended(FlForeign *f) {
  int n = f->tokens.n;
  for (int i = 0; i < n; i++) {
    bool begins = i == 0 || fl_foreign_kind(f, i - 1, FL_FOREIGN_LINE) || IS(f, i - 1, "{");
    if (!begins || !word(f, i)) continue;
    bool method = IS(f, i + 1, ".") && ANY(f, i + 2, "append push push_back add") && IS(f, i + 3, "(");
    bool julia = IS(f, i, "push") && IS(f, i + 1, "!") && IS(f, i + 2, "(") && IS(f, i + 4, ",");
    int close = method ? pair(f, i + 3) : julia ? pair(f, i + 2) : -1;
    if (close < 0) continue;
    const char *name = TEXT(f, julia ? i + 3 : i, julia ? i + 3 : i),
               *what = TEXT(f, julia ? i + 5 : i + 4, close - 1);
    return PUT(f, i, close, SAY(f, "%s = concat(%s, [%s])", name, name, what));
  }
  return false;
}

bool fl_foreign_blocks(FlForeign *f) {
  static FlForeignRule *const rules[] = {
      indented,     block_of_line,  said_of_itself,     bound_function, function,
      ends_by_word, short_function, returned_early,     returned,       fl_foreign_loops,
      imported,     seeded,         of_itself,          line_fitted,    exchanged,
      learning,     structure,      defaults_of_lambda, word_bound,     several_bound,
      list_begun,   bound,          bound_inside,       assigned,       type,
      appended};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
    if (rules[k](f)) return true;
  return false;
}
