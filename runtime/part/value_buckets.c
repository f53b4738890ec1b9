/* value_buckets.c: the values of one column in order, by buckets.
 *
 * Comes in: a column in no order. Goes out: its values in order, of those that are equal and yet differ in
 * bits any; and whether there are such. Always holds: the buckets, the parts and the workers cannot be seen
 * in the result.
 *
 * A sample gives cuts; a first sweep counts the rows of each bucket (those between two cuts, or those that
 * equal a cut), a second puts the codes in their buckets, of which each fits in a cache, is sorted there, and
 * becomes values again. Values that equal a cut are only counted. Where not all buckets fit in memory they
 * are made part by part: by a sweep over the column for each part where these are few; else the first sweep
 * also writes the codes of each chunk, bucket behind bucket, to a file (scratch.h), and lanes take parts: one
 * reads and sorts while another one writes. A lane holds one part and waits only to write it until those
 * before it are written: pages of a file that are filled in two places are written twice. */
#include <pthread.h>

#include "part/sort_values.h"

enum {
  MOST_BUCKETS = 2 * FL_PART_STRIP_CUTS + 1,
  FEW_SWEEPS = 8,
  FEW_OF_DISK = 3, /* sweeps over a column on disk that cost less than writing it once and reading it again */
  MOST_PARTS = 256,
  READ = 1 << 14, /* codes that are read at once */
  MOST_LANES = 4
};

/* Whose turn it is. */
typedef struct Turns {
  pthread_mutex_t lock;
  pthread_cond_t passed;
  int64_t next, written; /* the part that nobody has begun; how many are written */
  bool failed;
} Turns;

typedef struct Sort {
  FlValues of;
  int64_t chunk, chunks;  /* rows of a chunk */
  FlPartStrips by;        /* its buckets */
  int64_t *count;         /* [chunks][n_buckets]; then where the chunk's codes of an even bucket go */
  int64_t *start;         /* [n_buckets + 1] in the result */
  uint16_t *bucket;       /* [n] of each row, where there is room; else they are found again */
  bool in_place;          /* codes are where values of as many bytes shall be, all of them in memory */
  int64_t *kept;          /* [n_buckets + 1] among the codes: those of even buckets; in place: start */
  _Atomic int32_t differ; /* some zero is negative, or some value is no number */
  int64_t n_parts, first[MOST_PARTS + 1]; /* bucket of each part, even */
  int64_t *piece;      /* [chunks][n_parts] in the file, of the chunk's codes of the part */
  FlScratch *scratch;  /* the codes go there, those of a chunk where its rows are; NULL: the column is swept
                          for each part */
  Turns *turns;        /* of the lanes where there is a file: */
  int64_t lanes, most; /* how many; codes of the largest part */
  int64_t part;        /* which is in memory: */
  uint64_t *codes;     /* of it; of the lanes' parts, one behind the other */
} Sort;

/* ---- buckets ------------------------------------------------------------------------------------------- */

/* Codes for which there is room. */
static int64_t room_for(const Sort *s) {
  int64_t size = (int64_t)sizeof *s->codes;
  return s->in_place ? s->of.n : fl_pool_room(s->of.pool, s->of.n * size) / 4 * 3 / size;
}

/* Rows of a chunk: what a part has of one is a piece in a file, so as many as there is room for, with their
 * buckets. */
static int64_t chunk_of(const FlPartMem *m, const Sort *s) {
  enum { MOST = 1 << 18, EACH = 4 };
  int64_t workers = fl_ctx_workers(m->ctx), most = fl_part_min(MOST, s->of.n / (EACH * workers)),
          room = s->scratch != NULL ? room_for(s) / 5 * 4 / workers : 0;
  return fl_part_max(fl_part_min(room, most) / FL_PART_BATCH * FL_PART_BATCH, FL_PART_CHUNK);
}

static void chunk_rows(const Sort *s, int64_t c, int64_t *from, int64_t *to) {
  *from = c * s->chunk;
  *to = fl_part_min(*from + s->chunk, s->of.n);
}

