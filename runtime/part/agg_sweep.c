/* agg_sweep.c: several aggregates of the same groups in one sweep over the rows: counts, and sums, means,
 * minima and maxima of columns without nulls, and variances and standard deviations of doubles.
 *
 * Comes in: the group of each row, columns, what is wanted of each. Goes out: values and validities as by
 * aggregate, one pair each. Always holds: the same bits as one by one.
 *
 * Each piece of the rows has a table with a few words a group: a count, a sum of integers of at most 32 bits,
 * an order code to be least; two words for a sum of wide integers or for one of doubles, as integers against
 * the column's largest exponent (exact.c), and six more for one of their squares (agg_spread.c). What a sum
 * of doubles cannot hold so is summed on its own afterwards, and the least of a column with NaNs or negative
 * zeros is found so. Rows are added by agg_sweep_rows.c. */
#include "part/agg_sweep_rows.h"

enum {
  MOST = FL_PART_SWEEP,
  MANY_GROUPS = 1 << 18,
  CACHE = 1 << 19 /* bytes of a table that need not be asked for before they are used */
};

/* ---- what is wanted ------------------------------------------------------------------------------------ */

/* `all`: rows whose sums come to one. */
static FlSweptKind kind_of(FlSweepPart *part, int64_t all, const char *made) {
  const FlAggRow *row = fl_agg_find(made, strlen(made));
  if (row == NULL || row->sweep == FL_SWEEP_ALONE) return FL_SWEPT_ALONE;
  part->desc.s = row->name;
  part->row = row;
  part->mean = row->state == FL_STATE_MEAN;
  if (row->sweep == FL_SWEEP_COUNT) return FL_SWEPT_COUNT;
  if (row->sweep == FL_SWEEP_SPREAD) return all <= FL_SPREAD_ROWS ? FL_SWEPT_SPREAD : FL_SWEPT_ALONE;
  if (row->sweep != FL_SWEEP_SUM) return row->sweep == FL_SWEEP_LEAST ? FL_SWEPT_LEAST : FL_SWEPT_GREATEST;
  FlDtype d = (FlDtype)part->agg.col[0].dtype;
  if (d == FL_F64) return FL_SWEPT_EXACT;
  return fl_dtype_info[d].bytes <= 4 && all < INT32_MAX ? FL_SWEPT_NARROW : FL_SWEPT_WIDE;
}

/* The part that adds up the same numbers in the same way, or their squares, too; the part itself: there is
 * none. */
static int32_t same_sum(const FlSweep *s, const FlSweepPart *part) {
  const FlPartCol *col = &part->agg.col[0];
  bool sum = part->kind == FL_SWEPT_NARROW || part->kind == FL_SWEPT_WIDE || part->kind == FL_SWEPT_EXACT ||
             part->kind == FL_SWEPT_SPREAD;
  for (int32_t k = 0; sum && k < s->n_parts; k++) {
    const FlSweepPart *it = &s->part[k];
    const FlPartCol *its = &it->agg.col[0];
    if (it == part || it->row == NULL || its->data != col->data || its->dtype != col->dtype) continue;
    if (it->kind == part->kind || (it->kind == FL_SWEPT_SPREAD && part->kind == FL_SWEPT_EXACT))
      return it->sum;
  }
  return (int32_t)(part - s->part);
}

/* How the part is made, and the place of its words. */
static FlStatus place_part(FlSweep *s, FlSweepPart *part, const char *made) {
  static const int words[] = {[FL_SWEPT_COUNT] = 0,
                              [FL_SWEPT_NARROW] = 1,
                              [FL_SWEPT_WIDE] = 2,
                              [FL_SWEPT_EXACT] = 2,
                              [FL_SWEPT_SPREAD] = FL_SPREAD_WORDS,
                              [FL_SWEPT_LEAST] = 1,
                              [FL_SWEPT_GREATEST] = 1,
                              [FL_SWEPT_ALONE] = 0};
  part->kind = kind_of(part, s->all, made);
  if (part->row == NULL)
    return fl_fail_op(s->m->ctx, &part->desc, FL_CODE_INTERNAL, "no aggregate %s in a sweep", made);
  part->sum = same_sum(s, part);
  if (&s->part[part->sum] != part) {
    part->at = s->part[part->sum].at;
    part->most = s->part[part->sum].most;
    part->scale = s->part[part->sum].scale;
    return 0;
  }
  if (part->kind == FL_SWEPT_EXACT || part->kind == FL_SWEPT_SPREAD) {
    FlPartTerms terms = {fl_part_stored_terms, part->agg.col[0].data};
    if (fl_part_exact_most(s->m, terms, s->n, &part->most) != 0) return 1;
    part->scale = fl_part_exact_scale_of(part->most, s->all);
    if (!part->scale.fits) part->kind = FL_SWEPT_ALONE;
  }
  part->at = s->words;
  s->words += words[part->kind];
  return 0;
}

