/* group_lanes.c: the parts of rows that are grouped where not all fit in memory (group_rows.c), by several
 * workers.
 *
 * Comes in: rows that stand in a file by parts (move_rows.h), what is wanted of their groups. Goes out:
 * values, validities and first rows of all groups, part behind part. Always holds: nothing depends on who
 * works on a part, or on how many do.
 *
 * A lane takes the next part that nobody has begun, reads it into memory that it keeps from part to part,
 * groups and aggregates it, and waits for its turn: what all lanes make is written part behind part, as the
 * pages of a file that is filled in two places are written twice. Who waits began later than who is waited
 * for, so the first of them waits for nobody. Within a lane nothing else waits but loops, and these run tasks
 * alone: so no lane is ever below another one. */
#include "part/dictionary.h"
#include "part/group_rows.h"

enum { OUT = 1 << 12 /* rows of the result that a worker makes at once */ };

/* An array's rows of the part at hand. */
typedef struct Here {
  const FlTakeColumn *from;
  FlArray *room, *array; /* for the largest part, NULL: none; of this one */
} Here;

typedef struct Lane {
  FlGroupRows *all;
  FlPartMem mem;
  FlMove move;
  Here *here;
  FlSlot *args; /* those of the part */
  int64_t turn; /* how many parts were begun before it */
  FlPartGroups groups;
  FlAgg *made;   /* what each aggregate gives of it */
  int64_t begin; /* of its groups among all */
} Lane;

/* ---- turns --------------------------------------------------------------------------------------------- */

/* The next part that has rows is the lane's; false: there is none left. */
static bool next_part(Lane *l) {
  const FlMove *v = &l->all->move;
  FlRowsTurns *t = &l->all->turns;
  pthread_mutex_lock(&t->lock);
  while (t->next < v->by.n_parts && fl_move_rows(v, t->next) == 0) t->next++;
  bool there = !t->over && t->next < v->by.n_parts;
  if (there) {
    l->move.part = t->next++;
    l->turn = t->begun++;
  }
  pthread_mutex_unlock(&t->lock);
  return there;
}

static void end_turns(FlRowsTurns *t, bool fits) {
  pthread_mutex_lock(&t->lock);
  t->over = true;
  t->fits &= fits;
  pthread_cond_broadcast(&t->passed);
  pthread_mutex_unlock(&t->lock);
}

/* Waits until all parts before this one are written; false: all is over. */
static bool wait_turn(Lane *l) {
  FlRowsTurns *t = &l->all->turns;
  pthread_mutex_lock(&t->lock);
  while (t->written < l->turn && !t->over) pthread_cond_wait(&t->passed, &t->lock);
  bool mine = t->written == l->turn && !t->over;
  l->begin = t->g;
  pthread_mutex_unlock(&t->lock);
  return mine;
}

static void pass_turn(Lane *l) {
  FlRowsTurns *t = &l->all->turns;
  pthread_mutex_lock(&t->lock);
  t->written++;
  t->g += l->groups.g;
  pthread_cond_broadcast(&t->passed);
  pthread_mutex_unlock(&t->lock);
}

/* ---- the rows of a part -------------------------------------------------------------------------------- */

/* Memory for the largest part. */
static FlStatus make_room(Lane *l) {
  const FlGroupRows *r = l->all;
  FlPartMem *m = &l->mem;
  l->here = fl_part_zalloc(m, r->n_moved, sizeof *l->here);
  l->args = fl_part_alloc(m, r->desc->n_args, sizeof *l->args);
  l->move.columns = fl_part_alloc(m, r->n_moved, sizeof *l->move.columns);
  l->made = fl_part_alloc(m, r->n_wanted, sizeof *l->made);
  if (!l->here || !l->args || !l->move.columns || !l->made) return 1;
  memcpy(l->move.columns, r->move.columns, (size_t)r->n_moved * sizeof *l->move.columns);
  for (int32_t j = 0; j < r->n_moved; j++) {
    Here *c = &l->here[j];
    FlMovedColumn *to = &l->move.columns[j];
    c->from = &r->moved[j];
    if (c->from->known != NULL) {
      FlBuffer *codes = fl_buffer_new_near(m->ctx, r->most * to->size);
      if (codes == NULL) return 1;
      to->to = codes->data;
      if ((c->room = fl_part_new_rows(m->ctx, c->from->from, r->most)) == NULL) {
        fl_buffer_unref(codes);
        return 1;
      }
      FlDictionary *dictionary = fl_dictionary_ref(c->from->known->dictionary);
      (void)fl_text_codes_attach(c->room, dictionary, codes, (int32_t)to->size);
    } else if (fl_dtype_info[c->from->from->dtype].kind != FL_KIND_TEXT) {
      if ((c->room = fl_array_new_near(m->ctx, c->from->from->dtype, 1, &r->most)) == NULL) return 1;
      to->to = c->room->data;
    } /* what is found of other texts is kept with their buffer: each part has one of its own */
  }
  return 0;
}

