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

static void put_pairs(FILE *f, int n, const FlRecordPair *pairs) {
  for (int i = 0; i < n; i++) {
    fputc(' ', f);
    fl_record_word(f, pairs[i].name);
    fputc('=', f);
    fl_record_word(f, pairs[i].value);
  }
}

/* ---- what stays of the record before ---- */

void fl_record_put_runs(FILE *f, const FlRecord *record) {
  for (int i = 0; i < record->n_runs && i < FL_RECORD_RUNS - 1; i++) {
    const FlRecordSum *s = &record->runs[i];
    fprintf(f, "run %lld ", (long long)s->began);
    fl_record_word(f, s->state);
    fprintf(f, " %d %lld %lld %d ", s->status, (long long)s->ns, (long long)s->peak, s->workers);
    fl_record_word(f, s->source);
    fprintf(f, " %d %d %d", s->run, s->cached, s->failed);
    put_pairs(f, s->n_notes, s->notes);
    fputc('\n', f);
  }
}

static void put_read_stage(FILE *f, const FlRecordStage *s) {
  const char *words[] = {"stage", s->name, s->how, s->kept};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    fl_record_word(f, words[i]);
    fputc(' ', f);
  }
  fprintf(f, "%d %lld %lld %lld %lld %lld %d %d ", s->worker, (long long)s->begin, (long long)s->ns,
          (long long)s->rows_in, (long long)s->rows_out, (long long)s->bytes, s->file, s->line);
  fl_record_word(f, s->code);
  for (int i = 0; i < s->n_args; i++) {
    const FlRecordArg *a = &s->args[i];
    fprintf(f, " %s", a->digest);
    if (a->name) fputc(':', f), fl_record_word(f, a->name);
    if (a->value) fputc('=', f), fl_record_word(f, a->value);
  }
  fputc('\n', f);
}

void fl_record_put_calls(FILE *f, const FlRecordCalls *calls) {
  for (int i = 0; i < calls->n_made; i++) {
    fputs("made ", f);
    fl_record_word(f, calls->made[i].stage);
    put_pairs(f, calls->made[i].n, calls->made[i].functions);
    fputc('\n', f);
  }
  for (int i = 0; i < calls->n_stages; i++) put_read_stage(f, &calls->stages[i]);
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

typedef struct Files {
  const char *at[FL_RECORD_FILES];
  int n;
} Files;

/* The number of a file; -1: there are too many. */
static int file_of(Files *files, const char *path) {
  int k = 0;
  while (k < files->n && files->at[k] != path && strcmp(files->at[k], path) != 0) k++;
  if (k == FL_RECORD_FILES) return -1;
  if (k == files->n) files->at[files->n++] = path;
  return k;
}

static void put_files(FILE *f, const Files *files) {
  for (int k = 0; k < files->n; k++) {
    char real[PATH_MAX];
    fputs("file ", f);
    fl_record_word(f, realpath(files->at[k], real) ? real : files->at[k]);
    fputc('\n', f);
  }
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

static void put_place(FILE *f, const FlReport *r, Files *files, const FlPlaceSum *p) {
  int32_t site = fl_report_site(r, p->site);
  const FlSite *s = site_of(r, site);
  int file = s ? file_of(files, s->file) : -1;
  if (file < 0) return;
  fputs("place ", f);
  if (strchr(p->name, '.')) fputs("loop", f); /* its name is of the code: main.map.3 */
  else fl_record_word(f, p->name);
  fprintf(f, " %d %d %d %d ", file, s->line, s->column, s->length);
  put_callers(f, r, site);
  fprintf(f, " %llx %lld %lld %lld %lld %lld\n",
          (unsigned long long)fl_record_line(s->line_text, strlen(s->line_text)), (long long)p->calls,
          (long long)p->ns, (long long)p->rows_in, (long long)(p->counted ? p->rows_out : -1),
          (long long)p->bytes);
}

static int by_time(const void *a, const void *b) {
  const FlPlaceSum *x = a, *y = b;
  return (x->ns < y->ns) - (x->ns > y->ns);
}

static void put_places(FILE *f, const FlReport *r, Files *files) {
  int32_t n;
  FlPlaceSum *sums = fl_report_places(r, &n);
  if (n > FL_RECORD_PLACES) qsort(sums, (size_t)n, sizeof *sums, by_time);
  for (int32_t i = 0; i < n && i < FL_RECORD_PLACES; i++) put_place(f, r, files, &sums[i]);
  free(sums);
}

/* ---- stages and notes ---- */

static void put_stage(FILE *f, const FlReport *r, Files *files, const FlStageEvent *e, int64_t now) {
  const FlSite *s = site_of(r, e->stage->site);
  bool over = e->end >= 0;
  fputs("stage ", f);
  fl_record_word(f, e->stage->name);
  fprintf(f, " %s %s %d %lld %lld %lld %lld %lld %d %d ", over ? fl_report_how(e->as.how) : "running",
          over ? fl_report_kept(e->as.kept) : "no", e->worker, (long long)e->begin,
          (long long)((over ? e->end : now) - e->begin), (long long)(over ? e->as.rows_in : -1),
          (long long)(over ? e->as.rows_out : -1), (long long)(over ? e->as.bytes : 0),
          s ? file_of(files, s->file) : -1, s ? s->line : 0);
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

void fl_report_record(FlReport *r, FILE *f) {
  Files *files = calloc(1, sizeof *files);
  if (!files) return;
  int64_t now = fl_report_now(r);
  put_places(f, r, files);
  pthread_mutex_lock(&r->lock);
  for (int32_t i = 0; i < r->n_stages && i < FL_RECORD_STAGES; i++)
    put_stage(f, r, files, &r->stages[i], now);
  int32_t first = r->n_notes > FL_RECORD_NOTES ? r->n_notes - FL_RECORD_NOTES : 0;
  for (int32_t i = first; i < r->n_notes; i++) put_note(f, &r->notes[i]);
  pthread_mutex_unlock(&r->lock);
  put_files(f, files);
  free(files);
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