static FlStatus place_parts(FlSweep *s, const FlOpDesc *desc) {
  for (int squares = 1; squares >= 0; squares--) { /* first what has sums that others are, too */
    for (int32_t p = 0; p < s->n_parts; p++) {
      const char *made = desc->columns[p].made;
      const FlAggRow *row = fl_agg_find(made, strlen(made));
      if ((row != NULL && row->sweep == FL_SWEEP_SPREAD) != squares) continue;
      if (place_part(s, &s->part[p], made) != 0) return 1;
    }
  }
  return 0;
}

/* Parts of the call. */
static FlStatus read_parts(FlSweep *s, const FlOpDesc *desc, const FlSlot *args) {
  int32_t at = 2;
  s->words = 1;
  for (int32_t p = 0; p < s->n_parts; p++) {
    FlSweepPart *part = &s->part[p];
    const FlColumnAttr *attr = &desc->columns[p];
    bool column = !(attr->flags & FL_COLUMN_NONE);
    part->desc = *desc;
    part->desc.result_types = desc->result_types + 2 * p;
    part->desc.columns = attr;
    part->desc.n_columns = column;
    part->desc.i = 0;
    part->agg = (FlAgg){.m = s->m, .desc = &part->desc, .n = s->n, .g = s->g, .id = s->id, .few = s->few};
    part->agg.n_cols = column;
    if (column && fl_part_col(s->m->ctx, desc, args, &at, attr, &part->agg.col[0]) != 0) return 1;
    if (column && part->agg.col[0].n != s->n)
      return fl_part_fail_shape(s->m->ctx, desc, s->n, part->agg.col[0].n);
  }
  return place_parts(s, desc);
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* The extreme of group k, which has rows: the low bytes are the value. */
static uint64_t extreme_at(const FlSweep *s, const FlSweepPart *part, int64_t k) {
  FlDtype d = (FlDtype)part->agg.col[0].dtype;
  uint64_t code = (uint64_t)s->table[k * s->words + part->at], value;
  if (part->kind == FL_SWEPT_GREATEST) code = ~code;
  double number = fl_part_of_code(code);
  if (d == FL_F64) memcpy(&value, &number, sizeof value);
  else value = fl_dtype_info[d].kind == FL_KIND_UNSIGNED ? code : code ^ UINT64_C(1) << 63;
  return value;
}

static FlStatus store_codes(const FlSweep *s, FlSweepPart *part) {
  if (fl_agg_results(&part->agg, 1) != 0) return 1;
  char *out = part->agg.value->data;
  size_t size = (size_t)fl_dtype_info[part->agg.col[0].dtype].bytes;
  for (int64_t k = 0; k < s->g; k++) {
    uint64_t value = part->agg.counts[k] ? extreme_at(s, part, k) : 0;
    memcpy(out + (size_t)k * size, &value, size);
  }
  return 0;
}

static FlStatus store_sums(const FlSweep *s, FlSweepPart *part) {
  bool exact = part->kind == FL_SWEPT_EXACT;
  __int128 *ints = exact ? NULL : fl_part_alloc(s->m, s->g, sizeof *ints);
  double *sums = exact ? fl_part_alloc(s->m, s->g, sizeof *sums) : NULL;
  if (ints == NULL && sums == NULL) return 1;
  for (int64_t k = 0; k < s->g; k++) {
    const int64_t *word = s->table + k * s->words + part->at;
    if (exact)
      sums[k] = part->mean ? fl_part_exact_mean(&part->scale, *(const FlSweepWide *)word, part->agg.counts[k])
                           : fl_part_exact_round(&part->scale, *(const FlSweepWide *)word);
    else ints[k] = part->kind == FL_SWEPT_NARROW ? (__int128)word[0] : *(const FlSweepWide *)word;
  }
  FlStatus status =
      part->mean ? fl_agg_store_means(&part->agg, ints, sums) : fl_agg_store_sums(&part->agg, ints, sums);
  fl_part_release(s->m, exact ? (void *)sums : (void *)ints);
  return status;
}

static FlStatus store(const FlSweep *s, FlSweepPart *part, bool dropped) {
  if (part->kind == FL_SWEPT_ALONE || part->kind == FL_SWEPT_COUNT || dropped)
    return part->row->fn(&part->agg);
  if (part->kind == FL_SWEPT_SPREAD)
    return fl_agg_store_spread(&part->agg, part->row->fn == fl_agg_std, &part->scale, s->table + part->at,
                               s->words);
  return part->kind == FL_SWEPT_LEAST || part->kind == FL_SWEPT_GREATEST ? store_codes(s, part)
                                                                         : store_sums(s, part);
}

static FlStatus by_parts(const FlSweep *s) {
  FlAggWanted of[MOST];
  for (int32_t p = 0; p < s->n_parts; p++) of[p] = (FlAggWanted){&s->part[p].agg, s->part[p].row};
  return fl_agg_parts(of, s->n_parts);
}

/* For what makes a part by itself. */
static FlStatus widen(FlSweep *s) {
  FlAgg *first = &s->part[0].agg;
  if (fl_agg_widen(first) != 0) return 1;
  for (int32_t p = 1; p < s->n_parts; p++) {
    s->part[p].agg.id = first->id;
    s->part[p].agg.few = first->few;
  }
  return 0;
}

/* Whether putting rows in order, and beginning each group's sum anew, costs less than adding by vectors saves
 * of each row and sum. */
static bool pays_to_order(const FlSweep *s) {
  enum { BEGIN = 21, ORDER = FL_SWEEP_AT_ONCE * 5 / 2 }; /* as what is saved of so many rows, as measured */
  int64_t sums = 0;
  for (int32_t p = 0; p < s->n_parts; p++) sums += s->part[p].kind == FL_SWEPT_EXACT && s->part[p].sum == p;
  return s->g <= FL_SWEEP_FEW && sums * (FL_SWEEP_AT_ONCE - BEGIN * s->g) > ORDER;
}

/* Cuts the rows into pieces; of a table of many groups there are no more than workers. false: there are more
 * workers than pieces, and each aggregate by itself, with a range of the groups for each, keeps them busy. */
static bool cut_rows(FlSweep *s) {
  bool many = s->g >= MANY_GROUPS;
  FlAggCut cut = fl_agg_cut(s->m->ctx, s->n, many ? s->g : s->g * s->words);
  int64_t workers = fl_ctx_workers(s->m->ctx);
  s->pieces = many ? fl_part_min(cut.pieces, workers) : cut.pieces;
  s->piece = (s->n + s->pieces - 1) / s->pieces;
  s->far = s->id != NULL && s->g * s->words * (int64_t)sizeof *s->table > CACHE;
  return !many || cut.ranges == 1 || workers <= cut.pieces;
}

static FlStatus run(FlSweep *s) {
  int64_t *counts;
  if (fl_agg_is_large(&s->part[0].agg)) return by_parts(s);
  if (!cut_rows(s)) {
    for (int32_t p = 0; p < s->n_parts; p++) s->part[p].kind = FL_SWEPT_ALONE;
    counts = fl_agg_counts(&s->part[0].agg, NULL, NULL, false);
    if (counts == NULL) return 1;
  } else {
    s->ordered = pays_to_order(s);
    s->table = fl_part_alloc(s->m, s->pieces * s->g * s->words, sizeof *s->table);
    counts = fl_part_alloc(s->m, s->g, sizeof *counts);
    double cost = 1.0 + 1.5 * s->n_parts;
    if (s->table == NULL || counts == NULL) return 1;
    if (fl_part_for(s->m->ctx, fl_sweep_rows, s, s->pieces, cost * (double)s->piece) != 0) return 1;
    if (fl_part_for(s->m->ctx, fl_sweep_merge, s, s->g, cost * (double)s->pieces) != 0) return 1;
    for (int64_t k = 0; k < s->g; k++) counts[k] = s->table[k * s->words];
  }
  for (int32_t p = 0; p < s->n_parts; p++) s->part[p].agg.counts = counts;
  uint32_t dropped = atomic_load(&s->dropped);
  for (int32_t p = 0; p < s->n_parts; p++)
    if ((s->part[p].kind == FL_SWEPT_ALONE || dropped >> s->part[p].sum & 1) && widen(s) != 0) return 1;
  for (int32_t p = 0; p < s->n_parts; p++) {
    if (store(s, &s->part[p], dropped >> s->part[p].sum & 1) != 0) return 1;
  }
  return 0;
}

bool fl_agg_sweeps(const FlAgg *a, const FlAggRow *row) {
  if (a->n_cols == 0) return row->sweep == FL_SWEEP_COUNT;
  const FlPartCol *col = &a->col[0];
  bool whole = fl_dtype_is_int(col->dtype) || fl_dtype_is_decimal(col->dtype);
  if (a->n_cols > 1 || col->valid != NULL || (col->array != NULL && col->array->rank != 1)) return false;
  if (row->sweep == FL_SWEEP_SUM) return whole || col->dtype == FL_F64;
  bool ends = row->sweep == FL_SWEEP_LEAST || row->sweep == FL_SWEEP_GREATEST;
  return ends && (whole || col->dtype == FL_F64);
}

bool fl_part_sweeps(const char *made, int32_t dtype) {
  const FlAggRow *row = fl_agg_find(made, strlen(made));
  const FlAgg a = {.n_cols = dtype >= 0, .col = {{.dtype = dtype}}};
  return row != NULL && fl_agg_sweeps(&a, row);
}

FlStatus fl_agg_sweep_one(FlAgg *a, const FlAggRow *row) {
  FlSweepPart part = {.agg = *a, .desc = *a->desc};
  FlSweep s = {.m = a->m,
               .part = &part,
               .n_parts = 1,
               .n = a->n,
               .all = a->n,
               .g = a->g,
               .id = a->id,
               .few = a->few,
               .words = 1};
  FlStatus status = place_part(&s, &part, row->name) != 0 || run(&s) != 0;
  a->value = part.agg.value;
  a->valid = part.agg.valid;
  return status;
}

FlStatus fl_rt_aggregates(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx, .desc = desc};
  FlSweep s = {.m = &mem, .n_parts = desc->n_columns, .n = args[1].a->dims[0], .g = args[0].i};
  FlStatus status = 1;
  s.all = s.n;
  fl_agg_read_ids(args[1].a, &s.id, &s.few);
  if (s.n_parts > MOST) status = fl_fail_op(ctx, desc, FL_CODE_INTERNAL, "too many aggregates");
  else s.part = fl_part_zalloc(s.m, s.n_parts, sizeof *s.part);
  if (s.part != NULL) status = read_parts(&s, desc, args) != 0 || run(&s) != 0;
  for (int32_t p = 0; s.part != NULL && p < s.n_parts; p++) {
    results[2 * p].a = s.part[p].agg.value;
    results[2 * p + 1].a = s.part[p].agg.valid;
  }
  for (int32_t r = 0; status != 0 && s.part != NULL && r < 2 * s.n_parts; r++) fl_array_unref(results[r].a);
  fl_part_mem_reset(&mem);
  return status;
}