static void give_room(Lane *l) {
  for (int32_t j = 0; l->here != NULL && j < l->all->n_moved; j++) {
    fl_array_unref(l->here[j].array);
    fl_array_unref(l->here[j].room);
  }
  fl_part_mem_reset(&l->mem);
}

static int32_t expand_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Here *c = env;
  const FlText *texts = c->from->known->dictionary->texts;
  const void *codes;
  FlText *to = c->array->data;
  int32_t width = fl_text_codes(c->array, &codes)->width;
  (void)ctx;
  for (int64_t i = begin; i < end; i++) {
    uint32_t code = 0; /* the least byte comes first */
    memcpy(&code, (const char *)codes + i * width, (size_t)width);
    to[i] = texts[code];
  }
  return 0;
}

/* The arrays of the part come. */
static FlStatus read_part(Lane *l) {
  const FlGroupRows *r = l->all;
  FlCtx *ctx = l->mem.ctx;
  int64_t n = fl_move_rows(&l->move, l->move.part);
  for (int32_t j = 0; j < r->n_moved; j++) {
    Here *c = &l->here[j];
    fl_array_unref(c->array);
    FlArray *room = c->room;
    c->array = room != NULL ? fl_array_over(ctx, room->buffer, room->data, (FlDtype)room->dtype, 1, &n)
                            : fl_part_new_rows(ctx, c->from->from, n);
    if (c->array == NULL) return 1;
    if (room == NULL) l->move.columns[j].to = c->array->data;
  }
  if (fl_move_read(&l->move) != 0) return 1;
  for (int32_t j = 0; j < r->n_moved; j++)
    if (l->here[j].from->known != NULL && fl_part_for(ctx, expand_body, &l->here[j], n, 1.0) != 0) return 1;
  for (int32_t k = 0; k < r->desc->n_args; k++)
    l->args[k] = r->of[k] < 0 ? r->args[k] : (FlSlot){.a = l->here[r->of[k]].array};
  return 0;
}

/* ---- its groups ---------------------------------------------------------------------------------------- */

static FlStatus group_part(Lane *l, FlPartMem *m) {
  FlOpDesc desc = *l->all->desc;
  FlPartKey *keys;
  FlPartCodes codes;
  desc.n_columns = l->all->n_keys;
  return fl_part_keys(m, &desc, l->args, &keys) != 0 ||
         fl_part_encode(m, keys, l->all->n_keys, 1, true, &codes) != 0 ||
         fl_part_group_codes(m, &codes, true, NULL, &l->groups) != 0;
}

/* *fits: false where the aggregate fails. What it made is in *a, also then. */
static FlStatus aggregate_part(const Lane *l, const FlRowsWanted *w, FlAgg *a, bool *fits) {
  FlCtx *ctx = l->mem.ctx;
  FlPartMem mem = {.ctx = ctx, .near = true};
  int32_t at = w->at;
  a->m = &mem;
  a->desc = &w->desc;
  a->n = fl_move_rows(&l->move, l->move.part);
  a->g = l->groups.g;
  a->id = l->groups.id;
  a->n_cols = w->desc.n_columns;
  FlStatus status = 0;
  for (int32_t k = 0; k < a->n_cols && status == 0; k++)
    status = fl_part_col(ctx, &w->desc, l->args, &at, &w->desc.columns[k], &a->col[k]);
  if (status == 0 && fl_agg_make(a, w->row) != 0) {
    *fits = false;
    fl_fail_forget(ctx);
  }
  fl_part_mem_reset(&mem);
  return status;
}

