/* part_internal.h: what the files of this room share: scratch memory, loops over the pool, key columns as
 * words that sort and compare like the keys, grouping of such words, exact sums.
 *
 * What always holds: work is cut into chunks by the number of rows alone; results are defined without
 * reference to the cut, so any schedule gives the same bits. */
#ifndef FL_PART_INTERNAL_H
#define FL_PART_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "part/part.h"
#include "data/data.h"
#include "data/scratch.h"
#include "data/slices.h"
#include "exec/exec.h"
#include "part/exact_ratio.h"

enum {
  FL_PART_CHUNK = 1 << 16,   /* rows of one task in plain sweeps */
  FL_PART_BATCH = 512,       /* rows converted at a time into a buffer on the stack */
  FL_PART_FEW_ROWS = 1 << 12 /* fewer rows of texts need no codes */
};

static inline int64_t fl_part_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t fl_part_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t fl_part_chunks(int64_t n) { return (n + FL_PART_CHUNK - 1) / FL_PART_CHUNK; }
/* Bits that hold 0..v. */
static inline int fl_part_bits(uint64_t v) { return v == 0 ? 0 : 64 - __builtin_clzll(v); }
static inline bool fl_part_valid(const uint8_t *valid, int64_t i) { return valid == NULL || valid[i] != 0; }

/* Rows of a leaf of a fold whose state has so many elements: the least FL_BLOCK 2^j that is at least four
 * times as many (SCALE 2). */
static inline int64_t fl_part_leaf(int64_t elements) {
  int64_t rows = FL_BLOCK;
  while (rows / 4 < elements && rows < INT64_C(1) << 60) rows *= 2;
  return rows;
}

/* ---- scratch memory and loops (part.c) ---------------------------------------------------------------- */

/* Scratch of one operator call: arrays, so that large blocks are recycled. Not thread-safe. */
typedef struct FlPartMem {
  FlCtx *ctx;
  FlArray **arrays;
  int32_t n_arrays, capacity;
  const FlOpDesc *desc; /* whose call it is: the user is told when it goes to disk; NULL: a part of another */
  int64_t on_disk;      /* bytes of scratch, and of what was noted, that live in files */
  bool near;            /* all scratch is as fl_part_near gives it */
} FlPartMem;

/* Memory for count * size bytes, 64-byte aligned, released by fl_part_mem_reset. NULL: error recorded. */
void *fl_part_alloc(FlPartMem *m, int64_t count, size_t size);
void *fl_part_zalloc(FlPartMem *m, int64_t count, size_t size); /* all bytes zero */
/* As fl_part_alloc, for what is looked up or written in any order: whoever does so on more than a small share
 * of memory asks fl_pool_room first, after what he sweeps is there, and takes no more in all. */
void *fl_part_near(FlPartMem *m, int64_t count, size_t size);
/* Releases what fl_part_alloc gave for `p` at once; NULL is allowed. */
void fl_part_release(FlPartMem *m, const void *p);
/* What fl_part_alloc gave for `p` as an array of `count` values, which the caller owns. NULL: error recorded.
 */
FlArray *fl_part_keep(FlPartMem *m, const void *p, FlDtype dtype, int64_t count);
void fl_part_mem_reset(FlPartMem *m);
/* Where bodies, which have no scratch of the call, take memory from: fl_counted_new. May be NULL. */
static inline FlPool *fl_part_pool(const FlPartMem *m) { return m->ctx ? fl_ctx_pool(m->ctx) : NULL; }
/* Counts what an array has in a file; NULL is allowed. */
void fl_part_note_disk(FlPartMem *m, const FlArray *a);

/* The body of an operator that gives `n` arrays: each either stays NULL or is set to an array that is owned,
 * also when the body fails. */
typedef FlStatus FlPartBody(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out);
/* One call of it, with scratch memory of its own, into results[0..n), n at most FL_PART_MOST_GIVEN. On
 * failure all arrays are released and the results are NULL. */
enum { FL_PART_MOST_GIVEN = 4 };
FlStatus fl_part_give(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, int32_t n,
                      FlPartBody *body);

/* Of an operator that sweeps rows: whether it is only asked how that can be cut (FlOpPart), which it has said
 * now: leaves of `unit` rows, `cost` nanoseconds a row, the first `of_rows` results have rows. */
bool fl_part_is_told(FlCtx *ctx, int64_t rows, int64_t unit, double cost, int32_t of_rows);