/* ---- of rows that several have ------------------------------------------------------------------------- */

FlSweep *fl_sweep_new(FlPartMem *m, const FlOpDesc *desc, const FlSlot *args, const FlPartCodes *codes,
                      int64_t all) {
  FlSweep *s = fl_part_zalloc(m, 1, sizeof *s);
  if (s == NULL) return NULL;
  *s = (FlSweep){.m = m, .n_parts = desc->n_columns, .n = codes->n, .all = all, .words_of = codes};
  s->part = fl_part_zalloc(m, s->n_parts, sizeof *s->part);
  return s->part != NULL && read_parts(s, desc, args) == 0 ? s : NULL;
}

int64_t fl_sweep_words(const FlSweep *s) { return s->words; }

int32_t fl_sweep_columns(const FlSweep *s) {
  int32_t n = 0;
  for (int32_t p = 0; p < s->n_parts; p++) n += s->part[p].agg.n_cols > 0 && s->part[p].sum == p;
  return n;
}

void fl_sweep_most(const FlSweep *s, uint64_t *most) {
  for (int32_t p = 0; p < s->n_parts; p++) most[p] = s->part[p].most;
}

bool fl_sweep_agree(FlSweep *s, const uint64_t *most) {
  bool fits = true;
  for (int32_t p = 0; p < s->n_parts; p++) {
    s->part[p].scale = fl_part_exact_scale_of(most[p], s->all);
    fits = fits && s->part[p].scale.fits;
  }
  return fits;
}

