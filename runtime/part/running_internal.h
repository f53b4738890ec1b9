/* running_internal.h: what the files of the running values share. */
#ifndef FL_PART_RUNNING_INTERNAL_H
#define FL_PART_RUNNING_INTERNAL_H

#include "part/window_internal.h"

typedef struct FlRunning FlRunning;

/* How one kind of running value is made. walk: takes rows [begin, end) into the states of their groups, and
 * when `write` also puts what they are after each row into r->out. join: the state after both, prefix first.
 */
typedef struct FlRunningWay {
  void (*walk)(const FlRunning *r, void *states, int64_t begin, int64_t end, bool write);
  void (*join)(void *prefix, const void *next);
  size_t size; /* of a state, at most FL_RUNNING_STATE */
  bool exact;  /* where rows are cut cannot be seen, as in sums */
} FlRunningWay;
enum { FL_RUNNING_STATE = 48 };

/* One call of running. */
struct FlRunning {
  FlPartMem *m;
  const FlOpDesc *desc;
  int64_t n, g;
  const int64_t *id; /* [n]; NULL: all rows are group 0 */
  FlPartCol col;
  const FlRunningWay *way;
  int64_t pieces, piece, turn; /* of these, the one whose turn it is, where they follow each other */
  char *states;                /* [pieces][g]; [g] then */
  FlArray *out;
  bool writing, to_unsigned, greatest;
  _Atomic int64_t *overflow; /* first row whose value does not fit */
  int base;                  /* of float sums */
  FlSplit split;             /* likewise */
  _Atomic int32_t *dropped;
  _Atomic int32_t *greatest_exponent;
};

FlStatus fl_running_walk(FlRunning *r);      /* both walks; running.c */
FlStatus fl_running_float_sum(FlRunning *r); /* running_sum.c */

#endif
