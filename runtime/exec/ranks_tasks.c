/* ranks_tasks.c: loops whose elements are tasks, over ranks.
 *
 * In: a loop that all ranks are about to run. Out: its results at all ranks: each has run every n-th element,
 * in a context that knows of no other rank, and sent what came of them. What always holds: results, notes and
 * the first error are by element, so that it shows nowhere who ran what. An element that asks what rank 0
 * alone may ask is run by rank 0, after the others; its other ranks leave no trace of it. */
#include "data/value_type.h"
#include "exec/ranks.h"
#include "exec/sums.h"
#include "exec/task_blocks.h"
#include "exec/tasks.h"

#include <stdlib.h>
#include <string.h>

/* What a rank sends of its elements: one array for each result, of those that it ran, in their order; then
 * these. */
enum { WENT, NOTED, NOTES, FAILED, ERROR, N_MORE = ERROR + FL_ERROR_TEXTS };
static const FlType1 more_types[ERROR] = {
    [WENT] = {.dtype = FL_I64, .rank = 1},   /* elements that are rank 0's to run */
    [NOTED] = {.dtype = FL_I64, .rank = 1},  /* those that left notes, */
    [NOTES] = {.dtype = FL_TEXT, .rank = 1}, /* and these */
    [FAILED] = {.dtype = FL_I64}};           /* the first that failed; -1: none */

/* Some elements of the loop, and what came of them. */
typedef struct Share {
  const FlTasks *tasks;
  const FlCut *cut;      /* lists stay where they were made, by this cut of elements; NULL: all is sent */
  int64_t *which, n, ns; /* ns: that running them took */
  FlSumGives *gives;     /* who is told of parts of their vectors; or NULL */
  bool gave;             /* all of them */
  FlType1 *types;        /* of `values`: results, then the rest */
  FlSlot *values;
  FlBuffer *keep;
} Share;

static int32_t n_values(const Share *s) { return s->tasks->n_results + N_MORE; }
static FlSlot *more(const Share *s) { return s->values + s->tasks->n_results; }

/* An array of what each element gives. */
static FlType1 column_type(FlType1 t) {
  return fl_type_is_array(t) ? (FlType1){t.dtype, t.rank, (uint8_t)(t.depth + 1), 0}
                             : (FlType1){.dtype = t.dtype, .rank = 1};
}

static bool share_init(Share *s, const FlTasks *t) {
  *s = (Share){.tasks = t};
  s->types = calloc((size_t)n_values(s), sizeof *s->types);
  s->values = calloc((size_t)n_values(s), sizeof *s->values);
  if (!s->types || !s->values) return false;
  for (int32_t k = 0; k < t->n_results; k++) s->types[k] = column_type(t->types[k]);
  memcpy(s->types + t->n_results, more_types, sizeof more_types);
  memcpy(s->types + t->n_results + ERROR, fl_error_types, sizeof fl_error_types);
  return true;
}

static void share_reset(Share *s) {
  for (int32_t k = 0; s->values && k < n_values(s); k++)
    if (fl_type_is_array(s->types[k])) fl_array_unref(s->values[k].a);
  fl_buffer_unref(s->keep);
  free(s->which);
  free(s->types);
  free(s->values);
  *s = (Share){0};
}

/* ---- running ------------------------------------------------------------------------------------------ */