FlStatus fl_sweep_run(FlSweep *s, int64_t g, int64_t pieces, int64_t **table, bool *whole) {
  s->g = g;
  s->pieces = pieces;
  s->piece = (s->n + pieces - 1) / pieces;
  s->far = g * s->words * (int64_t)sizeof *s->table > CACHE;
  s->table = fl_part_near(s->m, pieces * g * s->words, sizeof *s->table);
  double cost = 1.0 + 1.5 * s->n_parts;
  if (s->table == NULL) return 1;
  if (fl_part_for(s->m->ctx, fl_sweep_rows, s, pieces, cost * (double)s->piece) != 0) return 1;
  if (fl_part_for(s->m->ctx, fl_sweep_merge, s, g, cost * (double)pieces) != 0) return 1;
  *table = s->table;
  *whole = atomic_load(&s->dropped) == 0;
  return 0;
}

FlStatus fl_sweep_groups(FlSweep *s, int64_t *g, int64_t **first) {
  int64_t n = 0, left, *group = fl_part_alloc(s->m, s->g, sizeof *group);
  if (group == NULL) return 1;
  for (int64_t k = 0; k < s->g; k++) {
    const int64_t *place = s->table + k * s->words;
    group[k] = place[0] > 0 ? n : -1;
    if (place[0] > 0) memmove(s->table + n++ * s->words, place, (size_t)s->words * sizeof *place);
  }
  *g = s->g = left = n;
  *first = fl_part_alloc(s->m, n, sizeof **first);
  if (*first == NULL) return 1;
  for (int64_t row = 0; left > 0; row += FL_PART_BATCH) {
    uint64_t word[FL_PART_BATCH];
    int64_t count = fl_part_min(FL_PART_BATCH, s->n - row);
    fl_part_read_words(s->words_of, 0, row, count, word);
    for (int64_t i = 0; i < count; i++) {
      if (group[word[i]] < 0) continue;
      (*first)[group[word[i]]] = row + i;
      group[word[i]] = -1;
      left--;
    }
  }
  fl_part_release(s->m, group);
  return 0;
}

