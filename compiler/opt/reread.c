/* reread.c: rows are read once more for one of their groupings, where only groups of few keys are wanted:
 * what is computed of the rows for a GROUP is computed of rows of its own, of which only those are kept that
 * have such a key.
 *
 * In: a reader of a file, or columns in memory, and a GROUP of these, whose groups only a join sees. Out:
 * before the GROUP another reader of the same file, or views of the columns, of which the GROUP and its
 * aggregates are. What always holds: the first reader stays where it is and has all the columns, so errors of
 * the file are its own; all else stays in its place. */
#include "opt/asks.h"

#include <string.h>

/* What is grouped: rows of a reader, or of a table in memory. */
typedef struct Rows {
  const FlOp *reader;  /* NULL: they are in memory */
  const FlValue *size; /* how many they are; NULL: nothing is computed of them */
  FlMap *has;          /* in memory: columns that are there before the GROUP, each once */
  FlVec(FlValue *) columns;
  FlMap *computed; /* of other values, whether they are computed of columns row by row */
  const FlRegion *body;
} Rows;
enum { NO = 1, YES }; /* of `computed`, where 0 says that nobody has asked */

typedef struct Reread {
  Rows rows;
  const FlOp *group;
  FlSubst subst; /* to columns of the rows that are read once more */
  FlValue *size; /* how many these are */
} Reread;

/* Its path is in the script: it is no input that can be read once. */
static bool has_path(const FlOp *reader) {
  const FlOp *file = reader->args[0]->op, *path = file && file->n_args ? file->args[0]->op : NULL;
  return file && file->code == FL_OP_FILE_OF && path && path->code == FL_OP_CONST &&
         strcmp(path->attrs.s, "-") != 0;
}

/* A column that is computed of no others. */
static bool is_read(const Rows *rows, const FlValue *v) {
  return rows->reader ? v->op == rows->reader && v->index > 0 : fl_map_get(rows->has, v) != NULL;
}

static bool is_column(const Rows *rows, FlValue *v);

/* Of columns nothing but the row's own elements is read, and nothing else by the number of the row. */
static bool reads_own_rows(const Rows *rows, const FlOp *map, const FlRegion *r) {
  const FlValue *row = map->regions[0]->params[0];
  for (const FlOp *op = r->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++) {
      bool column = !fl_ir_made_within(op->args[i], map) && is_column(rows, op->args[i]);
      if (column && (op->code != FL_OP_LOAD || i > 0 || op->n_args != 2 || op->args[1] != row)) return false;
      if (op->args[i] == row && (op->code != FL_OP_LOAD || i != 1 || !is_column(rows, op->args[0])))
        return false;
    }
    for (int i = 0; i < op->n_regions; i++)
      if (!reads_own_rows(rows, map, op->regions[i])) return false;
  }
  for (int i = 0; i < r->n_yields; i++)
    if (r->yields[i] == row) return false;
  return true;
}

/* A column that is read, or one that is computed of these row by row. */
static bool is_column(const Rows *rows, FlValue *v) {
  const FlOp *op = v->op;
  if (is_read(rows, v)) return true;
  if (!op || op->parent != rows->body || v->type.rank != 1 || !fl_asks_is_local(op, rows->size)) return false;
  intptr_t known = (intptr_t)fl_map_get(rows->computed, v);
  if (known) return known == YES;
  bool is = !fl_ir_uses(op->regions[0], rows->size) && reads_own_rows(rows, op, op->regions[0]);
  fl_map_set(rows->computed, v, (void *)(intptr_t)(is ? YES : NO));
  return is;
}

/* What the operation reads of the rows: its arguments from there on; -1: it reads none of them. */
static int first_column(const FlOp *op, const FlOp *group) {
  if (op == group) return 0;
  if (op->code == FL_OP_AGGREGATE && op->args[1] == group->results[1]) return 2;
  return op->code == FL_OP_TAKE && op->args[0] == group->results[2] ? 1 : -1;
}

static bool are_columns(const Rows *rows, const FlOp *group) {
  for (const FlOp *op = group; op; op = op->next) {
    int from = first_column(op, group);
    for (int i = from; from >= 0 && i < op->n_args; i++)
      if (!is_column(rows, op->args[i])) return false;
  }
  return true;
}

