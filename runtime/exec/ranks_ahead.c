/* ranks_ahead.c: sums of vectors over ranks that begin before all vectors are there.
 *
 * In: a loop whose elements ranks share and whose vectors are only summed, by parts that come to be one after
 * the other (SUM_PART): gradients, layer by layer. Out: the sum of a loop is begun when the loop is, as the
 * last one was made, and each part is sent while elements compute the next ones. Whoever asks for the sum
 * then (SUM_BEGIN) gets it, if it is the one that was begun; else it is made as any.
 *
 * What always holds: a sum is begun ahead after a meeting at which all ranks had room for it, and each rank
 * takes part to its end, with zeros where its elements failed or gave something else; it counts only if the
 * meeting behind the loop has heard of all ranks that they gave all of it. Nothing that is computed hangs on
 * whether it was. */
#include "exec/ranks.h"
#include "exec/sums.h"
#include "exec/tasks.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a loop and the sum of what it gave, from the last time. */
typedef struct FlSumHabit {
  struct FlSumHabit *next;
  int32_t site;
  int64_t elements;  /* of the loop */
  FlArray *list;     /* that it gave; NULL: its sum was begun */
  FlSumPart *parts;  /* of each vector, in the order in which they came to be */
  int64_t n_parts;   /* 0: not known */
  FlSumArgs args;    /* of the sum, whose weights are these: */
  double *weight;    /* [args.n] */
  int64_t ns, chunk; /* that making it took at once; elements that are worth a message */
  int64_t waited;    /* ns, that the program waited for it */
  bool known;        /* to all ranks alike: the next one is begun ahead */
  bool missed;       /* the last one that was begun ahead was not what was asked for */
  FlSum *ahead;      /* of `list` */
} FlSumHabit;

/* A sum that waits for vectors. */
typedef struct FlSumAhead {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t *missing; /* [parts] own vectors that have not given it */
  bool ends;        /* nobody gives any more */
  bool odd;         /* something else was given than the last time */
} FlSumAhead;

struct FlSumGives {
  FlSumHabit *habit;
  FlSum *sum; /* begun ahead; NULL: what the first element to do so says of its vector is written down */
  pthread_mutex_t lock;
  FlSumPart *parts;
  int64_t n_parts, room, by; /* by: that element */
  bool odd;                  /* or there was no memory */
};

/* ---- habits ---------------------------------------------------------------------------------------- */

static FlSumHabit *habit_at(const FlRun *run, int32_t site) {
  FlSumHabit *h = run->habits;
  while (h && h->site != site) h = h->next;
  return h;
}

static FlSumHabit *habit_new(FlRun *run, int32_t site) {
  FlSumHabit *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  *h = (FlSumHabit){.next = run->habits, .site = site};
  return run->habits = h;
}

/* What was begun ahead, and nobody wants, comes to its end. */
static void drop_ahead(FlRanks *r, FlSumHabit *h) {
  if (h->ahead && r) fl_ranks_wait(r, &h->ahead->work);
  fl_sum_free(h->ahead);
  fl_array_unref(h->list);
  h->ahead = NULL;
  h->list = NULL;
}

static void forget(FlSumHabit *h) {
  free(h->parts);
  h->parts = NULL;
  h->n_parts = 0;
  h->known = false;
}

void fl_run_free_habits(FlRun *run) {
  while (run->habits) {
    FlSumHabit *h = run->habits;
    run->habits = h->next;
    drop_ahead(NULL, h); /* work behind the program is settled */
    forget(h);
    free(h->weight);
    free(h);
  }
}

void fl_sum_habit_time(FlSumHabit *h, int64_t ns, int64_t waited) {
  if (ns) h->ns = ns;
  h->waited = waited;
}

int64_t fl_sum_waited(const FlRun *run, int32_t site) {
  const FlSumHabit *h = habit_at(run, site);
  return h ? h->waited : 0;
}

/* ---- parts, as they come --------------------------------------------------------------------------- */

static FlSumAhead *ahead_new(const FlSum *s, int64_t n_parts) {
  FlSumAhead *a = calloc(1, sizeof *a);
  int64_t vectors = 0;
  if (!a) return NULL;
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->changed, NULL);
  for (int64_t i = 0; i < s->n_leaves; i++) vectors += !s->leaves[i].none;
  a->missing = calloc((size_t)n_parts, sizeof *a->missing);
  for (int64_t q = 0; q < n_parts && a->missing; q++) a->missing[q] = vectors;
  if (a->missing) return a;
  fl_sum_ahead_free(a);
  return NULL;
}

