/* llvm_steps.c: host code as a table of steps (FlSteps of flow/abi.h), where a region runs straight through
 * many operations: a column of a wide table, and the next one.
 *
 * In: steps that the plan has as rows (plan/steps.c), one after the other. Out: rows of the function's table,
 * and one call that runs them. Equal operations but for their operands are one kind of step: a runtime
 * operator with one description, or a function of its own (`main.step.3`) that takes the operands as
 * arguments, with one kernel. So the code that LLVM sees grows with the kinds, and only data with the
 * columns.
 *
 * What always holds: steps run in the order of the operations; a failure leaves the function as that of a
 * call does. Values that steps make have a place in memory, from where other code of the function loads them;
 * values that other code made are stored to one before the steps that take them. While a stage call is
 * running nothing is a step: what may fail asks it first. */
#include "codegen/llvm_internal.h"

enum { MANY_VALUES = 4096 };

struct FlTable {
  FlVec(int32_t) code;
  FlVec(Val) constants, kinds;
  FlMap *constant_of;          /* by interned description: 1 + the index */
  int open;                    /* where the rows begin that no call runs yet; -1: there are none */
  FlVec(const FlValue *) made; /* by them, read or written in loops */
  int n_values;                /* places */
  Val steps, places;           /* FlSteps, FlPlaces */
  Val values, n_values_at;     /* values: where they are, and what says how many */
  bool sees;                   /* a row says what its results are seen as */
  Val buffer;                  /* of an array that holds the values; NULL: they are on the stack */
};

/* ---- places -------------------------------------------------------------------------------------------- */

static int32_t place_of(int kind, int at) { return (int32_t)(at << FL_PLACE_BITS | kind); }

static void put(FlFn *f, int32_t number) { fl_vec_push(f->g->arena, &f->table->code, number); }

/* The number of what is described so, made by the caller when it is 0. */
static int known(FlFn *f, const FlMap *map, const FlText1 *description, const char **key) {
  *key = fl_ll_key(f->g, 'k', description->s, description->len);
  return (int)(intptr_t)fl_map_get(map, *key);
}

/* A scalar as a slot: 16 bytes. */
static Val slot_constant(FlGen *g, const FlOp *op) {
  FlDtype d = (FlDtype)op->results[0]->type.dtype;
  Val v = fl_ll_const(g, op), zero = fl_ll_i64(g, 0);
  if (fl_dtype_is_text(d)) return v;
  if (d == FL_F64) return LLVMConstStructInContext(g->cx, (Val[]){v, zero}, 2, false);
  if (d == FL_F32) return LLVMConstStructInContext(g->cx, (Val[]){v, fl_ll_i32(g, 0), zero}, 3, false);
  uint64_t bits = (uint64_t)op->attrs.i;
  unsigned width = 8 * fl_ll_size(d);
  if (d == FL_BOOL) bits &= 1;
  else if (width < 64) {
    bits &= (UINT64_C(1) << width) - 1;
    if (!fl_ll_is_unsigned(d) && bits >> (width - 1)) bits |= ~((UINT64_C(1) << width) - 1);
  }
  return LLVMConstStructInContext(g->cx, (Val[]){LLVMConstInt(g->i64, bits, false), zero}, 2, false);
}

static int32_t constant_place(FlFn *f, const FlOp *op) {
  FlText1 text = {0};
  const char *key;
  fl_plan_describe_constant(&text, op);
  int at = known(f, f->table->constant_of, &text, &key);
  fl_text_reset(&text);
  if (!at) {
    fl_vec_push(f->g->arena, &f->table->constants, slot_constant(f->g, op));
    at = f->table->constants.n;
    fl_map_set(f->table->constant_of, key, (void *)(intptr_t)at);
  }
  return place_of(FL_PLACE_CONSTANT, at - 1);
}

/* Where a step in r finds v: what other code made is stored to a place once a region. */
static int32_t operand(FlFn *f, const FlRegion *r, const FlValue *v) {
  if (v->op && v->op->code == FL_OP_CONST) return constant_place(f, v->op);
  FlHeld *h = fl_ll_held(f, v);
  if (h->placed) return h->place;
  if (!h->stored_in) h->stored = f->table->n_values++;
  if (h->stored_in != r) fl_ll_slot_put(f, f->table->values, (unsigned)h->stored, v->type, fl_ll_value(f, v));
  h->stored_in = r;
  return place_of(FL_PLACE_VALUE, h->stored);
}

void fl_ll_place(FlFn *f, const FlValue *v, int kind, int at) {
  FlHeld *h = fl_ll_held(f, v);
  h->placed = true;
  h->place = place_of(kind, at);
}

Val fl_ll_at_place(FlFn *f, const FlValue *v) {
  int32_t place = fl_ll_held(f, v)->place;
  int at = place >> FL_PLACE_BITS;
  switch (place & ((1 << FL_PLACE_BITS) - 1)) {
  case FL_PLACE_OWN: return LLVMBuildLoad2(f->b, f->g->ptr, fl_ll_at_byte(f, f->own, 8 * (int64_t)at), "");
  case FL_PLACE_PARAM: return fl_ll_slot_get(f, LLVMGetParam(f->fn, 1), (unsigned)at, v->type);
  }
  return fl_ll_slot_get(f, f->table->values, (unsigned)at, v->type);
}

