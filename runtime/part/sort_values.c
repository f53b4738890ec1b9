/* sort_values.c: the values of one column in order, where nobody asks for the rows that they come from.
 *
 * Comes in: a column of numbers, truths or times without nulls, ascending or descending. Goes out: its values
 * as sort_perm would order them. Always holds: bit for bit what taking the rows of sort_perm gives; of values
 * that are equal and yet differ in bits, zeros of both signs and NaNs, those that come first stay first.
 *
 * A value is its order code alone, half of a pair of key and row. Few are sorted at once. Else a sample
 * gives cuts; a first sweep counts the rows of each bucket (those between two cuts, or those that equal a
 * cut), a second puts the codes in their buckets, of which each fits in a cache, is sorted there, and becomes
 * values again. Values that equal a cut are only counted. Where not all buckets fit in memory they are made
 * part by part: by a sweep over the column for each part where these are few; else the first sweep also
 * writes the codes of each chunk, bucket behind bucket, to a file (scratch.h), and lanes take parts: one
 * reads and sorts while another one writes. A lane holds one part and waits only to write it until those
 * before it are written: pages of a file that are filled in two places are written twice. What is in order,
 * or falls all the way, is only copied. */
#include <pthread.h>

#include "part/part_internal.h"

enum {
  MOST_BUCKETS = 2 * FL_PART_STRIP_CUTS + 1,
  FEW_SWEEPS = 8,
  FEW_OF_DISK = 3, /* sweeps over a column on disk that cost less than writing it once and reading it again */
  MOST_PARTS = 256,
  SLICE = 1 << 12, /* values that are made at once */
  READ = 1 << 14,  /* codes that are read at once */
  MOST_LANES = 4,
  FEW = 32, /* codes that are inserted at once */
  ONE_BUCKET = 1 << 15 /* rows of which the codes, twice, fit in a cache */
};

/* Whose turn it is. */
typedef struct Turns {
  pthread_mutex_t lock;
  pthread_cond_t passed;
  int64_t next, written; /* the part that nobody has begun; how many are written */
  bool failed;
} Turns;

typedef struct Sort {
  FlPartCol from;
  FlPool *pool;
  uint64_t flip; /* all ones where the order is descending: codes, but NaN's, are turned over */
  int64_t n, chunk, chunks; /* rows; of a chunk */
  FlPartStrips by; /* its buckets */
  int64_t *count;               /* [chunks][n_buckets]; then where the chunk's codes of an even bucket go */
  int64_t *start;               /* [n_buckets + 1] in the result */
  uint16_t *bucket;             /* [n] of each row, where there is room; else they are found again */
  bool in_place;                /* codes are where values of as many bytes shall be, all of them in memory */
  int64_t *kept;                /* [n_buckets + 1] among the codes: those of even buckets; in place: start */
  _Atomic int32_t differ;       /* some zero is negative, or some value is no number */
  int64_t n_parts, first[MOST_PARTS + 1]; /* bucket of each part, even */
  int64_t *piece;     /* [chunks][n_parts] in the file, of the chunk's codes of the part */
  FlScratch *scratch; /* the codes go there, those of a chunk where its rows are; NULL: the column is swept
                         for each part */
  Turns *turns;       /* of the lanes where there is a file: */
  int64_t lanes, most; /* how many; codes of the largest part */
  int64_t part;       /* which is in memory: */
  uint64_t *codes;    /* of it; of the lanes' parts, one behind the other */
  FlArray *out;
} Sort;

/* ---- codes --------------------------------------------------------------------------------------------- */

/* The codes of n rows. */
static void read_codes(const void *env, int64_t row, int64_t n, uint64_t *code) {
  const Sort *s = env;
  fl_part_read_code(&s->from, row, n, code);
  if (s->flip == 0) return;
  bool is_float = fl_dtype_info[s->from.dtype].kind == FL_KIND_FLOAT;
  for (int64_t i = 0; i < n; i++) code[i] = is_float && code[i] == UINT64_MAX ? code[i] : ~code[i];
}

static double f64_of(uint64_t code) {
  static const uint64_t nan = UINT64_C(0x7ff8) << 48;
  double v;
  if (code != UINT64_MAX) return fl_part_of_code(code);
  memcpy(&v, &nan, sizeof v);
  return v;
}

