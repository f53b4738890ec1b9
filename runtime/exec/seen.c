/* seen.c: the first rows of tables, where the text of the script gives them, for the record of the run.
 *
 * In: columns as they are made, by any thread, each once in the script or a stage call. Out: lines of the
 * record (report/record.h). What always holds: what is kept of a column is bounded and copied, so that no
 * memory lives longer for it; nothing is computed, gathered or waited for. Of loops it is the first round, of
 * a stage its first calls. Cells are written as they lie: who reads the record makes of them what people read
 * (seen_read.c). A table of which something else was seen at one place is not said. */
#include "data/unwritten.h"
#include "exec/exec_internal.h"
#include "report/record.h"

#include <stdlib.h>
#include <string.h>

/* LEVELS: of a category, the first. KEPT: bytes of a run. CALLS: of a stage. */
enum { LEVELS = 256, KEPT = 1 << 20, CALLS = 4 };

/* The length of a text is a byte before it, with the bit CUT. */
enum { CUT = 0x80 };
_Static_assert((int)FL_RECORD_CELL < (int)CUT, "the length of a text has the lower bits of its first byte");

/* Of an array its first elements. */
struct FlSeenKept {
  struct FlSeenKept *before;
  const int32_t *list;           /* whose columns these are: */
  const FlSeenColumn *as;        /* the first of n_as, one behind the other */
  int32_t n_as, dtype, n, event; /* event: of the stage call, as in the context */
  int64_t rows;                  /* of the whole */
  size_t bytes;
  unsigned char at[];
};
typedef struct FlSeenKept Kept;

static const FlSeenColumn *next_column(const FlSeenColumn *c) {
  return (const FlSeenColumn *)((const int32_t *)(c + 1) + c->name);
}

static const char *name_of(const FlSeenColumn *c) { return (const char *)(c + 1); }

/* ---- while it runs ------------------------------------------------------------------------------------- */

/* How many bytes of a text are kept: none of a character that has no room. */
static size_t text_fits(FlText t) {
  size_t n = t.ptr ? (size_t)t.len : 0;
  if (n <= FL_RECORD_CELL) return n;
  n = FL_RECORD_CELL;
  while (n > 0 && ((unsigned char)t.ptr[n] & 0xC0) == 0x80) n--;
  return n;
}

static size_t texts_size(const FlText *t, int32_t n) {
  size_t size = (size_t)n;
  for (int32_t i = 0; i < n; i++) size += text_fits(t[i]);
  return size;
}

static void keep_texts(unsigned char *to, const FlText *t, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    size_t fits = text_fits(t[i]);
    *to++ = (unsigned char)(fits | ((int64_t)fits < t[i].len ? CUT : 0));
    if (fits) memcpy(to, t[i].ptr, fits);
    to += fits;
  }
}

/* NULL: it is not here, or there is no memory. */
static Kept *keep(const FlArray *a, bool levels) {
  if (!a || a->rank != 1 || !a->buffer || fl_array_cut(a)) return NULL;
  if (fl_dtype_info[a->dtype].kind == FL_KIND_REF) return NULL;
  int most = levels ? LEVELS : FL_RECORD_ROWS;
  int32_t n = a->dims[0] < most ? (int32_t)a->dims[0] : most;
  bool text = fl_dtype_is_text(a->dtype);
  FlText room[LEVELS + FL_RECORD_ROWS];
  const void *first = fl_unwritten_read(a, n, room);
  size_t bytes = text ? texts_size(first, n) : (size_t)n * (size_t)fl_dtype_info[a->dtype].bytes;
  Kept *k = malloc(sizeof *k + bytes);
  if (!k) return NULL;
  *k = (Kept){.dtype = a->dtype, .n = n, .rows = a->dims[0], .bytes = bytes};
  if (text) keep_texts(k->at, first, n);
  else if (n) memcpy(k->at, first, bytes);
  return k;
}