/* Runs fn(ctx, env, begin, end) over pieces of [0, n) on the pool; `cost` nanoseconds an item. Bodies do not
 * touch the context. Non-zero when some call was. */
FlStatus fl_part_for(FlCtx *ctx, FlKernelFn fn, const void *env, int64_t n, double cost);
/* The rows of chunk c of n rows. */
static inline void fl_part_chunk(int64_t c, int64_t n, int64_t *begin, int64_t *end) {
  *begin = c * FL_PART_CHUNK;
  *end = fl_part_min(*begin + FL_PART_CHUNK, n);
}
/* The first position that failed, found by many tasks. INT64_MAX: none. */
static inline void fl_part_first(_Atomic int64_t *first, int64_t at) {
  int64_t seen = atomic_load_explicit(first, memory_order_relaxed);
  while (at < seen && !atomic_compare_exchange_weak_explicit(first, &seen, at, memory_order_relaxed,
                                                             memory_order_relaxed)) {}
}

/* ---- rows cut into parts (cuts.c) ------------------------------------------------------------------ */

/* Cuts that part rows into about as many each: ascending and different, at equal distances in a sample, which
 * is a run of rows at each of some places. */
typedef struct FlPartSample {
  void (*read)(const void *env, int64_t row, int64_t n, uint64_t *out); /* the words of n rows, row by row */
  const void *env;
  int64_t n, places, run; /* rows, at least so many for each place as a run has */
  int64_t wanted;         /* cuts, at most */
  int32_t n_words;        /* of a row */
  int64_t different;      /* is found: how many of the rows that were looked at differ from each other, */
  bool *often;            /* and of each cut, whether more than one of them equals it; NULL: nobody asks */
} FlPartSample;
FlStatus fl_part_sample_cuts(FlPartMem *m, FlPartSample *s, uint64_t *cuts, int64_t *n_cuts);
/* Rows by their words from left to right: less than 0, 0, greater. */
int fl_part_compare_words(const uint64_t *a, const uint64_t *b, int32_t n);

/* `place` says how many rows of each chunk are of each part, chunk after chunk: from then on, where these
 * begin when parts stand one behind the other, in the order of their chunks; `start` where parts begin, and
 * the end. Returns how many rows there are. */
int64_t fl_part_places(int64_t chunks, int64_t n_parts, int64_t *place, int64_t *start);

/* Rows by ranges of a number that each has: range k has the numbers from k << shift on. Rows with a number
 * below 0 are in none. */
typedef struct FlPartRanges {
  const int64_t *number; /* [n] */
  int64_t n, n_ranges;
  int shift;
  int64_t chunks; /* what follows is made, as fl_part_places has it */
  int64_t *place; /* [chunks][n_ranges] */
  int64_t *start; /* [n_ranges + 1] */
} FlPartRanges;
FlStatus fl_part_ranges(FlPartMem *m, FlPartRanges *r);
void fl_part_ranges_release(FlPartMem *m, FlPartRanges *r);
/* How many rows of the chunk are in the range. */
static inline int64_t fl_part_range_rows(const FlPartRanges *r, int64_t chunk, int64_t k) {
  int64_t end = chunk + 1 < r->chunks ? r->place[(chunk + 1) * r->n_ranges + k] : r->start[k + 1];
  return end - r->place[chunk * r->n_ranges + k];
}

/* ---- results made slice by slice (part.c) ---------------------------------------------------------- */

/* Slices that a worker makes of a block, of at most so many bytes; `many` of them side by side. */
FlSlices fl_part_slices(FlCtx *ctx, const void *block, int64_t bytes, int64_t many);

/* ---- errors (part.c). All record and return a non-zero status -------------------------------------- */

/* Sizes a and b differ; position `index` is not in 0..size. */
FlStatus fl_part_fail_shape(FlCtx *ctx, const FlOpDesc *desc, int64_t a, int64_t b);
FlStatus fl_part_fail_index(FlCtx *ctx, const FlOpDesc *desc, int64_t index, int64_t size);
/* A file, or the memory to fill it, failed. A disk is told as a disk, with its folder. */
FlStatus fl_part_fail_scratch(FlPartMem *m, const FlScratch *s);
FlStatus fl_part_fail_memory(FlPartMem *m);

/* ---- columns ------------------------------------------------------------------------------------------ */

typedef struct FlPartCol {
  int32_t dtype;
  int64_t n;
  const void *data;
  const uint8_t *valid; /* NULL: every row has a value */
  FlArray *array;       /* borrowed */
} FlPartCol;

