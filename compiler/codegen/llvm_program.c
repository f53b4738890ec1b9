/* llvm_program.c: the constant tables of a compiled script: places in the source, types and descriptions of
 * runtime calls, parameters, stages, and the FlProgram that ties them together. */
#include "codegen/llvm_internal.h"

static Val string(FlGen *g, const char *s) { return s ? fl_ll_string(g, s, strlen(s)) : fl_ll_null(g); }

/* Tables that hold the same are one: LLVM looks at all that share a value when it drops one of them. */
static Val array_of(FlGen *g, Ty t, Val *items, int n) {
  if (n == 0) return fl_ll_null(g);
  Val init = LLVMConstArray2(t, items, (uint64_t)n), table = fl_map_get(g->made, init);
  if (table) return table;
  table = fl_ll_global(g, init, "table");
  fl_map_set(g->made, init, table);
  return table;
}

static Val type_constant(FlGen *g, FlType1 t) {
  Val bytes[] = {LLVMConstInt(g->i8, t.dtype, false), LLVMConstInt(g->i8, t.rank, false),
                 LLVMConstInt(g->i8, t.depth, false), LLVMConstInt(g->i8, 0, false)};
  return LLVMConstArray2(g->i8, bytes, 4);
}

Val fl_ll_types(FlGen *g, int n, FlValue *const *values) {
  FlText1 bytes = {0};
  for (int i = 0; i < n; i++) {
    FlType1 t = values[i]->type;
    for (int k = 0; k < 3; k++) fl_text_addc(&bytes, (char[]){(char)t.dtype, (char)t.rank, (char)t.depth}[k]);
  }
  const char *key = fl_ll_key(g, 't', bytes.s, bytes.len);
  fl_text_reset(&bytes);
  Val table = fl_map_get(g->made, key);
  if (table) return table;
  Val *items = FL_NEW_ARRAY(g->arena, Val, n + 1);
  for (int i = 0; i < n; i++) items[i] = type_constant(g, values[i]->type);
  table = array_of(g, g->type1, items, n);
  fl_map_set(g->made, key, table);
  return table;
}

/* ---- places ---------------------------------------------------------------------------------------- */

static int site_of(FlGen *g, FlSpan span, FlFaultText said, const char *callee) {
  FlText1 bytes = {0};
  if (g->unit) fl_text_addf(&bytes, "%s ", g->unit->name);
  fl_text_addf(&bytes, "%u %u %u %u %d %d %s%c%s", span.file, span.start, span.len, span.call, said.faults,
               said.text != NULL, said.text ? said.text : "", callee ? 1 : 2, callee ? callee : "");
  const char *key = fl_ll_key(g, 'p', bytes.s, bytes.len);
  fl_text_reset(&bytes);
  int known = (int)(intptr_t)fl_map_get(g->site_numbers, key);
  if (known) return known - 1;
  FlLlSite site = {span, said, callee, -1};
  if (span.call && g->sources && !g->unit) { /* the tables of the program have those of a unit's */
    const FlCall *call = fl_sources_call_at(g->sources, span.call);
    site.caller = fl_ll_call_site(g, call->place, call->callee);
  }
  fl_vec_push(g->arena, &g->sites, site);
  fl_map_set(g->site_numbers, key, (void *)(intptr_t)g->sites.n);
  return g->sites.n - 1;
}

int fl_ll_site(FlGen *g, FlSpan span, FlFaultText said) { return site_of(g, span, said, NULL); }

int fl_ll_call_site(FlGen *g, FlSpan span, const char *callee) {
  return site_of(g, span, (FlFaultText){0}, callee);
}

/* The number that a name stands for, and `more`, as an i32. */
static Val named_number(FlGen *g, const char *name, int more) {
  Val at = LLVMGetNamedGlobal(g->mod, name), by = fl_ll_i64(g, more);
  if (!at) at = LLVMAddGlobal(g->mod, g->i8, name);
  if (more) at = LLVMConstGEP2(g->i8, at, &by, 1);
  return LLVMConstTrunc(LLVMConstPtrToInt(at, g->i64), g->i32);
}

