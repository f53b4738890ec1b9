/* spare.h: addresses of arrays in parts that nobody has any more, with the pages of them that were memory, so
 * that the next array of that size need not have them cleared.
 *
 * What always holds: there are few, with few bytes; nothing of them can be read or written. */
#ifndef FL_DATA_SPARE_H
#define FL_DATA_SPARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* `bytes` of addresses, of which [from, to) has pages. */
typedef struct FlSpare {
  char *at;
  size_t bytes, from, to;
} FlSpare;

enum { FL_SPARES = 4, FL_SPARE_BYTES = 64 << 20 }; /* of all pages together */

typedef struct FlSpares {
  pthread_mutex_t lock;
  bool closed;
  int n;
  FlSpare of[FL_SPARES]; /* oldest first */
} FlSpares;

void fl_spares_init(FlSpares *s);
/* All are unmapped, and none is kept from now on. Any thread. */
void fl_spares_close(FlSpares *s);
void fl_spares_reset(FlSpares *s); /* after fl_spares_close */
/* Takes it, and lets go of others for it; false: it stays the caller's. `s` may be NULL. */
bool fl_spares_put(FlSpares *s, FlSpare spare);
/* The last one of so many bytes. false: there is none. `s` may be NULL. */
bool fl_spares_take(FlSpares *s, size_t bytes, FlSpare *out);

#endif
