/* ranks.h: runs of one program, on one machine or several, that do the same and meet: ranks.
 *
 * In: an engine that carries bytes between ranks. Out: meetings. In a meeting each rank says in a slot where
 * it is and whether it has failed, and sees the slots of all; what is large is then sent from one rank to
 * all. What always holds: all ranks come to the same meetings in the same order; one that has failed comes to
 * the next one and says so, and then all know, and meet no more but at the end; a rank that is lost is known
 * to all that live. One thread of a run meets; beside it another one may trade, of work that goes on behind
 * the program (docs/decisions/ranks.md). */
#ifndef FL_RANKS_H
#define FL_RANKS_H

#include <stdbool.h>
#include <stdint.h>

enum { FL_RANKS_MAX = 4096, FL_RANK_SLOT = 256, FL_RANK_VALUES = 8 };

/* Why ranks meet. */
typedef enum FlRankStep {
  FL_RANKS_BEGIN = 1, /* before the program runs: are they the same? */
  FL_RANKS_ACT,       /* rank 0 is about to act on the world */
  FL_RANKS_SHARE,     /* what rank 0 was told by the world */
  FL_RANKS_INPUT,     /* what came on rank 0's standard input */
  FL_RANKS_AGREE,     /* a number of each */
  FL_RANKS_LOOK,      /* what rank 0 found in the store */
  FL_RANKS_STAGE,     /* the end of a stage */
  FL_RANKS_TASKS,     /* what the elements of a loop gave, of which each rank had some */
  FL_RANKS_KERNEL,    /* likewise of a kernel */
  FL_RANKS_REST,      /* what the elements gave that only rank 0 could run */
  FL_RANKS_ROWS,      /* what came of a step at the rows of each */
  FL_RANKS_GATHER,    /* an array's rows of each, to all */
  FL_RANKS_END        /* the program has run, or failed */
} FlRankStep;

typedef struct FlRankSlot {
  int64_t number; /* of the meeting, from 1 */
  int32_t step, site;
  int32_t failed; /* 0, or the exit status */
  int32_t kind;   /* what is sent, as the step has it */
  int64_t bytes;  /* how much this rank sends to all */
  int64_t values[FL_RANK_VALUES];
  char rest[FL_RANK_SLOT - 32 - 8 * FL_RANK_VALUES];
} FlRankSlot;
_Static_assert(sizeof(FlRankSlot) == FL_RANK_SLOT, "a slot is of one size everywhere");

/* Bytes of this rank for another one, and of that one for it. A trade is one of these for each rank, in their
 * order; a rank takes as much from another as that one gives it. */
typedef struct FlRankTrade {
  const void *out;
  int64_t gives;
  void *in;
  int64_t takes;
} FlRankTrade;

/* How bytes get from rank to rank. All functions are called by all ranks in the same order, and give 0, or 1
 * + a rank that is lost. */
typedef struct FlRankEngine {
  int (*exchange)(void *arg, FlRankSlot *slots); /* each its own slot, to all */
  /* `n` bytes of rank `from`, to all; `bytes` may be NULL where there is no room for them. */
  int (*send)(void *arg, int32_t from, void *bytes, int64_t n);
  /* n trades at once, one behind the other; what is between a rank and itself is left alone. */
  int (*trade)(void *arg, const FlRankTrade *with, int32_t n);
  /* One, of the work behind the program, which has the processor unless it waits for that. */
  int (*trade_behind)(void *arg, const FlRankTrade *with, const _Atomic bool *awaited);
  bool says_lost;   /* who is told that a rank is lost has said so (FlRankNews) */
  bool one_process; /* the ranks are threads of one process, which share its standard input */
} FlRankEngine;

/* Whether loops are shared: where that pays, by what meetings cost here; for tests also always, or every
 * other one. */
typedef enum FlRankShares {
  FL_RANKS_SHARE_WHAT_PAYS,
  FL_RANKS_SHARE_ALL,
  FL_RANKS_SHARE_BY_TURNS
} FlRankShares;

/* What is known of a loop of tasks, from the last time that it was shared: the same at all ranks. */
typedef struct FlRankLoop {
  bool known;       /* it was shared before */
  bool meets;       /* its elements need other ranks: it is shared always */
  double ns, bytes; /* of an element */
  double waited_ns; /* that the program then waited for sums of what it gave: its last rank */
  double whole_ns;  /* that it took since, as far as that says, where it ran whole; */
  double patience;  /* so often what a meeting takes, before it is measured again */
} FlRankLoop;

