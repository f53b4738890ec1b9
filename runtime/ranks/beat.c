/* beat.c: signs of life between ranks over MPI: who is silent is lost, and who was sent a signal tells.
 *
 * In: ranks that have met. Out: news (FlRankNews), on a thread that does nothing else: a signal that has
 * reached another rank, a rank that has not been heard of for some seconds, or whose process is gone. Rank 0
 * hears all, the others hear rank 0, so that 2 (n - 1) messages of 16 bytes go four times a second. What
 * always holds: time in which this process itself stood still does not count, since silence is counted in
 * rounds of its own; every sign that was sent is received before a rank leaves; a rank that can neither go on
 * nor end is ended by `late`, so that no phase of its life is without a bound.
 */
#include "ranks/mpi_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  TAG = 7001,
  ROUND_MS = 250, /* between two signs */
  PARTING_MS = 1,
  SILENCE_MS = 3000, /* unless FLOW_SILENCE says otherwise: all are to end within five seconds of a stop */
  START = 10,        /* times the silence: until the ranks have met, and for MPI's own end */
  SIGNAL_MS = 2000,  /* from a signal to the end, as main.c has it */
  LOST_MS = 500      /* from a loss to the end: a launcher kills after a second */
};
static const int64_t AWAY_NS = 3000000000; /* for so long who was away may be told of what it missed */

/* ---- processes ----------------------------------------------------------------------------------------- */

/* Whether a process of this machine has ended; one that nobody has waited for has, too. */
static bool is_dead(int64_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (n <= 0) return true;
  text[n] = '\0';
  const char *state = strrchr(text, ')');
  return state && (state[2] == 'Z' || state[2] == 'X');
}

/* The first rank of this machine that has ended; -1: none. */
static int first_dead(const FlMpi *m) {
  for (int k = 0; m->peers && k < m->size; k++)
    if (k != m->here && m->peers[k].machine == m->peers[m->here].machine && is_dead(m->peers[k].pid))
      return k;
  return -1;
}

/* ---- standing still ------------------------------------------------------------------------------------ */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Between two rounds this process stood still for so long that others may have called it lost. */
static void note_absence(FlBeats *b) {
  int64_t now = now_ns();
  if (b->round_at && b->silence_ms && now - b->round_at > b->silence_ms * 1000000LL) b->away_at = now;
  b->round_at = now;
}

/* ---- news ---------------------------------------------------------------------------------------------- */

void fl_beats_lose(FlMpi *m, int rank, const char *how) {
  FlBeats *b = &m->beats;
  if (atomic_load(&m->lost)) return;
  if (rank >= 0 && m->peers)
    snprintf(b->fate, sizeof b->fate, "rank %d (process %lld on %s) %s", rank, (long long)m->peers[rank].pid,
             m->peers[rank].host, how);
  else snprintf(b->fate, sizeof b->fate, "another rank %s", how);
  b->mine.lost = rank < 0 ? m->size + 1 : rank + 1;
  b->told = true;
  b->told_ms = 0;
  atomic_store(&m->lost, b->mine.lost);
  b->news.ends(b->news.arg, -1, b->mine.lost, b->fate);
}

static void take_signal(FlBeats *b, int signal) {
  if (b->mine.signal) return;
  b->mine.signal = signal;
  b->told = true;
  b->told_ms = 0;
  b->news.ends(b->news.arg, signal, 0, NULL);
}

static void hear(FlMpi *m, FlBeatLink *l, const FlBeat *in) {
  l->quiet_ms = 0;
  l->left |= in->last != 0;
  if (in->signal) take_signal(&m->beats, in->signal);
  if (in->lost) fl_beats_lose(m, in->lost - 1 < m->size ? in->lost - 1 : -1, "is lost");
}

/* ---- signs; with `calls` and `lock` held --------------------------------------------------------------- */