Val fl_ll_site_constant(FlGen *g, int site) {
  if (!g->unit) return fl_ll_i32(g, site);
  return named_number(g, fl_arena_printf(g->arena, "flow.at.%s", g->unit->name), site);
}

Val fl_ll_site_number(FlFn *f, int site) {
  FlGen *g = f->g;
  if (!g->unit) return fl_ll_i32(g, site);
  if (!f->first_site && !g->first_site)
    g->first_site = fl_ll_global(g, fl_ll_site_constant(g, 0), "first.site");
  Val first = f->first_site ? f->first_site : LLVMBuildLoad2(f->b, g->i32, g->first_site, "");
  return site ? LLVMBuildAdd(f->b, first, fl_ll_i32(g, site), "") : first;
}

static Val site_constant(FlGen *g, const FlLlSite *site, Ty t) {
  FlSpan span = site->span;
  const FlSource *source = span.file && g->sources ? fl_sources_get(g->sources, span.file) : NULL;
  const char *file = "";
  Val text = NULL;
  int line = 0, column = 0;
  uint32_t length = 0;
  if (source) {
    file = source->path;
    fl_source_position(source, span.start, &line, &column);
    uint32_t start, end;
    fl_source_line(source, line, &start, &end);
    text = fl_map_get(g->made, source->text + start); /* one for all places in the line */
    if (!text) text = fl_ll_string(g, source->text + start, end - start);
    fl_map_set(g->made, source->text + start, text);
    uint32_t stop = span.start + span.len > end ? end : span.start + span.len;
    length = fl_source_points(source, span.start, stop);
  }
  Val parts[] = {string(g, file),
                 fl_ll_i32(g, line),
                 fl_ll_i32(g, column),
                 fl_ll_i32(g, length),
                 text ? text : string(g, ""),
                 string(g, site->said.text),
                 fl_ll_i32(g, site->said.faults),
                 fl_ll_i32(g, site->caller),
                 string(g, site->callee),
                 fl_ll_i32(g, source && source->is_library)};
  return LLVMConstNamedStruct(t, parts, 10);
}

static Val site_table(FlGen *g) {
  Ty fields[] = {g->ptr, g->i32, g->i32, g->i32, g->ptr, g->ptr, g->i32, g->i32, g->ptr, g->i32};
  Ty t = LLVMStructCreateNamed(g->cx, "FlSite");
  LLVMStructSetBody(t, fields, 10, false);
  int n = g->sites.n;
  Val *items = FL_NEW_ARRAY(g->arena, Val, n + 1);
  for (int i = 0; i < n; i++) items[i] = site_constant(g, &g->sites.at[i], t);
  return array_of(g, t, items, n);
}

/* ---- runtime calls --------------------------------------------------------------------------------- */

/* The operators of a reader share their list. */
static Val list_constant(FlGen *g, const FlAttrs *a) {
  Val known = fl_map_get(g->lists, a->list);
  if (known && LLVMGetArrayLength2(LLVMGlobalGetValueType(known)) == (uint64_t)a->n_list) return known;
  Val *list = FL_NEW_ARRAY(g->arena, Val, a->n_list + 1);
  for (int i = 0; i < a->n_list; i++) list[i] = string(g, a->list[i]);
  Val v = array_of(g, g->ptr, list, a->n_list);
  if (a->n_list) fl_map_set(g->lists, a->list, v);
  return v;
}

static Val columns_constant(FlGen *g, const FlAttrs *a) {
  Val known = fl_map_get(g->lists, a->columns);
  if (known && LLVMGetArrayLength2(LLVMGlobalGetValueType(known)) == (uint64_t)a->n_columns) return known;
  Ty fields[] = {g->ptr, g->ptr, g->i32, g->i32};
  Ty t = LLVMStructTypeInContext(g->cx, fields, 4, false);
  Val *items = FL_NEW_ARRAY(g->arena, Val, a->n_columns + 1);
  for (int i = 0; i < a->n_columns; i++) {
    const FlColumnAttr *c = &a->columns[i];
    Val parts[] = {string(g, c->name), string(g, c->made), fl_ll_i32(g, c->flags), fl_ll_i32(g, c->dtype)};
    items[i] = LLVMConstStructInContext(g->cx, parts, 4, false);
  }
  Val v = array_of(g, t, items, a->n_columns);
  if (a->n_columns) fl_map_set(g->lists, a->columns, v);
  return v;
}