/* Outcomes of elements, that went elsewhere or left notes, as arrays. */
static FlStatus put_outcomes(FlCtx *ctx, const FlTaskSet *set, FlSlot *out) {
  int64_t n[2] = {0, 0}, at[2] = {0, 0};
  for (int64_t k = 0; k < set->n_outcomes; k++) n[set->outcomes[k].elsewhere ? 0 : 1]++;
  out[WENT].a = fl_array_new(ctx, FL_I64, 1, &n[0]);
  out[NOTED].a = fl_array_new(ctx, FL_I64, 1, &n[1]);
  out[NOTES].a = fl_array_new(ctx, FL_TEXT, 1, &n[1]);
  FlHeap *heap = out[NOTES].a ? fl_array_heap(ctx, out[NOTES].a) : NULL;
  if (!out[WENT].a || !out[NOTED].a || !heap) return FL_FAULT_MEMORY;
  if (n[1]) memset(out[NOTES].a->data, 0, (size_t)n[1] * sizeof(FlText));
  for (int64_t k = 0; k < set->n_outcomes; k++) {
    const FlTaskOutcome *o = &set->outcomes[k];
    if (o->elsewhere) {
      ((int64_t *)out[WENT].a->data)[at[0]++] = o->index;
      continue;
    }
    FlText notes;
    if (!fl_notes_encode(&o->notes, &notes)) return fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory");
    ((int64_t *)out[NOTED].a->data)[at[1]] = o->index;
    ((FlText *)out[NOTES].a->data)[at[1]++] = fl_heap_text(heap, notes.ptr, notes.len);
    free((char *)notes.ptr);
  }
  return 0;
}

/* The share's arrays of results: of the elements that were run here, or empty where one failed. */
static FlStatus put_columns(FlCtx *ctx, Share *s, FlTaskSet *set, FlHeap *heap) {
  const FlTasks *t = s->tasks;
  const FlArray *went = more(s)[WENT].a;
  bool failed = more(s)[FAILED].i >= 0;
  int64_t n = failed ? 0 : s->n - fl_array_count(went), skip = 0, at = 0;
  for (int32_t k = 0; k < t->n_results; k++) {
    FlArray *a = fl_array_new(ctx, fl_type_is_array(t->types[k]) ? FL_LIST : t->types[k].dtype, 1, &n);
    if (a && fl_type_is_array(t->types[k]) && n) memset(a->data, 0, (size_t)n * sizeof(FlArray *));
    s->values[k].a = a;
    if (!a || (fl_type_is_text(t->types[k]) && fl_array_keep(ctx, a, heap, NULL, 0) != 0))
      return FL_FAULT_MEMORY;
  }
  for (int64_t i = 0; i < s->n && !failed; i++) {
    if (skip < fl_array_count(went) && ((const int64_t *)went->data)[skip] == s->which[i]) {
      skip++;
      continue;
    }
    for (int32_t k = 0; k < t->n_results; k++)
      fl_array_put(s->values[k].a, at, set->results[i * t->n_results + k]);
    at++;
  }
  if (failed) fl_task_set_release(set);
  return 0;
}

static int32_t line_of(const FlCtx *ctx, int32_t site) {
  const FlProgram *p = ctx->run->program;
  return p && site >= 0 && site < p->n_sites ? p->sites[site].line : 0;
}

/* Runs the elements of a share. The error of the first that failed is left in the set, for as long as the
 * texts that point into it are needed. */
static FlStatus run_share(FlCtx *ctx, Share *s, const FlSlot *env, FlTaskSet *set) {
  const FlTasks *t = s->tasks;
  FlHeap *heap = fl_heap_new(ctx);
  int64_t total = s->n * t->n_results;
  const uint8_t *stacked = t->stays ? t->is_stacked : NULL; /* what goes to others is copied anyway */
  FlArray *slots = heap ? fl_array_new(ctx, FL_TEXT, 1, &total) : NULL;
  if (slots && total) memset(slots->data, 0, (size_t)total * sizeof(FlSlot));
  *set = (FlTaskSet){.ctx = ctx,
                     .fn = t->fn,
                     .env = env,
                     .n_env = t->n_env,
                     .n_dims = t->n_dims,
                     .n_results = t->n_results,
                     .which = s->which,
                     .n = slots ? s->n : 0,
                     .results = slots ? slots->data : NULL,
                     .types = t->types,
                     .heap = heap,
                     .gives = s->gives,
                     .is_stacked = stacked,
                     .stacks = stacked ? calloc((size_t)t->n_results, sizeof *set->stacks) : NULL};
  FlReport *report = ctx->run->report;
  int64_t begin = fl_report_now(report);
  fl_task_set_run(set);
  s->gave = fl_sum_gives_end(s->gives);
  int64_t end = fl_report_now(report);
  s->ns = end - begin;
  if (fl_report_wants_kernels(report))
    fl_report_operator(report, "elements", line_of(ctx, t->site), fl_sched_worker(ctx->run->sched), begin,
                       end);
  int64_t failed = atomic_load_explicit(&set->failed, memory_order_relaxed);
  more(s)[FAILED].i = failed < set->n ? s->which[failed] : -1;
  FlStatus status = slots ? put_outcomes(ctx, set, more(s)) : FL_FAULT_MEMORY;
  if (!status && t->of_rows == FL_TASK_BLOCKS) status = fl_task_blocks_own(ctx, t, env, s->n, set->results);
  if (!status) status = put_columns(ctx, s, set, heap);
  if (status) fl_task_set_release(set);
  fl_array_unref(slots);
  fl_heap_unref(heap);
  if (status || failed >= set->n) return status;
  fl_fail_place(&set->error, t->site);
  if (!set->error.error) return FL_STATUS_MEMORY;
  fl_error_put(set->error.error, more(s) + ERROR);
  return 0;
}

