/* partial.c: the operator partial: rows become fewer rows of which aggregates give the same, so that of a
 * part of a table only these need be kept.
 *
 * In: rows, their keys, columns, what is wanted of each group. Out: rows of states: the keys, and for each
 * aggregate a column: of counts; of terms, whose exact sum is the group's; of the value that a group picked.
 * What always holds: states of parts, one below the other in the order of the parts, give the same bits when
 * they are grouped and aggregated (counts and terms are summed) as all rows give. A sum of doubles is several
 * terms where one double cannot hold it: its group then has further rows, which count nothing and have
 * nothing to pick. Where groups are many, or a sum has too many terms, rows stay rows: each is the state of
 * itself.
 *
 * Where words of keys are small, counts, sums and extremes are those of a table with a place for each word,
 * made in one sweep (agg_sweep.c); else rows are grouped first. */
#include <math.h>

#include "data/text_codes.h"
#include "part/agg_sweep.h"
#include "part/aggregate_internal.h"
#include "part/fill.h"
#include "part/superacc.h"

enum { TERMS = 4 }; /* most of a sum */

/* One state: its call as aggregate's, what it results in. */
typedef struct State {
  FlAggState kind;
  const FlAggRow *row;
  FlAgg agg;
  FlOpDesc desc;
  bool says_valid; /* the state comes with its validity */
  double *terms;   /* [g][TERMS] of a sum of doubles, zero where there is none */
  FlArray *out[2]; /* owned until all is well */
} State;

typedef struct Partial {
  FlPartMem *m;
  const FlOpDesc *desc;
  int64_t n, g;
  int64_t *id, *first; /* of each row; of each group; NULL without keys, `id` where there is a sweep */
  FlSweep *sweep;      /* has what states are made of; NULL: the rows have it */
  FlPartCodes codes;
  int32_t n_keys, n_key_args, n_states;
  FlPartCol *keys;
  FlArray **key_out; /* [2 n_keys] values and validities, owned until all is well */
  State *states;
  uint8_t *more; /* [g] rows that a group needs besides its first */
} Partial;

static FlArray *array_of(Partial *p, int32_t dtype, int64_t n) {
  return fl_array_new(p->m->ctx, dtype, 1, &n);
}

/* ---- what is wanted ----------------------------------------------------------------------------------- */

static FlStatus read_state(Partial *p, State *s, const FlColumnAttr *attr, const FlSlot *args, int32_t *at) {
  bool column = !(attr->flags & FL_COLUMN_NONE);
  s->says_valid = attr->flags & FL_COLUMN_SAYS;
  const FlAggRow *row = fl_agg_find(attr->made, strlen(attr->made));
  s->kind = row != NULL ? row->state : FL_STATE_NONE;
  if (s->kind != FL_STATE_COUNT && s->kind != FL_STATE_SUM && s->kind != FL_STATE_PICK)
    return fl_fail_op(p->m->ctx, p->desc, FL_CODE_INTERNAL, "no partial %s", attr->made);
  s->row = row;
  s->desc = *p->desc;
  s->desc.i = 0;
  s->agg = (FlAgg){.m = p->m, .desc = &s->desc, .n = p->n, .n_cols = column};
  if (!column) return 0;
  if (fl_part_col(p->m->ctx, p->desc, args, at, attr, &s->agg.col[0]) != 0 ||
      fl_part_fill(p->m->ctx, s->agg.col[0].array) != 0)
    return 1;
  return s->agg.col[0].n == p->n ? 0 : fl_part_fail_shape(p->m->ctx, p->desc, p->n, s->agg.col[0].n);
}