/* Reads the next column of an argument list: a value array, and its validity when it has nulls. Moves
 * *at. SHAPE when lengths differ. */
FlStatus fl_part_col(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, int32_t *at,
                     const FlColumnAttr *attr, FlPartCol *out);

/* Of n values of 8 bytes, those without validity become zeros: no branch, as nobody can guess where nulls
 * are. */
typedef uint64_t __attribute__((may_alias)) FlPartBits;
static inline void fl_part_zero_nulls(const uint8_t *restrict valid, int64_t n, void *restrict values) {
  FlPartBits *restrict bits = values;
  for (int64_t i = 0; i < n; i++) bits[i] &= -(uint64_t)(valid[i] != 0);
}

/* Rows [begin, begin + n) as doubles (bool 0 or 1; integers rounded to nearest); whatever lies under a null
 * is 0. */
void fl_part_read_f64(const FlPartCol *c, int64_t begin, int64_t n, double *out);
/* Rows of an integer, bool or time column as 64 bits: sign-extended, u64 as it is. */
void fl_part_read_i64(const FlPartCol *c, int64_t begin, int64_t n, int64_t *out);
/* Order code of each row: for values of one type a < b exactly when code(a) < code(b), and equal keys have
 * equal codes (-0.0 is 0.0; every NaN is UINT64_MAX, above all others). Not for texts. Nulls give any code.
 */
void fl_part_read_code(const FlPartCol *c, int64_t begin, int64_t n, uint64_t *out);
/* Whether some of these rows have values that have one code and may differ in bits: negative zeros, NaNs. */
bool fl_part_differ(const FlPartCol *c, int64_t begin, int64_t n);
/* The k-th smallest (from 0) of n codes, and the one after it, or itself where it is the last (select.c).
 * Overwrites the codes, of which none is UINT64_MAX. */
