/* read_beside.c: columns of a file that only a matrix has are read into it, so that they are never in
 * memory by themselves.
 *
 *   %n, %a, %b, %c = read_table F          %n, %c, %x = read_table F
 *   %x = beside %b, %a                ->     (of columns "c", then "b" and, beside it, "a")
 *
 * In: BESIDE of columns of one file that says how many rows it has, without nulls, each once, of which only
 * the size is read besides. Out: the matrix is what the file is read for; its columns stand behind the
 * others, in its order. What always holds: the reader stays in its place, with all columns that it had, so
 * errors are its own. */
#include "opt/opt_internal.h"

/* Columns of scalars, of a file any rows of which can be read. */
static bool is_counted(const FlOp *reader) {
  if (!reader || reader->code != FL_OP_READ_TABLE || reader->args[0]->type.rank || reader->places)
    return false;
  for (int i = 0; i < reader->attrs.n_columns; i++) {
    const FlColumnAttr *c = &reader->attrs.columns[i];
    if (c->flags & (FL_COLUMN_FILE | FL_COLUMN_ARRAYS) || c->dtype == FL_CATEGORY) return false;
  }
  return reader->attrs.format->flags & FL_FORMAT_COUNTED;
}

/* Which column of the reader the value is; -1: none without nulls. */
static int column_of(const FlOp *reader, const FlValue *v) {
  int at = 1;
  for (int i = 0; i < reader->attrs.n_columns; i++) {
    const FlColumnAttr *c = &reader->attrs.columns[i];
    if (at == v->index && v->type.rank == 1) return c->flags & FL_COLUMN_NULLS ? -1 : i;
    at += fl_ir_column_width(c);
  }
  return -1;
}

/* Nobody but `beside`, once, reads more of it than its size. */
static bool is_only_of(const FlUses *uses, const FlValue *v, const FlOp *beside) {
  int times = 0;
  for (uint32_t k = 0; k < fl_opt_n_uses(uses, v); k++) {
    const FlOp *op = fl_opt_use(uses, v, k);
    if (!op || (op != beside && op->code != FL_OP_DIM)) return false;
    times += op == beside;
  }
  return times == 1;
}

static bool may_be_read(const FlUses *uses, const FlOp *beside) {
  const FlOp *reader = beside->args[0]->op;
  if (!is_counted(reader) || reader->parent != beside->parent) return false;
  for (int i = 0; i < beside->n_args; i++) {
    const FlValue *v = beside->args[i];
    if (v->op != reader || column_of(reader, v) < 0 || !is_only_of(uses, v, beside)) return false;
  }
  return true;
}

/* The results and columns of the reader but for those of the matrix; then these. */
static void read_into(const FlUses *uses, FlOp *beside) {
  FlOp *reader = beside->args[0]->op;
  FlArena *arena = reader->parent->func->module->arena;
  FlAttrs *a = &reader->attrs;
  FlValue *matrix = beside->results[0];
  FlColumnAttr *columns = FL_NEW_ARRAY(arena, FlColumnAttr, a->n_columns);
  bool *moves = FL_NEW_ARRAY(arena, bool, a->n_columns);
  int n = 0, n_results = 1, at = 1;
  for (int i = 0; i < beside->n_args; i++) moves[column_of(reader, beside->args[i])] = true;
  for (int i = 0; i < a->n_columns; i++) {
    int width = fl_ir_column_width(&a->columns[i]);
    if (!moves[i]) columns[n++] = a->columns[i];
    for (int k = 0; k < width; k++, at++)
      if (!moves[i]) reader->results[n_results++] = reader->results[at];
  }
  for (int i = 0; i < beside->n_args; i++, n++) {
    FlValue *v = beside->args[i];
    columns[n] = a->columns[column_of(reader, v)];
    columns[n].flags |= i ? FL_COLUMN_BESIDE : 0;
    for (uint32_t k = 0; k < fl_opt_n_uses(uses, v); k++) { /* its size is that of the matrix */
      FlOp *dim = fl_opt_use(uses, v, k);
      if (dim != beside) dim->args[0] = matrix;
    }
  }
  fl_ir_remove(beside);
  matrix->op = reader;
  reader->results[n_results++] = matrix;
  reader->n_results = n_results;
  for (int k = 0; k < n_results; k++) reader->results[k]->index = k;
  a->columns = columns;
}

static void visit(const FlUses *uses, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    for (int i = 0; i < op->n_regions; i++) visit(uses, op->regions[i]);
    if (op->code == FL_OP_BESIDE && may_be_read(uses, op)) read_into(uses, op);
  }
}

void fl_opt_read_beside(FlModule *m) {
  for (FlFunc *f = m->first; f; f = f->next) {
    FlUses uses = fl_opt_uses(f);
    visit(&uses, f->body);
    fl_opt_uses_reset(&uses);
  }
}