static FlStatus read_call(Partial *p, const FlSlot *args) {
  const FlOpDesc *desc = p->desc;
  int32_t at = 2, result = 1;
  p->n = args[0].i;
  while (p->n_keys < desc->n_columns && desc->columns[p->n_keys].made == NULL) p->n_keys++;
  p->n_states = desc->n_columns - p->n_keys;
  p->keys = fl_part_zalloc(p->m, p->n_keys, sizeof *p->keys);
  p->key_out = fl_part_zalloc(p->m, 2 * p->n_keys, sizeof *p->key_out);
  p->states = fl_part_zalloc(p->m, p->n_states, sizeof *p->states);
  if (p->keys == NULL || p->key_out == NULL || p->states == NULL) return 1;
  for (int32_t k = 0; k < p->n_keys; k++) {
    if (fl_part_col(p->m->ctx, desc, args, &at, &desc->columns[k], &p->keys[k]) != 0) return 1;
    if (p->keys[k].n != p->n) return fl_part_fail_shape(p->m->ctx, desc, p->n, p->keys[k].n);
    result += 1 + (p->keys[k].valid != NULL);
  }
  p->n_key_args = at - 2;
  for (int32_t k = 0; k < p->n_states; k++) {
    State *s = &p->states[k];
    if (read_state(p, s, &desc->columns[p->n_keys + k], args, &at) != 0) return 1;
    s->desc.result_types = desc->result_types + result;
    result += 1 + s->says_valid;
  }
  return 0;
}

/* ---- groups ------------------------------------------------------------------------------------------- */

static FlStatus encode(Partial *p, const FlPartCol *columns, FlPartCodes *out) {
  FlPartKey *keys = fl_part_zalloc(p->m, p->n_keys, sizeof *keys);
  if (keys == NULL) return 1;
  for (int32_t k = 0; k < p->n_keys; k++) keys[k].side[0] = columns[k];
  return fl_part_encode(p->m, keys, p->n_keys, 1, false, out);
}

/* How many groups there can be, as far as the types and codes of keys tell. */
static int64_t most_groups(const Partial *p) {
  int64_t most = 1;
  for (int32_t k = 0; k < p->n_keys; k++) {
    const FlPartCol *key = &p->keys[k];
    const void *codes;
    const FlTextCodes *known = key->array->rank == 1 ? fl_text_codes(key->array, &codes) : NULL;
    int64_t values = key->dtype == FL_BOOL ? 2 : known != NULL ? known->dictionary->n : p->n;
    if (__builtin_mul_overflow(most, values + 1, &most)) return INT64_MAX; /* one more: null */
  }
  return most;
}

enum { RUNS = 4, RUN = 512, FEWEST = 4 * RUNS * RUN, MANY = RUNS * RUN / 8 * 7 };

/* Whether most of some rows, in runs here and there, are groups of their own. *many is true then. */
static FlStatus sample(Partial *p, bool *many) {
  if (p->n_keys == 0 || p->n < FEWEST || most_groups(p) <= p->n / 8) return 0;
  int64_t *rows = fl_part_alloc(p->m, RUNS * RUN, sizeof *rows);
  FlPartCol *some = fl_part_zalloc(p->m, p->n_keys, sizeof *some);
  FlArray **taken = fl_part_zalloc(p->m, p->n_keys, sizeof *taken);
  uint8_t *valid = fl_part_alloc(p->m, (int64_t)p->n_keys * RUNS * RUN, 1);
  FlPartGroups groups = {0};
  FlPartCodes codes;
  if (rows == NULL || some == NULL || taken == NULL || valid == NULL) return 1;
  for (int64_t i = 0; i < RUNS * RUN; i++) rows[i] = p->n / RUNS * (i / RUN) + i % RUN;
  bool ok = true;
  for (int32_t k = 0; ok && k < p->n_keys; k++, valid += RUNS * RUN) {
    taken[k] = fl_part_take(p->m->ctx, p->keys[k].array, rows, RUNS * RUN);
    ok = taken[k] != NULL;
    if (!ok) break;
    some[k] = (FlPartCol){p->keys[k].dtype, RUNS * RUN, taken[k]->data, NULL, taken[k]};
    if (p->keys[k].valid == NULL) continue;
    for (int64_t i = 0; i < RUNS * RUN; i++) valid[i] = p->keys[k].valid[rows[i]];
    some[k].valid = valid;
  }
  ok = ok && encode(p, some, &codes) == 0 && fl_part_group_codes(p->m, &codes, false, NULL, &groups) == 0;
  for (int32_t k = 0; k < p->n_keys; k++) fl_array_unref(taken[k]);
  *many = groups.g > MANY;
  return !ok;
}