void fl_part_select(uint64_t *p, int64_t n, int64_t k, uint64_t *at, uint64_t *after);
/* The double that has this order code; not for NaN. */
static inline double fl_part_of_code(uint64_t code) {
  uint64_t bits = code >> 63 ? code ^ UINT64_C(1) << 63 : ~code;
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
/* New array for m rows like those of `like`, contents undefined; texts keep what `like` keeps. NULL: error
 * recorded.
 */
FlArray *fl_part_new_rows(FlCtx *ctx, FlArray *like, int64_t m);
/* Whether n rows of it are worth going by the codes of its texts, if it has any, or there are these alone. */
bool fl_part_goes_by_codes(const FlArray *a, int64_t n);
/* New array of the rows `rows[0..m)`; -1 gives zero. Texts keep their bytes. NULL: error recorded. */
FlArray *fl_part_take(FlCtx *ctx, FlArray *from, const int64_t *rows, int64_t m);
/* Validity array with rows[i] >= 0. NULL: error recorded. */
FlArray *fl_part_has_row(FlCtx *ctx, const int64_t *rows, int64_t m);

/* ---- searching ascending codes (asof.c) ------------------------------------------------------------ */

/* Where x would be put among the ascending codes [from, to): before those like it, or `past` them. Looks
 * first near `hint`; -1: nothing is known. */
int64_t fl_part_search(const uint64_t *code, int64_t from, int64_t to, uint64_t x, bool past, int64_t hint);

/* ---- stable sorting of (key, row) pairs (radix.c) -------------------------------------------------- */

typedef struct FlPartPair {
  uint64_t key;
  int64_t row;
} FlPartPair;

/* Sorts by the low `bits` bits of key, stable. `a` and `spare` have n pairs each; *sorted is one of them. */
FlStatus fl_part_sort_pairs(FlPartMem *m, FlPartPair *a, FlPartPair *spare, int64_t n, int bits,
                            FlPartPair **sorted);
/* The same for bare words, by the bits [shift, shift + bits). */
FlStatus fl_part_sort_words(FlPartMem *m, uint64_t *a, uint64_t *spare, int64_t n, int shift, int bits,
                            uint64_t **sorted);
/* On one thread, for at most some thousand pairs: whole keys, stable. */
void fl_part_sort_small(FlPartPair *a, FlPartPair *spare, int64_t n);

/* Sorts rows by the bytes of their texts, in place; those of equal texts stay in their order. The key of an
 * item becomes 1 where its text is another one than that before it, else 0 (text_order.c). texts(row) =
 * side[row < n0 ? 0 : 1]. */
typedef struct FlPartTexts {
  const FlText *side[2];
  int64_t n0; /* rows of the first side */
} FlPartTexts;
static inline FlText fl_part_text(const FlPartTexts *t, int64_t row) {
  return row < t->n0 ? t->side[0][row] : t->side[1][row - t->n0];
}
FlStatus fl_part_order_texts(FlPartMem *m, const FlPartTexts *texts, FlPartPair *items, FlPartPair *spare,
                             int64_t n);

/* ---- keys as words (encode.c) ---------------------------------------------------------------------- */

/* A key over one table (n_sides 1) or the left and right table of a join, one below the other. */
typedef struct FlPartKey {
  FlPartCol side[2];
  bool descending;
} FlPartKey;

/* A key as a number of each row: its distance from the least (or, descending, the greatest) value, then one
 * for NaN and one for null where they may occur. */
typedef struct FlPartDigit {
  const FlPartKey *key;
  const int64_t *id;       /* texts without codes: entry of each row of both sides, -1 of null, */
  const uint64_t *rank;    /* and the rank of each entry; NULL: the entry itself */
  const FlPartPair *order; /* NULL, or the rows that are not null as fl_part_order_texts left them */
  const void *code[2];     /* texts with codes: those of each side, of so many bytes, */
  int32_t width[2];
  const uint32_t *rank_of[2]; /* and their ranks; NULL: the code itself */
  uint64_t least, greatest;   /* of proper values */
  uint64_t nan_code, null_code, radix;
  bool says_null; /* is only whether the key is null; the digit behind it has its value, 0 under null */
} FlPartDigit;

/* Words of digits in mixed radix. Word w of a row is at most words[w].max < 2^bits; rows compare by words
 * from left to right as their keys do (null last, NaN before it). Words are made when they are read, unless
 * `stored` has them. */
typedef struct FlPartWord {
  uint64_t *stored; /* [n] or NULL */
  int32_t digit, n_digits;
  int bits;
  uint64_t max; /* the greatest that can occur */
} FlPartWord;

typedef struct FlPartCodes {
  int64_t n, n_left; /* rows of both sides; of the first */
  int32_t n_words;
  FlPartWord *words;
  FlPartDigit *digits;
} FlPartCodes;

/* Reads the keys of sort_perm, group and distinct from an argument list (one side). */
FlStatus fl_part_keys(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlPartKey **keys);
/* ordered: false when only equality of words is wanted (texts are then not sorted). The keys must outlive the
 * codes. */
FlStatus fl_part_encode(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, int32_t n_sides, bool ordered,
                        FlPartCodes *out);
/* Keys that are no texts, of one side, as they are: nobody looks which words there are. A word for each,
 * behind one that says whether it is null, where it may be. */
FlStatus fl_part_encode_whole(FlPartMem *m, const FlPartKey *keys, int32_t n_keys, FlPartCodes *out);
/* The least and the greatest order code of the proper values of a key that is no text; none: the greatest is
 * less. */
FlStatus fl_part_key_range(FlPartMem *m, const FlPartKey *key, uint64_t *least, uint64_t *greatest);
/* Numbers the texts of a key of n rows on all its sides (encode_texts.c), and sets what of the digit says
 * them; `*n_texts`: how many different ones there are. alone: there are no other keys. */
FlStatus fl_part_number_texts(FlPartMem *m, FlPartDigit *d, int32_t n_sides, int64_t n, bool ordered,
                              bool alone, int64_t *n_texts);
/* Word w of the rows [begin, begin + n). */
void fl_part_read_words(const FlPartCodes *codes, int32_t w, int64_t begin, int64_t n, uint64_t *out);
/* Word w of all rows, in memory of `m` that may be overwritten. NULL: error recorded. */
uint64_t *fl_part_store_words(FlPartMem *m, FlPartCodes *codes, int32_t w);

/* Stable order of the rows by their words; `rows` has codes->n places. Overwrites the words. (sort.c) */
FlStatus fl_part_order_codes(FlPartMem *m, FlPartCodes *codes, int64_t *rows);
/* How many bytes it looks up in any order where they are there. */
int64_t fl_part_order_bytes(const FlPartCodes *codes);
/* The same with about so many bytes of memory that are looked up in any order. begins[i]: the words of
 * rows[i] differ from those of the row before; NULL: nobody asks. (order_parts.c) */
FlStatus fl_part_order_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, int64_t *rows,
                             uint8_t *begins);