void fl_sum_ahead_free(FlSumAhead *a) {
  if (!a) return;
  pthread_mutex_destroy(&a->lock);
  pthread_cond_destroy(&a->changed);
  free(a->missing);
  free(a);
}

/* Under its lock. */
static bool are_there(const FlSumAhead *a, int64_t from, int64_t to) {
  for (int64_t q = from; q < to; q++)
    if (a->missing[q]) return false;
  return true;
}

bool fl_sum_ahead_wait(FlSumAhead *a, int64_t from, int64_t to) {
  if (!a) return true;
  pthread_mutex_lock(&a->lock);
  while (!are_there(a, from, to) && !a->ends) pthread_cond_wait(&a->changed, &a->lock);
  bool there = are_there(a, from, to);
  pthread_mutex_unlock(&a->lock);
  return there;
}

/* The own vector that element i of the loop is; -1: none that counts. */
static int64_t leaf_of(const FlSum *s, const FlSumArgs *a, int64_t i) {
  int64_t behind = i - a->first, at = behind / a->apart;
  bool is_one = behind >= 0 && behind % a->apart == 0 && s->n_leaves && at >= s->leaves[0].at &&
                at < s->leaves[0].at + s->n_leaves;
  int64_t leaf = is_one ? at - s->leaves[0].at : -1;
  return is_one && !s->leaves[leaf].none ? leaf : -1;
}

static void take_part(FlSumGives *g, int64_t i, int64_t operand, FlArray *part) {
  FlSum *s = g->sum;
  const FlSumHabit *h = g->habit;
  int64_t leaf = leaf_of(s, &h->args, i), q = 0;
  if (leaf < 0) return;
  while (q < h->n_parts && h->parts[q].operand != operand) q++;
  pthread_mutex_lock(&s->ahead->lock);
  FlArray **held = q < h->n_parts ? &s->held[leaf * s->n_parts + q] : NULL;
  if (!held || *held || h->parts[q].size != fl_array_count(part)) s->ahead->odd = true;
  else {
    *held = fl_array_ref(part);
    if (--s->ahead->missing[q] == 0) pthread_cond_broadcast(&s->ahead->changed);
  }
  pthread_mutex_unlock(&s->ahead->lock);
}

static void note_part(FlSumGives *g, int64_t i, int64_t operand, const FlArray *part) {
  pthread_mutex_lock(&g->lock);
  if (g->by < 0) g->by = i;
  if (g->by == i && g->n_parts == g->room) {
    int64_t room = g->room ? 2 * g->room : 8;
    FlSumPart *parts = realloc(g->parts, (size_t)room * sizeof *parts);
    if (parts) g->parts = parts;
    g->room = parts ? room : g->room;
    g->odd |= !parts;
  }
  if (g->by == i && !g->odd)
    g->parts[g->n_parts++] = (FlSumPart){.operand = operand, .size = fl_array_count(part)};
  pthread_mutex_unlock(&g->lock);
}

void fl_sum_give(FlSumGives *g, int64_t i, int64_t operand, FlArray *part) {
  if (g->sum) take_part(g, i, operand, part);
  else note_part(g, i, operand, part);
}

/* ---- a loop ---------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static FlSum *sum_ahead(FlCtx *ctx, const FlSumHabit *h, int64_t n) {
  FlRanks *r = ctx->ranks;
  const FlSumArgs *a = &h->args;
  int64_t *at = calloc((size_t)r->n + 1, sizeof *at);
  FlSum *s = NULL;
  for (int32_t k = 0; at && k <= r->n; k++) at[k] = n * k / r->n;
  if (at)
    s = fl_sum_new(ctx, a, fl_sum_vectors_before(a, at, r->here), fl_sum_vectors_before(a, at, r->here + 1),
                   h->n_parts);
  if (s) s->ahead = ahead_new(s, h->n_parts);
  bool room = s && s->ahead && fl_sum_over(s, r, a, at, h->parts, h->n_parts, h->chunk) && fl_ranks_behind(r);
  free(at);
  if (room) return s;
  fl_sum_free(s);
  fl_fail_forget(ctx);
  return NULL;
}

/* All have room: it is under way. */
static FlStatus start(FlCtx *ctx, FlSumGives *g, int64_t n) {
  FlRanks *r = ctx->ranks;
  FlSum *s = sum_ahead(ctx, g->habit, n);
  FlRankSlot mine = {.step = FL_RANKS_ROWS, .site = g->habit->site, .values = {s != NULL}};
  FlStatus status = fl_ranks_together(ctx, &mine);
  bool all = !status;
  for (int32_t k = 0; k < r->n && all; k++) all = r->slots[k].values[0] != 0;
  if (all) fl_sum_start(g->sum = s, r);
  else fl_sum_free(s);
  return status;
}

