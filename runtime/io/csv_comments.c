/* csv_comments.c: quotes in comment lines mean nothing.
 *
 * In: a text whose lines that begin with `comment`, outside of quotes, are comments. Out: the same text, with
 * the quotes in them overwritten, in a copy, so that whoever counts quotes need not know of comments. */
#include "io/csv_internal.h"

#include <string.h>

/* Where the line that begins at `at` ends. */
static int64_t end_of_line(const FlCsvFile *f, int64_t at) {
  const char *s = memchr(f->text + at, '\n', (size_t)(f->len - at));
  return s ? s - f->text : f->len;
}

/* Whether some line that may be a comment has a quote. */
static bool any_quote(const FlCsvFile *f, char comment, char quote) {
  const char begins[2] = {'\n', comment};
  int64_t at = f->body > 0 ? f->body - 1 : 0;
  if (f->text[at] == comment && memchr(f->text + at, quote, (size_t)(end_of_line(f, at) - at))) return true;
  for (const char *s; (s = memmem(f->text + at, (size_t)(f->len - at), begins, 2));) {
    int64_t begin = s - f->text + 1, end = end_of_line(f, begin);
    if (memchr(f->text + begin, quote, (size_t)(end - begin))) return true;
    at = end;
  }
  return false;
}

bool fl_csv_hide_comments(FlCtx *ctx, FlCsvFile *f, FlIoError *e) {
  const FlCsvOptions *o = &f->options;
  if (!o->comment || !o->quoting || !any_quote(f, o->comment, o->quote)) return true;
  if (!fl_csv_own_text(ctx, f, e)) return false;
  char *s = (char *)(uintptr_t)f->text;
  for (int64_t k = f->body; k < f->len; k++) {
    if (s[k] != o->comment) {
      k = fl_csv_row_at(s, f->len, fl_csv_way(o, f->n_columns), k, NULL).end;
      continue;
    }
    for (; s[k] != '\n'; k++)
      if (s[k] == o->quote) s[k] = ' ';
  }
  return true;
}
