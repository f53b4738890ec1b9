/* record_write.c: the lines of a record that a report knows; see record.h.
 *
 * In: the events and sums of a report, at any time. Out: text. What always holds: it is bounded; of places
 * those that took longest are kept, of notes the last. */
#include "report/record.h"
#include "report/report_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void fl_record_word(FILE *f, const char *s) {
  if (!*s) fputs("%00", f);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c <= ' ' || c == 0x7f || strchr("%=:", c)) fprintf(f, "%%%02x", c);
    else fputc(c, f);
  }
}

void fl_record_numbers(FILE *f, int n, const int64_t *numbers) {
  char line[21 * FL_RECORD_NUMBERS], *end = line + sizeof line, *at = end;
  while (n-- > 0) {
    int64_t v = numbers[n];
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0) *--at = '-';
    *--at = ' ';
  }
  fwrite(at, 1, (size_t)(end - at), f);
}

/* ---- what stays of the record before ---- */

/* Its first `most` lines that begin so, up to FL_RECORD_BEFORE; the bytes of what was shown are none. */
static void put_lines(FILE *f, const char *record, size_t len, const char *const words[2], int most) {
  size_t head = strlen(FL_RECORD_HEAD);
  if (len < head || memcmp(record, FL_RECORD_HEAD, head) != 0) return;
  for (const char *at = record + head, *end = record + len, *next; at < end && most > 0; at = next) {
    next = memchr(at, '\n', (size_t)(end - at));
    if (!next) return;
    size_t n = (size_t)(++next - at);
    if (n == strlen(FL_RECORD_BEFORE) && memcmp(at, FL_RECORD_BEFORE, n) == 0) return;
    bool wanted = false;
    for (int k = 0; k < 2; k++) wanted |= n > strlen(words[k]) && memcmp(at, words[k], strlen(words[k])) == 0;
    if (wanted && most--) fwrite(at, 1, n, f);
  }
}

void fl_record_put_runs(FILE *f, const char *record, size_t len) {
  put_lines(f, record, len, (const char *const[]){"run ", "run "}, FL_RECORD_RUNS - 1);
}

void fl_record_put_calls(FILE *f, const char *record, size_t len) {
  put_lines(f, record, len, (const char *const[]){"made ", "stage "}, INT_MAX);
}

static const FlSite *site_of(const FlReport *r, int32_t site) {
  const FlProgram *p = r->options.program;
  return p && site >= 0 && site < p->n_sites ? &p->sites[site] : NULL;
}

int32_t fl_report_site(const FlReport *r, int32_t site) {
  while (site_of(r, site) && site_of(r, site)->library) site = site_of(r, site)->caller;
  return site_of(r, site) ? site : -1;
}

/* ---- files ---- */

struct FlRecordFiles {
  const char *at[FL_RECORD_FILES];
  int n;
};

FlRecordFiles *fl_record_files_new(void) { return calloc(1, sizeof(FlRecordFiles)); }

/* The number of a file; -1: there are too many. */
static int file_of(FlRecordFiles *files, const char *path) {
  int k = 0;
  while (k < files->n && files->at[k] != path && strcmp(files->at[k], path) != 0) k++;
  if (k == FL_RECORD_FILES) return -1;
  if (k == files->n) files->at[files->n++] = path;
  return k;
}

void fl_record_files_end(FlRecordFiles *files, FILE *f) {
  for (int k = 0; k < files->n; k++) {
    char real[PATH_MAX];
    fputs("file ", f);
    fl_record_word(f, realpath(files->at[k], real) ? real : files->at[k]);
    fputc('\n', f);
  }
  free(files);
}

/* ---- places ---- */

static void put_callers(FILE *f, const FlReport *r, int32_t site) {
  enum { MOST = 8 };
  const FlSite *s = site_of(r, site);
  int n = 0;
  for (s = s ? site_of(r, s->caller) : NULL; s && n < MOST; s = site_of(r, s->caller))
    fprintf(f, "%s%d:%d", n++ ? "," : "", s->line, s->column);
  if (!n) fputc('-', f);
}

bool fl_report_record_site(const FlReport *r, FlRecordFiles *files, int32_t site, FILE *f) {
  const FlSite *s = site_of(r, site);
  int file = s ? file_of(files, s->file) : -1;
  if (file < 0) return false;
  fl_record_numbers(f, 4, (const int64_t[]){file, s->line, s->column, s->length});
  fputc(' ', f);
  put_callers(f, r, site);
  fprintf(f, " %llx", (unsigned long long)fl_record_line(s->line_text, strlen(s->line_text)));
  return true;
}