static void add(FlSeenSoFar *all, Kept *k) {
  pthread_mutex_lock(&all->lock);
  size_t bytes = sizeof *k + k->bytes;
  bool fits = all->bytes + bytes <= KEPT;
  if (fits) {
    k->before = all->last;
    all->last = k;
    all->n_columns += k->n_as;
    all->bytes += bytes;
  }
  pthread_mutex_unlock(&all->lock);
  if (!fits) free(k);
}

static const FlArray *array_at(const FlSlot *values, FlArray *const *own, int32_t i) {
  return own ? own[i] : values[i].a;
}

static void see(FlCtx *ctx, const int32_t *seen, const FlSlot *values, FlArray *const *own) {
  FlRun *run = ctx->run;
  if (!run || !fl_last_run_sees(run)) return; /* NULL: of a loop alone, in tests */
  const FlSeenColumn *c = (const FlSeenColumn *)(seen + 2);
  for (int32_t left = seen[1]; left > 0;) {
    const FlSeenColumn *first = c;
    int32_t n = 0;
    for (; left > 0 && c->value == first->value; c = next_column(c), left--) n++;
    bool there = !(first->flags & FL_SEEN_IF_FIRST) || values[0].i;
    Kept *k = there ? keep(array_at(values, own, first->value), first->part == FL_SEEN_LEVELS) : NULL;
    if (!k) continue;
    k->list = seen - *seen;
    k->as = first;
    k->n_as = n;
    k->event = ctx->event;
    add(&run->seen, k);
  }
}

void fl_seen(FlCtx *ctx, const int32_t *seen, const FlSlot *values) {
  if (!ctx->unseen) see(ctx, seen, values, NULL);
}

void fl_seen_own(FlCtx *ctx, const int32_t *seen, FlArray *const *own) {
  if (!ctx->unseen) see(ctx, seen, NULL, own);
}

int32_t fl_seen_rounds(FlCtx *ctx, int32_t later) {
  int32_t before = ctx->unseen;
  if (later >= 0) ctx->unseen = later;
  return before;
}

bool fl_seen_init(FlRun *run) {
  pthread_mutex_init(&run->seen.lock, NULL);
  size_t n = run->program && fl_last_run_sees(run) ? (size_t)run->program->n_stages : 0;
  if (n) run->seen.calls = calloc(n, sizeof *run->seen.calls);
  return !n || run->seen.calls;
}

bool fl_seen_call(FlRun *run, const FlStage *stage) {
  _Atomic uint8_t *calls = run->seen.calls ? &run->seen.calls[stage - run->program->stages] : NULL;
  if (!calls || atomic_load_explicit(calls, memory_order_relaxed) >= CALLS) return false;
  if (atomic_fetch_add_explicit(calls, 1, memory_order_relaxed) < CALLS) return true;
  atomic_store_explicit(calls, CALLS, memory_order_relaxed); /* several came at once: it does not wrap */
  return false;
}

void fl_seen_free(FlSeenSoFar *all) {
  free((void *)all->calls);
  for (Kept *k = all->last, *before; k; k = before) {
    before = k->before;
    free(k);
  }
  pthread_mutex_destroy(&all->lock);
}

/* ---- the record ---------------------------------------------------------------------------------------- */

/* A column's array, of a table at a site. */
typedef struct Ref {
  int32_t site, event;
  const FlSeenColumn *column;
  const Kept *kept;
} Ref;

/* The same table of the same column. */
static int by_table(const void *a, const void *b) {
  const Ref *l = a, *r = b;
  const FlSeenColumn *x = l->column, *y = r->column;
  const int32_t d[] = {l->site - r->site, (x->flags & FL_SEEN_LET) - (y->flags & FL_SEEN_LET),
                       l->event - r->event, x->column - y->column, x->part - y->part};
  for (int k = 0; k < 5; k++)
    if (d[k]) return d[k];
  return 0;
}