/* Bytes of a value of a column, with its validity. */
static int64_t bytes_of(const FlPartCol *c) { return fl_dtype_info[c->dtype].bytes + (c->valid != NULL); }

/* Whether states of all groups take far less room than the rows: two sevenths of it, as a sum by
 * one number has it where groups have about four rows. */
static bool states_are_small(const Partial *p) {
  int64_t row = 0, state = 0;
  for (int32_t k = 0; k < p->n_keys; k++) row += bytes_of(&p->keys[k]);
  state = row;
  for (int32_t k = 0; k < p->n_states; k++) {
    const State *s = &p->states[k];
    bool first = s->agg.n_cols > 0; /* that has this column */
    for (int32_t j = 0; first && j < k; j++) {
      first = p->states[j].agg.n_cols == 0 || p->states[j].agg.col[0].array != s->agg.col[0].array;
    }
    if (first) row += bytes_of(&s->agg.col[0]);
    state += fl_dtype_info[s->desc.result_types[0].dtype].bytes + s->says_valid;
  }
  return 7 * state * p->g <= 2 * row * p->n;
}

/* Whether a table of all words is small against the rows, and has all that states are made of. */
static bool may_sweep(const Partial *p) {
  enum { PLACES = 1 << 14, ROWS = 8 };
  uint64_t most = p->codes.words[0].max;
  bool ok = p->codes.n_words == 1 && most < PLACES && most < (uint64_t)p->n / ROWS;
  for (int32_t k = 0; ok && k < p->n_states; k++) {
    const State *s = &p->states[k];
    ok = (s->kind == FL_STATE_PICK || !s->says_valid) && fl_agg_sweeps(&s->agg, s->row);
  }
  return ok && p->n_states <= FL_PART_SWEEP;
}

/* p->sweep stays NULL where some sum has bits that the table has no place for. */
static FlStatus sweep(Partial *p, const FlSlot *args) {
  FlOpDesc desc = *p->desc;
  uint64_t most[FL_PART_SWEEP];
  int64_t places = (int64_t)p->codes.words[0].max + 1, *table;
  int64_t pieces = fl_part_min(fl_ctx_workers(p->m->ctx), p->n / fl_part_max(places, FL_PART_CHUNK));
  bool whole;
  desc.columns += p->n_keys;
  desc.n_columns = p->n_states;
  FlSweep *s = fl_sweep_new(p->m, &desc, args + p->n_key_args, &p->codes, p->n);
  if (s == NULL) return 1;
  fl_sweep_most(s, most);
  if (!fl_sweep_agree(s, most)) return 0;
  if (fl_sweep_run(s, places, fl_part_max(pieces, 1), &table, &whole) != 0) return 1;
  if (whole) p->sweep = s;
  return whole ? fl_sweep_groups(s, &p->g, &p->first) : 0;
}

static FlStatus group(Partial *p) {
  FlPartGroups groups;
  if (fl_part_group_codes(p->m, &p->codes, false, NULL, &groups) != 0) return 1;
  p->g = groups.g;
  p->id = groups.id;
  p->first = groups.first;
  return 0;
}

static FlStatus find_groups(Partial *p, const FlSlot *args, bool *many) {
  p->g = 1;
  if (p->n_keys == 0) return 0;
  bool texts = false;
  for (int32_t k = 0; k < p->n_keys; k++) texts |= fl_dtype_is_text(p->keys[k].dtype);
  if (!texts && encode(p, p->keys, &p->codes) != 0) return 1; /* which looks at them once */
  bool few = !texts && p->codes.n_words == 1 && p->codes.words[0].max < MANY;
  if (!few && sample(p, many) != 0) return 1;
  if (*many) return 0;
  if (texts && encode(p, p->keys, &p->codes) != 0) return 1;
  if (may_sweep(p) && sweep(p, args) != 0) return 1;
  if (p->sweep == NULL && group(p) != 0) return 1;
  *many = p->desc->i > 0 ? p->desc->i * p->g > p->n : !states_are_small(p);
  return 0;
}

