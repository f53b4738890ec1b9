/* reread.c: a file is read once more for one of its groupings, where only groups of few keys are wanted: what
 * is computed of the rows for a GROUP is computed of the rows of a reader of its own, which asks for the
 * keys.
 *
 * In: a reader, and a GROUP of its columns, whose groups only a join sees. Out: another reader of the same
 * file before the GROUP, of whose columns the GROUP and its aggregates are. What always holds: the first
 * reader stays where it is and has all the columns, so errors of the file are its own; all else stays in its
 * place. */
#include "opt/asks.h"

#include <string.h>

typedef struct Reread {
  FlFunc *func;
  const FlOp *reader, *group;
  FlOp *again; /* the other reader */
  FlSubst subst;
} Reread;

/* Its path is in the script: it is no input that can be read once. */
static bool has_path(const FlOp *reader) {
  const FlOp *file = reader->args[0]->op, *path = file && file->n_args ? file->args[0]->op : NULL;
  return file && file->code == FL_OP_FILE_OF && path && path->code == FL_OP_CONST &&
         strcmp(path->attrs.s, "-") != 0;
}

static bool is_column(const FlOp *reader, const FlValue *v);

/* Of columns of the reader nothing but the row's own elements is read, and nothing else by the number of the
 * row. */
static bool reads_own_rows(const FlOp *reader, const FlOp *map, const FlRegion *r) {
  const FlValue *row = map->regions[0]->params[0];
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      bool column = !fl_ir_made_within(op->args[i], map) && is_column(reader, op->args[i]);
      if (column && (op->code != FL_OP_LOAD || i > 0 || op->n_args != 2 || op->args[1] != row)) return false;
      if (op->args[i] == row && (op->code != FL_OP_LOAD || i != 1 || !is_column(reader, op->args[0])))
        return false;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!reads_own_rows(reader, map, op->regions[i])) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == row) return false;
  return true;
}

/* A column of the reader, or one that is computed of these row by row. */
static bool is_column(const FlOp *reader, const FlValue *v) {
  const FlOp *op = v->op;
  if (op == reader) return v->index > 0;
  return op && op->parent == reader->parent && v->type.rank == 1 && fl_asks_is_local(op, reader) &&
         !fl_ir_uses(op->regions[0], reader->results[0]) && reads_own_rows(reader, op, op->regions[0]);
}

/* What the operation reads of the rows: its arguments from there on; -1: it reads none of them. */
static int first_column(const FlOp *op, const FlOp *group) {
  if (op == group) return 0;
  if (op->code == FL_OP_AGGREGATE && op->args[1] == group->results[1]) return 2;
  return op->code == FL_OP_TAKE && op->args[0] == group->results[2] ? 1 : -1;
}

bool fl_asks_may_reread(const FlOp *reader, const FlOp *group) {
  if (!(reader->attrs.format->flags & FL_FORMAT_AGAIN) || !has_path(reader)) return false;
  for (const FlOp *op = group; op; op = op->next) {
    int from = first_column(op, group);
    for (int i = from; from >= 0 && i < op->n_args; i++)
      if (!is_column(reader, op->args[i])) return false;
  }
  return true;
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static void copy_column(Reread *r, FlValue *v);

static void copy_captured(Reread *r, const FlRegion *region, const FlOp *map) {
  for (const FlOp *op = region->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (!fl_ir_made_within(op->args[i], map) && is_column(r->reader, op->args[i]))
        copy_column(r, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) copy_captured(r, op->regions[i], map);
  }
}

/* The MAP that gives v once more, of the other reader's rows. */
static void copy_column(Reread *r, FlValue *v) {
  FlOp *map = v->op;
  if (map == r->reader || fl_subst_get(&r->subst, v) != v) return;
  copy_captured(r, map->regions[0], map);
  FlOp *place = map;
  for (const FlOp *op = r->group; op; op = op->prev)
    if (op == map) place = (FlOp *)(uintptr_t)r->group;
  FlBuilder b = fl_opt_before(place);
  FlModule *m = b.module;
  FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, map->n_results), index = fl_t_scalar(FL_I64);
  for (int k = 0; k < map->n_results; k++) types[k] = map->results[k]->type;
  b.span = map->span;
  FlOp *copy = fl_ir_op(&b, FL_OP_MAP, 1, &r->again->results[0], map->n_results, types, 1);
  copy->attrs = map->attrs;
  FlRegion *body = fl_ir_region(&b, copy, 0, 1, &index);
  FlBuilder in = {.module = m, .func = r->func, .region = body, .span = map->span};
  FlValue **yields = FL_NEW_ARRAY(m->arena, FlValue *, map->n_results);
  fl_ir_inline_region(&in, map->regions[0], body->params, yields);
  fl_ir_yield(body, m, map->n_results, yields);
  fl_subst_region(&r->subst, body);
  for (int k = 0; k < map->n_results; k++) fl_subst_narrow(&r->subst, map->results[k], copy->results[k]);
}

FlOp *fl_asks_reread(FlFunc *f, FlOp *reader, FlOp *group) {
  FlBuilder b = fl_opt_before(group);
  FlType1 *types = FL_NEW_ARRAY(b.module->arena, FlType1, reader->n_results);
  for (int k = 0; k < reader->n_results; k++) types[k] = reader->results[k]->type;
  b.span = reader->span;
  FlOp *again = fl_ir_op(&b, FL_OP_READ_TABLE, reader->n_args, reader->args, reader->n_results, types, 0);
  again->attrs = reader->attrs;
  Reread r = {.func = f, .reader = reader, .group = group, .again = again};
  for (int k = 0; k < reader->n_results; k++)
    fl_subst_narrow(&r.subst, reader->results[k], again->results[k]);
  for (FlOp *op = group; op; op = op->next) {
    int from = first_column(op, group);
    for (int i = from; from >= 0 && i < op->n_args; i++) {
      copy_column(&r, op->args[i]);
      op->args[i] = fl_subst_get(&r.subst, op->args[i]);
    }
  }
  fl_subst_reset(&r.subst);
  return again;
}