/* ---- gathering ------------------------------------------------------------------------------------------
 */

/* The share of rank k, shares[k], to all, for the first n ranks. `status`: of this rank's own. */
static FlStatus exchange(FlCtx *ctx, FlRankStep step, Share *shares, int32_t n, FlStatus status) {
  FlRanks *r = ctx->ranks;
  FlParcel mine = {0};
  Share *own = r->here < n ? &shares[r->here] : NULL;
  if (!status && own && !fl_parcel_pack(ctx, own->values, own->types, n_values(own), &mine))
    status = FL_STATUS_MEMORY;
  FlRankSlot slot = {.step = step,
                     .site = shares[0].tasks->site,
                     .failed = status,
                     .bytes = mine.bytes,
                     .values = {own ? own->ns : 0, fl_sum_waited(ctx->run, shares[0].tasks->site)}};
  status = fl_ranks_together(ctx, &slot);
  for (int32_t k = 0; k < n && !status; k++) {
    FlParcel theirs = {0};
    Share *s = &shares[k];
    status = fl_parcel_send(ctx, k, k == r->here ? &mine : &theirs);
    if (!status && k != r->here)
      status = fl_parcel_open(ctx, &theirs, s->types, n_values(s), s->values, &s->keep);
  }
  fl_parcel_reset(&mine);
  return status;
}

/* The rank whose element failed first of those of all shares; -1: none did. */
static int32_t first_failed(const Share *shares, int32_t n) {
  int32_t first = -1;
  for (int32_t k = 0; k < n; k++) {
    if (!shares[k].values) continue;
    int64_t at = more(&shares[k])[FAILED].i;
    if (at >= 0 && (first < 0 || at < more(&shares[first])[FAILED].i)) first = k;
  }
  return first;
}

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The elements that went to rank 0 and come before the first that failed, as the share `rest`. */
static bool gather_rest(const Share *shares, int32_t n, Share *rest) {
  int32_t first = first_failed(shares, n);
  int64_t total = 0, limit = first < 0 ? INT64_MAX : more(&shares[first])[FAILED].i;
  for (int32_t k = 0; k < n; k++) total += fl_array_count(more(&shares[k])[WENT].a);
  if (!(rest->which = malloc((size_t)(total ? total : 1) * sizeof *rest->which))) return false;
  for (int32_t k = 0; k < n; k++) {
    const FlArray *went = more(&shares[k])[WENT].a;
    for (int64_t i = 0; i < fl_array_count(went); i++) {
      int64_t index = ((const int64_t *)went->data)[i];
      if (index < limit) rest->which[rest->n++] = index;
    }
  }
  qsort(rest->which, (size_t)rest->n, sizeof *rest->which, by_number);
  return true;
}

/* ---- lists that stay ------------------------------------------------------------------------------------
 */