static Val options_constant(FlGen *g, const FlAttrs *a) {
  if (!a->n_options) return fl_ll_null(g);
  Ty fields[] = {g->ptr, g->ptr, g->i64, g->i32};
  Ty t = LLVMStructTypeInContext(g->cx, fields, 4, false);
  Val *items = FL_NEW_ARRAY(g->arena, Val, a->n_options);
  for (int i = 0; i < a->n_options; i++) {
    const FlOptionAttr *o = &a->options[i];
    Val parts[] = {string(g, o->name), string(g, o->text), fl_ll_i64(g, o->number), fl_ll_i32(g, o->found)};
    items[i] = LLVMConstStructInContext(g->cx, parts, 4, false);
  }
  return array_of(g, t, items, a->n_options);
}

/* The reader or writer of the format, which the runtime has by this name. */
static Val format_constant(FlGen *g, const FlFormatInfo *format) {
  if (!format) return fl_ll_null(g);
  return fl_ll_extern(g, fl_arena_printf(g->arena, "fl_%s", format->name), g->none, NULL, 0);
}

Val fl_ll_rows_constant(FlGen *g, int n, const FlUse *uses) {
  if (n == 0) return fl_ll_null(g);
  return fl_ll_string(g, (const char *)fl_plan_row_bytes(g->arena, n, uses), (size_t)n);
}

Val fl_ll_op_desc(FlGen *g, const FlOp *op, int sees) {
  const FlAttrs *a = &op->attrs;
  const char *name = fl_op_info[op->code].name;
  const FlPlanStep *s = fl_plan_step(g->plan, op); /* of a WITHIN in a region NULL */
  bool runs = s && s->kind == FL_STEP_BULK;
  int arrays = 0;
  const uint8_t *stays = runs ? fl_plan_stays(g->arena, g->plan, op, &arrays) : NULL;
  Val run = fl_ll_null(g);
  if (runs)
    run = fl_ll_extern(g, fl_arena_printf(g->arena, "fl_rt_%s", name), g->i32,
                       (Ty[]){g->ptr, g->ptr, g->ptr, g->ptr}, 4);
  Val parts[] = {fl_ll_i32(g, op->code),
                 fl_ll_site_constant(g, fl_ll_site(g, op->span, (FlFaultText){0})),
                 fl_ll_i32(g, op->n_args),
                 fl_ll_i32(g, op->n_results),
                 fl_ll_types(g, op->n_args, op->args),
                 fl_ll_types(g, op->n_results, op->results),
                 fl_ll_i64(g, fl_plan_attr(g->plan, op)),
                 LLVMConstReal(g->f64, a->f),
                 string(g, a->s),
                 list_constant(g, a),
                 fl_ll_i32(g, a->n_list),
                 fl_ll_i32(g, a->n_columns),
                 columns_constant(g, a),
                 options_constant(g, a),
                 format_constant(g, a->format),
                 fl_ll_i32(g, a->n_options),
                 fl_ll_i32(g, (fl_op_info[op->code].flags & FL_OPF_EFFECT) != 0),
                 fl_ll_i32(g, (int)fl_ir_passes(op)),
                 fl_ll_i32(g, runs ? fl_plan_codes(g->plan, op) : 0),
                 fl_ll_i32(g, runs && fl_plan_by_rows(g->plan, s)),
                 fl_ll_i32(g, runs ? (int)fl_plan_in_parts(g->plan, s) : FL_PARTS_NONE),
                 runs ? fl_ll_rows_constant(g, op->n_args, s->uses) : fl_ll_null(g),
                 arrays ? fl_ll_string(g, (const char *)stays, (size_t)arrays) : fl_ll_null(g),
                 run,
                 string(g, fl_ir_run_name(op)),
                 fl_ll_seen(g, sees),
                 fl_ll_i64(g, runs ? fl_plan_apart(g->plan, op) : 0),
                 fl_ll_i32(g, s ? (int)s->strips : 0)};
  return fl_ll_global(g, LLVMConstStructInContext(g->cx, parts, sizeof parts / sizeof *parts, false), "desc");
}