/* The same in a new array; where a share of it alone is asked for (FlOpPart), the rows of that. */
FlStatus fl_part_order(FlPartMem *m, FlPartCodes *codes, FlArray **rows);
/* Whether an operator that sorts rows by these keys is only asked how that can be shared, and has said it. */
bool fl_part_order_told(FlPartMem *m, const FlPartKey *keys, const FlOpDesc *desc);
/* Of the order of all rows share `share` of `shares`, in a new array: they are about as large, and one behind
 * the other all of it. codes->n is below 2^32. (order_share.c) */
FlStatus fl_part_order_share(FlPartMem *m, const FlPartCodes *codes, int64_t share, int64_t shares,
                             FlArray **rows);

/* Rows cut by their words (cut_rows.c): part 2 c is of those between the cuts c - 1 and c, part 2 c + 1 of
 * those that equal cut c, if these are many; else it is empty, and they are of part 2 c. */
enum { FL_PART_MOST_CUTS = 511 };
typedef struct FlPartCutting {
  const FlPartCodes *codes;
  int64_t chunk, chunks;             /* rows of a chunk, and how many these are */
  uint64_t *cuts;                    /* [n_cuts][n_words], ascending */
  uint64_t heads[FL_PART_MOST_CUTS]; /* their first words, and behind them the greatest there is */
  bool often[FL_PART_MOST_CUTS + 1]; /* whether many rows equal a cut; behind them false */
  int64_t n_cuts, n_parts;
  double differ;  /* how much of a sample differs from the rest of it */
  uint16_t *part; /* [n] of each row; NULL: found again */
  int64_t *place; /* [chunks][n_parts], as fl_part_places has it */
  int64_t *start; /* [n_parts + 1] */
} FlPartCutting;
/* The cuts for about so many parts, of chunks of p->chunk rows: nothing is known of their rows yet. */
FlStatus fl_part_find_cuts(FlPartMem *m, FlPartCutting *p, int64_t wanted);
/* How many rows each part has, by a sweep, which also writes down which part a row is of. */
FlStatus fl_part_count_parts(FlPartMem *m, FlPartCutting *p, bool write_down);
void fl_part_cutting_release(FlPartMem *m, FlPartCutting *p);
/* The rows of chunk c. */
static inline void fl_part_cut_chunk(const FlPartCutting *p, int64_t c, int64_t *begin, int64_t *end) {
  *begin = c * p->chunk;
  *end = fl_part_min(*begin + p->chunk, p->codes->n);
}
/* How many rows of the chunk are of the part, as long as nobody has moved `place`. */
static inline int64_t fl_part_cut_count(const FlPartCutting *p, int64_t chunk, int64_t part) {
  int64_t end = chunk + 1 < p->chunks ? p->place[(chunk + 1) * p->n_parts + part] : p->start[part + 1];
  return end - p->place[chunk * p->n_parts + part];
}
/* The parts of n rows, at most FL_PART_BATCH. `words`: room for their words, which are only read where a
 * first one does not tell. */
void fl_part_find_parts(const FlPartCutting *p, int64_t row, int64_t n, uint64_t *words, uint16_t *part);
/* Whether the words of rows go one way only (in_order.c): 1: none is less than the one before; -1: each is
 * less than the one before; 0: neither. Of what is in no order it looks at a few rows of each chunk alone. */
typedef void FlPartReadWords(const void *env, int64_t row, int64_t n, uint64_t *out);
FlStatus fl_part_in_order(FlCtx *ctx, FlPartReadWords *read, const void *env, int64_t n, int *way);

/* Buckets in order, by codes (strips.c): bucket 2 c is of those between the cuts c - 1 and c, bucket 2 c + 1
 * of those that equal cut c. */
enum { FL_PART_STRIP_CUTS = 1023, FL_PART_STRIPS = 1 << 12 };
typedef struct FlPartStrips {
  uint64_t cuts[2 * (FL_PART_STRIP_CUTS + 1)]; /* ascending, then the greatest code there is */
  int64_t n_cuts, n_buckets;
  int shift, half; /* bits of a strip's width; a power of two that is more than half of a strip's cuts */
  uint16_t below[FL_PART_STRIPS]; /* cuts in the strips before; the first and last one reach to both ends */
} FlPartStrips;
/* Buckets of a few thousand rows; one alone where rows are few. */
FlStatus fl_part_find_strips(FlPartMem *m, FlPartReadWords *read, const void *env, int64_t n,
                             FlPartStrips *out);
