/* high.h: how many bytes are held, and the most that were held while something ran.
 *
 * In: bytes that are held from now on, or no more, from any thread; beginnings and ends of what runs, of some
 * threads that have a number each, nested as calls are. Out: for each end the largest number since its
 * beginning, of all that is held, whoever took it. What always holds: it is exact, and who takes no bytes
 * pays two loads for a beginning and one for an end. */
#ifndef FL_HIGH_H
#define FL_HIGH_H

#include <stdint.h>

typedef struct FlHighs FlHighs;

FlHighs *fl_highs_new(int threads);    /* NULL: no memory */
FlHighs *fl_highs_ref(FlHighs *highs); /* NULL is allowed, here and below */
void fl_highs_unref(FlHighs *highs);
/* Any thread; less: bytes < 0. */
void fl_highs_add(FlHighs *highs, int64_t bytes);
/* Something begins in thread `k`; what it returns belongs to its end, which gives the most that was held. */
int64_t fl_highs_begin(FlHighs *highs, int k);
int64_t fl_highs_end(FlHighs *highs, int k, int64_t begun);

#endif
