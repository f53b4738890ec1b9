/* unwritten_internal.h: what the two kinds of arrays that are written when they are read share. */
#ifndef FL_UNWRITTEN_INTERNAL_H
#define FL_UNWRITTEN_INTERNAL_H

#include "data/data_internal.h"
#include "data/unwritten.h"

typedef struct FlUnwritten FlUnwritten;

/* What its elements are made of. */
typedef struct FlUnwrittenHow {
  /* Elements [first, first + n) go to `to`. */
  void (*write)(FlUnwritten *u, int64_t first, int64_t n, void *to);
  /* The same, from any thread at any time; false: all are written meanwhile, and `to` is as it was. */
  bool (*read)(FlUnwritten *u, int64_t first, int64_t n, void *to);
  void (*written)(FlUnwritten *u); /* all are written; NULL: nobody asks */
  void (*release)(FlUnwritten *u); /* NULL: it holds nothing */
} FlUnwrittenHow;

struct FlUnwritten {
  FlBuffer base;
  const FlUnwrittenHow *how;
  FlPool *pool;
  size_t reserved;      /* bytes of addresses, from a large page on */
  int64_t size, chunk;  /* of an element; elements that are written at once */
  _Atomic int64_t left; /* chunks that are not written */
  /* selected.c: */
  FlArray *from;
  FlSelection *selection;
  _Atomic int64_t borrowers; /* of the two; chunks that are not written are one; 0: they are gone */
  _Atomic uint8_t state[];   /* of the chunks */
};

FlUnwritten *fl_unwritten_of(const FlArray *a); /* NULL: it is none */
/* The place in its buffer of the first element. */
int64_t fl_unwritten_first(const FlArray *a);
/* An array of n elements of the type of `like`, which it keeps the bytes of texts of. NULL: none, as of
 * fl_array_new_coded. */
FlArray *fl_array_new_unwritten(FlCtx *ctx, int64_t n, FlArray *like, const FlUnwrittenHow *how);

#endif
