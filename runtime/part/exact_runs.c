/* exact_runs.c: exact sums and means of doubles by group where the groups stand in the order of the rows.
 *
 * Comes in: doubles, and the group of each, which is that of the row before or the next one. Goes out: a
 * double a group; or word that groups stand otherwise, or that a term has bits below the scale. Always holds:
 * what exact.c gives, which is how terms become integers. A group's integer is in a register until its run
 * ends, so there is no table of them: only what is left at both ends of each chunk. */
#include "part/part_internal.h"

enum { BLOCK = FL_PART_TERMS };

/* What is known of a chunk: the sums of the run that began before it, and of the last one. */
typedef struct Ends {
  __int128 head, tail;
  int64_t first, last; /* their groups */
} Ends;

typedef struct RunSums {
  FlPartTerms x;
  const int64_t *id, *count;
  int64_t n;
  FlExactScale scale;
  double *out;
  Ends *ends;
  _Atomic bool other;
} RunSums;

static void put(const RunSums *s, int64_t k, __int128 sum) {
  s->out[k] = s->count == NULL ? fl_part_exact_round(&s->scale, sum)
                               : fl_part_exact_mean(&s->scale, sum, s->count[k]);
}

static int32_t runs_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  RunSums *s = (RunSums *)(uintptr_t)env;
  int64_t high[BLOCK], low[BLOCK];
  double room[BLOCK];
  (void)ctx;
  for (int64_t c = begin; c < end; c++) {
    int64_t from, to, other = 0;
    fl_part_chunk(c, s->n, &from, &to);
    int64_t group = from > 0 ? s->id[from - 1] : 0;
    Ends e = {.first = group};
    __int128 sum = 0;
    for (int64_t row = from; row < to; row += BLOCK) {
      int64_t n = fl_part_min(BLOCK, to - row);
      if (atomic_load_explicit(&s->other, memory_order_relaxed)) return 0;
      other |= fl_part_split(s->x.read(s->x.env, row, n, room), n, s->scale.high, high, low);
      for (int64_t i = 0; i < n; i++) {
        int64_t next = s->id[row + i];
        if (next != group) {
          if (next != group + 1) {
            other = 1;
            break;
          }
          if (group == e.first) e.head = sum;
          else put(s, group, sum);
          group = next;
          sum = 0;
        }
        sum += fl_part_exact_term(high[i], low[i]);
      }
      if (other) atomic_store_explicit(&s->other, true, memory_order_relaxed);
    }
    e.tail = sum;
    e.last = group;
    s->ends[c] = e;
  }
  return 0;
}

/* Whether rows here and there are of the groups that they are of where each has as many. */
static bool seems_to_run(const int64_t *id, int64_t n, int64_t g) {
  enum { SOME = 24 };
  if (id[0] != 0 || id[n - 1] != g - 1) return false;
  for (int64_t k = 0; k < SOME && n > SOME; k++) {
    int64_t row = fl_part_sampled((n - 1) / SOME * k, (n - 1) / SOME * (k + 1), k),
            step = id[row + 1] - id[row];
    if (step != 0 && step != 1) return false;
  }
  return true;
}

FlStatus fl_part_exact_runs(FlPartMem *m, FlPartTerms x, const int64_t *id, int64_t n, int64_t g,
                            const int64_t *count, const FlExactScale *scale, double *out, bool *done) {
  enum { FEW_GROUPS = 1 << 10 }; /* whose table a cache holds anyway */
  int64_t chunks = fl_part_chunks(n);
  *done = false;
  if (id == NULL || g < FEW_GROUPS || !seems_to_run(id, n, g)) return 0;
  RunSums s = {.x = x, .id = id, .count = count, .n = n, .scale = *scale, .out = out};
  if ((s.ends = fl_part_alloc(m, chunks, sizeof *s.ends)) == NULL) return 1;
  if (fl_part_for(m->ctx, runs_body, &s, chunks, 3.0 * FL_PART_CHUNK) != 0) return 1;
  *done = !atomic_load(&s.other);
  __int128 sum = 0; /* of the run that is open */
  for (int64_t c = 0; *done && c < chunks; c++) {
    const Ends *e = &s.ends[c];
    if (e->last != e->first) {
      put(&s, e->first, sum + e->head);
      sum = 0;
    }
    sum += e->tail;
  }
  if (*done) put(&s, g - 1, sum);
  fl_part_release(m, s.ends);
  return 0;
}
