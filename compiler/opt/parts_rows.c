/* parts_rows.c: where only aggregates see what filters keep of a table in memory, it goes through them part
 * by part, as one in a file does (parts.c): what a filter asks, what it keeps and what is computed of that is
 * made of rows that lie in a cache, and never written to memory.
 *
 *   %m = map %n { ... a[i] ... }          %p = (%n + 65535) // 65536
 *   %k, %c = compress %m, %b       ->     %l = map %p { (k)
 *   ... aggregate ... %c                    %a = row_part a, k, %n ...
 *                                           %m = map ... }
 *
 * What always holds: columns that are there anyway are not copied, and whoever else wants them has them as
 * before; a map whose results are wanted of all rows stays where it is. Of several ranks each does the parts
 * of its own rows (plan/parted.c). */
#include "opt/parts_internal.h"

/* TRIES: each time with less that moves. MOST: of a function that spare nothing, each of which looks at all
 * of it.
 */
enum { TRIES = 4, MOST = 64 };

FlValue *fl_parts_count_rows(const FlParts *p, FlBuilder *b) {
  FlValue *part = fl_ir_const_i(b, FL_I64, FL_ROW_PART), *less = fl_ir_const_i(b, FL_I64, FL_ROW_PART - 1);
  return fl_ir_binary(b, FL_OP_FLOORDIV, fl_ir_binary(b, FL_OP_WRAP_ADD, p->rows, less), part);
}

FlOp *fl_parts_take_rows(const FlParts *p, FlBuilder *in, FlValue *k, FlSubst *subst) {
  int n = p->columns.n;
  FlValue **args = FL_NEW_ARRAY(p->arena, FlValue *, n + 2);
  FlType1 *types = FL_NEW_ARRAY(p->arena, FlType1, n + 1);
  args[0] = k;
  args[1] = p->rows;
  types[0] = fl_t_scalar(FL_I64);
  for (int i = 0; i < n; i++) {
    args[2 + i] = p->columns.at[i];
    types[1 + i] = args[2 + i]->type;
  }
  FlOp *part = fl_ir_op(in, FL_OP_ROW_PART, n + 2, args, n + 1, types, 0);
  fl_subst_narrow(subst, p->rows, part->results[0]);
  for (int i = 0; i < n; i++) fl_subst_narrow(subst, args[2 + i], part->results[1 + i]);
  return part;
}

/* ---- which tables -------------------------------------------------------------------------------------- */

/* The rows that a filter of the body chooses from, where its mask is computed of each. */
static FlValue *rows_of(const FlOp *op) {
  const FlOp *mask = op->code == FL_OP_COMPRESS ? op->args[0]->op : NULL;
  if (!mask || mask->code != FL_OP_MAP || mask->parent != op->parent || mask->n_args != 1) return NULL;
  for (int i = 0; i < op->n_args; i++)
    if (op->args[i]->type.rank != 1 || op->args[i]->type.depth) return NULL;
  return fl_ir_is_kernel(mask->regions[0]) ? mask->args[0] : NULL;
}

static void add_column(FlArena *arena, FlPartValues *columns, FlValue *v) {
  if (fl_map_get(columns->has, v)) return;
  fl_map_set(columns->has, v, v);
  fl_vec_push(arena, columns, v);
}

/* Columns that the loop over the rows reads, each at its own row. */
static void add_read(FlArena *arena, FlPartValues *columns, const FlOp *map, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    FlValue *a = op->code == FL_OP_LOAD ? op->args[0] : NULL;
    bool column = a && a->type.rank == 1 && !a->type.depth && a->region == map->parent;
    if (column && op->attrs.i && op->args[1] == map->regions[0]->params[0]) add_column(arena, columns, a);
    for (int i = 0; i < op->n_regions; i++) add_read(arena, columns, map, op->regions[i]);
  }
}

/* Behind the last of the columns that the filter and its mask read. */
static FlOp *behind_columns(const FlRegion *body, FlOp *filter, const FlPartValues *columns) {
  for (FlOp *op = filter->prev; op; op = op->prev)
    for (int k = 0; k < op->n_results; k++)
      if (fl_map_get(columns->has, op->results[k])) return op->next;
  return body->first;
}