static Rows rows_of_reader(FlAsks *a, const FlOp *reader) {
  return (Rows){.reader = reader,
                .size = reader->results[0],
                .computed = fl_map_make(a->arena),
                .body = reader->parent};
}

bool fl_asks_may_reread(FlAsks *a, const FlOp *reader, const FlOp *group) {
  if (!(reader->attrs.format->flags & FL_FORMAT_AGAIN) || !has_path(reader)) return false;
  Rows rows = rows_of_reader(a, reader);
  return are_columns(&rows, group);
}

/* ---- copies -------------------------------------------------------------------------------------------- */

static void copy_column(Reread *r, FlValue *v);

static void copy_captured(Reread *r, const FlRegion *region, const FlOp *map) {
  for (const FlOp *op = region->first; op; op = op->next) {
    for (int i = 0; i < op->n_args; i++)
      if (!fl_ir_made_within(op->args[i], map) && is_column(&r->rows, op->args[i]))
        copy_column(r, op->args[i]);
    for (int i = 0; i < op->n_regions; i++) copy_captured(r, op->regions[i], map);
  }
}

/* The MAP that gives v once more, of the other rows. */
static void copy_column(Reread *r, FlValue *v) {
  FlOp *map = v->op;
  if (is_read(&r->rows, v) || fl_subst_get(&r->subst, v) != v) return;
  copy_captured(r, map->regions[0], map);
  FlOp *place = map;
  for (const FlOp *op = r->group; op; op = op->prev)
    if (op == map) place = (FlOp *)(uintptr_t)r->group;
  FlBuilder b = fl_opt_before(place);
  FlModule *m = b.module;
  FlType1 *types = FL_NEW_ARRAY(m->arena, FlType1, map->n_results), index = fl_t_scalar(FL_I64);
  for (int k = 0; k < map->n_results; k++) types[k] = map->results[k]->type;
  b.span = map->span;
  FlOp *copy = fl_ir_op(&b, FL_OP_MAP, 1, &r->size, map->n_results, types, 1);
  copy->attrs = map->attrs;
  FlRegion *body = fl_ir_region(&b, copy, 0, 1, &index);
  FlBuilder in = {.module = m, .func = b.func, .region = body, .span = map->span};
  FlValue **yields = FL_NEW_ARRAY(m->arena, FlValue *, map->n_results);
  fl_ir_inline_region(&in, map->regions[0], body->params, yields);
  fl_ir_yield(body, m, map->n_results, yields);
  fl_subst_region(&r->subst, body);
  for (int k = 0; k < map->n_results; k++) fl_subst_narrow(&r->subst, map->results[k], copy->results[k]);
}

/* ---- columns in memory --------------------------------------------------------------------------------- */

static bool is_before(const FlAsks *a, const FlValue *v, const FlOp *group) {
  return v->region == a->func->body && (!v->op || fl_asks_position(a, v->op) < fl_asks_position(a, group));
}

static bool add_read(FlAsks *a, Rows *rows, const FlOp *group, FlValue *v) {
  if (fl_map_get(rows->has, v)) return true;
  if (v->type.rank != 1 || v->type.depth || !is_before(a, v, group)) return false;
  fl_map_set(rows->has, v, v);
  fl_vec_push(a->arena, &rows->columns, v);
  return true;
}

static bool add_column(FlAsks *a, Rows *rows, const FlOp *group, FlMap *added, FlValue *v);

/* What the loop reads of arrays by its own row. */
static bool add_loads(FlAsks *a, Rows *rows, const FlOp *group, FlMap *added, const FlOp *map,
                      const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    bool own = op->code == FL_OP_LOAD && op->n_args == 2 && op->args[1] == map->regions[0]->params[0];
    if (own && !add_column(a, rows, group, added, op->args[0])) return false;
    for (int i = 0; i < op->n_regions; i++)
      if (!add_loads(a, rows, group, added, map, op->regions[i])) return false;
  }
  return true;
}

/* v, or what it is computed of, is there before the GROUP. `added`: what is computed, and was asked already.
 */