/* Counts the chunk's rows of each bucket; `found`: NULL, or gets the bucket of each. */
static void count_chunk(Sort *s, int64_t c, uint16_t *found) {
  uint64_t code[FL_PART_BATCH];
  int32_t bucket[FL_PART_BATCH];
  bool differ = false;
  int64_t from, to, *count = s->count + c * s->by.n_buckets;
  chunk_rows(s, c, &from, &to);
  memset(count, 0, (size_t)s->by.n_buckets * sizeof *count);
  for (int64_t row = from; row < to; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, to - row);
    fl_values_codes(&s->of, row, n, code);
    fl_part_strip_buckets(&s->by, code, n, bucket);
    for (int64_t i = 0; i < n; i++) count[bucket[i]]++;
    for (int64_t i = 0; i < n && found != NULL; i++) found[row - from + i] = (uint16_t)bucket[i];
    differ |= fl_part_differ(&s->of.from, row, n);
  }
  /* relaxed: read when the loop is over. */
  if (differ) atomic_store_explicit(&s->differ, 1, memory_order_relaxed);
}

static int32_t count_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Sort *s = (Sort *)(uintptr_t)env;
  (void)ctx;
  for (int64_t c = begin; c < end; c++)
    count_chunk(s, c, s->bucket != NULL ? s->bucket + c * s->chunk : NULL);
  return 0;
}

/* Writes the codes of a chunk that is counted, bucket behind bucket. */
static bool write_chunk(const Sort *s, int64_t c, const uint16_t *bucket, uint64_t *sorted) {
  uint64_t code[FL_PART_BATCH];
  int64_t at[MOST_BUCKETS], from, to, kept = 0, size = (int64_t)sizeof *sorted;
  chunk_rows(s, c, &from, &to);
  for (int64_t b = 0; b < s->by.n_buckets; b += 2) {
    at[b] = kept;
    kept += s->count[c * s->by.n_buckets + b];
  }
  for (int64_t row = from; row < to; row += FL_PART_BATCH) {
    int64_t n = fl_part_min(FL_PART_BATCH, to - row);
    fl_values_codes(&s->of, row, n, code);
    for (int64_t i = 0; i < n; i++) {
      int64_t b = bucket[row - from + i];
      if (b % 2 == 0) sorted[at[b]++] = code[i];
    }
  }
  return fl_scratch_write(s->scratch, sorted, kept * size, from * size);
}

/* Counts and writes. */
static int32_t write_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  Sort *s = (Sort *)(uintptr_t)env;
  (void)ctx;
  uint64_t *sorted = fl_counted_new(s->of.pool, (size_t)s->chunk * sizeof *sorted);
  uint16_t *bucket = fl_counted_new(s->of.pool, (size_t)s->chunk * sizeof *bucket);
  bool done = sorted != NULL && bucket != NULL;
  for (int64_t c = begin; c < end && done; c++) {
    count_chunk(s, c, bucket);
    done = write_chunk(s, c, bucket, sorted);
  }
  fl_counted_free(sorted);
  fl_counted_free(bucket);
  return !done;
}

/* Counts become places among the codes that are kept. */
static void add_up(Sort *s) {
  int64_t at = 0, kept = 0;
  for (int64_t b = 0; b < s->by.n_buckets; b++) {
    s->start[b] = at;
    s->kept[b] = kept;
    for (int64_t c = 0; c < s->chunks; c++) {
      int64_t *place = &s->count[c * s->by.n_buckets + b], count = *place;
      *place = kept;
      at += count;
      if (b % 2 == 0 || s->in_place) kept += count;
    }
  }
  s->start[s->by.n_buckets] = at;
  s->kept[s->by.n_buckets] = kept;
}

/* The first sweep. */
static FlStatus count_all(FlPartMem *m, Sort *s) {
  s->chunk = chunk_of(m, s);
  s->chunks = (s->of.n + s->chunk - 1) / s->chunk;
  s->count = fl_part_alloc(m, s->chunks * s->by.n_buckets, sizeof *s->count);
  s->start = fl_part_alloc(m, s->by.n_buckets + 1, sizeof *s->start);
  s->kept = fl_part_alloc(m, s->by.n_buckets + 1, sizeof *s->kept);
  if (s->count == NULL || s->start == NULL || s->kept == NULL) return 1;
  int64_t bytes = s->of.n * (int64_t)sizeof *s->bucket;
  if (s->in_place && fl_pool_room(s->of.pool, bytes) >= bytes) {
    s->bucket = fl_part_alloc(m, s->of.n, sizeof *s->bucket);
    if (s->bucket == NULL) return 1;
  }
  bool file = s->scratch != NULL;
  FlStatus status = fl_part_for(m->ctx, file ? write_body : count_body, s, s->chunks,
                                (file ? 20.0 : 10.0) * (double)s->chunk);
  if (status != 0) return file ? fl_part_fail_scratch(m, s->scratch) : 1;
  add_up(s);
  return 0;
}