/* ---- sums --------------------------------------------------------------------------------------------- */

static bool are_few(const Partial *p) { return p->id != NULL && fl_part_are_few(p->g); }

static bool is_unsigned(const State *s) { return s->agg.n_cols > 0 && s->agg.col[0].dtype == FL_U64; }

/* Integers become the state; false at *fits: one does not fit it. */
static FlStatus give_integers(Partial *p, State *s, const __int128 *sums, bool *fits) {
  const bool wide = is_unsigned(s);
  s->out[0] = array_of(p, s->desc.result_types[0].dtype, p->g);
  if (s->out[0] == NULL) return 1;
  int64_t *out = s->out[0]->data;
  for (int64_t k = 0; k < p->g; k++) {
    out[k] = (int64_t)sums[k];
    *fits = *fits && (wide ? (__int128)(uint64_t)out[k] : (__int128)out[k]) == sums[k];
  }
  return 0;
}

static FlStatus sum_integers(Partial *p, State *s, bool *fits) {
  const FlPartCol *col = &s->agg.col[0];
  __int128 *sums = fl_part_zalloc(p->m, p->g, sizeof *sums);
  if (sums == NULL) return 1;
  bool wide = is_unsigned(s), few = are_few(p);
  int64_t x[FL_PART_BATCH];
  for (int64_t row = 0; row < p->n; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, p->n - row);
    fl_part_read_i64(col, row, count, x);
    if (few) fl_part_few_add(p->id + row, x, count, p->g, wide, sums);
    for (int64_t i = 0; !few && i < count; i++)
      sums[p->id != NULL ? p->id[row + i] : 0] += wide ? (__int128)(uint64_t)x[i] : (__int128)x[i];
  }
  return give_integers(p, s, sums, fits);
}

/* The terms of an integer times `unit`; false: one is no double. */
static bool split_integer(__int128 sum, double unit, double *terms) {
  for (int t = 0; t < TERMS && sum != 0; t++) {
    double head = (double)sum;
    terms[t] = head * unit;
    if (!isfinite(terms[t])) return false;
    sum -= (__int128)head;
  }
  return sum == 0;
}

static bool split_accumulator(FlSuperacc *sum, double *terms) {
  for (int t = 0; t < TERMS; t++) {
    double head = fl_superacc_round(sum);
    if (head == 0.0) return true;
    terms[t] = head;
    if (!isfinite(head)) return sum->nan || sum->plus || sum->minus;
    fl_superacc_add(sum, -head);
  }
  return fl_superacc_round(sum) == 0.0;
}

/* Terms by sums against the column's largest exponent (exact.c). *exact: they hold all. */
static FlStatus sum_scaled(Partial *p, State *s, FlPartTerms x, bool *exact, bool *fits) {
  FlExactScale scale;
  double room[FL_PART_BATCH];
  int64_t high[FL_PART_BATCH], low[FL_PART_BATCH], dropped = 0;
  bool few = are_few(p);
  if (fl_part_exact_scale(p->m, x, p->n, &scale) != 0) return 1;
  if (!scale.fits) return 0;
  __int128 *sums = fl_part_zalloc(p->m, p->g, sizeof *sums);
  if (sums == NULL) return 1;
  for (int64_t row = 0; row < p->n; row += FL_PART_BATCH) {
    int64_t count = fl_part_min(FL_PART_BATCH, p->n - row);
    dropped |= fl_part_split(x.read(x.env, row, count, room), count, scale.high, high, low);
    if (few) fl_part_few_add_terms(p->id + row, high, low, count, p->g, sums);
    for (int64_t i = 0; !few && i < count; i++)
      sums[p->id != NULL ? p->id[row + i] : 0] += fl_part_exact_term(high[i], low[i]);
  }
  *exact = dropped == 0;
  for (int64_t k = 0; *exact && k < p->g; k++)
    *fits = *fits && split_integer(sums[k], scale.unit, s->terms + k * TERMS);
  fl_part_release(p->m, sums);
  return 0;
}

