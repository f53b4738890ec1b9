/* join_rest.c: what a join gives beside the pairs that fulfil its condition: rows without a partner.
 *
 * Comes in: how many rows both tables have, and pairs of their numbers by left row, then right row. Goes out:
 * pairs as of join.c for its other kinds, -1 where one side has none, unmatched right rows last. */
#include "part/join_internal.h"

typedef struct Rest {
  int64_t n, m, pairs;
  const int64_t *left, *right;
  int how;
} Rest;

/* The rows of the result, counted, or written where there is an `out`. `matched`: [m], which right rows have
 * a partner. */
static int64_t left_rows(const Rest *r, int64_t *const out[2]) {
  int64_t at = 0, pair = 0;
  bool alone = (r->how & (FL_HOW_SEMI | FL_HOW_ANTI)) != 0;
  for (int64_t row = 0; row < r->n; row++) {
    int64_t first = pair;
    while (pair < r->pairs && r->left[pair] == row) pair++;
    int64_t n = fl_join_rows(r->how, pair - first);
    for (int64_t i = 0; out != NULL && i < n; i++) {
      out[0][at + i] = row;
      out[1][at + i] = alone || pair == first ? -1 : r->right[first + i];
    }
    at += n;
  }
  return at;
}

static FlStatus find_many(FlCtx *ctx, const FlOpDesc *desc, const Rest *r) {
  for (int64_t i = 1; i < r->pairs; i++) {
    if (r->left[i] != r->left[i - 1]) continue;
    int64_t end = i;
    while (end < r->pairs && r->left[end] == r->left[i]) end++;
    return fl_join_fail_many(ctx, desc, r->left[i], end - i + 1);
  }
  return 0;
}

static FlStatus join_rest(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, FlArray **out) {
  Rest r = {.n = args[0].i,
            .m = args[1].i,
            .pairs = args[2].a->dims[0],
            .left = args[2].a->data,
            .right = args[3].a->data,
            .how = fl_join_how(desc->s)};
  if (args[3].a->dims[0] != r.pairs) return fl_part_fail_shape(m->ctx, desc, r.pairs, args[3].a->dims[0]);
  if ((desc->i & FL_JOIN_ONE) && find_many(m->ctx, desc, &r) != 0) return 1;
  uint8_t *matched = NULL;
  int64_t from_left = left_rows(&r, NULL), rows = from_left;
  if (r.how & FL_HOW_RIGHT) {
    if ((matched = fl_part_zalloc(m, r.m, 1)) == NULL) return 1;
    for (int64_t i = 0; i < r.pairs; i++) matched[r.right[i]] = 1;
    for (int64_t i = 0; i < r.m; i++) rows += !matched[i];
  }
  for (int side = 0; side < 2; side++)
    if ((out[side] = fl_array_new(m->ctx, FL_I64, 1, &rows)) == NULL) return 1;
  int64_t *to[2] = {out[0]->data, out[1]->data};
  (void)left_rows(&r, to);
  for (int64_t i = 0, at = from_left; matched != NULL && i < r.m; i++) {
    if (matched[i]) continue;
    to[0][at] = -1;
    to[1][at++] = i;
  }
  return 0;
}

FlStatus fl_rt_join_rest(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlStatus status = fl_part_give(ctx, desc, args, results + 1, 2, join_rest);
  if (status == 0) results[0].i = results[1].a->dims[0];
  return status;
}