/* Parts of about so many codes that are kept; one bucket at least. */
static void find_parts(Sort *s, int64_t most) {
  most = fl_part_max(most, s->of.n / (MOST_PARTS / 2) + 1);
  s->n_parts = 1;
  s->first[0] = 0;
  for (int64_t b = 2; b < s->by.n_buckets; b += 2) {
    if (s->kept[b + 1] - s->kept[s->first[s->n_parts - 1]] <= most || s->n_parts == MOST_PARTS) continue;
    s->first[s->n_parts++] = b;
  }
  s->first[s->n_parts] = s->by.n_buckets + 1; /* as if there were one more even bucket */
}

static int64_t part_begin(const Sort *s, int64_t part) {
  return s->kept[fl_part_min(s->first[part], s->by.n_buckets)];
}

/* How many codes of a bucket are of this chunk. */
static int64_t count_of(const Sort *s, int64_t c, int64_t b) {
  int64_t end = c + 1 < s->chunks ? s->count[(c + 1) * s->by.n_buckets + b] : s->kept[b + 1];
  return end - s->count[c * s->by.n_buckets + b];
}

/* ---- codes of a part ----------------------------------------------------------------------------------- */

/* Puts the codes of the part's buckets where they belong, out of the column. */
static int32_t sweep_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sort *s = env;
  uint64_t code[FL_PART_BATCH];
  int32_t bucket[FL_PART_BATCH];
  int64_t place[MOST_BUCKETS], first = s->first[s->part], last = s->first[s->part + 1],
                               base = part_begin(s, s->part);
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to;
    chunk_rows(s, c, &from, &to);
    memcpy(place, s->count + c * s->by.n_buckets, (size_t)s->by.n_buckets * sizeof *place);
    for (int64_t row = from; row < to; row += FL_PART_BATCH) {
      int64_t n = fl_part_min(FL_PART_BATCH, to - row);
      fl_values_codes(&s->of, row, n, code);
      if (s->bucket == NULL) fl_part_strip_buckets(&s->by, code, n, bucket);
      for (int64_t i = 0; i < n; i++) {
        int64_t b = s->bucket != NULL ? s->bucket[row + i] : bucket[i];
        if (b % 2 == 0 && b >= first && b < last) s->codes[place[b]++ - base] = code[i];
      }
    }
  }
  return 0;
}

/* How many codes of the part are of this chunk. */
static int64_t piece_of(const Sort *s, int64_t c) {
  int64_t n = 0;
  for (int64_t b = s->first[s->part]; b < s->first[s->part + 1]; b += 2) n += count_of(s, c, b);
  return n;
}

/* Puts the codes that a chunk wrote for the part where they belong; `room`: for READ codes. */
static bool read_piece(const Sort *s, int64_t c, uint64_t *room) {
  int64_t b = s->first[s->part] - 2, left = 0, n = piece_of(s, c), size = (int64_t)sizeof *room;
  uint64_t *to = NULL;
  for (int64_t at = 0, here; at < n; at += here) {
    here = fl_part_min(READ, n - at);
    if (!fl_scratch_fetch(s->scratch, room, here * size, (s->piece[c * s->n_parts + s->part] + at) * size))
      return false;
    for (int64_t k = 0, some; k < here; k += some) {
      while (left == 0) {
        b += 2;
        left = count_of(s, c, b);
        to = s->codes + s->count[c * s->by.n_buckets + b] - part_begin(s, s->part);
      }
      some = fl_part_min(left, here - k);
      memcpy(to, room + k, (size_t)(some * size));
      to += some;
      left -= some;
    }
  }
  return true;
}

/* The disk may begin with part k. */
static void ask_part(const Sort *s, int64_t k) {
  int64_t size = (int64_t)sizeof(uint64_t);
  Sort part = *s;
  part.part = k;
  for (int64_t c = 0; c < s->chunks && k < s->n_parts; c++)
    fl_scratch_soon(s->scratch, piece_of(&part, c) * size, s->piece[c * s->n_parts + k] * size);
}

/* The codes of the part come. All of it is asked for before anybody waits. */
static bool read_part(const Sort *s, uint64_t *room) {
  bool done = true;
  ask_part(s, s->part);
  for (int64_t c = 0; c < s->chunks && done; c++) done = read_piece(s, c, room);
  return done;
}