/* The first rows of the groups. */
static int32_t take_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Lane *l = env;
  const FlGroupRows *r = l->all;
  FlPool *pool = ctx ? fl_ctx_pool(ctx) : NULL;
  char *made = fl_counted_new(pool, OUT * sizeof(FlText));
  FlTakeOut *outs = fl_take_outs(ctx, r->taken, r->n_taken);
  int32_t at[OUT];
  for (int64_t s = begin; s < end && made != NULL && outs != NULL; s++) {
    int64_t from = s * OUT, n = fl_part_min(OUT, l->groups.g - from);
    for (int64_t i = 0; i < n; i++) at[i] = (int32_t)l->groups.first[from + i];
    for (int32_t k = 0; k < r->n_taken; k++) {
      const FlMovedColumn *c = &l->move.columns[r->of[r->first_taken + k]];
      fl_take_gather(c->to, c->size, at, n, made);
      fl_take_put(&outs[k], made, NULL, l->begin + from, n);
    }
  }
  fl_take_outs_end(outs, r->n_taken);
  fl_counted_free(made);
  return made == NULL || outs == NULL;
}

/* Behind those of the parts before. */
static FlStatus write_groups(Lane *l) {
  const FlGroupRows *r = l->all;
  FlPartMem *m = &l->mem;
  for (int32_t k = 0; k < r->n_wanted; k++) {
    const FlRowsWanted *w = &r->wanted[k];
    if (fl_agg_append(m, w->value, l->begin, l->made[k].value, l->groups.g) != 0) return 1;
    if (fl_agg_append(m, w->valid, l->begin, l->made[k].valid, l->groups.g) != 0) return 1;
  }
  int64_t slices = (l->groups.g + OUT - 1) / OUT;
  if (r->n_taken == 0 || fl_part_for(m->ctx, take_body, l, slices, 5.0 * OUT) == 0) return 0;
  return fl_part_fail_memory(m);
}

/* *fits: false where an aggregate fails, here or in another lane. */
static FlStatus run_part(Lane *l, bool *fits) {
  const FlGroupRows *r = l->all;
  FlPartMem mem = {.ctx = l->mem.ctx, .near = true};
  FlStatus status = 0;
  l->groups = (FlPartGroups){0};
  memset(l->made, 0, (size_t)r->n_wanted * sizeof *l->made);
  if (fl_move_rows(&l->move, l->move.part) > 0) {
    status = read_part(l) != 0 || group_part(l, &mem) != 0;
    for (int32_t k = 0; k < r->n_wanted && status == 0 && *fits; k++)
      status = aggregate_part(l, &r->wanted[k], &l->made[k], fits);
  }
  if (status == 0 && *fits) *fits = wait_turn(l);
  if (status == 0 && *fits) {
    status = l->groups.g > 0 ? write_groups(l) : 0;
    pass_turn(l);
  }
  for (int32_t k = 0; k < r->n_wanted; k++) {
    fl_array_unref(l->made[k].value);
    fl_array_unref(l->made[k].valid);
  }
  fl_part_mem_reset(&mem);
  return status;
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static FlStatus run_lane(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  FlGroupRows *r = (FlGroupRows *)(void *)args[2].a; /* behind the number of the lane and that of all lanes */
  Lane l = {.all = r, .mem = {.ctx = ctx, .near = true}, .move = r->move};
  bool fits = true;
  (void)results;
  l.move.m = &l.mem;
  FlStatus status = make_room(&l);
  while (status == 0 && fits && next_part(&l)) status = run_part(&l, &fits);
  if (status != 0 || !fits) end_turns(&r->turns, fits);
  give_room(&l);
  return status;
}

FlStatus fl_group_rows_parts(FlGroupRows *r) {
  FlRowsTurns *t = &r->turns;
  t->fits = true;
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->passed, NULL);
  FlSlot env[] = {{.i = r->lanes}, {.a = (FlArray *)(void *)r}};
  FlStatus status =
      fl_run_tasks(r->move.m->ctx, run_lane, env, 2, 1, r->lanes, NULL, 0, NULL, NULL, r->desc->site, NULL);
  pthread_cond_destroy(&t->passed);
  pthread_mutex_destroy(&t->lock);
  return status;
}