static void send_all(FlMpi *m, bool due) {
  FlBeats *b = &m->beats;
  for (int k = 0; k < b->n_links; k++) {
    FlBeatLink *l = &b->links[k];
    int done = 0;
    if (l->sending && m->Test(&l->request, &done, m->ignore) == 0 && done) l->sending = false;
    if (l->sending || l->said_last || !(due || b->mine.last)) continue;
    l->out = b->mine;
    l->said_last = b->mine.last != 0;
    l->sending = m->Isend(&l->out, sizeof l->out, m->byte, l->rank, TAG, m->world, &l->request) == 0;
  }
}

static void receive_all(FlMpi *m) {
  FlBeats *b = &m->beats;
  for (int k = 0; k < b->n_links; k++) {
    FlBeatLink *l = &b->links[k];
    FlBeat in;
    int there = 0;
    while (m->Iprobe(l->rank, TAG, m->world, &there, m->ignore) == 0 && there &&
           m->Recv(&in, sizeof in, m->byte, l->rank, TAG, m->world, m->ignore) == 0)
      hear(m, l, &in);
  }
}

static void count_silence(FlMpi *m, int ms) {
  FlBeats *b = &m->beats;
  int most = b->silence_ms + (m->here > 1 ? 3 * ROUND_MS : 0); /* rank 1 is to say it before others end */
  for (int k = 0; k < b->n_links && b->silence_ms; k++) {
    FlBeatLink *l = &b->links[k];
    char how[80];
    if (l->left || (l->quiet_ms += ms) < most) continue;
    snprintf(how, sizeof how, "has not answered for %.3g seconds", b->silence_ms / 1000.0);
    fl_beats_lose(m, l->rank, how);
    const FlPeer *its = &m->peers[l->rank];
    bool told = m->here < 2; /* by this rank, which has said so by now; then the launcher sees it at once */
    if (told && its->machine == m->peers[m->here].machine) kill((pid_t)its->pid, SIGKILL);
  }
}

static bool all_have_left(const FlBeats *b) {
  for (int k = 0; k < b->n_links; k++)
    if (!b->links[k].said_last || b->links[k].sending || !b->links[k].left) return false;
  return true;
}

/* ---- the thread ---------------------------------------------------------------------------------------- */

/* The thread that computes may be within a call. */
static bool lock_calls(FlMpi *m) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += ROUND_MS * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return pthread_mutex_clocklock(&m->calls, CLOCK_MONOTONIC, &until) == 0;
}

static void late(FlBeats *b, int signal, const char *why) {
  b->news.late(b->news.arg, signal, b->mine.lost, why);
}

static void talk(FlMpi *m, int ms) {
  FlBeats *b = &m->beats;
  bool held = lock_calls(m);
  if (held) {
    receive_all(m);
    count_silence(m, ms);
    send_all(m, b->phase == FL_BEATS_ON);
    pthread_mutex_unlock(&m->calls);
  }
  b->stuck_ms = held ? 0 : b->stuck_ms + ms;
  if (b->silence_ms && b->stuck_ms > START * b->silence_ms) late(b, 0, "the library of MPI does not return");
}

static void go_round(FlMpi *m, int ms) {
  FlBeats *b = &m->beats;
  bool talks = b->phase == FL_BEATS_ON || b->phase == FL_BEATS_PARTING;
  b->phase_ms += ms;
  note_absence(b);
  if (talks) talk(m, ms);
  else if (b->silence_ms && b->phase_ms > START * b->silence_ms)
    late(b, 0, b->phase == FL_BEATS_STARTING ? "the ranks have not met in time" : NULL);
  if (getppid() != b->parent) take_signal(b, SIGTERM); /* whoever started this process is no more */
  if (!talks) return;
  bool lost = atomic_load(&m->lost) != 0;
  if (b->told) b->told_ms += ms;
  if (lost && b->told_ms > LOST_MS) late(b, 0, b->fate);
  if (b->told && b->told_ms > SIGNAL_MS) late(b, b->mine.signal, NULL);
  if (b->phase == FL_BEATS_PARTING && (lost || all_have_left(b))) {
    b->phase = FL_BEATS_ENDING;
    b->phase_ms = 0;
    pthread_cond_broadcast(&b->changed);
  }
}