/* Where in the file the pieces of the parts are. */
static FlStatus find_pieces(FlPartMem *m, Sort *s) {
  s->piece = fl_part_alloc(m, s->chunks * s->n_parts, sizeof *s->piece);
  if (s->piece == NULL) return 1;
  for (int64_t c = 0; c < s->chunks; c++) {
    int64_t at = c * s->chunk;
    for (int64_t k = 0; k < s->n_parts; k++) {
      s->piece[c * s->n_parts + k] = at;
      for (int64_t b = s->first[k]; b < s->first[k + 1]; b += 2) at += count_of(s, c, b);
    }
  }
  m->on_disk += s->kept[s->by.n_buckets] * (int64_t)sizeof(uint64_t);
  return 0;
}

static int64_t codes_of(const Sort *s, int64_t b) { return s->kept[b + 1] - s->kept[b]; }

/* Room to sort buckets [begin, end) of the part. */
static uint64_t *bucket_room(const Sort *s, int64_t begin, int64_t end) {
  int64_t most = READ;
  for (int64_t k = begin; k < end; k++) most = fl_part_max(most, codes_of(s, s->first[s->part] + 2 * k));
  return fl_counted_new(s->of.pool, (size_t)most * sizeof(uint64_t));
}

/* Bucket b of the part at hand, whose codes are sorted, and what equals the cut behind it. */
static void write_bucket(const Sort *s, int64_t b, FlSlices *slices) {
  enum { SOME = 256 };
  uint64_t same[SOME];
  fl_values_write(&s->of, slices, s->codes + s->kept[b] - part_begin(s, s->part), codes_of(s, b),
                  s->start[b]);
  if (b + 1 >= s->by.n_buckets) return;
  int64_t end = s->start[b + 2];
  for (int64_t i = 0; i < SOME; i++) same[i] = s->by.cuts[b / 2];
  for (int64_t at = s->start[b + 1]; at < end; at += SOME)
    fl_values_write(&s->of, slices, same, fl_part_min(SOME, end - at), at);
}

static void sort_codes(const Sort *s, int64_t b, uint64_t *room) {
  fl_part_sort_near_words(s->codes + s->kept[b] - part_begin(s, s->part), room, codes_of(s, b));
}

static int64_t part_buckets(const Sort *s) {
  return (fl_part_min(s->first[s->part + 1], s->by.n_buckets + 1) - s->first[s->part]) / 2;
}

/* Sorts buckets of the part and writes their values. */
static int32_t bucket_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sort *s = env;
  uint64_t *room = bucket_room(s, begin, end);
  FlSlices slices = fl_values_slices(ctx, &s->of);
  for (int64_t k = begin; k < end && room != NULL; k++) {
    sort_codes(s, s->first[s->part] + 2 * k, room);
    write_bucket(s, s->first[s->part] + 2 * k, &slices);
  }
  fl_slices_end(&slices);
  fl_counted_free(room);
  return room == NULL;
}

/* ---- lanes --------------------------------------------------------------------------------------------- */

static bool next_part(Sort *lane) {
  Turns *t = lane->turns;
  pthread_mutex_lock(&t->lock);
  bool there = !t->failed && t->next < lane->n_parts;
  if (there) lane->part = t->next++;
  pthread_mutex_unlock(&t->lock);
  return there;
}

/* All parts before the lane's are written; false: somebody failed. */
static bool wait_turn(const Sort *lane) {
  Turns *t = lane->turns;
  pthread_mutex_lock(&t->lock);
  while (t->written < lane->part && !t->failed) pthread_cond_wait(&t->passed, &t->lock);
  bool mine = !t->failed;
  pthread_mutex_unlock(&t->lock);
  return mine;
}

static void pass_turn(const Sort *lane, bool done) {
  Turns *t = lane->turns;
  pthread_mutex_lock(&t->lock);
  t->written += done;
  t->failed |= !done;
  pthread_cond_broadcast(&t->passed);
  pthread_mutex_unlock(&t->lock);
}

static bool lane_part(FlCtx *ctx, const Sort *lane) {
  int64_t n = part_buckets(lane), first = lane->first[lane->part];
  uint64_t *room = bucket_room(lane, 0, n);
  bool done = room != NULL && read_part(lane, room);
  for (int64_t k = 0; k < n && done; k++) sort_codes(lane, first + 2 * k, room);
  fl_counted_free(room);
  done = done && wait_turn(lane);
  if (!done) return false;
  FlSlices slices = fl_values_slices(ctx, &lane->of);
  for (int64_t k = 0; k < n; k++) write_bucket(lane, first + 2 * k, &slices);
  fl_slices_end(&slices);
  return true;
}

