/* coded.c: arrays of texts of which there are codes alone (data/text_codes.h), until somebody reads them.
 *
 * In: how many texts, later which of them are read. Out: a buffer with addresses for all of them, whose texts
 * are written chunk by chunk, by the codes. What always holds: a read of a text that is not written traps; a
 * chunk is written once, by whoever claims it, who does nothing else meanwhile, so that others may wait for
 * it; the memory of all texts counts from the start, so that writing them later needs no room that there is
 * not. */
#include "data/data_internal.h"
#include "data/text_codes.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PLAIN_FROM = 1 << 16 };
enum { UNWRITTEN, CLAIMED, WRITTEN };

typedef struct FlCodedBuffer {
  FlBuffer base;
  FlPool *pool;
  size_t reserved;      /* bytes of addresses, from a large page on */
  _Atomic int64_t left; /* chunks that are not written */
  _Atomic uint8_t state[];
} FlCodedBuffer;

int64_t fl_coded_from(void) {
  static _Atomic int64_t known; /* 0: not yet; all who find it out find the same */
  int64_t n = atomic_load_explicit(&known, memory_order_relaxed);
  if (n) return n;
  const char *word = getenv("FLOW_CODES_FROM");
  n = word ? strtoll(word, NULL, 10) : 0;
  if (n <= 0) n = PLAIN_FROM;
  atomic_store_explicit(&known, n, memory_order_relaxed);
  return n;
}

static int64_t chunks_of(int64_t n) { return (n + FL_CODED_CHUNK - 1) / FL_CODED_CHUNK; }

void fl_buffer_release_coded(FlBuffer *b) {
  FlCodedBuffer *c = (FlCodedBuffer *)b;
  munmap(b->data, c->reserved);
  fl_pool_count(c->pool, c->reserved, true);
  fl_pool_unref(c->pool);
}

static FlBuffer *buffer_new(FlPool *pool, int64_t n) {
  int64_t chunks = chunks_of(n);
  size_t reserved = (size_t)chunks * FL_CODED_CHUNK * sizeof(FlText);
  FlCodedBuffer *c = calloc(1, sizeof *c + (size_t)chunks);
  bool room = c && fl_pool_count(pool, reserved, false);
  char *at = room ? fl_reserve(reserved) : NULL;
  if (!at) {
    if (room) fl_pool_count(pool, reserved, true);
    free(c);
    return NULL;
  }
  c->base = (FlBuffer){.data = at, .bytes = n * (int64_t)sizeof(FlText), .kind = FL_BUFFER_CODED};
  c->pool = fl_pool_ref(pool);
  c->reserved = reserved;
  atomic_init(&c->base.refs, 1);
  atomic_init(&c->left, chunks);
  return &c->base;
}

FlArray *fl_array_new_coded(FlCtx *ctx, int64_t n, FlArray *like, const FlTextCodes *known, FlBuffer *codes) {
  FlBuffer *b = n > 0 ? buffer_new(ctx ? fl_ctx_pool(ctx) : NULL, n) : NULL;
  FlArray *a = b ? fl_array_over(ctx, b, b->data, FL_TEXT, 1, &n) : NULL;
  fl_buffer_unref(b);
  if (a &&
      fl_text_codes_attach(a, fl_dictionary_ref(known->dictionary), fl_buffer_ref(codes), known->width) &&
      fl_array_keep(ctx, a, NULL, &like, 1) == 0)
    return a;
  fl_array_unref(a);
  return NULL;
}

bool fl_array_is_coded(const FlArray *a) {
  return a->dtype == FL_TEXT && a->buffer && a->buffer->kind == FL_BUFFER_CODED;
}

void fl_coded_chunks(const FlArray *a, int64_t *begin, int64_t *end) {
  FlCodedBuffer *c = (FlCodedBuffer *)a->buffer;
  int64_t first = (const FlText *)a->data - (const FlText *)c->base.data, n = fl_array_count(a);
  *begin = *end = 0;
  if (n == 0 || atomic_load_explicit(&c->left, memory_order_acquire) == 0) return;
  int64_t from = first / FL_CODED_CHUNK, to = chunks_of(first + n);
  while (from < to && atomic_load_explicit(&c->state[from], memory_order_acquire) == WRITTEN) from++;
  while (from < to && atomic_load_explicit(&c->state[to - 1], memory_order_acquire) == WRITTEN) to--;
  *begin = from;
  *end = to;
}

FlStatus fl_coded_open(FlCtx *ctx, const FlArray *a, int64_t begin, int64_t end) {
  const int64_t bytes = FL_CODED_CHUNK * (int64_t)sizeof(FlText);
  char *at = (char *)a->buffer->data + begin * bytes;
  if (mprotect(at, (size_t)((end - begin) * bytes), PROT_READ | PROT_WRITE) == 0) return 0;
  fl_data_no_memory(ctx, (end - begin) * bytes);
  return FL_FAULT_MEMORY;
}

void fl_coded_write(const FlArray *a, int64_t chunk) {
  FlCodedBuffer *c = (FlCodedBuffer *)a->buffer;
  uint8_t is = UNWRITTEN;
  if (atomic_compare_exchange_strong_explicit(&c->state[chunk], &is, CLAIMED, memory_order_acquire,
                                              memory_order_acquire)) {
    int64_t first = chunk * FL_CODED_CHUNK, n = c->base.bytes / (int64_t)sizeof(FlText) - first;
    const FlTextCodes *codes = atomic_load_explicit(&c->base.codes, memory_order_acquire);
    fl_texts_of_codes(codes, (const char *)codes->codes->data + first * codes->width,
                      n < FL_CODED_CHUNK ? n : FL_CODED_CHUNK, (FlText *)c->base.data + first);
    /* release: whoever sees it written sees the texts. */
    atomic_store_explicit(&c->state[chunk], WRITTEN, memory_order_release);
    atomic_fetch_sub_explicit(&c->left, 1, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&c->state[chunk], memory_order_acquire) != WRITTEN) sched_yield();
}

/* Under a null a code may be of nothing. */
#define TEXTS_OF(T)                                                                                          \
  for (int64_t i = 0; i < n; i++) {                                                                          \
    const int64_t code = ((const T *)codes)[i];                                                              \
    to[i] = d->texts[code < d->n ? code : 0];                                                                \
  }                                                                                                          \
  break;

void fl_texts_of_codes(const FlTextCodes *known, const void *codes, int64_t n, FlText *to) {
  const FlDictionary *d = known->dictionary;
  switch (known->width) {
  case 1: TEXTS_OF(uint8_t)
  case 2: TEXTS_OF(uint16_t)
  default: TEXTS_OF(uint32_t)
  }
}
#undef TEXTS_OF

const FlText *fl_texts_read(const FlArray *a, int64_t n, FlText *room) {
  const void *codes;
  const FlTextCodes *known = fl_array_is_coded(a) ? fl_text_codes(a, &codes) : NULL;
  if (!known) return a->data;
  fl_texts_of_codes(known, codes, n, room);
  return room;
}