/* ---- what is seen ---------------------------------------------------------------------------------- */

static int seen_site(void *g, FlSpan at) { return fl_ll_site(g, at, (FlFaultText){0}); }

int fl_ll_see(FlFn *f, int n, FlValue *const *values, const int *at) {
  return f->shared || f->loop ? 0 : fl_plan_see(f->g->arena, &f->g->seen, n, values, at, seen_site, f->g);
}

Val fl_ll_seen_list(FlGen *g) {
  if (!g->seen_at) g->seen_at = LLVMAddGlobal(g->mod, g->i8, "seen.list");
  return g->seen_at;
}

Val fl_ll_seen(FlGen *g, int from) {
  if (!from) return fl_ll_null(g);
  Val by = fl_ll_i64(g, from * (int64_t)sizeof(int32_t));
  return LLVMConstGEP2(g->i8, fl_ll_seen_list(g), &by, 1);
}

void fl_ll_seen_end(FlGen *g) {
  if (g->seen_at) {
    Val rest = LLVMConstStringInContext(g->cx, (const char *)(g->seen.numbers.at + 1),
                                        (unsigned)((g->seen.numbers.n - 1) * (int)sizeof(int32_t)), true);
    Val parts[] = {fl_ll_site_constant(g, 0), rest};
    Val list = fl_ll_global(g, LLVMConstStructInContext(g->cx, parts, 2, false), "seen");
    LLVMReplaceAllUsesWith(g->seen_at, list);
    LLVMDeleteGlobal(g->seen_at);
  }
  g->seen = (FlSeenList){0};
  g->seen_at = NULL;
}

/* ---- parameters and stages ------------------------------------------------------------------------- */

static Val param_table(FlGen *g) {
  Ty fields[] = {g->ptr, g->ptr, g->ptr, g->ptr, g->type1, g->i32};
  Ty t = LLVMStructTypeInContext(g->cx, fields, 6, false);
  int n = g->ir->n_params;
  Val *items = FL_NEW_ARRAY(g->arena, Val, n + 1);
  for (int i = 0; i < n; i++) {
    const FlIrParam *p = &g->ir->params[i];
    Val parts[] = {string(g, p->name),         string(g, p->type),     string(g, p->help ? p->help : ""),
                   string(g, p->default_text), type_constant(g, p->t), fl_ll_i32(g, p->nullable)};
    items[i] = LLVMConstStructInContext(g->cx, parts, 6, false);
  }
  return array_of(g, t, items, n);
}

static int stage_number(FlGen *g, const FlFunc *func) {
  int known = (int)(intptr_t)fl_map_get(g->stage_index, func);
  if (known) return known - 1;
  fl_vec_push(g->arena, &g->stages, func);
  fl_map_set(g->stage_index, func, (void *)(intptr_t)g->stages.n);
  return g->stages.n - 1;
}

Val fl_ll_stage(FlFn *f, const FlFunc *func) {
  FlGen *g = f->g;
  if (!g->unit) return fl_ll_i32(g, stage_number(g, func));
  Val at = fl_map_get(g->stage_index, func);
  if (!at)
    at = fl_ll_global(g, named_number(g, fl_arena_printf(g->arena, "flow.stage.%s", func->name), 0), "stage");
  fl_map_set(g->stage_index, func, at);
  return LLVMBuildLoad2(f->b, g->i32, at, "");
}

