/* main.c: running a program from its command line: fl_main.
 *
 * In: a compiled program and argv. Out: its exit status: 0 done, 1 the script failed, 2 wrong usage, 4 no
 * memory or disk, 70 a bug in flow, 128 and its number a signal: 130 Ctrl-C, 141 nobody reads what is
 * printed. What always holds: an interrupt first asks the run to end, so that files and results that
 * are being written are dropped whole; a second one, or two seconds, ends the process, and drops them as
 * well. A signal that came before the end is never without effect on the status. */
#include "process/process.h"
#include "base/features.h"
#include "exec/command_line.h"
#include "exec/exec.h"
#include "process/crash.h"
#include "process/launch.h"
#include "process/printed.h"
#include "process/rank.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- signals ------------------------------------------------------------------------------------------- */

/* Signals that ask a program to end are blocked in every thread and taken by one that does nothing else;
 * those that whoever started it wants to be ignored (nohup, a shell's &) are left alone. */
static const int asks_to_end[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
enum { FL_WAKE = SIGUSR2 }; /* ends a program as well, and wakes the thread when the run is over */

typedef struct FlSignals {
  FlRun *run;
  FlRankLife *life; /* NULL: alone */
  pthread_t thread;
  sigset_t set, before;
  bool started;
  _Atomic bool over; /* the run has ended: the next signal is our own */
} FlSignals;

/* Nothing is said where nobody reads the output any more. */
static void say_interrupted(const FlSignals *s, int signal) {
  char text[128];
  if (signal == SIGPIPE || (s->life && s->life->ranks.here)) return; /* rank 0 says it */
  snprintf(text, sizeof text, "interrupted (SIG%s): files that were being written are as they were before\n",
           sigabbrev_np(signal));
  if (s->life) fl_rank_say(s->life, text);
  else fl_printed_say(text);
}

/* The next signal. Meanwhile the record is written where that is due: what runs may be one loop for long. */
static int next_signal(const FlSignals *s) {
  struct timespec wait = {.tv_nsec = 60000000};
  for (;;) {
    int signal = sigtimedwait(&s->set, NULL, &wait);
    if (signal > 0 || (errno != EAGAIN && errno != EINTR)) return signal;
    if (errno == EAGAIN && !atomic_load(&s->over)) fl_run_record_if_due(s->run);
    wait = (struct timespec){.tv_sec = 1};
  }
}

static void *watch_signals(void *arg) {
  FlSignals *s = arg;
  int signal = next_signal(s);
  if (signal < 0 || (signal == FL_WAKE && atomic_load(&s->over))) return NULL;
  int asked = s->life ? fl_rank_asked(s->life) : 0;
  bool gone = s->life && !asked && fl_mpi_gone(&s->life->ranks); /* and so the launcher ends all */
  if (asked) signal = asked;
  if (!gone) fl_run_stop(s->run, signal);
  if (!gone && s->life) fl_mpi_signal(&s->life->ranks, signal);
  const struct timespec grace = {.tv_sec = 2};
  if (!atomic_load(&s->over)) sigtimedwait(&s->set, NULL, &grace);
  if (atomic_load(&s->over)) return NULL;
  fl_run_give_up(s->run, signal);
  if (gone) return NULL; /* as the thread that said so has it */
  /* Now a third one ends the process itself: no write that another thread gets before ours can keep us. */
  pthread_sigmask(SIG_UNBLOCK, &s->set, NULL);
  fl_printed_rescue();
  say_interrupted(s, signal);
  _exit(128 + signal);
}

static void block_signals(FlSignals *s) {
  sigemptyset(&s->set);
  for (size_t k = 0; k < sizeof asks_to_end / sizeof *asks_to_end; k++) {
    struct sigaction now;
    if (sigaction(asks_to_end[k], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&s->set, asks_to_end[k]);
  }
  sigaddset(&s->set, FL_WAKE);
  pthread_sigmask(SIG_BLOCK, &s->set, &s->before);
}

static void start_signals(FlSignals *s, FlRun *run, FlRankLife *life) {
  s->run = run;
  s->life = life;
  s->started = pthread_create(&s->thread, NULL, watch_signals, s) == 0;
  if (!s->started) pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

static void stop_signals(FlSignals *s) {
  atomic_store(&s->over, true);
  if (s->started) {
    pthread_kill(s->thread, FL_WAKE);
    pthread_join(s->thread, NULL);
  }
  if (!s->life) pthread_sigmask(SIG_SETMASK, &s->before, NULL); /* a rank has yet to say how it ended */
}

/* ---- running ------------------------------------------------------------------------------------------- */

/* Workers of a rank: its share of the processors of this machine. */
static int workers_of(const FlCommandLine *c, const FlRanks *ranks) {
  if (c->workers || !ranks) return c->workers;
  int share = fl_sched_cpus() / fl_mpi_ranks_near();
  return share > 0 ? share : 1;
}

static int run_program(const FlProgram *p, const char *script, const char *name, const FlCommandLine *c,
                       const FlMade *made, FlSignals *signals, FlRankLife *life) {
  FlRanks *ranks = life ? &life->ranks : NULL;
  char folder[4096];
  FlRunOptions options = {.workers = workers_of(c, ranks),
                          .ranks = ranks,
                          .memory = c->memory,
                          .cache_dir = c->no_cache                                   ? NULL
                                       : c->cache                                    ? c->cache
                                       : fl_cache_dir(script, folder, sizeof folder) ? folder
                                                                                     : NULL,
                          .script = script,
                          .report_file = c->report,
                          .trace_file = c->trace,
                          .quiet = c->quiet,
                          .no_record = fl_record_is_off(),
                          .allow_exec = c->allow_exec,
                          .keep = fl_process_keep,
                          .maker = made->maker,
                          .tries = made->tries,
                          .looks = made->looks,
                          .taker = made->taker,
                          .plan = made->plan,
                          .plan_arg = made->plan_arg,
                          .color = isatty(STDERR_FILENO) && !getenv("NO_COLOR")};
  fl_crash_install();
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of the write, like a full disk */
  signal(SIGPIPE, SIG_IGN); /* and so is a pipe that nobody reads any more */
  FlRun *run = fl_run_new(p, &options);
  FlSlot *slots = calloc((size_t)fl_param_slots(p) + 1, sizeof *slots);
  int status = 4;
  if (!run || !slots) {
    fprintf(stderr, "%s: error: out of memory\n", name);
  } else {
    start_signals(signals, run, life);
    if (life) fl_rank_lives(life, run);
    status = fl_params_read(run, name, c->values, slots);
    if (!status) status = fl_run_main(run, slots);
    fl_params_release(p, slots);
    if (life) fl_rank_lives(life, NULL);
  }
  stop_signals(signals);
  int signal = run ? fl_run_signal(run) : 0;
  if (signal && (!status || status == 130)) status = 128 + signal;
  if (life) fflush(stdout);
  if (signal && status == 128 + signal) say_interrupted(signals, signal);
  if (life) fl_rank_told(life, status); /* at once: it may be killed in a moment */
  fl_run_free(run);
  free(slots);
  return status;
}

/* As one of several that a launcher of MPI has started. The exit status is rank 0's; the others end with 0,
 * so that the launcher has nothing to add. */
static int run_rank(const FlProgram *p, const char *script, const char *name, const FlCommandLine *c,
                    const FlMade *made) {
  FlSignals signals = {0};
  FlRankLife life;
  block_signals(&signals); /* before MPI has threads of its own */
  if (!fl_rank_begin(&life, name)) return 4;
  return fl_rank_end(&life, run_program(p, script, name, c, made, &signals, &life));
}

/* As ranks, as one of them, or alone. */
static int run_somehow(const FlProgram *p, const char *script, const char *name, const FlCommandLine *c,
                       const FlMade *made) {
  int rank = fl_mpi_rank();
  bool alone = rank < 0 && c->ranks <= 1 && !c->hosts;
  /* Ranks do the same; and who asks what the run did asks it of the program's code. */
  if (made->tries && (!alone || c->trace || c->report)) return FL_RUN_AGAIN;
  if (alone) {
    FlSignals signals = {0};
    block_signals(&signals);
    return run_program(p, script, name, c, made, &signals, NULL);
  }
  if (!fl_mpi_start) {
    if (rank <= 0)
      fprintf(stderr,
              "%s: error: this program was built to run alone, and cannot open the library of MPI\n"
              "  help: build it with `flowc build --ranks`\n",
              name);
    return 4;
  }
  if (rank >= 0) return run_rank(p, script, name, c, made);
  return c->hosts ? fl_launch_hosts(name, c->hosts) : fl_launch_ranks(c->ranks);
}

int fl_main_for(const FlProgram *p, const char *script, int argc, char **argv, const FlMade *made) {
  const char *name = argc > 0 ? argv[0] : p->name;
  if (p->version != FL_PROGRAM_VERSION) {
    fprintf(stderr, "%s: error: built for another version of the flow runtime\n", name);
    return 70;
  }
  const char *processor = p->about ? strstr(p->about, "processor: ") : NULL;
  char made_for[64] = "";
  if (processor)
    snprintf(made_for, sizeof made_for, "%.*s", (int)strcspn(processor + 11, "\n"), processor + 11);
  if (!fl_features_check(p->needs, name, made_for)) return 4;
  fl_process_keep(0);
  fl_printed_begin();
  FlCommandLine c = {.values = calloc((size_t)p->n_params + 1, sizeof *c.values)};
  if (!c.values) {
    fprintf(stderr, "%s: error: out of memory\n", name);
    return 4;
  }
  int status = fl_command_line_read(p, argc, argv, &c);
  if (!status && c.help) fl_command_line_help(p, name);
  else if (!status && c.version) fl_command_line_version(p);
  else if (!status) status = run_somehow(p, script, name, &c, made);
  free(c.values);
  return status;
}

int fl_main(const FlProgram *p, int argc, char **argv) {
  return fl_main_for(p, NULL, argc, argv, &(FlMade){0});
}