/* Of its results exactly one is a list of vectors that are summed, and all others go to all. */
static bool is_summed(const FlTasks *t) {
  enum { IS_SUMMED = 2 }; /* FL_LIST_IS_SUMMED */
  int summed = 0, stays = 0;
  for (int32_t k = 0; t->stays && k < t->n_results; k++) {
    stays += t->stays[k] != 0;
    summed += t->stays[k] == IS_SUMMED;
  }
  return summed == 1 && stays == 1;
}

FlStatus fl_sum_gives_begin(FlCtx *ctx, const FlTasks *t, int64_t n, FlSumGives **out) {
  *out = NULL;
  if (!is_summed(t)) return 0;
  FlSumHabit *h = habit_at(ctx->run, t->site);
  if (!h) h = habit_new(ctx->run, t->site);
  if (!h) return 0;
  drop_ahead(ctx->ranks, h);
  if (ctx->run->sums) return 0; /* those that are under way come a round later, and hide behind this loop */
  bool ahead = h->known && h->elements == n;
  FlSumGives *g = calloc(1, sizeof *g);
  if (!g) return ahead ? fl_ranks_together(ctx, &(FlRankSlot){.step = FL_RANKS_ROWS, .site = h->site}) : 0;
  *g = (FlSumGives){.habit = h, .by = -1};
  pthread_mutex_init(&g->lock, NULL);
  FlStatus status = ahead ? start(ctx, g, n) : 0;
  if (!ahead) forget(h);
  h->elements = n;
  if (status || (ahead && !g->sum)) fl_sum_gives_keep(ctx, g, NULL, false);
  else *out = g;
  return status;
}

bool fl_sum_gives_end(FlSumGives *g) {
  if (!g || !g->sum) return false;
  FlSumAhead *a = g->sum->ahead;
  pthread_mutex_lock(&a->lock);
  a->ends = true;
  bool all = !a->odd && are_there(a, 0, g->habit->n_parts);
  pthread_cond_broadcast(&a->changed);
  pthread_mutex_unlock(&a->lock);
  return all;
}

/* Where each part stands in the vector: all arguments of the CONCAT are there, once. */
static bool place_parts(FlSumPart *parts, int64_t n) {
  int64_t before = 0, at = 0;
  for (int64_t q = 0; q < n; q++) {
    parts[q].before = before;
    before += parts[q].size;
  }
  for (int64_t operand = 0; operand < n; operand++) {
    int64_t q = 0;
    while (q < n && parts[q].operand != operand) q++;
    if (q == n) return false;
    parts[q].at = at;
    at += parts[q].size;
  }
  return true;
}

void fl_sum_gives_keep(FlCtx *ctx, FlSumGives *g, FlArray *list, bool all) {
  if (!g) return;
  FlSumHabit *h = g->habit;
  h->ahead = g->sum;
  if (g->sum && !all) list = NULL;
  if (list) h->list = fl_array_ref(list);
  else drop_ahead(ctx->ranks, h);
  if (g->sum && !list) forget(h);
  if (!g->sum && list && !g->odd && g->n_parts > 1 && place_parts(g->parts, g->n_parts)) {
    h->parts = g->parts;
    h->n_parts = g->n_parts;
  } else {
    free(g->parts);
  }
  pthread_mutex_destroy(&g->lock);
  free(g);
}

/* ---- the sum that is asked for --------------------------------------------------------------------- */