static int32_t lane_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sort *s = env;
  bool done = true;
  for (int64_t k = begin; k < end; k++) {
    Sort lane = *s;
    lane.codes += k * s->most;
    while (done && next_part(&lane)) {
      done = lane_part(ctx, &lane);
      pass_turn(&lane, done);
    }
  }
  return !done;
}

static FlStatus no_memory(FlPartMem *m) {
  return fl_fail(m->ctx, FL_FAULT_MEMORY, -1, FL_I64, (FlSlot){0}, (FlSlot){0});
}

static FlStatus sort_by_lanes(FlPartMem *m, Sort *s) {
  Turns turns = {.next = 0};
  pthread_mutex_init(&turns.lock, NULL);
  pthread_cond_init(&turns.passed, NULL);
  s->turns = &turns;
  double cost = 20.0 * (double)s->of.n / (double)s->lanes;
  FlStatus status = fl_part_for(m->ctx, lane_body, s, s->lanes, cost);
  pthread_cond_destroy(&turns.passed);
  pthread_mutex_destroy(&turns.lock);
  if (status == 0) return 0;
  return fl_scratch_why(s->scratch, NULL, 0) ? fl_part_fail_scratch(m, s->scratch) : no_memory(m);
}

static FlStatus sort_part(FlPartMem *m, Sort *s) {
  int64_t buckets = part_buckets(s);
  if (fl_part_for(m->ctx, sweep_body, s, s->chunks, 12.0 * (double)s->chunk) != 0) return 1;
  double rows =
      (double)(s->start[fl_part_min(s->first[s->part + 1], s->by.n_buckets)] - s->start[s->first[s->part]]);
  return fl_part_for(m->ctx, bucket_body, s, buckets, 10.0 * rows / (double)buckets) != 0 ? no_memory(m) : 0;
}

/* Whether the codes go through a file: sweeps over the column would be many. */
static bool by_file(const Sort *s) {
  int64_t few = fl_buffer_in_file(s->of.from.array->buffer) ? FEW_OF_DISK : FEW_SWEEPS;
  return !s->in_place && s->of.n / few > room_for(s);
}

/* Parts for as many lanes as there is room for where there is a file, else for one. */
static void plan_parts(const FlPartMem *m, Sort *s) {
  int64_t room = room_for(s), least = s->of.n / (MOST_PARTS / 2) + 1;
  s->lanes = s->scratch != NULL ? fl_part_min(MOST_LANES, fl_ctx_workers(m->ctx)) : 1;
  while (s->lanes > 1 && room / s->lanes < least) s->lanes--;
  find_parts(s, room / s->lanes);
}

static FlStatus sort_all(FlPartMem *m, Sort *s) {
  if (fl_part_find_strips(m, fl_values_codes, &s->of, s->of.n, &s->by) != 0 || count_all(m, s) != 0) return 1;
  plan_parts(m, s);
  if (s->scratch != NULL && find_pieces(m, s) != 0) return 1;
  s->most = 1;
  for (int64_t k = 0; k < s->n_parts; k++)
    s->most = fl_part_max(s->most, part_begin(s, k + 1) - part_begin(s, k));
  s->codes = s->in_place ? s->of.out->data : fl_part_near(m, s->lanes * s->most, sizeof *s->codes);
  if (s->codes == NULL) return 1;
  if (s->scratch != NULL) return sort_by_lanes(m, s);
  FlStatus status = 0;
  for (s->part = 0; s->part < s->n_parts && status == 0; s->part++) status = sort_part(m, s);
  return status;
}

FlStatus fl_values_by_buckets(FlPartMem *m, const FlValues *of, bool *differ) {
  Sort all = {.of = *of}, *s = &all;
  s->in_place =
      fl_dtype_info[of->from.dtype].bytes == sizeof *s->codes && !fl_buffer_in_file(of->out->buffer);
  if (by_file(s) && (s->scratch = fl_scratch_new(m->ctx, of->n * (int64_t)sizeof *s->codes)) == NULL)
    return 1;
  FlStatus status = sort_all(m, s);
  fl_scratch_free(s->scratch);
  /* relaxed: the loops are over. */
  *differ = atomic_load_explicit(&s->differ, memory_order_relaxed);
  return status;
}