static void put_place(FILE *f, const FlReport *r, FlRecordFiles *files, const FlPlaceSum *p) {
  int32_t site = fl_report_site(r, p->site);
  const FlSite *s = site_of(r, site);
  if (!s || file_of(files, s->file) < 0) return;
  fputs("place ", f);
  if (strchr(p->name, '.')) fputs("loop", f); /* its name is of the code: main.map.3 */
  else fl_record_word(f, p->name);
  fl_report_record_site(r, files, site, f);
  const int64_t numbers[] = {p->calls,
                             p->ns,
                             p->rows_in,
                             p->counted ? p->rows_out : -1,
                             p->bytes,
                             p->held,
                             p->unmoved ? -1 : p->moved};
  fl_record_numbers(f, 7, numbers);
  fputc('\n', f);
}

static int by_time(const void *a, const void *b) {
  const FlPlaceSum *x = a, *y = b;
  return (x->ns < y->ns) - (x->ns > y->ns);
}

static void put_places(FILE *f, const FlReport *r, FlRecordFiles *files) {
  int32_t n;
  FlPlaceSum *sums = fl_report_places(r, &n);
  if (n > FL_RECORD_PLACES) qsort(sums, (size_t)n, sizeof *sums, by_time);
  for (int32_t i = 0; i < n && i < FL_RECORD_PLACES; i++) put_place(f, r, files, &sums[i]);
  free(sums);
}

/* ---- stages and notes ---- */

static void put_stage(FILE *f, const FlReport *r, FlRecordFiles *files, const FlStageEvent *e, int64_t now) {
  const FlSite *s = site_of(r, e->stage->site);
  bool over = e->end >= 0;
  fputs("stage ", f);
  fl_record_word(f, e->stage->name);
  fprintf(f, " %s %s %d %lld %lld %lld %lld %lld %lld %d %d ", over ? fl_report_how(e->as.how) : "running",
          over ? fl_report_kept(e->as.kept) : "no", e->worker, (long long)e->begin,
          (long long)((over ? e->end : now) - e->begin), (long long)(over ? e->as.rows_in : -1),
          (long long)(over ? e->as.rows_out : -1), (long long)(over ? e->as.bytes : 0),
          (long long)(over ? e->held : -1), s ? file_of(files, s->file) : -1, s ? s->line : 0);
  if (over && e->as.key) fputs(e->as.key, f);
  else
    fprintf(f, "%016llx%016llx", (unsigned long long)e->stage->code.hi,
            (unsigned long long)e->stage->code.lo);
  fputc('\n', f);
}

static void put_note(FILE *f, const FlNoteEvent *e) {
  fprintf(f, "note %d %lld ", e->stage, (long long)e->at);
  fl_record_word(f, e->name);
  fputc(' ', f);
  fl_record_word(f, e->line + strlen(e->name) + strlen(" = "));
  fputc('\n', f);
}

void fl_report_record(FlReport *r, FlRecordFiles *files, FILE *f) {
  int64_t now = fl_report_now(r);
  put_places(f, r, files);
  pthread_mutex_lock(&r->lock);
  for (int32_t i = 0; i < r->n_stages && i < FL_RECORD_STAGES; i++)
    put_stage(f, r, files, &r->stages[i], now);
  int32_t first = r->n_notes > FL_RECORD_NOTES ? r->n_notes - FL_RECORD_NOTES : 0;
  for (int32_t i = first; i < r->n_notes; i++) put_note(f, &r->notes[i]);
  pthread_mutex_unlock(&r->lock);
}

/* Of each note the last value. */
void fl_report_record_counts(FlReport *r, FILE *f) {
  enum { MOST = 16 };
  const FlNoteEvent *last[MOST];
  int n = 0;
  pthread_mutex_lock(&r->lock);
  fprintf(f, "%d %d %d", r->n_run, r->n_cached, r->n_failed);
  for (int32_t i = r->n_notes - 1; i >= 0 && n < MOST; i--) {
    int k = 0;
    while (k < n && strcmp(last[k]->name, r->notes[i].name) != 0) k++;
    if (k == n) last[n++] = &r->notes[i];
  }
  while (n--) {
    fputc(' ', f);
    fl_record_word(f, last[n]->name);
    fputc('=', f);
    fl_record_word(f, last[n]->line + strlen(last[n]->name) + strlen(" = "));
  }
  pthread_mutex_unlock(&r->lock);
}