static FlSumHabit *habit_of(const FlRun *run, const FlArray *list) {
  FlSumHabit *h = run->habits;
  while (h && h->list != list) h = h->next;
  return h;
}

static bool are_same(const FlSumArgs *a, const FlSumArgs *b) {
  return a->k == b->k && a->first == b->first && a->apart == b->apart && a->n == b->n &&
         memcmp(a->weight, b->weight, (size_t)a->n * sizeof *a->weight) == 0;
}

FlSum *fl_sum_ahead_take(FlCtx *ctx, const FlSumArgs *a) {
  FlSumHabit *h = habit_of(ctx->run, a->list);
  FlSum *s = h && h->ahead && are_same(&h->args, a) ? h->ahead : NULL;
  if (!h || !h->ahead) return NULL;
  if (s) {
    h->ahead = NULL;
    s->habit = h;
  }
  if (!s && h->missed) h->known = false;
  h->missed = !s;
  drop_ahead(ctx->ranks, h);
  return s;
}

/* Of what all ranks are to have alike (FNV-1a); never 0. */
static int64_t digest_of(const FlSumHabit *h) {
  uint64_t x = 14695981039346656037u;
  for (int64_t q = 0; q < h->n_parts; q++) {
    x = (x ^ (uint64_t)h->parts[q].operand) * 1099511628211u;
    x = (x ^ (uint64_t)h->parts[q].size) * 1099511628211u;
  }
  return (int64_t)(x | 1);
}

static void let_go(FlSumHabit *h) {
  fl_array_unref(h->list);
  h->list = NULL;
}

void fl_sum_habit_let_go(FlRun *run, const FlArray *list) {
  FlSumHabit *h = habit_of(run, list);
  if (h) let_go(h);
}

/* `args` without the list, and with weights of their own. */
static bool keep_args(FlSumHabit *h, const FlSumArgs *a) {
  double *weight = malloc((size_t)(a->n + 1) * sizeof *weight);
  if (!weight) return false;
  memcpy(weight, a->weight, (size_t)a->n * sizeof *weight);
  free(h->weight);
  h->args = *a;
  h->args.list = NULL;
  h->args.weight = h->weight = weight;
  return true;
}

FlSumHabit *fl_sum_habit_tell(FlCtx *ctx, const FlSumArgs *a, FlRankSlot *mine) {
  FlSumHabit *h = habit_of(ctx->run, a->list);
  if (!h) return NULL;
  let_go(h);
  int64_t k = h->n_parts ? h->parts[h->n_parts - 1].before + h->parts[h->n_parts - 1].size : -1;
  if (k != a->k || ctx->run->sums || !keep_args(h, a)) return h;
  mine->values[0] = digest_of(h);
  mine->values[1] = h->ns;
  return h;
}

/* A sum is worth to be begun ahead where it takes long against the messages of its parts, and the loop some
 * of that; elements that are worth one then, 0: it is not. `ns`: that it takes. */
static int64_t worth(const FlRanks *r, const FlSumHabit *h, int64_t ns) {
  enum { MESSAGES_NS = 800000, MOST = 64, PART_OF = 4 };
  if (r->shares == FL_RANKS_SHARE_ALL) return 1;
  if (r->shares == FL_RANKS_SHARE_BY_TURNS) return h->args.k / 2 + 1; /* for tests, several parts at once */
  const FlRankLoop *loop = h->site >= 0 && h->site < r->n_loops ? &r->loops[h->site] : NULL;
  int64_t chunks = ns / MESSAGES_NS < MOST ? ns / MESSAGES_NS : MOST;
  bool long_enough = loop && loop->known && loop->ns * (double)h->elements / r->n * PART_OF > (double)ns;
  return chunks < 2 || !long_enough ? 0 : h->args.k / chunks + 1;
}

void fl_sum_habit_learn(FlCtx *ctx, FlSumHabit *h) {
  const FlRanks *r = ctx->ranks;
  int64_t digest = r->slots[0].values[0], ns = 0;
  if (!h) return;
  h->known = digest != 0;
  for (int32_t k = 0; k < r->n; k++) {
    h->known &= r->slots[k].values[0] == digest;
    if (r->slots[k].values[1] > ns) ns = r->slots[k].values[1];
  }
  h->chunk = h->known ? worth(r, h, ns) : 0;
  h->known = h->chunk > 0;
}