/* Terms behind the first one have rows of their own. */
static void ask_for_rows(Partial *p, const State *s) {
  for (int64_t k = 0; k < p->g; k++) {
    uint8_t more = 0;
    for (uint8_t t = 1; t < TERMS; t++)
      if (s->terms[k * TERMS + t] != 0.0) more = t;
    if (more > p->more[k]) p->more[k] = more;
  }
}

static FlStatus sum_doubles(Partial *p, State *s, bool *fits) {
  bool exact = false;
  FlAggDoubles column = fl_agg_doubles(&s->agg, 0);
  FlPartTerms x = {fl_agg_read_doubles, &column};
  double room[FL_PART_BATCH];
  s->terms = fl_part_zalloc(p->m, p->g * TERMS, sizeof *s->terms);
  if (s->terms == NULL || sum_scaled(p, s, x, &exact, fits) != 0) return 1;
  if (!exact) {
    FlSuperacc *sums = fl_part_alloc(p->m, p->g, sizeof *sums);
    if (sums == NULL) return 1;
    for (int64_t k = 0; k < p->g; k++) fl_superacc_init(&sums[k]);
    for (int64_t row = 0; row < p->n; row += FL_PART_BATCH) {
      int64_t count = fl_part_min(FL_PART_BATCH, p->n - row);
      const double *terms = x.read(x.env, row, count, room);
      for (int64_t i = 0; i < count; i++)
        fl_superacc_add(&sums[p->id != NULL ? p->id[row + i] : 0], terms[i]);
    }
    for (int64_t k = 0; *fits && k < p->g; k++) *fits = split_accumulator(&sums[k], s->terms + k * TERMS);
    fl_part_release(p->m, sums);
  }
  ask_for_rows(p, s);
  return 0;
}

/* Of a column without nulls every group has one. */
static FlStatus take_extremes(Partial *p, int32_t k) {
  State *s = &p->states[k];
  const int32_t dtype = s->agg.col[0].dtype;
  const size_t size = (size_t)fl_dtype_info[dtype].bytes;
  for (int j = 0; j < 1 + s->says_valid; j++)
    if ((s->out[j] = array_of(p, j == 0 ? dtype : FL_BOOL, p->g)) == NULL) return 1;
  for (int64_t i = 0; i < p->g; i++) {
    uint64_t value = fl_sweep_extreme(p->sweep, k, i);
    memcpy((char *)s->out[0]->data + (size_t)i * size, &value, size);
  }
  if (s->says_valid) memset(s->out[1]->data, 1, (size_t)p->g);
  return 0;
}

/* What the sweep has of a state. */
static FlStatus take_swept(Partial *p, int32_t k, bool *fits) {
  State *s = &p->states[k];
  if (s->kind == FL_STATE_PICK) return take_extremes(p, k);
  __int128 *sums = fl_part_alloc(p->m, p->g, sizeof *sums);
  if (sums == NULL) return 1;
  for (int64_t i = 0; i < p->g; i++) sums[i] = fl_sweep_sum(p->sweep, k, i);
  if (s->kind == FL_STATE_COUNT || !fl_dtype_is_float(s->agg.col[0].dtype))
    return give_integers(p, s, sums, fits);
  s->terms = fl_part_zalloc(p->m, p->g * TERMS, sizeof *s->terms);
  if (s->terms == NULL) return 1;
  for (int64_t i = 0; i < p->g; i++)
    *fits = *fits && split_integer(sums[i], fl_sweep_unit(p->sweep, k), s->terms + i * TERMS);
  ask_for_rows(p, s);
  return 0;
}

/* ---- states of groups --------------------------------------------------------------------------------- */

