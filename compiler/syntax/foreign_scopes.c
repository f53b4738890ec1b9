/* foreign_scopes.c: blocks of Python that are none in flow, where statements with effects stand outside of
 * functions: `def main():` that is called once, `if __name__ == "__main__":`, `with open(..) as f:`.
 *
 * In: a file and the first and last token of such a block. Out: what is in it, without its indentation. What
 * always holds: no statement of it changes, but that a reader of a file is the file. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

static bool line(const FlForeign *f, int i) { return fl_foreign_kind(f, i, FL_FOREIGN_LINE); }

/* The lines from a token to another, with so many blanks less as the first has. */
static const char *without_blanks(FlForeign *f, int from, int to) {
  uint32_t begin = f->tokens.at[from].start, in = 0, end = f->tokens.at[to].start + f->tokens.at[to].len;
  while (begin > 0 && strchr(" \t", f->text[begin - 1])) begin--, in++;
  const char *out = "";
  for (const char *at = f->text + begin, *stop = f->text + end; at < stop;) {
    size_t n = strcspn(at, "\n"), blanks = strspn(at, " \t");
    if (n > (size_t)(stop - at)) n = (size_t)(stop - at);
    size_t less = blanks < in ? blanks : in;
    if (less > n) less = n;
    out = SAY(f, "%s%s%.*s", out, *out ? "\n" : "", (int)(n - less), at + less);
    at += n + (at + n < stop);
  }
  return out;
}

/* Does `if __name__ == "__main__":` begin at a token? */
static bool guard(const FlForeign *f, int i) {
  return IS(f, i, "if") && IS(f, i + 1, "__name__") && IS(f, i + 2, "==") && IS(f, i + 4, ":");
}

/* The call `name()` that is all that stands behind a token: its last token; -1: it is not so. */
static int called_behind(const FlForeign *f, int last, const char *name) {
  int i = last + 1, times = 0;
  while (line(f, i)) i++;
  if (guard(f, i))
    for (i += 5; line(f, i);) i++;
  for (int k = 0; k < f->tokens.n; k++) times += IS(f, k, name);
  bool call = IS(f, i, name) && IS(f, i + 1, "(") && pair(f, i + 1) == i + 2 && times == 2;
  return call && (i + 3 >= f->tokens.n || line(f, i + 3)) ? i + 2 : -1;
}

/* What reads the file `name` of `with open(path) as name:` as rows: the path itself. NULL: it is used
 * otherwise. */
static const char *by_path(FlForeign *f, const char *body, const char *name, const char *path) {
  FlForeign p = part(f, body);
  int read = 0, all = 0;
  for (int i = p.tokens.n - 1; i >= 0; i--) {
    if (!IS(&p, i, name) || IS(&p, i - 1, ".")) continue;
    all++;
    bool reader = IS(&p, i - 1, "(") && pair(&p, i - 1) == i + 1 && IS(&p, i - 2, "DictReader");
    if (reader) read++, PUT(&p, i, i, path);
  }
  return read && read == all ? p.text : NULL;
}

bool fl_foreign_scope(FlForeign *f, int first, int last, FlForeignSpan *out) {
  int open = first + 2, close = IS(f, first, "with") && IS(f, first + 1, "open") ? pair(f, open) : -1;
  bool file = close > 0 && IS(f, close + 1, "as") && word(f, close + 2) && IS(f, close + 3, ":");
  bool main = ANY(f, first, "def fn") && word(f, first + 1) && pair(f, first + 2) == first + 3,
       own = guard(f, first);
  int colon = file ? close + 3 : first + 4, end = last;
  while (main && colon < last && !IS(f, colon, ":") && !line(f, colon)) colon++;
  if (!(file || main || own) || !IS(f, colon, ":") || !line(f, colon + 1)) return false;
  if (main) end = called_behind(f, last, TEXT(f, first + 1, first + 1));
  int body = colon + 1;
  while (line(f, body)) body++;
  for (int i = body; i <= last && main; i++)
    if (IS(f, i, "return")) return false;
  if (end < 0 || body > last) return false;
  out->now = without_blanks(f, body, last);
  if (file)
    out->now =
        by_path(f, out->now, TEXT(f, close + 2, close + 2), TEXT(f, open + 1, fl_foreign_end(f, open + 1)));
  out->last = end, out->later = true;
  return out->now != NULL;
}
