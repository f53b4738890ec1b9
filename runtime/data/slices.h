/* slices.h: results that are made slice by slice: in the block itself; or, where that lives in a file, in
 * room of the worker's own, which is written by a call when it is full. Pages that are written through the
 * mapping are written to the disk again each time that they were clean. */
#ifndef FL_DATA_SLICES_H
#define FL_DATA_SLICES_H

#include "data/data.h"

/* Of one worker. Slices that follow each other are written together, to the end of a page of their place. */
typedef struct FlSlices {
  FlPool *pool;
  char *room;                 /* NULL: in the block */
  int64_t slice, most, bytes; /* of a slice; of the room; that are made and not written yet */
  char *to;                   /* where those belong */
} FlSlices;

/* Slices of at most so many bytes (0: there are none) of the block that begins there; `many` such are made
 * side by side by all workers. Everything is in the block when they have ended. */
FlSlices fl_slices(FlPool *pool, const void *block, int64_t bytes, int64_t many);
void fl_slices_end(FlSlices *s);

void *fl_slice_room(FlSlices *s, void *to);
/* Where the slice that belongs to `to` is made. */
static inline void *fl_slice(FlSlices *s, void *to) { return s->room != NULL ? fl_slice_room(s, to) : to; }
/* It is made, of so many bytes. */
static inline void fl_slice_done(FlSlices *s, int64_t bytes) { s->bytes += bytes; }

#endif