/* *fits: false when some sum is no state. */
static FlStatus fold(Partial *p, bool *fits) {
  p->more = fl_part_zalloc(p->m, p->g, 1);
  if (p->more == NULL) return 1;
  for (int32_t k = 0; *fits && k < p->n_states; k++) {
    State *s = &p->states[k];
    s->agg.g = p->g;
    s->agg.id = p->id;
    if (p->sweep != NULL) {
      if (take_swept(p, k, fits) != 0) return 1;
      continue;
    }
    if (s->kind == FL_STATE_SUM) {
      bool floats = fl_dtype_is_float(s->agg.col[0].dtype);
      if ((floats ? sum_doubles : sum_integers)(p, s, fits) != 0) return 1;
      continue;
    }
    if (s->kind == FL_STATE_COUNT) {
      s->agg.counts = fl_agg_counts(&s->agg, s->agg.n_cols ? s->agg.col[0].valid : NULL, NULL, false);
      if (s->agg.counts == NULL) return 1;
    }
    FlStatus status = s->row->fn(&s->agg);
    s->out[0] = s->agg.value;
    s->out[1] = s->agg.valid;
    if (status != 0) return status;
  }
  return 0;
}

/* `*a` becomes the rows of it that `rows` names, -1: zero. */
static FlStatus take(Partial *p, FlArray **a, const int64_t *rows, int64_t n) {
  FlArray *to = fl_part_take(p->m->ctx, *a, rows, n);
  fl_array_unref(*a);
  *a = to;
  return to == NULL;
}

/* The rows of states, behind those of the groups their further terms. */
static FlStatus write_groups(Partial *p, int64_t n) {
  int64_t *group_of = fl_part_alloc(p->m, n, sizeof *group_of), *row = fl_part_alloc(p->m, n, sizeof *row),
          at = p->g;
  uint8_t *term = fl_part_zalloc(p->m, n, 1);
  if (group_of == NULL || row == NULL || term == NULL) return 1;
  for (int64_t k = 0; k < p->g; k++) {
    group_of[k] = k;
    for (uint8_t t = 1; t <= p->more[k]; t++, at++) {
      group_of[at] = k;
      term[at] = t;
    }
  }
  for (int64_t i = 0; i < n; i++) row[i] = i < p->g ? i : -1;
  for (int32_t k = 0; k < p->n_states; k++) {
    State *s = &p->states[k];
    if (s->terms != NULL) {
      if ((s->out[0] = array_of(p, FL_F64, n)) == NULL) return 1;
      double *out = s->out[0]->data;
      for (int64_t i = 0; i < n; i++) out[i] = s->terms[group_of[i] * TERMS + term[i]];
    } else if (n > p->g) {
      if (take(p, &s->out[0], row, n) != 0) return 1;
      if (s->says_valid && take(p, &s->out[1], row, n) != 0) return 1;
    }
  }
  for (int64_t i = 0; p->n_keys > 0 && i < n; i++) row[i] = p->first[group_of[i]];
  for (int32_t k = 0; k < p->n_keys; k++) {
    if ((p->key_out[2 * k] = fl_part_take(p->m->ctx, p->keys[k].array, row, n)) == NULL) return 1;
    if (p->keys[k].valid == NULL) continue;
    if ((p->key_out[2 * k + 1] = array_of(p, FL_BOOL, n)) == NULL) return 1;
    uint8_t *out = p->key_out[2 * k + 1]->data;
    for (int64_t i = 0; i < n; i++) out[i] = p->keys[k].valid[row[i]];
  }
  return 0;
}

/* ---- rows as states ----------------------------------------------------------------------------------- */

static int32_t row_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const State *s = env;
  const FlPartCol *col = &s->agg.col[0];
  (void)ctx;
  if (s->kind == FL_STATE_PICK) {
    memset((uint8_t *)s->out[1]->data + begin, 1, (size_t)(end - begin));
  } else if (s->kind == FL_STATE_SUM && fl_dtype_is_float(col->dtype)) {
    fl_part_read_f64(col, begin, end - begin, (double *)s->out[0]->data + begin);
  } else if (s->kind == FL_STATE_SUM) {
    fl_part_read_i64(col, begin, end - begin, (int64_t *)s->out[0]->data + begin);
  } else {
    const uint8_t *yes = s->agg.n_cols > 0 && col->dtype == FL_BOOL ? col->data : NULL;
    const uint8_t *valid = s->agg.n_cols > 0 ? col->valid : NULL;
    int64_t *out = s->out[0]->data;
    for (int64_t i = begin; i < end; i++) out[i] = fl_part_valid(valid, i) && fl_part_valid(yes, i);
  }
  return 0;
}

