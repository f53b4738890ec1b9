/* command_bench.c: flowc bench. In: a script, and words for it. Out: what its stages take in several runs,
 * beside what the last such command of it found, as a table or as JSON. What always holds: each run is a
 * process by itself, as `flowc run` starts it, with a store of its own that is empty, so that every stage
 * runs; one before them, which is not counted, leaves the script's code and its data files where they are
 * found at once. What a run prints is dropped. */
#include "cli/commands.h"
#include "driver.h"

#include "cli/bench.h"
#include "cli/scripts.h"
#include "cli/store_tools.h"
#include "cli/words.h"
#include "exec/exec.h"
#include "exec/last_run.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { RUNS = 5, MOST_RUNS = 1000 };

typedef struct BenchWords {
  FlWords own;
  char *script;
  int n, runs;
  char **words; /* of the script; malloc */
} BenchWords;

static int runs_of(const char *text, int *runs) {
  char *end = NULL;
  long n = text ? strtol(text, &end, 10) : RUNS;
  if (text && (!*text || *end || n < 1 || n > MOST_RUNS))
    return fprintf(stderr, "flowc bench: --runs takes a number from 1 to %d\n", MOST_RUNS), 2;
  *runs = (int)n;
  return FL_WORDS_READ;
}

/* What is no option of this command is the script's. FL_WORDS_READ, or the exit status. */
static int read_words(int n_words, char **words, BenchWords *w) {
  *w = (BenchWords){.words = calloc((size_t)n_words + 1, sizeof *w->words)};
  if (!w->words) return fputs("flowc: out of memory\n", stderr), 4;
  for (int i = 0; i < n_words; i++) {
    char *word = words[i];
    bool option = word[0] == '-' && word[1];
    int status = option ? fl_words_option(FL_COMMAND_BENCH, n_words, words, &i, &w->own) : 1;
    if (status == 2) return 2;
    if (w->own.flags[FL_FLAG_HELP]) return fl_words_help(FL_COMMAND_BENCH), 0;
    if (status == 0) continue;
    if (!w->script && option) return fl_words_unknown(FL_COMMAND_BENCH, word);
    if (strcmp(word, "--no-cache") == 0 || strncmp(word, "--ranks", 7) == 0)
      return fprintf(stderr, "flowc bench: what is measured has a store and no ranks: without %s\n", word), 2;
    if (w->script) w->words[w->n++] = word;
    else w->script = word;
  }
  if (!w->script) return fl_words_usage(FL_COMMAND_BENCH);
  if (strcmp(w->script, "-") == 0)
    return fputs("flowc bench: a script is read several times: name its file\n", stderr), 2;
  return runs_of(w->own.flags[FL_FLAG_RUNS], &w->runs);
}

/* ---- one run ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
  (void)st, (void)kind, (void)at;
  return remove(path);
}

/* Its exit status; -1: it cannot be started, errno says why. signals: its mask. */
static int run_process(char *const *args, const sigset_t *signals, struct rusage *took) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  pid_t pid;
  int status;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int bad = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, args, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  while (!bad && wait4(pid, &status, 0, took) < 0)
    if (errno != EINTR) bad = errno;
  errno = bad;
  if (bad) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

/* 0, or the exit status: of the run, after what it said of it. What a terminal says to end waits here until
 * the store is gone. */
static int measure(const BenchWords *w, const char *script, FlBenchRun *out) {
  const char *top = getenv("TMPDIR");
  char store[4096];
  snprintf(store, sizeof store, "%s/flow-bench-XXXXXX", top && *top ? top : "/var/tmp");
  char **args = calloc((size_t)w->n + 8, sizeof *args);
  if (!args || !mkdtemp(store)) {
    fprintf(stderr, "flowc bench: %s: %s\n", store, strerror(errno));
    free(args);
    return 4;
  }
  const char *const first[] = {"flowc", "run", w->script}, *const last[] = {"--quiet", "--cache", store};
  int n = 0;
  for (int i = 0; i < 3; i++) args[n++] = (char *)(uintptr_t)first[i];
  for (int i = 0; i < w->n; i++) args[n++] = w->words[i];
  for (int i = 0; i < 3; i++) args[n++] = (char *)(uintptr_t)last[i];
  struct rusage took = {0};
  sigset_t ends, plain;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, &plain);
  int status = run_process(args, &plain, &took);
  size_t len = 0;
  char *text = status ? NULL : fl_store_last_run_text(store, script, &len);
  if (status < 0) fprintf(stderr, "flowc bench: a run cannot be started: %s\n", strerror(errno));
  *out = (FlBenchRun){.record = text ? fl_record_read(text, len) : NULL,
                      .cpu = seconds(took.ru_utime) + seconds(took.ru_stime),
                      .peak = (int64_t)took.ru_maxrss * 1024};
  if (!status && !out->record) {
    fputs("flowc bench: a run has left no record: is FLOW_RECORD=off?\n", stderr);
    status = 2;
  }
  nftw(store, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  pthread_sigmask(SIG_SETMASK, &plain, NULL);
  free(text);
  free(args);
  return status < 0 ? 4 : status;
}

