/* codes.c: what is computed of the texts of a column alone is computed of its different texts, where a column
 * knows them.
 *
 *   %m = map %n {                            %d = text_values %a
 *     %x = load %a, %i                       %t = map (dim %d) { %x = load %d, %j
 *     %r = contains %x, "BRASS"      ->                          %r = contains %x, "BRASS"
 *     .. %r .. }                                                 yield %r }
 *                                            %c = by_codes %t, %a
 *                                            %m = map %n { %r = load %c, %i
 *                                                          .. %r .. }
 *
 * In: loops over all rows of a column. What always holds: what moves cannot fail, so it may be computed of a
 * text that no row has; where codes are not known the texts of the column are those of its rows. Values under
 * nulls may become others, which nobody sees: each reader of them asks first whether they are there. */
#include "opt/opt_internal.h"

/* Of the values of a function that it had before, by id. */
typedef struct Known {
  const FlValue *of; /* the column of whose text it is computed; `none` of a constant */
  FlValue *made;     /* what it is where it was moved to */
  bool asked;        /* used by what is not computed of that column alone */
  bool stays;        /* a text that the loop makes in any case: so does what is computed of it */
} Known;

typedef struct Codes {
  FlArena *arena;
  const FlOp *loop;
  uint32_t n;
  Known *known;
  FlVec(FlValue *) columns; /* of the loop */
} Codes;

static const FlValue none;

/* What the value is computed of: NULL what the loop has otherwise. */
static const FlValue *of(const Codes *c, const FlValue *v) {
  if (!fl_ir_made_within(v, c->loop)) return &none;
  return v->id < c->n ? c->known[v->id].of : NULL;
}

/* The loop goes over as many elements as the column has; nothing says so of parameters of a function that are
 * read within their bounds, but that they are of one table. */
static bool has_all_rows(const FlValue *size, const FlValue *column) {
  if (!size->op && !column->op && size->region == column->region && !size->region->owner) return true;
  return fl_opt_is_dim(size, column, 0);
}

static bool is_column(const Codes *c, const FlOp *load) {
  const FlValue *a = load->n_args == 2 ? load->args[0] : NULL;
  return a && !(a->op && a->op->code == FL_OP_MAP) && load->attrs.i != 0 && a->type.dtype == FL_TEXT &&
         a->type.rank == 1 && !a->type.depth && load->args[1] == c->loop->regions[0]->params[0] &&
         !fl_ir_made_within(a, c->loop) && has_all_rows(c->loop->args[0], a);
}

/* The column of whose text alone the operation is computed. */
static const FlValue *column_of(const Codes *c, const FlOp *op) {
  const FlValue *all = &none;
  if (op->code == FL_OP_CONST) return all;
  if (op->code == FL_OP_LOAD) return is_column(c, op) ? op->args[0] : NULL;
  if (fl_op_info[op->code].op_class != FL_CLASS_SCALAR || op->n_regions || fl_ir_may_fault(op)) return NULL;
  for (int i = 0; i < op->n_args; i++) {
    const FlValue *one = of(c, op->args[i]);
    if (!one || (one != &none && all != &none && one != all)) return NULL;
    if (one != &none) all = one;
  }
  return all == &none ? NULL : all;
}

static void ask(Codes *c, const FlValue *v, const FlValue *column) {
  if (fl_ir_made_within(v, c->loop) && v->id < c->n && c->known[v->id].of != column)
    c->known[v->id].asked = true;
}

/* Notes what the operation reads, and all within it. */
static void ask_all(Codes *c, const FlOp *op, const FlValue *column) {
  for (int i = 0; i < op->n_args; i++) ask(c, op->args[i], column);
  for (int k = 0; k < op->n_regions; k++) {
    for (const FlOp *in = op->regions[k]->first; in; in = in->next) ask_all(c, in, NULL);
    for (int i = 0; i < op->regions[k]->n_yields; i++) ask(c, op->regions[k]->yields[i], NULL);
  }
}

static void add_column(Codes *c, FlValue *column) {
  for (int i = 0; i < c->columns.n; i++)
    if (c->columns.at[i] == column) return;
  fl_vec_push(c->arena, &c->columns, column);
}

static bool is_text(const FlValue *v) { return fl_dtype_is_text((FlDtype)v->type.dtype); }

/* Finds what is computed of the texts of columns; true: some of it stays, and is to be found anew. */
static bool find(Codes *c) {
  const FlRegion *r = c->loop->regions[0];
  bool again = false;
  c->columns.n = 0;
  for (FlOp *op = r->first; op; op = op->next) {
    const FlValue *column = column_of(c, op);
    for (int i = 0; i < op->n_results; i++) {
      Known *k = &c->known[op->results[i]->id];
      k->of = k->stays ? NULL : column;
      k->asked = false;
    }
    if (op->code == FL_OP_LOAD && column) add_column(c, op->args[0]);
  }
  if (!c->columns.n) return false;
  for (const FlOp *op = r->first; op; op = op->next)
    ask_all(c, op, op->n_results ? c->known[op->results[0]->id].of : NULL);
  for (int i = 0; i < r->n_yields; i++) ask(c, r->yields[i], NULL);
  for (const FlOp *op = r->first; op; op = op->next)
    for (int i = 0; op->code != FL_OP_LOAD && op->code != FL_OP_CONST && i < op->n_results; i++) {
      Known *k = &c->known[op->results[i]->id];
      if (!is_text(op->results[i]) || !k->of || !k->asked) continue;
      k->stays = again = true;
    }
  return again;
}

