/* run.c: runs a script again and again, alone and as several ranks that are threads of this process.
 *
 * usage: ranks_run [-i] [-q] [-t] SCRIPT WAY.. [-- ARGUMENTS]
 * A way is FOLDER,STORE,RANKS,WORKERS,DELAY_US,DIES,DIES_AT[,FORM]: the folder in which it runs, the folder
 * of its store (empty: none), how many ranks (0: none of this), workers a rank, and what fl_rank_threads_new
 * takes. By FORM / 3 all loops are shared, every other one, or those that pay; by FORM % 3 arrays stay in
 * parts from 2 elements on, from 100, or from as many as they always do. Without it both go by ranks and
 * workers.
 * Beside the folder are written
 * FOLDER.out, FOLDER.err and FOLDER.status: what was printed, said and given by rank 0; FOLDER.sent: how many
 * bytes were sent by all; what others print or say is added to FOLDER.err. FOLDER.in is its standard input,
 * through a pipe, where there is such a file. -i: interpreted, -q: without closing lines, -t: with
 * FOLDER.json, the timeline, and FOLDER.html, the page of the run. FOLDER.came has a line a rank: bytes that
 * came to it from others while the program ran, and nanoseconds that it was in the engine, as counted around
 * the engine. Started as a rank by a launcher of MPI, which knows how many there are, this process is one
 * rank of the first way with ranks, and rank 0 writes what came of it.
 */
#include "codegen/codegen.h"
#include "driver.h"
#include "exec/command_line.h"
#include "exec/exec.h"
#include "interp/interp.h"
#include "process/rank.h"
#include "ranks/ranks.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16 };

typedef struct Way {
  char folder[512], store[512];
  int ranks, workers, dies;
  long delay, dies_at;
  FlRankShares shares;
  int64_t parts_from;
} Way;

/* An engine around the one of threads, which counts. `runs`: the last meeting was neither of the beginning
 * nor of the end. */
typedef struct Counted {
  void *arg;
  int n, here;
  bool runs;
  _Atomic int64_t came;
  int64_t ns;
} Counted;

typedef struct Rank {
  pthread_t thread;
  const FlProgram *program;
  const Way *way;
  const char *const *values;
  FlRanks ranks, *met; /* met: those that it is one of; NULL: it is alone */
  FlRankThreads *threads;
  FlText1 out, said;
  Counted counted;
  bool quiet, traced;
  int status;
} Rank;

static void collect(void *arg, const char *bytes, int64_t len) { fl_text_add(arg, bytes, (size_t)len); }

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int counted_exchange(void *arg, FlRankSlot *slots) {
  Counted *c = arg;
  int32_t step = slots[c->here].step;
  c->runs = step != FL_RANKS_BEGIN && step != FL_RANKS_END;
  int64_t begin = now_ns();
  int lost = fl_rank_threads.exchange(c->arg, slots);
  if (c->runs) c->ns += now_ns() - begin;
  if (c->runs && !lost) c->came += (int64_t)sizeof *slots * (c->n - 1);
  return lost;
}

static int counted_send(void *arg, int32_t from, void *bytes, int64_t n) {
  Counted *c = arg;
  int64_t begin = now_ns();
  int lost = fl_rank_threads.send(c->arg, from, bytes, n);
  if (c->runs) c->ns += now_ns() - begin;
  if (c->runs && !lost && from != c->here) c->came += n;
  return lost;
}

static int counted_trade(void *arg, const FlRankTrade *with, int32_t n) {
  Counted *c = arg;
  int64_t begin = now_ns();
  int lost = fl_rank_threads.trade(c->arg, with, n);
  if (c->runs) c->ns += now_ns() - begin;
  for (int32_t i = 0; c->runs && !lost && i < n; i++)
    for (int32_t k = 0; k < c->n; k++) c->came += k == c->here ? 0 : with[i * c->n + k].takes;
  return lost;
}

/* Of the work behind the program, which is the program's always, and which it does not wait for. */
static int counted_trade_behind(void *arg, const FlRankTrade *with, const _Atomic bool *awaited) {
  Counted *c = arg;
  int lost = fl_rank_threads.trade_behind(c->arg, with, awaited);
  for (int32_t k = 0; !lost && k < c->n; k++) c->came += k == c->here ? 0 : with[k].takes;
  return lost;
}

static const FlRankEngine counting = {counted_exchange,     counted_send, counted_trade,
                                      counted_trade_behind, false,        true};