static float f32_of(uint64_t code) {
  uint32_t ordered = (uint32_t)code, bits = code == UINT64_MAX
                                                ? UINT32_C(0x7fc00000)
                                                : (ordered >> 31 ? ordered ^ UINT32_C(1) << 31 : ~ordered);
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* The values that have these codes, at `at` of the result. */
static void write_values(const Sort *s, FlSlices *slices, const uint64_t *code, int64_t n, int64_t at) {
  int64_t size = (int64_t)fl_dtype_info[s->from.dtype].bytes, some;
  FlKind kind = fl_dtype_info[s->from.dtype].kind;
  bool is_signed = kind == FL_KIND_SIGNED || kind == FL_KIND_TIME || kind == FL_KIND_DECIMAL;
  uint64_t sign = is_signed ? UINT64_C(1) << 63 : 0;
  for (; n > 0; n -= some, code += some, at += some) {
    void *v = fl_slice(slices, (char *)s->out->data + at * size);
    some = fl_part_min(n, SLICE);
    if (kind == FL_KIND_FLOAT) {
      for (int64_t i = 0; i < some; i++) {
        uint64_t c = code[i] == UINT64_MAX ? code[i] : code[i] ^ s->flip;
        if (size == 8) ((double *)v)[i] = f64_of(c);
        else ((float *)v)[i] = f32_of(c);
      }
    } else {
      for (int64_t i = 0; i < some; i++) {
        uint64_t bits = code[i] ^ s->flip ^ sign;
        if (size == 8) ((uint64_t *)v)[i] = bits;
        else if (size == 4) ((uint32_t *)v)[i] = (uint32_t)bits;
        else if (size == 2) ((uint16_t *)v)[i] = (uint16_t)bits;
        else ((uint8_t *)v)[i] = (uint8_t)bits;
      }
    }
    fl_slice_done(slices, some * size);
  }
}

/* Whether some of n rows have values that are equal and differ in bits. */
static bool may_differ(const Sort *s, int64_t row, int64_t n) {
  uint64_t found = 0;
  if (s->from.dtype == FL_F64) {
    const double *v = (const double *)s->from.data + row;
    for (int64_t i = 0; i < n; i++)
      found |= (uint64_t)(v[i] != v[i]) | (uint64_t)(v[i] == 0 && __builtin_signbit(v[i]));
  } else if (s->from.dtype == FL_F32) {
    const float *v = (const float *)s->from.data + row;
    for (int64_t i = 0; i < n; i++)
      found |= (uint64_t)(v[i] != v[i]) | (uint64_t)(v[i] == 0 && __builtin_signbit(v[i]));
  }
  return found != 0;
}

/* ---- buckets ------------------------------------------------------------------------------------------- */

/* Codes for which there is room. */
static int64_t room_for(const Sort *s) {
  int64_t size = (int64_t)sizeof *s->codes;
  return s->in_place ? s->n : fl_pool_room(s->pool, s->n * size) / 4 * 3 / size;
}

/* Rows of a chunk: what a part has of one is a piece in a file, so as many as there is room for, with their
 * buckets. */
static int64_t chunk_of(const FlPartMem *m, const Sort *s) {
  enum { MOST = 1 << 18, EACH = 4 };
  int64_t workers = fl_ctx_workers(m->ctx), most = fl_part_min(MOST, s->n / (EACH * workers)),
          room = s->scratch != NULL ? room_for(s) / 5 * 4 / workers : 0;
  return fl_part_max(fl_part_min(room, most) / FL_PART_BATCH * FL_PART_BATCH, FL_PART_CHUNK);
}

static void chunk_rows(const Sort *s, int64_t c, int64_t *from, int64_t *to) {
  *from = c * s->chunk;
  *to = fl_part_min(*from + s->chunk, s->n);
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
    read_codes(s, row, n, code);
    fl_part_strip_buckets(&s->by, code, n, bucket);
    for (int64_t i = 0; i < n; i++) count[bucket[i]]++;
    for (int64_t i = 0; i < n && found != NULL; i++) found[row - from + i] = (uint16_t)bucket[i];
    differ |= may_differ(s, row, n);
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
    read_codes(s, row, n, code);
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
  uint64_t *sorted = fl_counted_new(s->pool, (size_t)s->chunk * sizeof *sorted);
  uint16_t *bucket = fl_counted_new(s->pool, (size_t)s->chunk * sizeof *bucket);
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
  s->chunks = (s->n + s->chunk - 1) / s->chunk;
  s->count = fl_part_alloc(m, s->chunks * s->by.n_buckets, sizeof *s->count);
  s->start = fl_part_alloc(m, s->by.n_buckets + 1, sizeof *s->start);
  s->kept = fl_part_alloc(m, s->by.n_buckets + 1, sizeof *s->kept);
  if (s->count == NULL || s->start == NULL || s->kept == NULL) return 1;
  int64_t bytes = s->n * (int64_t)sizeof *s->bucket;
  if (s->in_place && fl_pool_room(s->pool, bytes) >= bytes) {
    s->bucket = fl_part_alloc(m, s->n, sizeof *s->bucket);
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
  most = fl_part_max(most, s->n / (MOST_PARTS / 2) + 1);
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
      read_codes(s, row, n, code);
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

/* ---- values -------------------------------------------------------------------------------------------- */

static void sort_digit(const uint64_t *from, uint64_t *to, int64_t n, int shift) {
  enum { DIGITS = 1 << 8 };
  int64_t place[DIGITS] = {0}, at = 0;
  for (int64_t i = 0; i < n; i++) place[from[i] >> shift & (DIGITS - 1)]++;
  for (int k = 0; k < DIGITS; k++) {
    int64_t count = place[k];
    place[k] = at;
    at += count;
  }
  for (int64_t i = 0; i < n; i++) to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* False: it would take many moves. */
static bool insert_all(uint64_t *p, int64_t n) {
  int64_t moves = 0, most = 8 * n + FEW * FEW;
  for (int64_t i = 1; i < n && moves <= most; i++) {
    uint64_t x = p[i];
    int64_t j = i;
    for (; j > 0 && p[j - 1] > x; j--) p[j] = p[j - 1];
    p[j] = x;
    moves += i - j;
  }
  return moves <= most;
}

/* By as many of the highest bits that differ as tell most of them apart, lowest digit first, then by
 * insertion; by all bits where that leaves too many in their places. The result is in `p`. */
static void sort_bucket(uint64_t *p, uint64_t *spare, int64_t n) {
  enum { DIGIT = 8 };
  uint64_t differ = 0, falls = 0;
  for (int64_t i = 1; i < n; i++) {
    differ |= p[i] ^ p[0];
    falls |= p[i] < p[i - 1];
  }
  if (falls == 0) return;
  int top = fl_part_bits(differ), digits = n > FEW ? fl_part_bits((uint64_t)n) / DIGIT + 1 : 0;
  for (;; digits = (top + DIGIT - 1) / DIGIT) {
    int low = (int)fl_part_max(0, top - digits * DIGIT);
    uint64_t *from = p, *to = spare;
    for (int k = 0; k < digits; k++) {
      sort_digit(from, to, n, low + k * DIGIT);
      uint64_t *other = from;
      from = to;
      to = other;
    }
    if (from != p) memcpy(p, from, (size_t)n * sizeof *p);
    if (insert_all(p, n)) return;
  }
}

static int64_t codes_of(const Sort *s, int64_t b) { return s->kept[b + 1] - s->kept[b]; }

/* Room to sort buckets [begin, end) of the part. */
static uint64_t *bucket_room(const Sort *s, int64_t begin, int64_t end) {
  int64_t most = READ;
  for (int64_t k = begin; k < end; k++) most = fl_part_max(most, codes_of(s, s->first[s->part] + 2 * k));
  return fl_counted_new(s->pool, (size_t)most * sizeof(uint64_t));
}

/* Bucket b of the part at hand, whose codes are sorted, and what equals the cut behind it. */
static void write_bucket(const Sort *s, int64_t b, FlSlices *slices) {
  enum { SOME = 256 };
  uint64_t same[SOME];
  write_values(s, slices, s->codes + s->kept[b] - part_begin(s, s->part), codes_of(s, b), s->start[b]);
  if (b + 1 >= s->by.n_buckets) return;
  int64_t end = s->start[b + 2];
  for (int64_t i = 0; i < SOME; i++) same[i] = s->by.cuts[b / 2];
  for (int64_t at = s->start[b + 1]; at < end; at += SOME)
    write_values(s, slices, same, fl_part_min(SOME, end - at), at);
}

static FlSlices slices_of(FlCtx *ctx, const Sort *s) {
  return fl_part_slices(ctx, s->out->data, SLICE * (int64_t)fl_dtype_info[s->from.dtype].bytes, 1);
}

static void sort_codes(const Sort *s, int64_t b, uint64_t *room) {
  sort_bucket(s->codes + s->kept[b] - part_begin(s, s->part), room, codes_of(s, b));
}

static int64_t part_buckets(const Sort *s) {
  return (fl_part_min(s->first[s->part + 1], s->by.n_buckets + 1) - s->first[s->part]) / 2;
}

/* Sorts buckets of the part and writes their values. */
static int32_t bucket_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Sort *s = env;
  uint64_t *room = bucket_room(s, begin, end);
  FlSlices slices = slices_of(ctx, s);
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
  FlSlices slices = slices_of(ctx, lane);
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
  double cost = 20.0 * (double)s->n / (double)s->lanes;
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

/* How many values of the result are below `code`. */
static int64_t count_below(const Sort *s, uint64_t code) {
  Sort sorted = {.from = s->from, .flip = s->flip};
  sorted.from.data = s->out->data;
  int64_t low = 0, high = s->n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    uint64_t found;
    read_codes(&sorted, middle, 1, &found);
    if (found < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Zeros and NaNs as they are, in the order in which they come. */
static void copy_differing(const Sort *s) {
  static const double nothing = 0;
  uint64_t code;
  Sort of_zero = {.from = s->from, .flip = s->flip};
  of_zero.from.data = &nothing; /* of a float, too */
  read_codes(&of_zero, 0, 1, &code);
  int64_t zero = count_below(s, code), nan = count_below(s, UINT64_MAX);
  if (s->from.dtype == FL_F64) {
    const double *v = s->from.data;
    double *out = s->out->data;
    for (int64_t i = 0; i < s->n; i++) {
      if (v[i] != v[i]) out[nan++] = v[i];
      else if (v[i] == 0) out[zero++] = v[i];
    }
  } else {
    const float *v = s->from.data;
    float *out = s->out->data;
    for (int64_t i = 0; i < s->n; i++) {
      if (v[i] != v[i]) out[nan++] = v[i];
      else if (v[i] == 0) out[zero++] = v[i];
    }
  }
}

/* Whether the codes go through a file: sweeps over the column would be many. */
static bool by_file(const Sort *s) {
  int64_t few = fl_buffer_in_file(s->from.array->buffer) ? FEW_OF_DISK : FEW_SWEEPS;
  return !s->in_place && s->n / few > room_for(s);
}

/* Parts for as many lanes as there is room for where there is a file, else for one. */
static void plan_parts(const FlPartMem *m, Sort *s) {
  int64_t room = room_for(s), least = s->n / (MOST_PARTS / 2) + 1;
  s->lanes = s->scratch != NULL ? fl_part_min(MOST_LANES, fl_ctx_workers(m->ctx)) : 1;
  while (s->lanes > 1 && room / s->lanes < least) s->lanes--;
  find_parts(s, room / s->lanes);
}

/* So few that a cache holds them are one bucket, which nobody has to look for. */
static FlStatus sort_few(FlPartMem *m, Sort *s) {
  uint64_t *code = fl_part_near(m, 2 * s->n, sizeof *code);
  if (code == NULL) return 1;
  FlSlices slices = slices_of(m->ctx, s);
  read_codes(s, 0, s->n, code);
  sort_bucket(code, code + s->n, s->n);
  write_values(s, &slices, code, s->n, 0);
  fl_slices_end(&slices);
  fl_part_release(m, code);
  if (may_differ(s, 0, s->n)) copy_differing(s);
  return 0;
}

static FlStatus sort_all(FlPartMem *m, Sort *s) {
  if (s->n <= ONE_BUCKET) return sort_few(m, s);
  s->in_place = fl_dtype_info[s->from.dtype].bytes == sizeof *s->codes && !fl_buffer_in_file(s->out->buffer);
  if (by_file(s) && (s->scratch = fl_scratch_new(m->ctx, s->n * (int64_t)sizeof *s->codes)) == NULL) return 1;
  if (fl_part_find_strips(m, read_codes, s, s->n, &s->by) != 0 || count_all(m, s) != 0) return 1;
  plan_parts(m, s);
  if (s->scratch != NULL && find_pieces(m, s) != 0) return 1;
  s->most = 1;
  for (int64_t k = 0; k < s->n_parts; k++)
    s->most = fl_part_max(s->most, part_begin(s, k + 1) - part_begin(s, k));
  s->codes = s->in_place ? s->out->data : fl_part_near(m, s->lanes * s->most, sizeof *s->codes);
  if (s->codes == NULL || (s->scratch != NULL && sort_by_lanes(m, s) != 0)) return 1;
  for (s->part = 0; s->part < s->n_parts && s->scratch == NULL; s->part++) {
    if (sort_part(m, s) != 0) return 1;
  }
  /* relaxed: the loops are over. */
  if (atomic_load_explicit(&s->differ, memory_order_relaxed)) copy_differing(s);
  return 0;
}

/* ---- what is in order ---------------------------------------------------------------------------------- */

static void turn(const Sort *s) {
  int64_t n = s->n, last = s->n - 1;
  const void *from = s->from.data;
  void *to = s->out->data;
  switch (fl_dtype_info[s->from.dtype].bytes) {
  case 1:
    for (int64_t i = 0; i < n; i++) ((uint8_t *)to)[i] = ((const uint8_t *)from)[last - i];
    break;
  case 2:
    for (int64_t i = 0; i < n; i++) ((uint16_t *)to)[i] = ((const uint16_t *)from)[last - i];
    break;
  case 4:
    for (int64_t i = 0; i < n; i++) ((uint32_t *)to)[i] = ((const uint32_t *)from)[last - i];
    break;
  default:
    for (int64_t i = 0; i < n; i++) ((uint64_t *)to)[i] = ((const uint64_t *)from)[last - i];
  }
}

/* Of values that fall each is less than the one before, so none have to stay in their order. */
static FlStatus put_in_order(FlPartMem *m, Sort *s) {
  int way;
  if (fl_part_in_order(m->ctx, read_codes, s, s->n, &way) != 0) return 1;
  if (way == 0) return sort_all(m, s);
  if (way > 0)
    fl_pool_fill(s->pool, s->out->data, s->from.data, s->n * (int64_t)fl_dtype_info[s->from.dtype].bytes);
  else turn(s);
  return 0;
}

/* Some places of the result, by the rows that stand there. */
static FlStatus sorted_share(FlPartMem *m, const FlPartKey *key, const FlOpDesc *desc, const FlSlot *args,
                             FlArray **out) {
  FlPartCodes codes;
  FlSlot taken, from[2] = {{.a = NULL}, args[0]};
  const FlOpDesc take = {.site = desc->site, .n_args = 2, .i = FL_TAKE_PROVEN};
  FlStatus status = fl_part_encode(m, key, 1, 1, true, &codes);
  if (status == 0) status = fl_part_order(m, &codes, &from[0].a);
  if (status == 0) status = fl_rt_take(m->ctx, &take, from, &taken);
  if (status == 0) *out = taken.a;
  fl_array_unref(from[0].a);
  return status;
}

static FlStatus sorted_values(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  FlPartKey *key;
  if (fl_part_keys(m, desc, args, &key) != 0) return 1;
  if (fl_part_order_told(m, key, desc)) return 0;
  if (fl_ctx_op_part(m->ctx)) return sorted_share(m, key, desc, args, out);
  Sort s = {.from = key->side[0],
            .pool = fl_part_pool(m),
            .flip = key->descending ? UINT64_MAX : 0,
            .n = key->side[0].n};
  *out = s.out = fl_array_new(m->ctx, s.from.dtype, 1, &s.n);
  if (s.out == NULL) return 1;
  FlStatus status = s.n > 0 ? put_in_order(m, &s) : 0;
  fl_scratch_free(s.scratch);
  return status;
}

FlStatus fl_rt_sort_values(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_part_give(ctx, desc, args, results, 1, sorted_values);
}
