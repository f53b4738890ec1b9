/* mapped.h: which file, and where in it, stands behind an address: of blocks in files, so that what is made
 * piece by piece goes there by calls. */
#ifndef FL_DATA_MAPPED_H
#define FL_DATA_MAPPED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct FlMapped {
  char *at;
  size_t bytes;
  int fd; /* of the mapping, from the file's beginning on */
} FlMapped;

/* All functions: any thread. */
typedef struct FlMappings {
  pthread_rwlock_t lock;
  FlMapped *map; /* [n] by ascending address */
  size_t n, room;
} FlMappings;

void fl_mapped_init(FlMappings *p);
void fl_mapped_free(FlMappings *p); /* when none is left */

/* The shared mapping [at, at + bytes) is known until fl_mapped_remove, which closes `fd`. Out of memory, or
 * -1: it is not known, and fd closed at once. */
void fl_mapped_add(FlMappings *p, void *at, size_t bytes, int fd);
void fl_mapped_remove(FlMappings *p, const void *at); /* before it is unmapped */

/* Writes what is to stand at `to` in one mapping by a call, so that no page comes into the process for it.
 * False: that is not possible, and nothing is written or some of it. */
bool fl_mapped_write(FlMappings *p, void *to, const void *from, size_t bytes);
/* Whether the address is in one of the mappings. */
bool fl_mapped_has(FlMappings *p, const void *at);

#endif
