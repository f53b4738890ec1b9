/* rank.h: a process that is one of several ranks. As mpi.c of ranks/, it is only in programs that can open
 * libraries. */
#ifndef FL_RANK_H
#define FL_RANK_H

#include "exec/exec.h"
#include "ranks/ranks.h"

#include <pthread.h>

/* A rank from its start to its end. */
typedef struct FlRankLife {
  FlRanks ranks;
  const char *name; /* of the program, in messages */
  int launched;     /* which rank, as the launcher says */
  bool sits;        /* who asked for ranks is on this machine, and knows of it */
  pthread_mutex_t lock;
  FlRun *run; /* NULL: there is none now */
  int ends;   /* what was told before there was one; 0: nothing */
  int status; /* of the run, once it is over; -1 */
} FlRankLife;

/* Meets the other ranks; signals that are to be taken later are blocked. false: a message was given. */
bool fl_rank_begin(FlRankLife *life, const char *name) __attribute__((weak));
/* Says it on standard error, by who asked for ranks where that one can be told. */
void fl_rank_say(const FlRankLife *life, const char *text) __attribute__((weak));
/* The run that news of other ranks ends; NULL: none any more. */
void fl_rank_lives(FlRankLife *life, FlRun *run) __attribute__((weak));
/* The signal by which who asked for ranks wants them to end; 0: none. */
int fl_rank_asked(FlRankLife *life) __attribute__((weak));
/* The run has that status, and all that is to be said was said. */
void fl_rank_told(FlRankLife *life, int status) __attribute__((weak));
/* Leaves the other ranks, after a run with that status. The status of this process: rank 0's, unless it has
 * left it for who asked for ranks; 0 of the others. */
int fl_rank_end(FlRankLife *life, int status) __attribute__((weak));

#endif