static bool same_table(const Ref *a, const Ref *b) {
  return a->site == b->site && a->event == b->event && !((a->column->flags ^ b->column->flags) & FL_SEEN_LET);
}

static bool same_kept(const Kept *a, const Kept *b) {
  return a == b || (a->rows == b->rows && a->dtype == b->dtype && a->bytes == b->bytes &&
                    memcmp(a->at, b->at, a->bytes) == 0);
}

/* The arrays of one column. */
typedef struct Column {
  const FlSeenColumn *is;
  const Kept *part[3]; /* NULL: it has none */
} Column;

/* The column whose first array is `from`; *next: the first array behind it. Without values: some of it is not
 * here. false: it is two things. */
static bool column_at(const Ref *from, const Ref *end, Column *c, const Ref **next) {
  *c = (Column){.is = from->column};
  int32_t n = 0;
  for (*next = from; *next < end && (*next)->column->column == c->is->column; ++*next) {
    const Kept **part = &c->part[(*next)->column->part], *kept = (*next)->kept;
    if (*part && !same_kept(*part, kept)) return false;
    n += !*part;
    *part = kept;
  }
  const Kept *values = c->part[FL_SEEN_VALUES], *valid = c->part[FL_SEEN_VALID];
  int32_t stored = c->is->dtype == FL_CATEGORY ? FL_I32 : c->is->dtype;
  bool whole = values && n == c->is->n_parts && values->dtype == stored;
  if (whole && valid) whole = valid->rows == values->rows && valid->dtype == FL_BOOL;
  if (!whole) c->part[FL_SEEN_VALUES] = NULL;
  return true;
}

/* The rows of the table; -1: no column is whole, they do not agree, or the run may not have come there. */
static int64_t rows_of(const Ref *from, const Ref *end) {
  int64_t rows = -1;
  bool came = false;
  Column c;
  for (const Ref *next; from < end; from = next) {
    if (!column_at(from, end, &c, &next)) return -1;
    const Kept *values = c.part[FL_SEEN_VALUES];
    if (values && rows >= 0 && values->rows != rows) return -1;
    if (values) rows = values->rows;
    came |= values && !(c.is->flags & FL_SEEN_OUTER);
  }
  return came ? rows : -1;
}

static const char digits[] = "0123456789abcdef";
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "cells are numbers as they lie");

/* A word of the record. */
static char *put_bytes(char *to, const unsigned char *s, size_t n) {
  if (!n) to = mempcpy(to, "%00", 3);
  for (size_t i = 0; i < n; i++) {
    unsigned char c = s[i];
    if (c > ' ' && c != 0x7f && c != '%' && c != '=' && c != ':') {
      *to++ = (char)c;
      continue;
    }
    *to++ = '%';
    *to++ = digits[c >> 4];
    *to++ = digits[c & 15];
  }
  return to;
}

static const unsigned char *behind_text(const unsigned char *t) { return t + 1 + (*t & (CUT - 1)); }

static char *put_text(char *to, const unsigned char *t) {
  to = put_bytes(to, t + 1, *t & (CUT - 1));
  if (*t & CUT) *to++ = '=';
  return to;
}

/* The number that its bytes are. */
static char *put_bits(char *to, const unsigned char *at, size_t bytes) {
  uint64_t n = 0;
  memcpy(&n, at, bytes);
  int shift = n ? (63 - __builtin_clzll(n)) & ~3 : 0;
  for (; shift >= 0; shift -= 4) *to++ = digits[n >> shift & 15];
  return to;
}

static char *put_level(char *to, const Kept *levels, const unsigned char *code) {
  int32_t k;
  memcpy(&k, code, sizeof k);
  if (k < 0 || k >= levels->n || !fl_dtype_is_text(levels->dtype)) {
    *to++ = ':';
    return to;
  }
  const unsigned char *t = levels->at;
  while (k--) t = behind_text(t);
  return put_text(to, t);
}