/* The buckets of n codes, at most FL_PART_BATCH. */
void fl_part_strip_buckets(const FlPartStrips *s, const uint64_t *code, int64_t n, int32_t *bucket);
/* Many pairs by their keys, stable, into `to`. (sort_strips.c) */
FlStatus fl_part_sort_strips(FlPartMem *m, const FlPartPair *from, FlPartPair *to, int64_t n);
/* What fits in a cache, in place, by one worker; `spare`: room for as many. Pairs by their keys, stable;
 * words. (sort_near.c) */
void fl_part_sort_near_pairs(FlPartPair *p, FlPartPair *spare, int64_t n);
void fl_part_sort_near_words(uint64_t *p, uint64_t *spare, int64_t n);

/* The words of the rows [row, row + n), row by row; n at most FL_PART_BATCH; env: codes. */
void fl_part_read_rows(const void *env, int64_t row, int64_t n, uint64_t *out);

/* Sets the bits of the first rows of all words, in the same way. (order_parts.c) */
FlStatus fl_part_first_parts(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, uint64_t *first);
/* The same of word 0, by a few bits a row and three sweeps. *done: false where too many rows equal one before
 * them, and `first` has any bits. (distinct.c) */
FlStatus fl_part_first_bits(FlPartMem *m, const FlPartCodes *codes, int64_t bytes, uint64_t *first,
                            bool *done);

/* All rows by word w, rows of equal words in their order, when the words are spread evenly over what they can
 * be; else *pairs is NULL. (buckets.c) */
FlStatus fl_part_sort_buckets(FlPartMem *m, const FlPartCodes *codes, int32_t w, FlPartPair **pairs);
/* Sorts pairs, stable, when their keys are spread evenly between the least and the greatest of them: *sorted
 * is `a` or `spare`, both of n pairs; else it is NULL, and `a` as it was. (buckets.c) */
FlStatus fl_part_sort_even(FlPartMem *m, FlPartPair *a, FlPartPair *spare, int64_t n, FlPartPair **sorted);

/* ---- grouping (hash_set.c, group.c) ---------------------------------------------------------------- */

enum { FL_PART_FEW_GROUPS = 1 << 14 }; /* whose numbers may have two bytes */

typedef struct FlPartGroups {
  int64_t n, g;
  int64_t *id;    /* [n] group of each row */
  int64_t *first; /* [g] its first row */
} FlPartGroups;

/* Groups equal words w. ordered: groups by ascending word; else in an order of no meaning. id may be given
 * (length n) or NULL (scratch). */
FlStatus fl_part_group_words(FlPartMem *m, FlPartCodes *codes, int32_t w, bool ordered, int64_t *id,
                             FlPartGroups *out);
/* The same by all words of the codes; overwrites stored words. */
FlStatus fl_part_group_codes(FlPartMem *m, FlPartCodes *codes, bool ordered, int64_t *id, FlPartGroups *out);
/* Whether that looks up more memory in any order than there is; *room: what there is. */
bool fl_part_groups_are_far(FlPartMem *m, const FlPartCodes *codes, int64_t *room);
enum { FL_PART_GROUP_BYTES = 3 * sizeof(int64_t) }; /* that it looks up a row, where words are many */

/* The same with about so many bytes of memory that are looked up in any order: by sorting. Groups are by
 * ascending words. (group_order.c) */
FlStatus fl_part_group_ordered(FlPartMem *m, FlPartCodes *codes, int64_t bytes, int64_t *id,
                               FlPartGroups *out);

/* The same, where the words ascend from row to row, which *ascend says; out: id and n, the rest goes out.
 * (group_runs.c) */
FlStatus fl_part_group_runs(FlPartMem *m, const FlPartCodes *codes, int32_t w, FlPartGroups *out,
                            bool *ascend);

/* The same where the words are hardly more than the rows: by ascending words, with a table of as many words
 * as there is room for. id [n]: numbers of `id_bytes`, 1, 2 or 8, which hold the greatest word.
 * (group_table.c) */
FlStatus fl_part_group_table(FlPartMem *m, const FlPartCodes *codes, int32_t w, void *id, int32_t id_bytes,
                             FlPartGroups *out);