/* A meeting, or a message behind it, of the program: its beginning and end are not told. */
enum { FL_RANKS_MET = -1, FL_RANKS_TRADED = -2 };
typedef struct FlRankMessage {
  FlRankStep step;
  int32_t site;
  int32_t from;  /* the rank that sent it to all; or they met; or each gave to each */
  int64_t bytes; /* of the message, once; that this rank gave */
  int64_t begin; /* CLOCK_MONOTONIC, ns, */
  int64_t ns;    /* that it took, waiting for others included */
} FlRankMessage;

struct FlRanks;
/* Something that all ranks begin at the same step of the program, in the same order, and that goes on while
 * the program does. `run` gives 0, or 1 + a rank that is lost. */
typedef struct FlRankWork {
  int (*run)(struct FlRankWork *work, struct FlRanks *ranks);
  struct FlRankWork *next;
  int64_t bytes; /* that this rank gives */
  int64_t ns;    /* that it took */
  bool done;
  int lost;
} FlRankWork;

/* One rank, and all that it knows of the others. */
typedef struct FlRanks {
  const FlRankEngine *engine;
  void *arg;
  int32_t n, here;     /* how many there are, and which one this is */
  FlRankSlot *slots;   /* [n], of the last meeting */
  int64_t number;      /* of that */
  bool over;           /* one has failed: they meet at the end alone */
  int lost;            /* 1 + a rank that has ended before the others; 0: none */
  bool remembers;      /* rank 0 has a store */
  int64_t sent;        /* bytes, by this rank to all, each once */
  int64_t given;       /* bytes, by this rank to one other each */
  int64_t meetings;    /* so far, without those of the beginning and the end */
  int64_t messages_ns; /* that they, and what was sent, took this rank, waiting for others included */
  int64_t since;       /* CLOCK_MONOTONIC, ns: when the beginning was over; 0: it is not */
  /* Is told of each, by the thread that meets; NULL: nobody is. */
  void (*told)(void *arg, const FlRankMessage *message);
  void *told_arg;
  FlRankShares shares;
  double meeting_ns, byte_ns; /* what a meeting takes, and a byte that is sent to all: as measured, agreed */
  FlRankLoop *loops;          /* [n_loops], by site */
  int32_t n_loops;
  int64_t parts_from;          /* arrays of so many elements stay in parts, where they may */
  bool uneven;                 /* for tests: parts of many sizes, also of none */
  int64_t turn;                /* loops so far, where they are shared by turns */
  struct FlRankBehind *behind; /* behind.c; NULL: no work has gone on behind the program */
  _Atomic bool awaited;        /* the program waits for such work */
} FlRanks;

enum { FL_RANKS_PARTS_FROM = 1 << 20 };

/* false: out of memory. Arrays stay in parts from FL_RANKS_PARTS_FROM elements on. */
bool fl_ranks_init(FlRanks *ranks, const FlRankEngine *engine, void *arg, int32_t n, int32_t here);
void fl_ranks_reset(FlRanks *ranks);

/* How a meeting went: all are there and well; all are there, and all have failed; one has failed, or is
 * elsewhere, or lost: nothing more will come of it; they are at different steps and none has failed, which is
 * a bug in flow. */
typedef enum FlMeeting { FL_MET, FL_MET_FAILED, FL_MET_OVER, FL_MET_ELSEWHERE } FlMeeting;
/* `mine` is what this rank says; number is filled in. */
FlMeeting fl_ranks_meet(FlRanks *ranks, const FlRankSlot *mine);
/* Learns what meetings cost, and makes room for what is learned of `n_loops` loops. */
FlMeeting fl_ranks_measure(FlRanks *ranks, int32_t n_loops);
/* After a meeting in which rank `from` said so many bytes. false: a rank is lost. */
bool fl_ranks_send(FlRanks *ranks, int32_t from, void *bytes, int64_t n);
/* After a meeting in which nobody failed, so that all have room: n trades at once, one behind the other,
 * which is as many at all ranks. What a rank gives itself is copied, unless it stands there. false: a rank is
 * lost. */
