/* last_run.c: the record of a run in the store.
 *
 * In: what the report of a run knows, the files that it read. Out: the record of its script
 * (report/record.h), with what is worth keeping of the runs before. What always holds: only one is kept of a
 * script; without a store, for a script that came on standard input, or of a binary without stages, there is
 * none. */
#include "exec/last_run.h"
#include "exec/exec_internal.h"
#include "ranks/ranks.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

char *fl_last_run_name(const char *script) {
  char *whole = realpath(script, NULL), *name = NULL;
  if (asprintf(&name, FL_LAST_RUN_NAME "%s", whole ? whole : script) < 0) name = NULL;
  free(whole);
  return name;
}

FlRecord *fl_last_run_read(FlMemo *memo, const char *script) {
  char *name = fl_last_run_name(script);
  FlMemoEntry *entry = name ? fl_memo_record_get(memo, name) : NULL;
  free(name);
  FlRecord *record = entry ? fl_record_read(entry->payload, (size_t)entry->bytes) : NULL;
  fl_memo_unmap(entry);
  return record;
}

/* ---- the key of a call --------------------------------------------------------------------------------- */

static void put_digest(FILE *f, FlDigest d) {
  fprintf(f, "%016llx%016llx", (unsigned long long)d.hi, (unsigned long long)d.lo);
}

/* Its name, and of a scalar its value. */
static void put_argument(FILE *f, const FlStage *stage, int32_t i, FlSlot value) {
  const char *name = stage->arg_names ? stage->arg_names[i] : "";
  if (!*name) return;
  fputc(':', f);
  fl_record_word(f, name);
  FlType1 t = stage->arg_types[i];
  if (t.rank || t.depth || t.dtype == FL_FILE) return;
  char shown[FL_SHOWN];
  fputc('=', f);
  fl_record_word(f, fl_show_scalar(shown, t.dtype, value));
}

char *fl_stage_key_text(const FlStage *stage, const FlStageKey *key, const FlSlot *args) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  put_digest(f, stage->code);
  for (int32_t i = 0; i < stage->n_args; i++) {
    fputc(' ', f);
    put_digest(f, key->args[i]);
    put_argument(f, stage, i, args[i]);
  }
  if (fclose(f) == 0) return text;
  free(text);
  return NULL;
}

char *fl_stage_args_text(const FlStage *stage, const FlSlot *args) {
  char *text = NULL;
  size_t size;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  const char *joint = "";
  for (int32_t i = 0; stage->arg_names && i < stage->n_args; i++) {
    FlType1 t = stage->arg_types[i];
    char shown[FL_SHOWN];
    /* A size stands beside the array that has it, by the array's name. */
    bool again = i + 1 < stage->n_args && strcmp(stage->arg_names[i], stage->arg_names[i + 1]) == 0;
    if (t.rank || t.depth || t.dtype == FL_FILE || !*stage->arg_names[i] || again) continue;
    fprintf(f, "%s%s = %s", joint, stage->arg_names[i], fl_show_scalar(shown, t.dtype, args[i]));
    joint = ", ";
  }
  if (fclose(f) == 0) return text;
  free(text);
  return NULL;
}

/* ---- the record ---------------------------------------------------------------------------------------- */

/* A line for each stage: the functions that it is made of. */
static void put_made(FILE *f, const FlProgram *program) {
  for (int32_t i = 0; i < program->n_stages; i++) {
    const FlStage *s = &program->stages[i];
    if (!s->sources || !*s->sources) continue;
    fputs("made ", f);
    fl_record_word(f, s->name);
    for (const char *at = s->sources, *end; *at; at = *end ? end + 1 : end) {
      end = at + strcspn(at, "\n");
      char *line = strndup(at, (size_t)(end - at)), *digest = line ? strrchr(line, '=') : NULL;
      if (digest) {
        *digest++ = '\0';
        fputc(' ', f);
        fl_record_word(f, line);
        fprintf(f, "=%s", digest);
      }
      free(line);
    }
    fputc('\n', f);
  }
}

/* The digest of the texts that a program was made of; "-": it does not say. */
static void put_source(FILE *f, const FlProgram *program) {
  const char *mark = "\nsource: ", *at = program->about ? strstr(program->about, mark) : NULL;
  size_t n = at ? strcspn(at + strlen(mark), "\n") : 0;
  if (n) fprintf(f, " %.*s ", (int)n, at + strlen(mark));
  else fputs(" - ", f);
}

static void put_run(FILE *f, FlRun *run, const char *state, int status) {
  struct rusage used = {0};
  getrusage(RUSAGE_SELF, &used);
  fprintf(f, "run %lld %s %d %lld %lld %d", (long long)run->start, state, status,
          (long long)fl_report_now(run->report), (long long)used.ru_maxrss * 1024,
          fl_sched_workers(run->sched));
  put_source(f, run->program);
  fl_report_record_counts(run->report, f);
  fputc('\n', f);
}

