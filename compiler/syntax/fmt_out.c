/* fmt_out.c: the formatter's writer: columns, lines, comments, bracketed lists.
 *
 * In: pieces of text. Out: the formatted file. Nothing but a line end ever follows a comment; every comment
 * of the source is printed once, in order. */
#include "syntax/fmt_internal.h"

static void raw(FlFmt *f, const char *s, size_t len) {
  int columns = 0;
  for (size_t i = 0; i < len; i++) columns += ((unsigned char)s[i] & 0xC0) != 0x80;
  if (f->measuring) {
    f->budget -= columns;
    f->overflow = f->overflow || f->budget < 0;
    return;
  }
  fl_text_add(f->out, s, len);
  f->column += columns;
}

static void new_line(FlFmt *f) {
  if (f->line_start) return;
  fl_text_addc(f->out, '\n');
  f->column = 0;
  f->line_start = true;
  f->after_comment = false;
}

int fl_fmt_room(const FlFmt *f) {
  return FL_FMT_WIDTH - (f->line_start || f->after_comment ? f->indent : f->column);
}

void fl_fmt_indent(FlFmt *f) {
  if (f->measuring) return;
  if (f->after_comment) new_line(f);
  if (!f->line_start) return;
  for (int i = 0; i < f->indent; i++) fl_text_addc(f->out, ' ');
  f->column = f->indent;
  f->line_start = false;
}

void fl_fmt_add(FlFmt *f, const char *s, size_t len) {
  if (f->overflow) return;
  if (len) fl_fmt_indent(f);
  const char *last = NULL;
  for (const char *p = s; (p = memchr(p, '\n', (size_t)(s + len - p))) != NULL; p++) last = p;
  if (last && f->measuring) f->overflow = true;
  raw(f, s, len);
  if (last && !f->measuring) f->column = (int)(s + len - last - 1);
}

void fl_fmt_put(FlFmt *f, const char *s) { fl_fmt_add(f, s, strlen(s)); }

void fl_fmt_name(FlFmt *f, FlName n) { fl_fmt_slice(f, n.span); }

void fl_fmt_slice(FlFmt *f, FlSpan span) { fl_fmt_add(f, f->ast->source->text + span.start, span.len); }

bool fl_fmt_source_breaks(const FlFmt *f, uint32_t from, uint32_t to) {
  return from < to && memchr(f->ast->source->text + from, '\n', to - from) != NULL;
}

/* Is there an empty line in the source between what was printed last and `to`? */
static bool blank_before(const FlFmt *f, uint32_t to) {
  int ends = 0;
  for (uint32_t i = f->pos; i < to && ends < 2; i++) {
    char c = f->ast->source->text[i];
    if (c == '\n') ends++;
    else if (c != ' ' && c != '\t' && c != '\r') ends = 0;
  }
  return ends > 1;
}

void fl_fmt_line(FlFmt *f, uint32_t upto, bool blanks) {
  if (f->flat) return;
  const FlCommentList *comments = &f->ast->comments;
  for (; f->next_comment < comments->n && comments->at[f->next_comment].span.start < upto;
       f->next_comment++) {
    const FlComment *c = &comments->at[f->next_comment];
    if (!c->own_line && !f->line_start && !f->after_comment) {
      fl_fmt_put(f, "  ");
    } else {
      new_line(f);
      if (blanks && blank_before(f, c->span.start) && f->out->len) fl_text_addc(f->out, '\n');
    }
    fl_fmt_slice(f, c->span);
    f->after_comment = true;
    f->pos = c->span.start + c->span.len;
    blanks = true;
  }
  new_line(f);
  if (blanks && f->out->len && blank_before(f, upto) && upto < f->ast->source->len)
    fl_text_addc(f->out, '\n');
}

bool fl_fmt_has_comment(const FlFmt *f, uint32_t from, uint32_t to) {
  const FlCommentList *comments = &f->ast->comments;
  int lo = 0, hi = comments->n;
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (comments->at[mid].span.start < from) lo = mid + 1;
    else hi = mid;
  }
  return lo < comments->n && comments->at[lo].span.start < to;
}

bool fl_fmt_begin_measure(FlFmt *f, FlFmt *copy, int columns) {
  if (f->flat) return false;
  *copy = *f;
  copy->flat = copy->measuring = true;
  copy->line_start = copy->after_comment = false;
  copy->budget = columns;
  copy->overflow = columns < 0;
  return true;
}

void fl_fmt_list(FlFmt *f, const FlFmtList *list, bool broken) {
  fl_fmt_put(f, list->open);
  broken = broken && !f->flat && (list->n || list->tail || fl_fmt_has_comment(f, f->pos, list->end));
  f->indent += broken ? FL_FMT_STEP : 0;
  int n = list->n + (list->tail != NULL);
  for (int i = 0; i < n && !f->overflow; i++) {
    uint32_t start = i < list->n ? list->start(list->items, i) : list->end - 1;
    if (broken) fl_fmt_line(f, start, false);
    if (i < list->n) list->item(f, list->items, i);
    else fl_fmt_put(f, list->tail);
    if (i + 1 < n) fl_fmt_put(f, broken ? "," : ", ");
    else if (list->comma) fl_fmt_put(f, ",");
  }
  if (broken) fl_fmt_line(f, list->end - 1, false); /* comments before the bracket: indented like elements */
  f->indent -= broken ? FL_FMT_STEP : 0;
  fl_fmt_put(f, list->close);
}