static Val stage_table(FlGen *g) {
  Ty digest = LLVMArrayType2(g->i64, 2);
  Ty fields[] = {g->ptr, g->ptr, digest, g->ptr, g->i32, g->i32, g->ptr,
                 g->ptr, g->ptr, g->i32, g->i32, g->ptr, g->ptr, g->ptr};
  Ty t = LLVMStructTypeInContext(g->cx, fields, 14, false);
  int n = g->stages.n;
  Val *items = FL_NEW_ARRAY(g->arena, Val, n + 1);
  for (int i = 0; i < n; i++) {
    const FlFunc *s = g->stages.at[i];
    const FlRegion *b = s->body;
    Val *names = FL_NEW_ARRAY(g->arena, Val, b->n_params + 1);
    for (int k = 0; k < b->n_params; k++) names[k] = string(g, fl_ir_arg_name(s, k));
    Val key[] = {LLVMConstInt(g->i64, s->key.lo, false), LLVMConstInt(g->i64, s->key.hi, false)};
    Val parts[] = {string(g, s->name),
                   fl_map_get(g->functions, s),
                   LLVMConstArray2(g->i64, key, 2),
                   s->uses_blas ? fl_ll_extern(g, "fl_blas_identity", digest, NULL, 0) : fl_ll_null(g),
                   fl_ll_i32(g, b->n_params),
                   fl_ll_i32(g, b->n_yields),
                   fl_ll_types(g, b->n_params, b->params),
                   fl_ll_types(g, b->n_yields, b->yields),
                   s->result_type ? string(g, s->result_type) : fl_ll_null(g),
                   fl_ll_i32(g, s->memo),
                   fl_ll_i32(g, fl_ll_site(g, s->span, (FlFaultText){0})),
                   s->sources ? string(g, s->sources) : fl_ll_null(g),
                   array_of(g, g->ptr, names, b->n_params),
                   fl_ll_null(g)};
    items[i] = LLVMConstStructInContext(g->cx, parts, 14, false);
  }
  return array_of(g, t, items, n);
}

/* Of a program that is made of units. */
static void take_tables(FlGen *g, const FlCodeTables *t) {
  for (int i = 0; i < t->n_stages; i++) (void)stage_number(g, t->stages[i]);
  for (int i = 0; i < t->n_sites; i++) {
    FlLlSite site = {t->sites[i].span, t->sites[i].said, t->sites[i].callee, -1};
    fl_vec_push(g->arena, &g->sites, site);
  }
  for (int i = 0; i < t->n_sites; i++) {
    FlSpan span = t->sites[i].span;
    if (!span.call || !g->sources) continue;
    const FlCall *call = fl_sources_call_at(g->sources, span.call);
    int caller = fl_ll_call_site(g, call->place, call->callee);
    g->sites.at[i].caller = caller;
  }
}

void fl_ll_program(FlGen *g) {
  if (g->options.tables) take_tables(g, g->options.tables);
  Val stages = stage_table(g), params = param_table(g), externs = fl_ll_extern_table(g),
      sites = site_table(g);
  bool bind = g->externs.n > 0 && !g->options.linked_externs;
  Ty binds[] = {g->ptr, g->ptr, g->i32};
  Val main = g->ir->main ? fl_map_get(g->functions, g->ir->main) : NULL;
  Val parts[] = {fl_ll_i32(g, FL_PROGRAM_VERSION),
                 string(g, g->ir->name ? g->ir->name : ""),
                 string(g, g->ir->doc ? g->ir->doc : ""),
                 main ? main : fl_ll_null(g),
                 params,
                 stages,
                 sites,
                 fl_ll_i32(g, g->ir->n_params),
                 fl_ll_i32(g, g->stages.n),
                 fl_ll_i32(g, g->sites.n),
                 fl_ll_null(g),
                 externs,
                 bind ? fl_ll_extern(g, "fl_externs_bind", g->i32, binds, 3) : fl_ll_null(g),
                 fl_ll_i32(g, g->externs.n),
                 string(g, g->ir->about ? g->ir->about : ""),
                 fl_ll_i64(g, (int64_t)(g->options.binary ? fl_ll_features(g) : 0))};
  Val program = fl_ll_global(g, LLVMConstStructInContext(g->cx, parts, 16, false), "flow_program");
  LLVMSetLinkage(program, LLVMExternalLinkage);
  LLVMSetUnnamedAddress(program, LLVMNoUnnamedAddr);
  g->program = program;
}