static void *beat(void *arg) {
  FlMpi *m = arg;
  FlBeats *b = &m->beats;
  pthread_mutex_lock(&b->lock);
  while (b->phase != FL_BEATS_OVER) {
    int ms = b->phase == FL_BEATS_PARTING ? PARTING_MS : ROUND_MS;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    bool woken = pthread_cond_clockwait(&b->changed, &b->lock, CLOCK_MONOTONIC, &until) == 0;
    if (b->phase != FL_BEATS_OVER) go_round(m, woken ? 0 : ms);
  }
  pthread_mutex_unlock(&b->lock);
  return NULL;
}

static int silence(void) {
  const char *text = getenv("FLOW_SILENCE");
  char *end = NULL;
  double seconds = text ? strtod(text, &end) : -1;
  if (!text || end == text || !(seconds >= 0) || seconds > 1e6) return SILENCE_MS;
  return (int)(seconds * 1000);
}

bool fl_beats_start(FlMpi *m, const FlRankNews *news) {
  FlBeats *b = &m->beats;
  b->news = *news;
  b->silence_ms = silence();
  b->parent = getppid();
  b->phase = FL_BEATS_STARTING;
  pthread_mutex_init(&b->lock, NULL);
  pthread_cond_init(&b->changed, NULL);
  return pthread_create(&b->thread, NULL, beat, m) == 0;
}

bool fl_beats_met(FlMpi *m) {
  FlBeats *b = &m->beats;
  int n = m->here ? 1 : m->size - 1;
  FlBeatLink *links = calloc((size_t)n + 1, sizeof *links);
  if (!links) return false;
  for (int k = 0; k < n; k++) links[k].rank = m->here ? 0 : k + 1;
  pthread_mutex_lock(&b->lock);
  b->links = links;
  b->n_links = m->threads ? n : 0;
  b->phase = FL_BEATS_ON;
  pthread_mutex_unlock(&b->lock);
  return true;
}

void fl_beats_leave(FlMpi *m) {
  FlBeats *b = &m->beats;
  pthread_mutex_lock(&b->lock);
  b->mine.last = 1;
  b->phase = FL_BEATS_PARTING;
  pthread_cond_broadcast(&b->changed);
  while (b->phase == FL_BEATS_PARTING) pthread_cond_wait(&b->changed, &b->lock);
  pthread_mutex_unlock(&b->lock);
}

void fl_beats_stop(FlMpi *m) {
  FlBeats *b = &m->beats;
  pthread_mutex_lock(&b->lock);
  b->phase = FL_BEATS_OVER;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
  pthread_join(b->thread, NULL);
  pthread_cond_destroy(&b->changed);
  pthread_mutex_destroy(&b->lock);
  free(b->links);
}

/* ---- asked by the process ------------------------------------------------------------------------------ */

void fl_mpi_signal(FlRanks *r, int signal) {
  FlBeats *b = &((FlMpi *)r->arg)->beats;
  pthread_mutex_lock(&b->lock);
  if (!b->mine.signal) b->mine.signal = signal;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

bool fl_mpi_gone(FlRanks *r) {
  FlMpi *m = r->arg;
  pthread_mutex_lock(&m->beats.lock);
  FlBeats *b = &m->beats;
  int dead = b->phase == FL_BEATS_ON ? first_dead(m) : -1;
  note_absence(b);
  if (dead >= 0 && b->away_at && now_ns() - b->away_at < AWAY_NS)
    b->news.late(b->news.arg, 0, m->here + 1, NULL); /* it was this one that was lost */
  if (dead >= 0) fl_beats_lose(m, dead, "has ended before the others");
  pthread_mutex_unlock(&b->lock);
  return atomic_load(&m->lost) != 0;
}