static bool add_column(FlAsks *a, Rows *rows, const FlOp *group, FlMap *added, FlValue *v) {
  const FlOp *op = v->op;
  bool map = op && op->parent == rows->body && op->code == FL_OP_MAP && op->n_args == 1;
  if (map && !rows->size && is_before(a, op->args[0], group)) rows->size = op->args[0];
  if (!map || fl_map_get(rows->has, v) || !fl_asks_is_local(op, rows->size))
    return add_read(a, rows, group, v);
  if (fl_map_get(added, v)) return true;
  fl_map_set(added, v, v);
  return add_loads(a, rows, group, added, op, op->regions[0]);
}

/* false: something is not there before the GROUP, or no column of these rows. */
static bool find_columns(FlAsks *a, const FlOp *group, FlValue *key, Rows *rows) {
  FlMap *added = fl_map_make(a->arena);
  *rows = (Rows){.has = fl_map_make(a->arena), .computed = fl_map_make(a->arena), .body = a->func->body};
  if (!add_read(a, rows, group, key)) return false;
  for (const FlOp *op = group; op; op = op->next) {
    int from = first_column(op, group);
    for (int i = from; from >= 0 && i < op->n_args; i++)
      if (!add_column(a, rows, group, added, op->args[i])) return false;
  }
  return are_columns(rows, group);
}

bool fl_asks_may_regroup(FlAsks *a, const FlOp *group, FlValue *key) {
  Rows rows;
  return find_columns(a, group, key, &rows);
}

/* The GROUP, its aggregates and keys are of the rows once more. */
static void group_again(Reread *r, FlOp *group, FlValue **key) {
  for (int i = 0; i < 2 && key[i]; i++) key[i] = fl_subst_get(&r->subst, key[i]);
  for (FlOp *op = group; op; op = op->next) {
    int from = first_column(op, group);
    for (int i = from; from >= 0 && i < op->n_args; i++) {
      copy_column(r, op->args[i]);
      op->args[i] = fl_subst_get(&r->subst, op->args[i]);
    }
  }
  fl_subst_reset(&r->subst);
}

FlOp *fl_asks_reread(FlAsks *a, FlOp *reader, FlOp *group, FlValue **key) {
  FlBuilder b = fl_opt_before(group);
  FlType1 *types = FL_NEW_ARRAY(b.module->arena, FlType1, reader->n_results);
  for (int k = 0; k < reader->n_results; k++) types[k] = reader->results[k]->type;
  b.span = reader->span;
  FlOp *again = fl_ir_op(&b, FL_OP_READ_TABLE, reader->n_args, reader->args, reader->n_results, types, 0);
  again->attrs = reader->attrs;
  Reread r = {.rows = rows_of_reader(a, reader), .group = group, .size = again->results[0]};
  for (int k = 0; k < reader->n_results; k++)
    fl_subst_narrow(&r.subst, reader->results[k], again->results[k]);
  group_again(&r, group, key);
  return again;
}

FlOp *fl_asks_regroup(FlAsks *a, FlOp *group, FlValue **key) {
  FlBuilder b = fl_opt_before(group);
  Reread r = {.group = group};
  Rows *rows = &r.rows;
  if (!find_columns(a, group, key[0], rows)) return NULL;
  int n = rows->columns.n;
  FlValue **args = FL_NEW_ARRAY(b.module->arena, FlValue *, n + 2);
  FlType1 *types = FL_NEW_ARRAY(b.module->arena, FlType1, n + 1);
  args[0] = fl_ir_const_i(&b, FL_I64, -1);
  args[1] = rows->size ? (FlValue *)(uintptr_t)rows->size : fl_opt_dim(&b, key[0], 0);
  types[0] = fl_t_scalar(FL_I64);
  for (int i = 0; i < n; i++) {
    args[2 + i] = rows->columns.at[i];
    types[1 + i] = args[2 + i]->type;
  }
  FlOp *again = fl_ir_op(&b, FL_OP_ROW_PART, n + 2, args, n + 1, types, 0);
  r.size = again->results[0];
  for (int i = 0; i < n; i++) fl_subst_narrow(&r.subst, args[2 + i], again->results[1 + i]);
  group_again(&r, group, key);
  return again;
}