/* Elements in the largest of the lists that may stay. */
static int64_t count_staying(const Share *s) {
  int64_t most = 0;
  for (int32_t k = 0; k < s->tasks->n_results; k++) {
    FlArray *const *arrays = s->tasks->stays[k] ? s->values[k].a->data : NULL;
    int64_t n = 0;
    for (int64_t i = 0; arrays && i < s->values[k].a->dims[0]; i++) n += fl_array_count(arrays[i]);
    if (n > most) most = n;
  }
  return most;
}

/* Vectors that are only summed are sent behind the program, so that it pays sooner. */
enum { SUMMED_FROM = 1 << 14 };
static bool only_summed(const Share *s) {
  bool all = true;
  for (int32_t k = 0; k < s->tasks->n_results; k++) all &= s->tasks->stays[k] != 1;
  return all;
}

/* Whether they do, which is by how much there is at all ranks together; what fails, or rank 0 is to run, is
 * sent. `n`: elements of the loop. *gave: and all have given all parts of their vectors. */
static FlStatus lists_stay(FlCtx *ctx, Share *shares, int64_t n, FlStatus status, bool *stay, bool *gave) {
  FlRanks *r = ctx->ranks;
  const Share *own = &shares[r->here];
  int64_t mine = status ? 0 : count_staying(own);
  bool plain = !status && more(own)[FAILED].i < 0 && !fl_array_count(more(own)[WENT].a);
  FlRankSlot slot = {.step = FL_RANKS_ROWS,
                     .site = own->tasks->site,
                     .failed = status,
                     .values = {0, 0, 0, plain ? mine : -1, own->n, own->gave}};
  FlStatus s = fl_ranks_together(ctx, &slot);
  int64_t total = 0;
  *stay = !s && n > 0;
  for (int32_t k = 0; k < r->n && *stay; k++) {
    *stay = r->slots[k].values[3] >= 0;
    total += r->slots[k].values[3];
  }
  *stay &= fl_rows_are_many(ctx, total) || (only_summed(own) && total >= SUMMED_FROM);
  *gave = *stay;
  for (int32_t k = 0; k < r->n && *gave; k++) *gave = r->slots[k].values[5] != 0;
  const FlCut *cut = *stay ? fl_rows_cut_by(ctx, 4) : NULL;
  for (int32_t k = 0; k < r->n; k++) shares[k].cut = cut;
  return *stay && !cut ? FL_STATUS_MEMORY : s;
}

/* What of the own share goes to others: no list that stays. The rest is in `held`. */
static FlStatus hold_lists(FlCtx *ctx, Share *own, FlSlot *held) {
  int64_t none = 0;
  for (int32_t k = 0; k < own->tasks->n_results; k++) {
    if (!own->tasks->stays[k]) continue;
    held[k] = own->values[k];
    own->values[k].a = fl_array_new(ctx, FL_LIST, 1, &none);
    if (!own->values[k].a) return FL_STATUS_MEMORY;
  }
  return 0;
}

static void give_lists(Share *own, FlSlot *held) {
  for (int32_t k = 0; k < own->tasks->n_results; k++) {
    if (!held[k].a) continue;
    fl_array_unref(own->values[k].a);
    own->values[k] = held[k];
  }
}

/* ---- putting together -------------------------------------------------------------------------------------
 */

static FlStatus fill(FlCtx *ctx, const Share *s, FlSlot *results) {
  const FlArray *went = more(s)[WENT].a;
  for (int32_t k = 0; k < s->tasks->n_results; k++) {
    FlArray *from = s->values[k].a, *to = results[k].a;
    int64_t skip = 0, at = 0;
    if (s->cut && s->tasks->stays[k] && !fl_array_count(from)) continue; /* another's, which stays there */
    if (fl_type_is_text(s->tasks->types[k]) && fl_array_keep(ctx, to, NULL, &from, 1) != 0)
      return FL_FAULT_MEMORY;
    for (int64_t i = 0; i < s->n; i++) {
      if (skip < fl_array_count(went) && ((const int64_t *)went->data)[skip] == s->which[i]) {
        skip++;
        continue;
      }
      FlSlot v = fl_array_slot(from, at++);
      if (fl_type_is_array(s->tasks->types[k])) fl_array_ref(v.a);
      fl_array_put(to, s->which[i], v);
    }
  }
  return 0;
}