/* ---- kinds --------------------------------------------------------------------------------------------- */

static void add_kind(FlFn *f, Val op, Val what, Val fn, int n_args, int n_results) {
  FlGen *g = f->g;
  Val none = fl_ll_null(g);
  Val parts[] = {op ? op : none, what ? what : none, fn ? fn : none, fl_ll_i32(g, n_args),
                 fl_ll_i32(g, n_results)};
  fl_vec_push(g->arena, &f->table->kinds, LLVMConstStructInContext(g->cx, parts, 5, false));
}

static Val operation(FlGen *g, const char *name) {
  return fl_ll_extern(g, name, g->i32, (Ty[]){g->ptr, g->ptr, g->ptr, g->ptr}, 4);
}

/* The operation as a function of its operands. */
static Val step_function(FlFn *host, const FlPlanStep *s) {
  FlGen *g = host->g;
  const char *name = fl_arena_printf(g->arena, "%s.step.%d", host->func->name, g->n_names++);
  Val fn = LLVMAddFunction(g->mod, name, g->host_fn);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  fl_ll_target_attrs(g, fn, 0);
  fl_ll_quick_attrs(g, fn);
  FlFn *f = fl_ll_fn_make(g, host->func, fn, FL_FORM_HOST);
  f->shared = true;
  fl_ll_op_begin(f, s->op, NULL);
  for (int i = 0; i < s->row->n; i++) {
    const FlValue *v = s->row->operands[i];
    fl_ll_set(f, v, fl_ll_slot_get(f, LLVMGetParam(fn, 1), (unsigned)i, v->type));
  }
  fl_ll_op_end(f, s->op, LLVMGetParam(fn, 2));
  return fn;
}

