/* beat.c: signs of life between ranks over MPI: who is silent is lost, and who was sent a signal tells.
 *
 * In: ranks that have met. Out: news (FlRankNews), on a thread that does nothing else: a signal that has
 * reached another rank or who started them, a rank that has not been heard of for some seconds, or whose
 * process is gone. Rank 0 hears all, the others hear rank 0, so that 2 (n - 1) messages of 16 bytes go four
 * times a second. What always holds: time in which this process itself stood still does not count, since of
 * a round that took longer only twice its time is counted; every sign that was sent is received before a rank
 * leaves; a rank that can neither go on nor end is ended by `late`, so that no phase of its life is without a
 * bound.
 */
#include "base/processes.h"
#include "ranks/mpi_internal.h"

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
  ORPHAN_MS = 1000,  /* likewise where whoever started this process is no more: that may have taken long */
  LOST_MS = 500      /* from a loss to the end: a launcher kills after a second */
};
static const int64_t AWAY_NS = 3000000000; /* for so long who was away may be told of what it missed */

/* ---- processes ----------------------------------------------------------------------------------------- */

/* Whether that rank is of this machine, and its process has ended. */
static bool has_ended(const FlMpi *m, int rank) {
  const FlPeer *its = &m->peers[rank];
  return rank != m->here && its->machine == m->peers[m->here].machine &&
         fl_process_is_over(fl_process_state(its->pid, NULL));
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
  atomic_store(&m->lost, b->mine.lost);
  const char *why = b->mine.signal ? NULL : b->fate; /* after a signal some end sooner than others */
  b->news.ends(b->news.arg, -1, b->mine.lost, why);
}

static void take_signal(FlBeats *b, int signal) {
  if (b->mine.signal) return;
  b->mine.signal = signal;
  b->told = true;
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

/* A rank is dead, and was not seen to leave; unless it was this one that stood still and was called lost. */
static void lose_dead(FlMpi *m, int rank) {
  FlBeats *b = &m->beats;
  note_absence(b);
  if (b->away_at && now_ns() - b->away_at < AWAY_NS) b->news.late(b->news.arg, 0, m->here + 1, NULL);
  fl_beats_lose(m, rank, "has ended before the others");
}

/* What it has sent before is received first. */
static void look_for_dead(FlMpi *m) {
  FlBeats *b = &m->beats;
  for (int k = 0; k < b->n_links; k++) {
    FlBeatLink *l = &b->links[k];
    if (l->left || !has_ended(m, l->rank)) continue;
    receive_all(m);
    if (!l->left) lose_dead(m, l->rank);
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
  return fl_mpi_lock_until(m, &until);
}

static void late(FlBeats *b, int signal, const char *why) {
  b->news.late(b->news.arg, signal, b->mine.lost, why);
}

static void talk(FlMpi *m, int ms) {
  FlBeats *b = &m->beats;
  bool held = lock_calls(m);
  if (held) {
    receive_all(m);
    look_for_dead(m);
    count_silence(m, ms);
    send_all(m, b->phase == FL_BEATS_ON);
    fl_mpi_unlock(m);
  }
  b->stuck_ms = held ? 0 : b->stuck_ms + ms;
  if (b->silence_ms && b->stuck_ms > START * b->silence_ms) late(b, 0, "the library of MPI does not return");
}

/* Whether whoever started this process is there, and what it wants. */
static void look_above(FlBeats *b) {
  bool orphan = getppid() != b->parent;
  int wanted = orphan ? SIGTERM : b->news.wants(b->news.arg);
  b->orphan |= orphan;
  if (wanted) take_signal(b, wanted);
}

/* What is over must come to its end in time. */
static void bound(FlMpi *m, bool talks) {
  FlBeats *b = &m->beats;
  bool starts = b->phase == FL_BEATS_STARTING;
  if (b->told && atomic_load(&m->lost) && b->told_ms > LOST_MS)
    late(b, b->mine.signal, b->mine.signal ? NULL : b->fate);
  if (b->told && b->told_ms > (b->orphan ? ORPHAN_MS : SIGNAL_MS)) late(b, b->mine.signal, NULL);
  if (!talks && b->silence_ms && b->phase_ms > START * b->silence_ms)
    late(b, 0, starts ? "the ranks have not met in time" : NULL);
}

static void go_round(FlMpi *m, int ms) {
  FlBeats *b = &m->beats;
  bool talks = b->phase == FL_BEATS_ON || b->phase == FL_BEATS_PARTING;
  b->phase_ms += ms;
  if (b->told) b->told_ms += ms;
  note_absence(b);
  look_above(b);
  if (talks) talk(m, ms);
  bound(m, talks);
  if (b->phase == FL_BEATS_PARTING && (atomic_load(&m->lost) || all_have_left(b))) {
    b->phase = FL_BEATS_ENDING;
    b->phase_ms = 0;
    pthread_cond_broadcast(&b->changed);
  }
}

/* Milliseconds since the last round, as far as this process was not standing still. */
static int round_ms(FlBeats *b) {
  int64_t now = now_ns(), ms = (now - b->counted_at) / 1000000;
  b->counted_at += ms * 1000000;
  return (int)(ms < 2 * ROUND_MS ? ms : 2 * ROUND_MS);
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
    pthread_cond_clockwait(&b->changed, &b->lock, CLOCK_MONOTONIC, &until);
    if (b->phase != FL_BEATS_OVER) go_round(m, round_ms(b));
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
  b->counted_at = now_ns();
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
  b->told = true;
  pthread_cond_broadcast(&b->changed);
  pthread_mutex_unlock(&b->lock);
}

bool fl_mpi_gone(FlRanks *r) {
  FlMpi *m = r->arg;
  FlBeats *b = &m->beats;
  pthread_mutex_lock(&b->lock);
  for (int k = 0; b->phase == FL_BEATS_ON && k < m->size; k++)
    if (has_ended(m, k)) {
      lose_dead(m, k);
      break;
    }
  pthread_mutex_unlock(&b->lock);
  return atomic_load(&m->lost) != 0;
}
