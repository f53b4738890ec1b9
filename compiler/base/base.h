/* base.h: memory, strings and containers of the compiler.
 *
 * Arenas own nearly everything. Nothing here returns without memory: the work that asked for it ends
 * (fl_guard), so that there is nothing for a caller to handle. Not thread-safe: one arena, one thread. */
#ifndef FL_BASE_H
#define FL_BASE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- work that may find no memory -------------------------------------------------------------------- */

/* Does work(arg) on the calling thread. false: it found no memory somewhere, and was left there; what it made
 * of arenas, pieces and texts of this header is gone, so nothing that it wrote is to be read, but for arenas
 * that were made before, which may be freed. Guards may stand within each other: the inner one ends. Memory
 * of other kinds that the work held is lost then. */
bool fl_guard(void (*work)(void *arg), void *arg);
/* Leaves the work around: for whoever gets no memory. Without a guard around it the process ends (abort). */
_Noreturn void fl_no_memory(void);
/* The same for a bug of flow that it finds itself: the nearest fl_guard_bugs gives the text, or "" for
 * memory. */
enum { FL_BUG_TEXT = 256 };
bool fl_guard_bugs(void (*work)(void *arg), void *arg, char bug[FL_BUG_TEXT]);
_Noreturn void fl_bug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- arena -------------------------------------------------------------------------------------------- */

/* Memory that is given back all at once. Nothing made in an arena fails: see fl_guard. */
typedef struct FlArena {
  char *at, *end; /* what is free of the block that is filled; the rest of an arena is base.c's */
} FlArena;
FlArena *fl_arena_new(void);
void fl_arena_free(FlArena *a);  /* and all that was made in it */
void fl_arena_clear(FlArena *a); /* all that was made in it goes; its memory is for what comes */
static inline void *fl_arena_alloc(FlArena *a, size_t bytes); /* zeroed, 16-byte aligned */
static inline void *fl_arena_copy(FlArena *a, const void *src, size_t bytes);
char *fl_arena_strndup(FlArena *a, const char *s, size_t len); /* NUL-terminated copy */
char *fl_arena_take(FlArena *a, char *text); /* a copy of a text of malloc's, which is freed; NULL is NULL */
char *fl_arena_printf(FlArena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define FL_NEW(arena, T) ((T *)fl_arena_alloc((arena), sizeof(T)))
#define FL_NEW_ARRAY(arena, T, n) ((T *)fl_arena_alloc((arena), sizeof(T) * (size_t)(n)))

/* For fl_arena_bytes alone: a multiple of 16, for which the block has no room. */
void *fl_arena_bytes_of_new(FlArena *a, size_t bytes);

/* Memory as it is. Here, as every step of the compiler asks for some: a size that is known there is cleared
 * by a few stores. */
static inline void *fl_arena_bytes(FlArena *a, size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  if (__builtin_expect((size_t)(a->end - a->at) < bytes, 0)) return fl_arena_bytes_of_new(a, bytes);
  void *p = a->at;
  a->at += bytes;
  return p;
}

static inline void *fl_arena_alloc(FlArena *a, size_t bytes) {
  return memset(fl_arena_bytes(a, bytes), 0, bytes);
}

static inline void *fl_arena_copy(FlArena *a, const void *src, size_t bytes) {
  void *p = fl_arena_bytes(a, bytes);
  if (bytes) memcpy(p, src, bytes);
  return p;
}

/* ---- growable array in an arena: FlVec(int) v = {0}; fl_vec_push(arena, &v, 3); v.at[0], v.n ------- */

#define FlVec(T)                                                                                             \
  struct {                                                                                                   \
    T *at;                                                                                                   \
    int n, cap;                                                                                              \
  }
/* For fl_vec_push alone: more room for n elements of this size at `at`; *cap: for how many. */
void *fl_vec_grow(FlArena *a, void *at, int n, int *cap, size_t size);
#define fl_vec_push(arena, v, x)                                                                             \
  ((v)->n == (v)->cap ? (void)((v)->at = fl_vec_grow((arena), (v)->at, (v)->n, &(v)->cap, sizeof *(v)->at))  \
                      : (void)0,                                                                             \
   (v)->at[(v)->n++] = (x))

/* Room for n elements in all, where that many are likely: so that an empty vector need not grow. */
#define fl_vec_room(arena, v, n_all)                                                                         \
  ((v)->cap = (n_all), (v)->at = fl_arena_bytes((arena), (size_t)(v)->cap * sizeof *(v)->at))

/* ---- interned strings: equal text, equal pointer --------------------------------------------------- */

typedef struct FlInterner FlInterner;
FlInterner *fl_interner_make(FlArena *a); /* the texts live in the arena */
const char *fl_intern(FlInterner *in, const char *s, size_t len);
const char *fl_intern_z(FlInterner *in, const char *s); /* s ends with NUL */

/* ---- pieces: memory that is given back alone ------------------------------------------------------- */

void *fl_piece_new(size_t n, size_t size);      /* zeroed */
void *fl_piece_grow(void *piece, size_t bytes); /* as realloc; what is new is undefined */
void fl_piece_free(void *piece);                /* NULL is allowed */

/* Bytes of such memory: they never fail. */
FlBytes fl_piece_bytes(void);

/* ---- map from pointers (interned strings, nodes) to pointers --------------------------------------- */

typedef struct FlMap FlMap;
FlMap *fl_map_make(FlArena *a);
void *fl_map_get(const FlMap *m, const void *key);       /* NULL: absent */
void fl_map_set(FlMap *m, const void *key, void *value); /* instead of what was there */

/* ---- text being built (heap; reset frees) ---------------------------------------------------------- */

typedef struct FlText1 {
  char *s; /* always NUL-terminated once something was added; NULL when empty */
  size_t len, cap;
} FlText1;
void fl_text_add(FlText1 *t, const char *s, size_t len);
void fl_text_addz(FlText1 *t, const char *s);
void fl_text_addc(FlText1 *t, char c);
void fl_text_addf(FlText1 *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fl_text_reset(FlText1 *t);

/* Adds what a file holds, NUL-terminated; it stops once the text is longer than `most` bytes. false: it
 * cannot be opened or read, errno says why. */
bool fl_read_file(const char *path, size_t most, FlText1 *out);
bool fl_read_stream(FILE *in, size_t most, FlText1 *out);
enum { FL_LARGEST_SCRIPT = 64 << 20 }; /* bytes: what is larger is no script */

/* ---- spelling -------------------------------------------------------------------------------------- */

/* The candidate closest to `name` (Damerau-Levenshtein, within a third of its length), or NULL. */
const char *fl_closest(const char *name, const char *const *candidates, int n);

#endif