/* Other loops over the same rows, and filters of these, read more columns that are there before `first`. */
static void add_others(FlArena *arena, FlPartValues *columns, FlOp *first, const FlValue *rows) {
  FlMap *later = fl_map_make(arena);
  for (FlOp *op = first; op; op = op->next) {
    FlPartValues more = {.has = fl_map_make(arena)};
    fl_map_set(later, op, op);
    if (op->code == FL_OP_MAP && op->n_args == 1 && op->args[0] == rows)
      add_read(arena, &more, op, op->regions[0]);
    for (int i = 1; rows_of(op) == rows && i < op->n_args; i++) add_column(arena, &more, op->args[i]);
    for (int i = 0; i < more.n; i++)
      if (!more.at[i]->op || !fl_map_get(later, more.at[i]->op)) add_column(arena, columns, more.at[i]);
  }
}

/* Somebody wants the rows that the filter keeps as they are: it is no use to try. */
static bool is_wanted(const FlUses *uses, const FlOp *filter) {
  for (int i = 1; i < filter->n_results; i++)
    for (uint32_t k = 0; k < fl_opt_n_uses(uses, filter->results[i]); k++) {
      const FlOp *op = fl_opt_outermost(fl_opt_use(uses, filter->results[i], k), filter->parent);
      bool moves = op && (op->code == FL_OP_MAP || op->code == FL_OP_COMPRESS || op->code == FL_OP_IN_KEYS);
      bool folds = op && (op->code == FL_OP_GROUP || op->code == FL_OP_AGGREGATE || op->code == FL_OP_TAKE);
      if (!moves && !folds) return true;
    }
  return false;
}

/* Parts are made. */
static bool try_filter(FlFunc *f, FlUses *uses, FlOp *filter) {
  FlArena *arena = fl_arena_new();
  FlValue *rows = rows_of(filter);
  FlPartValues columns = {.has = fl_map_make(arena)};
  FlOp *mask = filter->args[0]->op;
  fl_map_set(columns.has, rows, rows);
  add_read(arena, &columns, mask, mask->regions[0]);
  for (int i = 1; i < filter->n_args; i++)
    if (filter->args[i]->op != mask) add_column(arena, &columns, filter->args[i]);
  FlOp *first = behind_columns(f->body, filter, &columns);
  add_others(arena, &columns, first, rows);
  FlMap *stay = fl_map_make(arena);
  FlPartsMade made = FL_PARTS_AGAIN;
  for (int k = 0; made == FL_PARTS_AGAIN && k < TRIES; k++) {
    FlBuilder b = fl_opt_before(first);
    FlOp *here = fl_ir_const_i(&b, FL_I64, 0)->op;
    here->span = filter->span;
    FlParts p = {.func = f, .uses = uses, .reader = here, .rows = rows, .columns = columns, .stay = stay};
    p.may_fail = k == 0;
    made = fl_parts_try(&p);
    if (made != FL_PARTS_MADE) fl_ir_remove(here);
  }
  fl_arena_free(arena);
  return made == FL_PARTS_MADE;
}

void fl_opt_parts_rows(FlModule *m) {
  FlArena *arena = fl_arena_new();
  for (FlFunc *f = m->first; f; f = f->next) {
    FlVec(FlOp *) filters = {0}; /* found before some of them move */
    for (FlOp *op = f->body->first; op; op = op->next)
      if (rows_of(op)) fl_vec_push(arena, &filters, op);
    if (!filters.n) continue;
    FlUses uses = fl_opt_uses(f);
    for (int i = 0, failed = 0; i < filters.n && failed < MOST; i++)
      if (filters.at[i]->parent == f->body && !is_wanted(&uses, filters.at[i]))
        failed += !try_filter(f, &uses, filters.at[i]);
    fl_opt_uses_reset(&uses);
  }
  fl_arena_free(arena);
}