/* ---- what is moved ---------------------------------------------------------------------------------------
 */

static bool moves(const Codes *c, const FlValue *v, const FlValue *column) {
  return v->id < c->n && c->known[v->id].of == column && c->known[v->id].asked && fl_t_is_scalar(v->type) &&
         !is_text(v) && v->type.dtype != FL_CATEGORY && fl_dtype_info[v->type.dtype].kind != FL_KIND_REF;
}

/* The value of the loop, computed in `in` of an element of `texts`. */
static FlValue *copy(const Codes *c, FlBuilder *in, FlValue *texts, FlValue *v) {
  if (!fl_ir_made_within(v, c->loop)) return v;
  FlOp *op = v->op;
  FlValue **args = FL_NEW_ARRAY(c->arena, FlValue *, op->n_args + 1);
  FlType1 *types = FL_NEW_ARRAY(c->arena, FlType1, op->n_results + 1);
  const bool load = op->code == FL_OP_LOAD, constant = op->code == FL_OP_CONST;
  if (!constant && c->known[v->id].made) return c->known[v->id].made;
  for (int i = 0; !load && i < op->n_args; i++) args[i] = copy(c, in, texts, op->args[i]);
  for (int i = 0; i < op->n_results; i++) types[i] = op->results[i]->type;
  in->span = op->span;
  FlOp *to = load ? fl_ir_load(in, texts, 1, in->region->params, true)->op
                  : fl_ir_op(in, op->code, op->n_args, args, op->n_results, types, 0);
  to->attrs = op->attrs;
  for (int i = 0; i < op->n_results; i++) c->known[op->results[i]->id].made = to->results[i];
  return to->results[v->index];
}

/* Moves what is asked of the texts of a column. */
static void move(const Codes *c, FlOp *loop, FlValue *column) {
  FlVec(FlValue *) moved = {0};
  FlRegion *r = loop->regions[0];
  for (FlOp *op = r->first; op; op = op->next)
    for (int i = 0; i < op->n_results; i++)
      if (moves(c, op->results[i], column)) fl_vec_push(c->arena, &moved, op->results[i]);
  if (!moved.n) return;
  FlBuilder b = fl_opt_before(loop);
  const FlType1 text = fl_t_array(FL_TEXT, 1), index = fl_t_scalar(FL_I64);
  FlValue *texts = fl_ir_op(&b, FL_OP_TEXT_VALUES, 1, &column, 1, &text, 0)->results[0];
  FlValue *size = fl_ir_dim(&b, texts, 0);
  FlType1 *types = FL_NEW_ARRAY(c->arena, FlType1, moved.n);
  FlValue **yields = FL_NEW_ARRAY(c->arena, FlValue *, moved.n);
  for (int i = 0; i < moved.n; i++) types[i] = fl_t_array((FlDtype)moved.at[i]->type.dtype, 1);
  FlOp *map = fl_ir_op(&b, FL_OP_MAP, 1, &size, moved.n, types, 1);
  FlBuilder in = b;
  in.region = fl_ir_region(&b, map, 0, 1, &index);
  in.before = NULL;
  for (int i = 0; i < moved.n; i++) yields[i] = copy(c, &in, texts, moved.at[i]);
  fl_ir_yield(map->regions[0], b.module, moved.n, yields);
  for (int i = 0; i < moved.n; i++) {
    FlValue *args[] = {map->results[i], column};
    FlValue *all = fl_ir_op(&b, FL_OP_BY_CODES, 2, args, 1, &types[i], 0)->results[0];
    FlBuilder at = fl_opt_before(moved.at[i]->op);
    FlValue *own = fl_ir_load(&at, all, 1, r->params, true);
    own->op->attrs.i = 2;
    fl_ir_replace_in(r, moved.at[i], own);
  }
}

static void look_in(Codes *c, FlOp *loop) {
  c->loop = loop;
  while (find(c)) {}
  for (int i = 0; i < c->columns.n; i++) move(c, loop, c->columns.at[i]);
}

static void visit(Codes *c, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    const bool loop = fl_opt_is_loop(op) && op->code != FL_OP_SCAN;
    const bool kernel = loop && fl_ir_is_kernel(op->regions[0]);
    if (kernel && op->n_args == 1 && op->regions[0]->n_params == 1) look_in(c, op);
    for (int i = 0; !kernel && (loop || op->code == FL_OP_IF) && i < op->n_regions; i++)
      visit(c, op->regions[i]);
  }
}

void fl_opt_codes(FlModule *module) {
  for (FlFunc *f = module->first; f; f = f->next) {
    Codes c = {.arena = fl_arena_new(), .n = f->next_id};
    c.known = FL_NEW_ARRAY(c.arena, Known, c.n);
    visit(&c, f->body);
    fl_arena_free(c.arena);
  }
}
