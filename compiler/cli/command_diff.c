/* command_diff.c: flowc diff. In: a script, and its last run or another script. Out: what is shown otherwise,
 * on standard output; 1 where something is. What always holds: the last run stays what it was, so that it can
 * be compared with again. */
#include "cli/commands.h"
#include "driver.h"

#include "cli/diff.h"
#include "cli/program.h"
#include "cli/store_tools.h"
#include "cli/words.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* One of the two runs. */
typedef struct Run {
  const char *script;
  char *text; /* of the record; malloc */
  size_t len;
  FlRecord *record;
  FlShownList shown;
  FlCompilation c; /* of a script that was run */
} Run;

typedef struct DiffWords {
  FlWords own;
  const char *script, *other; /* other: NULL: the last run, which `run` says, too */
  int argc;
  char **argv; /* of the scripts, the first is their name; malloc */
} DiffWords;

static bool is_script(const char *word) {
  size_t n = strlen(word);
  return n > 5 && strcmp(word + n - 5, ".flow") == 0;
}

/* What is no option of this command is one of the scripts. FL_WORDS_READ, or the exit status. */
static int read_words(int n_words, char **words, DiffWords *w) {
  *w = (DiffWords){.argc = 1};
  w->argv = calloc((size_t)n_words + 4, sizeof *w->argv);
  if (!w->argv) return fputs("flowc: out of memory\n", stderr), 4;
  for (int i = 0; i < n_words; i++) {
    char *word = words[i];
    bool option = word[0] == '-' && word[1];
    int status = option ? fl_words_option(FL_COMMAND_DIFF, n_words, words, &i, &w->own) : 1;
    if (status == 2) return 2;
    if (w->own.flags[FL_FLAG_HELP]) return fl_words_help(FL_COMMAND_DIFF), 0;
    if (status == 0) continue;
    if (strncmp(word, "--ranks", 7) == 0)
      return fputs("flowc diff: what is compared runs alone, without --ranks\n", stderr), 2;
    if (!w->script && word[0] == '-' && word[1]) return fl_words_unknown(FL_COMMAND_DIFF, word);
    if (!w->script) w->script = word;
    else if (!w->other && w->argc == 1 && strcmp(word, "run") == 0) continue; /* its last one, as ever */
    else if (w->script && !w->other && w->argc == 1 && is_script(word) && access(word, F_OK) == 0)
      w->other = word;
    else w->argv[w->argc++] = word;
  }
  if (!w->script) return fl_words_usage(FL_COMMAND_DIFF);
  if (w->own.flags[FL_FLAG_CACHE]) {
    w->argv[w->argc++] = (char *)(uintptr_t)"--cache";
    w->argv[w->argc++] = (char *)(uintptr_t)w->own.flags[FL_FLAG_CACHE];
  }
  return FL_WORDS_READ;
}

static void take(void *arg, const char *bytes, size_t len) {
  Run *run = arg;
  free(run->text);
  run->text = malloc(len + 1);
  run->len = run->text ? len : 0;
  if (run->text) memcpy(run->text, bytes, len);
}

/* The record as data. 0, or the exit status. */
static int read_record(Run *run) {
  run->record = run->text ? fl_record_read(run->text, run->len) : NULL;
  if (run->record && fl_shown_read(run->text, run->len, &run->shown)) return 0;
  if (run->text && !run->record) {
    fprintf(stderr, "flowc diff: the record of %s is of another version of flow: run it first\n",
            run->script);
    return 2;
  }
  return fputs("flowc: out of memory\n", stderr), 4;
}

static int run_script(Run *run, const DiffWords *w) {
  FlBuildOptions build = {.level = 1, .cpu = FL_CPU_HOST, .test = -1};
  int status = fl_compilation_init(&run->c, run->script);
  w->argv[0] = (char *)(uintptr_t)run->script;
  if (!status) status = fl_program_run(&run->c, &build, w->argc, w->argv, &(FlRunTaker){take, run});
  if (status) {
    if (run->text) fprintf(stderr, "flowc diff: %s did not end well: nothing is compared\n", run->script);
    return status;
  }
  if (!run->text) {
    fprintf(stderr, "flowc diff: the run of %s has left no record: is it `-`, or with --no-cache?\n",
            run->script);
    return 2;
  }
  return read_record(run);
}

