/* mpi_internal.h: what the files of the engine over MPI share: mpi.c carries slots and bytes, beat.c signs of
 * life. What always holds: MPI is called by one thread at a time, which holds `calls`. */
#ifndef FL_MPI_INTERNAL_H
#define FL_MPI_INTERNAL_H

#include "ranks/ranks.h"

#include <pthread.h>
#include <stdatomic.h>

/* Who a rank is, as it says itself. Ranks of one `machine` see each other's processes. */
typedef struct FlPeer {
  char host[48];
  int64_t pid;
  uint64_t machine;
} FlPeer;
_Static_assert(sizeof(FlPeer) == 64, "a peer is of one size everywhere");

/* A sign of life, and what goes with it. */
typedef struct FlBeat {
  int32_t signal; /* that has reached a rank, and is to end all; 0: none */
  int32_t lost;   /* 1 + a rank; 0: none */
  int32_t last;   /* its rank leaves, and sends no more */
  int32_t spare;
} FlBeat;

/* The way to one other rank. */
typedef struct FlBeatLink {
  int rank;
  void *request; /* of what is being sent, while `sending` */
  FlBeat out;
  bool sending, said_last; /* said_last: that this rank leaves */
  bool left;               /* that one has said so */
  int quiet_ms;            /* since it was heard */
} FlBeatLink;

typedef struct FlBeats {
  enum { FL_BEATS_STARTING, FL_BEATS_ON, FL_BEATS_PARTING, FL_BEATS_ENDING, FL_BEATS_OVER } phase;
  FlRankNews news;
  pthread_t thread;
  pthread_mutex_t lock; /* of all that stands here */
  pthread_cond_t changed;
  FlBeat mine;
  FlBeatLink *links;
  int n_links, silence_ms; /* 0: silence is no sign */
  bool told;               /* that the run is to end */
  bool orphan;             /* since whoever started this process is no more */
  int phase_ms, told_ms, stuck_ms;
  pid_t parent;
  int64_t counted_at;        /* ns: up to here time was counted */
  int64_t round_at, away_at; /* ns: the last round; the last end of a long time without any; 0: none */
  char fate[200];            /* of the rank that is lost */
} FlBeats;

typedef struct FlMpi {
  void *world, *byte, *ignore; /* the communicator of all, the type of a byte, a status that nobody wants */
  void *returns;               /* what says that errors are results of calls */
  int here, size;
  bool threads; /* any thread may call, one at a time */
  bool open;    /* it is Open MPI */
  pthread_mutex_t calls;
  _Atomic pthread_t caller; /* the thread that holds it; 0: none */
  FlPeer *peers;            /* [size] */
  _Atomic int lost;         /* 1 + a rank; 0: none */
  FlBeats beats;
#define FL_MPI(name, parameters) int(*name) parameters;
#include "ranks/mpi.def"
#undef FL_MPI
} FlMpi;

/* Before and after calls of MPI. */
void fl_mpi_lock(FlMpi *m);
bool fl_mpi_lock_until(FlMpi *m, const struct timespec *until); /* of the monotonic clock */
void fl_mpi_unlock(FlMpi *m);

/* Starts the thread, which looks whether this rank starts in time. false: it cannot be. */
bool fl_beats_start(FlMpi *m, const FlRankNews *news);
/* The ranks have met: from now on each shows that it is there. false: no memory. */
bool fl_beats_met(FlMpi *m);
/* This rank leaves: waits for the others, unless one is lost; then the thread looks whether it ends in time.
 */
void fl_beats_leave(FlMpi *m);
void fl_beats_stop(FlMpi *m);
/* The rank is lost, and how. Under the lock. */
void fl_beats_lose(FlMpi *m, int rank, const char *how);

#endif