/* So often it goes through the rows; INT64_MAX: the words are too many for that. */
int64_t fl_part_table_sweeps(FlPartMem *m, const FlPartCodes *codes, int32_t w);
/* Only sets the bits of the first rows of word 0. */
FlStatus fl_part_mark_table(FlPartMem *m, const FlPartCodes *codes, uint64_t *first);

/* Distinct values of a stream of 64-bit hashes or words; id[row] is an entry, first[entry] its least row, -1
 * for an entry that was given up. With texts, equal hashes are compared by bytes and rows without a value get
 * id -1. */
typedef struct FlPartEntry {
  uint64_t code;
  _Atomic int64_t first;
} FlPartEntry;
FlStatus fl_part_hash_words(FlPartMem *m, const uint64_t *word, int64_t n, int64_t *id, FlPartEntry **entries,
                            int64_t *n_entries);
FlStatus fl_part_hash_texts(FlPartMem *m, const FlPartTexts *texts, const uint8_t *const valid[2], int64_t n,
                            int64_t *id, FlPartEntry **entries, int64_t *n_entries);

/* sum / count to the nearest integer, half to even; count > 0. (agg_sum.c) */
__int128 fl_part_divide_rounded(__int128 sum, int64_t count);
/* What stands at the share f between two neighbours x <= y of the ascending values. (agg_rank.c) */
double fl_part_between(double x, double y, double f);

/* ---- exact sums (exact.c, superacc.c) -------------------------------------------------------------- */

/* Whole numbers between doubles and integers, by operations that vectors have before AVX-512, too. The first
 * one takes what is at most 2^51 in magnitude; the second one rounds once, as a conversion does. */