static const char *script_of(const FlRun *run) {
  return run->options.script ? run->options.script : "/proc/self/exe";
}

/* A binary without stages makes no store where it stands. */
static bool has_store(const FlRun *run) {
  return run->memo && (run->options.script || run->program->n_stages);
}

/* What there was before the first record of this run. */
static void look_before(FlRun *run) {
  if (run->before_read) return;
  run->record_name = fl_last_run_name(script_of(run));
  if (run->record_name) run->before_text = fl_memo_record_get(run->memo, run->record_name);
  run->before_read = true;
}

static void read_before(FlRun *run) {
  look_before(run);
  const FlMemoEntry *entry = run->before_text;
  if (entry && !run->before) run->before = fl_record_read(entry->payload, (size_t)entry->bytes);
}

static void put_record(FILE *f, FlRun *run, const char *state, int status) {
  const FlMemoEntry *before = run->before_text;
  const char *text = before ? before->payload : "";
  size_t len = before ? (size_t)before->bytes : 0;
  fputs(FL_RECORD_HEAD, f);
  put_run(f, run, state, status);
  fl_record_put_runs(f, text, len);
  put_made(f, run->program);
  fl_paths_record(run->paths, f);
  FlRecordFiles *files = fl_record_files_new();
  if (files) {
    fl_report_record(run->report, files, f);
    fl_seen_record(run, files, f);
    fl_record_files_end(files, f);
  }
  fputs(FL_RECORD_BEFORE, f);
  fl_record_put_calls(f, text, len);
  fputs(FL_RECORD_SHOWN, f);
  fl_shown_record(&run->shown, f);
}

/* On the heap; NULL: no memory. */
static char *text_now(FlRun *run, const char *state, int status, size_t *size) {
  char *text = NULL;
  FILE *f = open_memstream(&text, size);
  if (!f) return NULL;
  put_record(f, run, state, status);
  if (fclose(f) == 0) return text;
  free(text);
  return NULL;
}

/* After `look_before`. */
static void keep(FlRun *run, const char *text, size_t size) {
  const FlRunTaker *taker = run->options.taker;
  if (taker) taker->record(taker->arg, text, size);
  else if (run->record_name) fl_memo_record_put(run->memo, run->record_name, text, (int64_t)size);
}

/* The page says of tables what the record does. */
static void show_tables(FlRun *run, const char *text, size_t size) {
  FlRecord *r = run->record = fl_record_read(text, size);
  for (int i = 0; r && i < r->n_rows; i++) {
    FlRecordRows *x = &r->rows[i];
    int n = 0;
    for (int k = 0; k < x->n_columns; k++)
      if (fl_last_run_cells(r, &x->columns[k])) x->columns[n++] = x->columns[k];
    x->n_columns = n;
  }
  fl_report_tables(run->report, r);
}

static bool is_kept(const FlRun *run) { return run->recorded && has_store(run); }

/* A page is asked for by name: it shows rows also where no store has a record of them. */
static bool is_shown(const FlRun *run) { return run->options.report_file && !run->options.no_record; }

void fl_last_run_look(FlRun *run) {
  if (!is_kept(run)) return;
  read_before(run);
  fl_report_before(run->report, run->before);
}

static void save(FlRun *run, const char *state, int status) {
  if (!has_store(run)) return;
  size_t size;
  look_before(run);
  char *text = text_now(run, state, status, &size);
  if (text) keep(run, text, size);
  free(text);
}

void fl_last_run_save(void *run) { save(run, "running", 0); }

void fl_last_run_stopped(FlRun *run, int signal) {
  if (!signal || !run->recorded || run->options.tries || run->options.taker) return;
  enum { PATIENCE = 2000 }; /* a tenth of a second: nobody waits longer who asks a second time */
  if (fl_report_save_last(run->report, PATIENCE)) save(run, "stopped", 128 + signal);
}

void fl_last_run_end(FlRun *run, int status, int signal) {
  bool kept = is_kept(run), shown = is_shown(run);
  if (!kept && !shown) return;
  fl_report_save_last(run->report, -1);
  if (kept && shown) read_before(run);
  else if (kept) look_before(run);
  size_t size;
  char *text = text_now(run,
                        signal   ? "stopped"
                        : status ? "failed"
                                 : "ended",
                        signal ? 128 + signal : status, &size);
  if (text && kept) keep(run, text, size);
  if (text && shown) show_tables(run, text, size);
  free(text);
}

bool fl_last_run_sees(const FlRun *run) { return is_kept(run) || is_shown(run); }

bool fl_last_run_wanted(const FlRun *run) {
  const FlRunOptions *o = &run->options;
  return o->cache_dir && (!o->no_record || o->taker) && !(o->ranks && o->ranks->here) &&
         (!o->script || strcmp(o->script, "-") != 0);
}
