/* bytes.h: a growable run of bytes on the heap.
 *
 * Zero-initialise; reset frees. What always holds: after running out of memory `failed` stays set, nothing is
 * added any more and what is there stays valid, so that a writer checks once at its end. One owner, one
 * thread. */
#ifndef FL_BYTES_H
#define FL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FlBytes FlBytes;

/* Where the bytes of some come from instead of malloc. */
typedef struct FlBytesMemory {
  char *(*grow)(FlBytes *b, size_t cap); /* as realloc of b->at */
  void (*free)(FlBytes *b);
} FlBytesMemory;

struct FlBytes {
  char *at;
  size_t len, cap;
  bool failed;
  const FlBytesMemory *memory; /* NULL: malloc */
  void *owner;                 /* of such memory */
};

/* Room for `n` more bytes at the end, which the caller writes and then adds to `len`. NULL: out of memory. */
char *fl_bytes_room(FlBytes *b, size_t n);
void fl_bytes_add(FlBytes *b, const char *s, size_t n);
void fl_bytes_addz(FlBytes *b, const char *s);
void fl_bytes_fill(FlBytes *b, char c, size_t n);
void fl_bytes_addf(FlBytes *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What `from` holds; `to` has failed where `from` has. */
void fl_bytes_join(FlBytes *to, const FlBytes *from);
/* Empty, and from the same memory. */
void fl_bytes_reset(FlBytes *b);

#endif