/* Each row is the state of itself; what is one already is not copied. */
static FlStatus write_rows(Partial *p, const FlSlot *args) {
  int32_t at = 2;
  for (int32_t k = 0; k < p->n_keys; k++) {
    p->key_out[2 * k] = fl_array_ref(args[at++].a);
    if (p->keys[k].valid != NULL) p->key_out[2 * k + 1] = fl_array_ref(args[at++].a);
  }
  for (int32_t k = 0; k < p->n_states; k++) {
    State *s = &p->states[k];
    const FlPartCol *col = &s->agg.col[0];
    FlArray *values = s->agg.n_cols > 0 ? args[at++].a : NULL, *valid = NULL;
    if (s->agg.n_cols > 0 && col->valid != NULL) valid = args[at++].a;
    for (int j = 0; j < 2; j++) {
      fl_array_unref(s->out[j]);
      s->out[j] = NULL;
    }
    int32_t dtype = s->desc.result_types[0].dtype;
    if (s->kind == FL_STATE_PICK || (s->kind == FL_STATE_SUM && valid == NULL && col->dtype == dtype))
      s->out[0] = fl_array_ref(values);
    else if ((s->out[0] = array_of(p, dtype, p->n)) == NULL) return 1;
    if (s->says_valid && valid != NULL) s->out[1] = fl_array_ref(valid);
    else if (s->says_valid && (s->out[1] = array_of(p, FL_BOOL, p->n)) == NULL) return 1;
    bool done = s->kind == FL_STATE_PICK ? !s->says_valid || valid != NULL : s->out[0] == values;
    if (!done && fl_part_for(p->m->ctx, row_body, s, p->n, 1.0) != 0) return 1;
  }
  return 0;
}

/* ---- the operator ------------------------------------------------------------------------------------- */

/* *rows: rows stay rows; `keep`: nothing is made of them then. */
static FlStatus partial(Partial *p, const FlSlot *args, bool keep, bool *rows) {
  bool many = args[1].i != 0 || p->n == 0, fits = true;
  if (!many && find_groups(p, args, &many) != 0) return 1;
  if (!many && fold(p, &fits) != 0) return 1;
  int64_t n = p->g;
  for (int64_t k = 0; !many && fits && k < p->g; k++) n += p->more[k];
  *rows = many || !fits || 2 * n > p->n;
  if (*rows && keep && p->n > 0) return 0;
  return *rows ? write_rows(p, args) : write_groups(p, n);
}

/* Gives the arrays away, or releases them. */
static void finish(Partial *p, FlStatus status, FlSlot *results) {
  int32_t at = 1;
  for (int32_t k = 0; p->key_out != NULL && p->states != NULL && k < p->n_keys; k++) {
    for (int j = 0; j < 2; j++) {
      FlArray *a = p->key_out[2 * k + j];
      if (status != 0) fl_array_unref(a);
      else if (a != NULL) results[at++].a = a;
    }
  }
  for (int32_t k = 0; p->states != NULL && k < p->n_states; k++) {
    State *s = &p->states[k];
    for (int j = 0; j < 2; j++) {
      if (status == 0 && (j == 0 || s->says_valid)) results[at++].a = s->out[j];
      else fl_array_unref(s->out[j]);
    }
  }
}

static FlStatus run(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, bool keep, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  Partial p = {.m = &mem, .desc = desc};
  bool rows = false;
  FlStatus status = read_call(&p, args);
  if (status == 0) status = partial(&p, args, keep, &rows);
  keep = keep && rows && p.n > 0;
  finish(&p, status != 0 || keep, results);
  if (status == 0) results[0].i = rows && p.n > 0;
  fl_part_mem_reset(&mem);
  return status;
}

FlStatus fl_rt_partial(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return run(ctx, desc, args, false, results);
}

FlStatus fl_part_states(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *rows) {
  FlStatus status = run(ctx, desc, args, true, results);
  *rows = status == 0 && results[0].i != 0;
  return status;
}