bool fl_ranks_trade(FlRanks *ranks, const FlRankTrade *with, int32_t n);
/* Work behind the program (behind.c), all by the thread that meets. Makes it possible; false: there is no
 * memory, or no thread. */
bool fl_ranks_behind(FlRanks *ranks);
/* After a meeting in which nobody failed. */
void fl_ranks_start(FlRanks *ranks, FlRankWork *work);
/* Returns when it is done. false: a rank is lost. */
bool fl_ranks_wait(FlRanks *ranks, FlRankWork *work);
/* All that was started is done, or a rank is lost. */
void fl_ranks_settle(FlRanks *ranks);

/* Bytes of this rank that others took: its slots and what it sent, each as often as there are others, and
 * what it gave. */
int64_t fl_ranks_taken(const FlRanks *ranks);

/* MPI: ranks as processes, whose launcher (mpirun, srun) has said so in the environment. */
typedef struct FlMpiLaunch {
  enum { FL_MPI_OPEN, FL_MPI_MPICH } family; /* Open MPI; MPICH and its descendants */
  int rank, size, near; /* near: how many are on this machine; below 0: it does not say */
} FlMpiLaunch;
bool fl_mpi_launched(FlMpiLaunch *out); /* false: not as one of several */
int fl_mpi_rank(void);                  /* -1: likewise */
int fl_mpi_ranks_near(void);            /* at least 1 */
/* What tells this machine, and this view of its processes, from others. */
uint64_t fl_ranks_machine(void);

/* What a rank is told between meetings, on a thread that does nothing else. `ends`: the run is to end, since
 * a signal has reached another rank, or one is lost (-1). `late`, which does not return: that was some time
 * ago, or MPI does not answer. `lost`: 1 + a rank, which may be this one, 0: none; `why`: a sentence, NULL:
 * after a signal, or where all that is left is to leave. */
typedef struct FlRankNews {
  void (*ends)(void *arg, int signal, int lost, const char *why);
  void (*late)(void *arg, int signal, int lost, const char *why);
  /* Asked now and then: the signal by which who started the ranks wants them to end; 0: none. */
  int (*wants)(void *arg);
  void *arg;
} FlRankNews;

/* mpi.c, which only programs hold that can open libraries (flowc, and what `flowc build --ranks` makes):
 * elsewhere the address of fl_mpi_start is NULL. Opens the library of the launcher's MPI and meets the
 * others; false: `why` says what is missing. */
enum { FL_MPI_WHY = 256 };
bool fl_mpi_start(FlRanks *out, const FlRankNews *news, char why[FL_MPI_WHY]) __attribute__((weak));
/* All ranks leave. `hurries`: after a signal, where nobody asks how they end: without the end of MPI, where
 * its launcher, which has got that signal too, would not answer. false: one is lost, and nothing but the end
 * of the process is left. */
bool fl_mpi_end(FlRanks *ranks, bool hurries) __attribute__((weak));
/* Of ranks that fl_mpi_start has met: is the calling thread within a call of MPI? Safe in signal handlers. */
bool fl_mpi_is_calling(const FlRanks *ranks) __attribute__((weak));
/* A signal that is to end the program has reached this rank: the others are told. */
void fl_mpi_signal(FlRanks *ranks, int signal) __attribute__((weak));
/* Whether a rank is lost; looks first whether one of this machine has ended. Any thread. */
bool fl_mpi_gone(FlRanks *ranks) __attribute__((weak));

/* An engine for tests: ranks as threads of this process. Each waits for a random time of at most `delay_us`
 * microseconds before each meeting; rank `dies` (-1: none) is lost at the `dies_at`-th. */
typedef struct FlRankThreads FlRankThreads;
extern const FlRankEngine fl_rank_threads;
FlRankThreads *fl_rank_threads_new(int32_t n, int64_t delay_us, int32_t dies, int64_t dies_at);
void fl_rank_threads_free(FlRankThreads *threads);
/* The argument of rank `here`; owned by `threads`. */
void *fl_rank_threads_arg(FlRankThreads *threads, int32_t here);
/* A rank has ended, and comes to no more meetings. */
void fl_rank_threads_left(FlRankThreads *threads, int32_t here);

#endif