/* The kind of which this step is the first. */
static void make_kind(FlFn *f, const FlPlanStep *s) {
  FlGen *g = f->g;
  const FlOp *op = s->op;
  int n = s->row->n;
  const char *runs = op->code == FL_OP_ARRAY ? "fl_step_array" : "fl_run_op";
  switch (s->row->runs) {
  case FL_ROW_CALLS: add_kind(f, operation(g, runs), fl_ll_op_desc(g, op, 0), NULL, n, op->n_results); return;
  case FL_ROW_TASKS: {
    Val tasks = fl_ll_tasks(f, s->kernel, 0);
    add_kind(f, operation(g, "fl_map_tasks"), tasks, NULL, n, op->n_results);
    return;
  }
  case FL_ROW_FUNCTION: add_kind(f, NULL, NULL, step_function(f, s), n, op->n_results); return;
  }
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void put_result(FlFn *f, const FlValue *v) {
  FlHeld *h = fl_ll_held(f, v);
  if (fl_t_is_scalar(v->type)) fl_ll_place(f, v, FL_PLACE_VALUE, f->table->n_values++);
  else fl_ll_place(f, v, FL_PLACE_OWN, h->own - 1);
  put(f, h->place);
  if (fl_map_get(f->looped, v)) fl_vec_push(f->g->arena, &f->table->made, v);
}

void fl_ll_step(FlFn *f, const FlPlanStep *s) {
  FlTable *t = f->table;
  const FlOp *op = s->op;
  const FlPlanRow *row = s->row;
  if (!row) return; /* a constant: made anew where it is used */
  if (row->kind == t->kinds.n) make_kind(f, s);
  int32_t *places = FL_NEW_ARRAY(f->g->arena, int32_t, row->n + 1);
  for (int i = 0; i < row->n; i++) places[i] = operand(f, op->parent, row->operands[i]);
  if (t->open < 0) t->open = t->code.n;
  fl_ll_need_slots(f, (unsigned)(row->n > op->n_results ? row->n : op->n_results));
  put(f, row->kind);
  for (int i = 0; i < row->n; i++) put(f, places[i]);
  for (int i = 0; i < op->n_results; i++) put_result(f, op->results[i]);
  int at = t->code.n, sees = fl_ll_see(f, op->n_results, op->results, NULL);
  put(f, sees ? FL_STEP_SEEN : 0);
  if (sees) put(f, sees), t->sees = true;
  for (int i = 0; i < s->n_dead; i++) {
    int own = fl_ll_held(f, s->dead[i])->own;
    if (own == 0) continue;
    put(f, place_of(FL_PLACE_OWN, own - 1));
    t->code.at[at]++;
  }
}

void fl_ll_steps_run(FlFn *f) {
  FlTable *t = f->table;
  FlGen *g = f->g;
  if (!t || t->open < 0) return;
  Ty types[] = {g->ptr, g->ptr, g->i32, g->i32, g->ptr};
  Val args[] = {f->ctx, t->steps, fl_ll_i32(g, t->open), fl_ll_i32(g, t->code.n), t->places};
  t->open = -1;
  fl_ll_check_status(f, fl_ll_call(f, "fl_run_steps", g->i32, 5, types, args));
  for (int i = 0; i < t->made.n; i++) fl_ll_view(f, t->made.at[i]);
  t->made.n = 0;
}

bool fl_ll_steps_give(FlFn *f, const FlRegion *r, Val results) {
  FlTable *t = f->table;
  FlGen *g = f->g;
  const FlPlanBody *body = fl_plan_body(g->plan, r);
  if (!t || !body->table) return false;
  int32_t *places = FL_NEW_ARRAY(g->arena, int32_t, r->n_yields + 1);
  for (int i = 0; i < r->n_yields; i++) {
    const FlValue *v = r->yields[i];
    bool own = fl_ll_held(f, v)->own > 0 && body->moves[i];
    places[i] = own ? place_of(FL_PLACE_OWN, fl_ll_held(f, v)->own - 1) : operand(f, r, v);
  }
  int from = t->code.n;
  for (int i = 0; i < r->n_yields; i++) {
    bool own = (places[i] & ((1 << FL_PLACE_BITS) - 1)) == FL_PLACE_OWN && body->moves[i];
    put(f, places[i]);
    put(f, fl_t_is_scalar(r->yields[i]->type) ? FL_GIVE_VALUE : own ? FL_GIVE_OWN : FL_GIVE_REF);
  }
  Ty types[] = {g->ptr, g->i32, g->i32, g->ptr, g->ptr};
  Val args[] = {t->steps, fl_ll_i32(g, from), fl_ll_i32(g, r->n_yields), t->places, results};
  fl_ll_call(f, "fl_give_places", g->none, 5, types, args);
  return true;
}

/* ---- the table of a function --------------------------------------------------------------------------- */

static int count_scalars(const FlRegion *r) {
  int n = r->n_params;
  for (const FlOp *op = r->first; op; op = op->next) {
    n += op->n_results;
    for (int i = 0; i < op->n_regions && op->code != FL_OP_MAP; i++) n += count_scalars(op->regions[i]);
  }
  return n;
}

/* Many values are in an array, for stacks are small. */
static void make_values(FlFn *f, const FlRegion *body) {
  FlTable *t = f->table;
  FlGen *g = f->g;
  int n = count_scalars(body);
  if (n <= MANY_VALUES) {
    t->values = LLVMBuildArrayAlloca(f->entry_b, g->slot, fl_ll_i32(g, n + 1), "values");
    return;
  }
  Val size = fl_ll_i64(g, n);
  t->buffer = fl_ll_scratch(f);
  Val a = fl_ll_new_array(f, FL_TEXT, 1, &size);
  LLVMBuildStore(f->b, a, t->buffer);
  t->values = fl_ll_array_data(f, a);
}

void fl_ll_table_begin(FlFn *f, const FlRegion *body, Val params) {
  FlGen *g = f->g;
  if (!fl_plan_body(g->plan, body)->holds_table) return;
  FlTable *t = f->table = FL_NEW(g->arena, FlTable);
  t->open = -1;
  t->constant_of = fl_map_make(g->arena);
  t->steps = LLVMAddGlobal(g->mod, g->steps, "steps");
  make_values(f, body);
  t->places = fl_ll_alloca_n(f, g->ptr, sizeof(FlPlaces) / sizeof(void *), "places");
  Val parts[] = {t->values, f->own, params, f->args, f->results};
  for (int i = 0; i < 5; i++) LLVMBuildStore(f->b, parts[i], fl_ll_at_byte(f, t->places, 8 * (int64_t)i));
}

void fl_ll_table_leave(FlFn *f) {
  if (!f->table || !f->table->buffer) return;
  fl_ll_unref(f, LLVMBuildLoad2(f->b, f->g->ptr, f->table->buffer, ""));
}

static Val table_of(FlGen *g, Ty type, Val *items, int n, const char *name) {
  if (n == 0) return fl_ll_null(g);
  return fl_ll_global(g,
                      type ? LLVMConstArray2(type, items, (uint64_t)n)
                           : LLVMConstStructInContext(g->cx, items, (unsigned)n, false),
                      name);
}

void fl_ll_table_end(FlFn *f) {
  FlTable *t = f->table;
  FlGen *g = f->g;
  if (!t) return;
  Val code = fl_ll_string(g, (const char *)t->code.at, (size_t)t->code.n * sizeof *t->code.at);
  LLVMSetAlignment(code, sizeof(int32_t));
  Ty kind = t->kinds.n ? LLVMTypeOf(t->kinds.at[0]) : NULL;
  Val parts[] = {table_of(g, kind, t->kinds.at, t->kinds.n, "kinds"),
                 table_of(g, NULL, t->constants.at, t->constants.n, "constants"), code,
                 t->sees ? fl_ll_seen_list(g) : fl_ll_null(g)};
  LLVMSetInitializer(t->steps, LLVMConstStructInContext(g->cx, parts, 4, false));
  LLVMSetLinkage(t->steps, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(t->steps, true);
}