static void *run_rank(void *arg) {
  Rank *r = arg;
  char json[600], html[600];
  snprintf(json, sizeof json, "%s.json", r->way->folder);
  snprintf(html, sizeof html, "%s.html", r->way->folder);
  FlRunOptions options = {.workers = r->way->workers,
                          .cache_dir = r->way->store[0] ? r->way->store : NULL,
                          .script = "script.flow",
                          .quiet = r->quiet,
                          .trace_file = r->traced ? json : NULL,
                          .report_file = r->traced ? html : NULL,
                          .allow_exec = true,
                          .out = collect,
                          .out_arg = &r->out,
                          .say = collect,
                          .say_arg = &r->said,
                          .ranks = r->met};
  FlRun *run = fl_run_new(r->program, &options);
  FlSlot *slots = calloc((size_t)fl_param_slots(r->program) + 1, sizeof *slots);
  if (!run || !slots) abort();
  r->status = fl_params_read(run, "script", r->values, slots);
  if (!r->status) r->status = fl_run_main(run, slots);
  fl_params_release(r->program, slots);
  fl_run_free(run);
  free(slots);
  if (r->threads) fl_rank_threads_left(r->threads, r->ranks.here);
  return NULL;
}

static void put(const Way *w, const char *ending, const char *bytes, size_t n) {
  char path[600];
  snprintf(path, sizeof path, "%s.%s", w->folder, ending);
  FILE *f = fopen(path, "a");
  if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0) abort();
}

/* Standard input becomes a pipe that holds the bytes of FOLDER.in; /dev/null without it. */
static void give_input(const Way *w) {
  char path[600], bytes[1 << 15];
  int ends[2], from;
  snprintf(path, sizeof path, "%s.in", w->folder);
  if ((from = open(path, O_RDONLY)) < 0) {
    from = open("/dev/null", O_RDONLY);
    if (dup2(from, STDIN_FILENO) < 0) abort();
    close(from);
    return;
  }
  ssize_t n = read(from, bytes, sizeof bytes);
  if (n < 0 || pipe(ends) != 0 || write(ends[1], bytes, (size_t)n) != n || dup2(ends[0], STDIN_FILENO) < 0)
    abort();
  close(from);
  close(ends[0]);
  close(ends[1]);
}

static void share(FlRanks *r, const Way *w) {
  r->shares = w->shares;
  r->parts_from = w->parts_from;
  r->uneven = w->parts_from < FL_RANKS_PARTS_FROM;
}

static void put_ended(const Way *w, const Rank *r) {
  char line[64];
  snprintf(line, sizeof line, "%d\n", r->status);
  put(w, "status", line, strlen(line));
  put(w, "out", r->out.s ? r->out.s : "", r->out.len);
  put(w, "err", r->said.s ? r->said.s : "", r->said.len);
}

static void put_spoken(const Way *w, Rank *r, bool first) {
  if (!first && r->out.len + r->said.len) put(w, "err", "another rank speaks\n", 20);
  fl_text_reset(&r->out);
  fl_text_reset(&r->said);
}

/* As one of the ranks that a launcher has started. */
static int run_launched(const FlProgram *program, const Way *w, const char *const *values, bool quiet) {
  FlRankLife life;
  Rank r = {.program = program, .way = w, .values = values, .quiet = quiet, .met = &life.ranks};
  if (chdir(w->folder) != 0) abort();
  give_input(w);
  if (!fl_rank_begin(&life, "ranks_run")) return 4;
  share(&life.ranks, w);
  run_rank(&r);
  bool first = life.ranks.here == 0;
  char line[64];
  snprintf(line, sizeof line, "%lld\n", (long long)(life.ranks.sent + life.ranks.given));
  if (first) put(w, "sent", line, strlen(line));
  if (first) put_ended(w, &r);
  put_spoken(w, &r, first);
  fl_rank_end(&life, r.status);
  return 0;
}