#define FL_PART_ABOVE UINT64_C(0x4338000000000000)
static inline uint64_t fl_part_above(double x) { /* more than it by so much */
  uint64_t bits;
  x += 0x1.8p52;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline int64_t fl_part_integer(double x) { return (int64_t)(fl_part_above(x) - FL_PART_ABOVE); }
static inline double fl_part_double(int64_t i) {
  uint64_t high = ((uint64_t)i >> 32) ^ UINT64_C(0x4530000080000000);       /* 2^84 + 2^63 + the upper half */
  uint64_t low = ((uint64_t)i & UINT32_MAX) | UINT64_C(0x4330000000000000); /* 2^52 + the lower half */
  double x, y;
  memcpy(&x, &high, sizeof x);
  memcpy(&y, &low, sizeof y);
  return (x - 0x1.00000801p84) + y;
}

/* Not 0: x, of which these are the parts in their units, has bits below the lower one, or all are. `rest` is
 * what was made `lower`. Each question by itself, as vectors answer it. */
static inline int64_t fl_part_lost(double x, double upper, double rest, double lower) {
  int64_t odd = rest != lower ? -1 : 0, some = x != 0.0 ? -1 : 0;
  int64_t no_upper = upper == 0.0 ? -1 : 0, no_lower = lower == 0.0 ? -1 : 0;
  return odd | (some & no_upper & no_lower);
}

/* Processors that code is made for besides the least one. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&     \
    !defined(__SANITIZE_THREAD__)
#define FL_PART_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
/* Of functions that round doubles, for which the least processor of the compiler calls the C library. */
#define FL_PART_ROUNDS                                                                                       \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "arch=x86-64-v2", "default")))
#else
#define FL_PART_WIDE
#define FL_PART_ROUNDS
#endif

/* x[i] = (high[i] + low[i] * 2^-51) / scale, high and low integers, low below 2^51. Non-zero when some x has
 * bits below that. */
int64_t fl_part_split(const double *x, int64_t n, double scale, int64_t *high, int64_t *low);
/* The sums of these integers of n <= 2048 values. */
int64_t fl_part_split_sum(const double *x, int64_t n, double scale, int64_t *high, int64_t *low);
uint64_t fl_part_greatest(const double *x, int64_t n); /* the largest bits of a magnitude */
/* The doubles of the rows [row, row + n), n at most FL_PART_TERMS: made in `room`, or where they are already.
 * Any rows at any time, by any worker, and the same each time. */
enum { FL_PART_TERMS = 1024 };
typedef const double *FlPartTermsFn(const void *env, int64_t row, int64_t n, double *room);
typedef struct FlPartTerms {
  FlPartTermsFn *read;
  const void *env;
} FlPartTerms;
/* Those of an array: env is their first. */
FlPartTermsFn fl_part_stored_terms;
/* out[k] = the exact sum of the terms of the rows of group k (id NULL: all rows are group 0), with `count`
 * its mean, the sum over count[k] (0: 0.0), rounded once to nearest even. Nothing or zeros give +0.0. Takes
 * no memory for each row, unless terms are so far apart that the full accumulators are needed. */
FlStatus fl_part_exact_sums(FlPartMem *m, FlPartTerms x, const int64_t *id, int64_t n, int64_t g,
                            const int64_t *count, double *out);

/* How doubles of a column are made integers: times `high`, split in two limbs, of which the low one has
 * FL_EXACT_LOW bits; a sum of such integers is in units of `unit`. fits: false with an infinity or NaN among
 * them. */
enum { FL_EXACT_LOW = 51 };
typedef struct FlExactScale {
  double high, unit;
  int exponent; /* of unit */
  bool fits;
} FlExactScale;
FlStatus fl_part_exact_scale(FlPartMem *m, FlPartTerms x, int64_t n, FlExactScale *out);
/* The same in two steps: the bits of the largest magnitude; the scale of n terms whose magnitudes have no
 * larger bits. */
FlStatus fl_part_exact_most(FlPartMem *m, FlPartTerms x, int64_t n, uint64_t *bits);
FlExactScale fl_part_exact_scale_of(uint64_t bits, int64_t n);
/* As fl_part_exact_sums, where each row is of the group of the row before it or of the next one, and no term
 * has bits below the scale; else *done is false. (exact_runs.c) */
FlStatus fl_part_exact_runs(FlPartMem *m, FlPartTerms x, const int64_t *id, int64_t n, int64_t g,
                            const int64_t *count, const FlExactScale *scale, double *out, bool *done);
/* high * 2^FL_EXACT_LOW + low, of two words: compilers shift one of 128 bits, which takes some processors
 * long. */
static inline __int128 fl_part_exact_term(int64_t high, int64_t low) {
  const unsigned __int128 upper = (uint64_t)(high >> (64 - FL_EXACT_LOW));
  return (__int128)(upper << 64 | (uint64_t)high << FL_EXACT_LOW) + low;
}

/* ---- sums of few groups (few_groups.c) ---------------------------------------------------------------- */

/* Groups that are few, of which `id` has no others than 0 to g - 1. n is at most FL_PART_BATCH. */
enum { FL_PART_FEW = 8 };
/* Whether the processor adds them faster so than row by row, to a place in memory for each group. */
bool fl_part_few_pays(void);
static inline bool fl_part_are_few(int64_t g) { return g <= FL_PART_FEW && fl_part_few_pays(); }
/* sums[k] = the sum of the x of group k, which must fit, of others 0; `sums` has room for FL_PART_FEW. */
void fl_part_few_sums(const int64_t *id, const int64_t *x, int64_t n, int64_t g, int64_t *sums);
/* Adds to the sums the terms of each group, whose halves are those that fl_part_split gives. */
void fl_part_few_add_terms(const int64_t *id, const int64_t *high, const int64_t *low, int64_t n, int64_t g,
                           __int128 *sums);
/* Adds to the counts the rows of each group; n may be anything. */
void fl_part_few_count(const int64_t *id, int64_t n, int64_t g, int64_t *counts);
/* Adds to the sums the integers of each group, any 64 bits. */
void fl_part_few_add(const int64_t *id, const int64_t *x, int64_t n, int64_t g, bool is_unsigned,
                     __int128 *sums);

static inline double fl_part_exact_round(const FlExactScale *s, __int128 sum) {
  return (double)sum * s->unit;
}
static inline double fl_part_exact_mean(const FlExactScale *s, __int128 sum, int64_t count) {
  return count == 0 ? 0.0 : fl_exact_mean(sum, s->exponent, count, 0);
}

/* Spreads a hash over all bits: the finalizer of MurmurHash3, a bijection. */
static inline uint64_t fl_part_mix(uint64_t h) {
  h ^= h >> 33;
  h *= UINT64_C(0xff51afd7ed558ccd);
  h ^= h >> 33;
  h *= UINT64_C(0xc4ceb9fe1a85ec53);
  return h ^ h >> 33;
}

/* The k'th row of a sample, some one of [begin, end): of rows at equal distances all are alike, or all
 * different, where values come again in turn. */
static inline int64_t fl_part_sampled(int64_t begin, int64_t end, int64_t k) {
  return begin + (int64_t)(fl_part_mix((uint64_t)k + 1) % (uint64_t)fl_part_max(end - begin, 1));
}

#endif