/* ---- what is kept for the next time ---- */

/* On the heap; NULL: no memory. */
static char *name_of(const char *script) {
  char *run = fl_last_run_name(script), *name = NULL;
  if (run && asprintf(&name, "bench of %s", run + strlen(FL_LAST_RUN_NAME)) < 0) name = NULL;
  free(run);
  return name;
}

static json_t *look_before(const char *dir, const char *name) {
  FlMemo *memo = name ? fl_memo_open(&(FlMemoOptions){.dir = dir, .look = true}) : NULL;
  FlMemoEntry *entry = memo ? fl_memo_record_get(memo, name) : NULL;
  json_t *out = entry ? json_loadb(entry->payload, (size_t)entry->bytes, 0, NULL) : NULL;
  fl_memo_unmap(entry);
  fl_memo_close(memo);
  return out;
}

static void keep(const char *dir, const char *name, const json_t *now) {
  FlMemo *memo = name ? fl_memo_open(&(FlMemoOptions){.dir = dir}) : NULL;
  char *text = json_dumps(now, JSON_COMPACT);
  FlMemoStatus s = memo && text ? fl_memo_record_put(memo, name, text, (int64_t)strlen(text)) : FL_MEMO_OFF;
  if (s != FL_MEMO_OK) fputs("flowc bench: the figures are not kept for the next time\n", stderr);
  free(text);
  fl_memo_close(memo);
}

/* ---- all of it ---- */

static void say(const BenchWords *w, json_t *now, json_t *before) {
  if (w->own.flags[FL_FLAG_JSON]) {
    if (before) json_object_set(now, "before", before);
    json_dumpf(now, stdout, JSON_INDENT(2));
    putchar('\n');
    return;
  }
  FlText1 out = {0};
  fl_bench_print(&out, now, before);
  fwrite(out.s, 1, out.len, stdout);
  fl_text_reset(&out);
}

static int sum_up(const BenchWords *w, const char *script, const char *dir, const FlBenchRun *runs) {
  FlText1 words = {0};
  for (int i = 0; i < w->n; i++) fl_text_addf(&words, "%s%s", i ? " " : "", w->words[i]);
  char *name = name_of(script);
  json_t *now = fl_bench_sum(w->script, words.len ? words.s : "", runs, w->runs);
  json_t *before = look_before(dir, name);
  if (now) {
    keep(dir, name, now);
    say(w, now, before);
  }
  json_decref(before);
  json_decref(now);
  free(name);
  fl_text_reset(&words);
  return now ? 0 : (fputs("flowc: out of memory\n", stderr), 4);
}

static int measure_all(const BenchWords *w) {
  char dir[4096];
  const char *script = fl_script_path(w->script);
  FlBenchRun *runs = calloc((size_t)w->runs, sizeof *runs), warm = {0};
  if (!runs) return fputs("flowc: out of memory\n", stderr), 4;
  int status = fl_store_place(&w->own, "bench", script, dir, sizeof dir);
  if (!status) status = measure(w, script, &warm);
  fl_record_free(warm.record);
  for (int k = 0; !status && k < w->runs; k++) status = measure(w, script, &runs[k]);
  if (!status) status = sum_up(w, script, dir, runs);
  for (int k = 0; k < w->runs; k++) fl_record_free(runs[k].record);
  free(runs);
  return status;
}

int fl_command_bench(int n_words, char **words) {
  BenchWords w;
  int status = read_words(n_words, words, &w);
  if (status == FL_WORDS_READ) status = measure_all(&w);
  free(w.words);
  return status;
}