/* What a line takes at most: a name, which is 255 numbers; cells. */
enum { LINE = 64 + 3 * 4 * 255 + FL_RECORD_ROWS * (3 * FL_RECORD_CELL + 4) };

static char *put_cells(char *to, const Column *c) {
  const Kept *values = c->part[FL_SEEN_VALUES], *valid = c->part[FL_SEEN_VALID],
             *levels = c->part[FL_SEEN_LEVELS];
  bool text = fl_dtype_is_text(values->dtype);
  size_t bytes = (size_t)fl_dtype_info[values->dtype].bytes;
  const unsigned char *at = values->at;
  for (int32_t i = 0; i < values->n; i++, at = text ? behind_text(at) : at + bytes) {
    *to++ = ' ';
    if (valid && !valid->at[i]) *to++ = '=';
    else if (levels) to = put_level(to, levels, at);
    else if (text) to = put_text(to, at);
    else to = put_bits(to, at, bytes);
  }
  return to;
}

static char *put_word(char *to, const char *word) {
  return put_bytes(to, (const unsigned char *)word, strlen(word));
}

/* Takes what it writes from *left; false: there is no room. */
static bool put_column(FILE *f, const Column *c, size_t *left) {
  char line[LINE], *to = mempcpy(line, "cells ", 6);
  if (c->is->column >= 10) *to++ = digits[c->is->column / 10];
  *to++ = digits[c->is->column % 10];
  *to++ = ' ';
  to = put_word(to, name_of(c->is));
  *to++ = ' ';
  to = put_word(to, fl_dtype_info[c->is->dtype].name);
  if (c->part[FL_SEEN_VALID]) *to++ = '?';
  to = put_cells(to, c);
  *to++ = '\n';
  size_t n = (size_t)(to - line);
  if (n > *left) return false;
  *left -= n;
  return fwrite(line, 1, n, f) == n;
}

static void put_table(FlRun *run, FlRecordFiles *files, FILE *f, const Ref *from, const Ref *end,
                      size_t *left) {
  int64_t rows = rows_of(from, end);
  const FlSeenColumn *is = from->column;
  if (rows < 0) return;
  int64_t looped = 0;
  for (const Ref *r = from; r < end; r++) looped |= (r->column->flags & FL_SEEN_LOOPED) != 0;
  fputs(is->flags & FL_SEEN_LET ? "rows let" : "rows step", f);
  if (!fl_report_record_site(run->report, files, from->site, f)) fputs(" -1 0 0 0 - 0", f);
  fl_record_numbers(f, 4, (const int64_t[]){rows, is->n_columns, from->event, looped});
  fputc('\n', f);
  Column c;
  for (const Ref *next; from < end && column_at(from, end, &c, &next); from = next)
    if (c.part[FL_SEEN_VALUES] && !put_column(f, &c, left)) return;
}

static int32_t find_columns(const FlSeenSoFar *all, Ref *refs) {
  int32_t n = 0;
  for (const Kept *k = all->last; k; k = k->before) {
    const FlSeenColumn *c = k->as;
    for (int32_t i = 0; i < k->n_as; i++, c = next_column(c))
      refs[n++] = (Ref){k->list[0] + c->site, k->event, c, k};
  }
  return n;
}

void fl_seen_record(FlRun *run, FlRecordFiles *files, FILE *f) {
  FlSeenSoFar *all = &run->seen;
  size_t left = FL_RECORD_ROWS_BYTES;
  pthread_mutex_lock(&all->lock);
  Ref *refs = all->n_columns ? malloc((size_t)all->n_columns * sizeof *refs) : NULL;
  int32_t n = refs ? find_columns(all, refs) : 0;
  pthread_mutex_unlock(&all->lock); /* what is kept stays as it is */
  if (n) qsort(refs, (size_t)n, sizeof *refs, by_table);
  for (int32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && same_table(&refs[i], &refs[end]);) end++;
    put_table(run, files, f, refs + i, refs + end, &left);
  }
  free(refs);
}