typedef struct NotesOf {
  int64_t index;
  FlText notes;
} NotesOf;

static int by_index(const void *a, const void *b) {
  return by_number(&((const NotesOf *)a)->index, &((const NotesOf *)b)->index);
}

/* All notes, by element; those of others are shown. */
static FlStatus join_notes(FlCtx *ctx, const Share *shares, int32_t n) {
  int64_t total = 0, at = 0;
  for (int32_t k = 0; k < n; k++) total += shares[k].values ? fl_array_count(more(&shares[k])[NOTED].a) : 0;
  if (!total) return 0;
  NotesOf *all = malloc((size_t)total * sizeof *all);
  bool ok = all != NULL;
  for (int32_t k = 0; ok && k < n; k++) {
    const FlSlot *m = shares[k].values ? more(&shares[k]) : NULL;
    for (int64_t i = 0; m && i < fl_array_count(m[NOTED].a); i++)
      all[at++] = (NotesOf){fl_array_slot(m[NOTED].a, i).i, fl_array_slot(m[NOTES].a, i).t};
  }
  if (ok) qsort(all, (size_t)total, sizeof *all, by_index);
  for (int64_t i = 0; ok && i < total; i++) {
    FlNotes notes = {0};
    ok = fl_notes_decode(all[i].notes, &notes);
    fl_notes_move(&ctx->notes, &notes);
    fl_notes_reset(&notes);
  }
  free(all);
  return ok ? 0 : fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory");
}

static FlStatus put_together(FlCtx *ctx, const Share *shares, int32_t n, FlSlot *results) {
  FlStatus status = join_notes(ctx, shares, n);
  int32_t failed = first_failed(shares, n);
  if (!status && failed >= 0) {
    FlError *error = fl_error_take(more(&shares[failed]) + ERROR);
    if (error) error->order = ctx->n_started;
    if (ctx->error) fl_error_free(error);
    else ctx->error = error;
    return error ? error->status : FL_STATUS_MEMORY;
  }
  for (int32_t k = 0; k < n && !status; k++) status = fill(ctx, &shares[k], results);
  return status;
}

/* The list of vectors that are only summed, of what stays. */
static FlArray *summed_list(const FlTasks *t, const FlSlot *results) {
  for (int32_t k = 0; k < t->n_results; k++)
    if (t->stays[k] > 1) return results[k].a;
  return NULL;
}

/* What came of the own elements to where it is wanted: what stays, and the rest to all. */
static FlStatus give_share(FlCtx *ctx, int64_t n, Share *shares, FlStatus status, FlSlot *results) {
  FlRanks *r = ctx->ranks;
  Share *own = &shares[r->here];
  bool stay = false, gave = false;
  if (own->tasks->stays) status = lists_stay(ctx, shares, n, status, &stay, &gave);
  FlSlot *held = stay ? calloc((size_t)own->tasks->n_results, sizeof *held) : NULL;
  if (stay && !status) status = held ? hold_lists(ctx, own, held) : FL_STATUS_MEMORY;
  status = exchange(ctx, FL_RANKS_TASKS, shares, r->n, status);
  if (held) give_lists(own, held);
  free(held);
  for (int32_t k = 0; k < own->tasks->n_results && stay && !status; k++)
    if (own->tasks->stays[k]) status = fl_array_become_part_list(ctx, results[k].a, own->cut);
  fl_sum_gives_keep(ctx, own->gives, stay && !status ? summed_list(own->tasks, results) : NULL, gave);
  own->gives = NULL;
  return status;
}

/* shares[0 .. n] of the ranks, and behind them what rank 0 runs for others. `follow`: those of a rank follow
 * each other, the same number at each. */