__int128 fl_sweep_sum(const FlSweep *s, int32_t p, int64_t k) {
  const int64_t *place = s->table + k * s->words, *word = place + s->part[p].at;
  if (s->part[p].kind == FL_SWEPT_COUNT) return place[0];
  return s->part[p].kind == FL_SWEPT_NARROW ? (__int128)word[0] : *(const FlSweepWide *)word;
}

double fl_sweep_unit(const FlSweep *s, int32_t p) { return s->part[p].scale.unit; }
uint64_t fl_sweep_extreme(const FlSweep *s, int32_t p, int64_t k) { return extreme_at(s, &s->part[p], k); }

FlStatus fl_sweep_store(FlSweep *s, int64_t from, int64_t g, FlSlot *results) {
  int64_t *counts = fl_part_alloc(s->m, g, sizeof *counts);
  FlStatus status = counts == NULL;
  s->table += from * s->words;
  s->g = g;
  for (int64_t k = 0; k < g && !status; k++) counts[k] = s->table[k * s->words];
  for (int32_t p = 0; p < s->n_parts && !status; p++) {
    FlSweepPart *part = &s->part[p];
    part->agg.g = g;
    part->agg.counts = counts;
    status = store(s, part, false);
    results[2 * p].a = part->agg.value;
    results[2 * p + 1].a = part->agg.valid;
  }
  return status;
}