static void run_way(const FlProgram *program, const Way *w, const char *const *values, bool quiet,
                    bool traced) {
  Rank ranks[MOST] = {0};
  int n = w->ranks ? w->ranks : 1;
  FlRankThreads *threads = w->ranks ? fl_rank_threads_new(n, w->delay, w->dies, w->dies_at) : NULL;
  if (chdir(w->folder) != 0 || n > MOST) abort();
  give_input(w);
  for (int k = 0; k < n; k++) {
    Rank *r = &ranks[k];
    *r = (Rank){
        .program = program, .way = w, .values = values, .threads = threads, .quiet = quiet, .traced = traced};
    if (threads) r->counted = (Counted){.arg = fl_rank_threads_arg(threads, k), .n = n, .here = k};
    if (threads && !fl_ranks_init(&r->ranks, &counting, &r->counted, n, k)) abort();
    if (threads) r->met = &r->ranks;
    share(&r->ranks, w);
    if (pthread_create(&r->thread, NULL, run_rank, r) != 0) abort();
  }
  for (int k = 0; k < n; k++) pthread_join(ranks[k].thread, NULL);
  char line[64];
  int64_t sent = 0;
  for (int k = 0; k < n; k++) sent += ranks[k].ranks.sent + ranks[k].ranks.given;
  snprintf(line, sizeof line, "%lld\n", (long long)sent);
  put(w, "sent", line, strlen(line));
  for (int k = 0; k < n; k++) {
    snprintf(line, sizeof line, "%lld %lld\n", (long long)ranks[k].counted.came,
             (long long)ranks[k].counted.ns);
    put(w, "came", line, strlen(line));
  }
  put_ended(w, &ranks[0]);
  for (int k = 0; k < n; k++) {
    put_spoken(w, &ranks[k], k == 0);
    fl_ranks_reset(&ranks[k].ranks);
  }
  fl_rank_threads_free(threads);
}

static bool read_way(const char *text, Way *w) {
  *w = (Way){0};
  const char *store = strchr(text, ','), *rest = store ? strchr(store + 1, ',') : NULL;
  if (!rest) return false;
  snprintf(w->folder, sizeof w->folder, "%.*s", (int)(store - text), text);
  snprintf(w->store, sizeof w->store, "%.*s", (int)(rest - store - 1), store + 1);
  int form = -1, n = sscanf(rest, ",%d,%d,%ld,%d,%ld,%d", &w->ranks, &w->workers, &w->delay, &w->dies,
                            &w->dies_at, &form);
  if (n < 5) return false;
  if (form < 0) form = (w->ranks + w->workers) % 3 * 3 + (2 * w->ranks + w->workers) % 3;
  if (w->dies >= 0) form = 0;
  static const FlRankShares shares[] = {FL_RANKS_SHARE_ALL, FL_RANKS_SHARE_BY_TURNS,
                                        FL_RANKS_SHARE_WHAT_PAYS};
  static const int64_t parts_from[] = {2, 100, FL_RANKS_PARTS_FROM};
  w->shares = shares[form / 3 % 3];
  w->parts_from = parts_from[form % 3];
  return true;
}

static const FlProgram *compile(FlCompilation *c, bool interpreted, FlLoaded **loaded) {
  FlBuildOptions options = {.level = interpreted ? 0 : 1, .cpu = FL_CPU_HOST, .test = -1};
  FlObject object = {0};
  char *why = NULL;
  if (fl_compile_ir(c, &options)) return NULL;
  if (interpreted)
    return fl_interp_program(fl_interp_make(c->arena, fl_compile_plan(c, &options), c->sources), NULL);
  if (fl_compile_object_with(c, &options, NULL, &object)) return NULL;
  *loaded = fl_load_object(object.bytes, object.size, &why);
  free(object.bytes);
  if (!*loaded) printf("%s\n", why ? why : "");
  free(why);
  return *loaded ? fl_loaded_program(*loaded) : NULL;
}

int main(int argc, char **argv) {
  int at = 1, first;
  signal(SIGPIPE, SIG_IGN);
  bool interpreted = false, quiet = false, traced = false;
  for (; at < argc && argv[at][0] == '-'; at++) {
    interpreted |= strcmp(argv[at], "-i") == 0;
    quiet |= strcmp(argv[at], "-q") == 0;
    traced |= strcmp(argv[at], "-t") == 0;
  }
  FlCompilation c;
  FlLoaded *loaded = NULL;
  if (at >= argc || fl_compilation_init(&c, argv[at++]) != 0) return 3;
  const FlProgram *program = compile(&c, interpreted, &loaded);
  for (first = at; at < argc && strcmp(argv[at], "--") != 0;) at++;
  FlCommandLine line = {.values =
                            program ? calloc((size_t)program->n_params + 1, sizeof *line.values) : NULL};
  int status = program ? fl_command_line_read(program, argc - at, argv + at, &line) : 3;
  for (int k = first; k < at && !status; k++) {
    Way way;
    if (!read_way(argv[k], &way)) return 2;
    if (way.ranks && fl_mpi_rank() >= 0) {
      status = run_launched(program, &way, line.values, quiet || line.quiet);
      break;
    }
    run_way(program, &way, line.values, quiet || line.quiet, traced);
  }
  if (loaded) fl_loaded_free(loaded);
  fl_compilation_reset(&c);
  free(line.values);
  return status;
}