static FlStatus run_all(FlCtx *ctx, const FlSlot *env, int64_t n, bool follow, Share *shares,
                        FlTaskSet sets[2], FlSlot *results) {
  FlRanks *r = ctx->ranks;
  Share *rest = &shares[r->n];
  Share *own = &shares[r->here];
  FlStatus status = follow ? fl_sum_gives_begin(ctx, own->tasks, n, &own->gives) : 0;
  if (status) return status;
  status = give_share(ctx, n, shares, run_share(ctx, own, env, &sets[0]), results);
  if (status) return status;
  fl_ranks_learn(r, shares[0].tasks->site, n);
  if (!gather_rest(shares, r->n, rest)) return fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory");
  if (!rest->n) return put_together(ctx, shares, r->n, results);
  if (own->tasks->of_rows == FL_TASK_BLOCKS) status = fl_task_blocks_whole(ctx, own->tasks, env);
  if (r->here == 0 && !status) status = run_share(ctx, rest, env, &sets[1]);
  status = exchange(ctx, FL_RANKS_REST, rest, 1, status);
  return status ? status : put_together(ctx, shares, r->n + 1, results);
}

/* The elements before those of rank k, where they follow each other. */
static int64_t elements_before(FlCtx *ctx, const FlTasks *t, const FlSlot *env, int64_t n, const FlCut *rows,
                               int32_t k) {
  if (!rows) return n * k / ctx->ranks->n;
  if (t->of_rows == FL_TASK_BLOCKS) return fl_task_blocks_before(ctx, t, env, rows, k);
  return fl_row_parts_of(rows, k);
}

/* The elements of rank k: every n-th; of what may stay there, those that follow each other; of its rows,
 * these. */
static bool choose(FlCtx *ctx, Share *s, const FlSlot *env, int64_t n, int32_t k, const FlCut *rows) {
  int32_t ranks = ctx->ranks->n;
  bool follow = s->tasks->stays != NULL || rows;
  int64_t first = follow ? elements_before(ctx, s->tasks, env, n, rows, k) : k, apart = follow ? 1 : ranks;
  int64_t end = follow ? elements_before(ctx, s->tasks, env, n, rows, k + 1) : n;
  s->n = follow ? end - first : n > k ? (n - k - 1) / ranks + 1 : 0;
  s->which = malloc((size_t)(s->n ? s->n : 1) * sizeof *s->which);
  for (int64_t i = 0; s->which && i < s->n; i++) s->which[i] = first + i * apart;
  return s->which != NULL;
}

FlStatus fl_ranks_tasks(FlCtx *ctx, const FlTasks *t, const FlSlot *env, int64_t n, const FlCut *cut,
                        FlSlot *results) {
  FlRanks *r = ctx->ranks;
  FlTaskSet sets[2] = {0};
  Share *shares = calloc((size_t)r->n + 1, sizeof *shares);
  bool ok = shares != NULL;
  for (int32_t k = 0; ok && k <= r->n; k++) {
    ok = share_init(&shares[k], t);
    if (ok && k < r->n) ok = choose(ctx, &shares[k], env, n, k, cut);
  }
  bool blocks = cut && t->of_rows == FL_TASK_BLOCKS;
  if (blocks && fl_task_blocks_bring(ctx, t, env, cut)) ok = false;
  FlRankSlot lacks = {.step = FL_RANKS_TASKS, .site = t->site, .failed = FL_STATUS_MEMORY};
  FlStatus status =
      ok ? run_all(ctx, env, n, t->stays && !cut, shares, sets, results) : fl_ranks_together(ctx, &lacks);
  if (status && !ctx->error) status = fl_fail_text(ctx, t->site, FL_FAULT_MEMORY, "out of memory");
  if (blocks) fl_task_blocks_shut(t, env);
  for (int32_t k = 0; shares && k <= r->n; k++) share_reset(&shares[k]);
  for (int k = 0; k < 2; k++)
    if (sets[k].ctx) fl_task_set_reset(&sets[k]);
  free(shares);
  return status;
}