static int read_last(Run *run, const DiffWords *w) {
  char dir[4096];
  int status = fl_store_place(&w->own, "diff", run->script, dir, sizeof dir);
  if (status) return 2;
  run->text = fl_store_last_run_text(dir, run->script, &run->len);
  if (!run->text) {
    fprintf(stderr, "flowc diff: no run of %s is remembered: run it first\n", run->script);
    return 2;
  }
  return read_record(run);
}

static void reset(Run *run) {
  fl_compilation_reset(&run->c);
  fl_shown_reset(&run->shown);
  fl_record_free(run->record);
  free(run->text);
}

/* ---- what is said ---- */

static void say_last(const FlRecordSum *last) {
  char when[64];
  time_t seconds = (time_t)(last->began / 1000000);
  struct tm t;
  const char *how = strcmp(last->state, "ended") == 0     ? ""
                    : strcmp(last->state, "failed") == 0  ? ", which failed"
                    : strcmp(last->state, "stopped") == 0 ? ", which was interrupted"
                                                          : ", which has not ended, or was killed";
  strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &t));
  printf(" against its last run of %s%s\n", when, how);
}

/* Data files that are not what they were. */
static void say_files(const FlRecord *was, const FlRecord *is) {
  for (int i = 0; i < is->n_reads; i++)
    for (int k = 0; k < was->n_reads; k++) {
      const FlRecordRead *a = &was->reads[k], *b = &is->reads[i];
      if (strcmp(a->path, b->path) == 0 && (a->bytes != b->bytes || a->mtime != b->mtime))
        printf("%s has changed since: %lld -> %lld bytes\n", b->path, (long long)a->bytes,
               (long long)b->bytes);
    }
}

static const char *file_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* A function "clean (a.flow)" of one script is the other's "clean (b.flow)". */
static void call_alike(FlArena *arena, const Run *was, const Run *is) {
  const char *mine = fl_arena_printf(arena, " (%s)", file_of(was->script));
  for (int i = 0; i < was->record->now.n_made; i++) {
    const FlRecordMade *m = &was->record->now.made[i];
    for (int k = 0; k < m->n; k++) {
      size_t n = strlen(m->functions[k].name), len = strlen(mine);
      if (n > len && strcmp(m->functions[k].name + n - len, mine) == 0)
        m->functions[k].name =
            fl_arena_printf(arena, "%.*s (%s)", (int)(n - len), m->functions[k].name, file_of(is->script));
    }
  }
}

static int compare(Run *was, Run *is, bool last, const char *key) {
  FlText1 out = {0};
  FlRecord both = *is->record; /* whose run before is the other one */
  both.before = was->record->now;
  printf("%s", is->script);
  if (last) say_last(&was->record->runs[0]);
  else printf(" against %s\n", was->script);
  if (last) say_files(was->record, is->record);
  else call_alike(is->c.arena, was, is);
  (void)fl_why_first(&both);
  FlDiffSide before = {&was->shown, last ? NULL : was->c.script}, now = {&is->shown, is->c.script};
  bool differs = fl_diff_shown(is->c.arena, &out, before, now, key);
  if (out.len) fwrite(out.s, 1, out.len, stdout);
  int n = is->shown.n;
  if (!differs && n) printf("what is shown is the same: %d table%s and lines\n", n, n == 1 ? "" : "s");
  if (!differs && !n) puts("nothing is shown, then or now");
  if (n == FL_SHOWN_MOST) printf("a record keeps the first %d things that are shown\n", n);
  fl_text_reset(&out);
  return differs;
}

int fl_command_diff(int n_words, char **words) {
  DiffWords w;
  int status = read_words(n_words, words, &w);
  if (status == FL_WORDS_READ) {
    Run was = {.script = w.script}, is = {.script = w.other ? w.other : w.script};
    status = w.other ? run_script(&was, &w) : read_last(&was, &w);
    if (!status) status = run_script(&is, &w);
    if (!status) status = compare(&was, &is, !w.other, w.own.flags[FL_FLAG_KEY]);
    reset(&was);
    reset(&is);
  }
  free(w.argv);
  return status;
}
