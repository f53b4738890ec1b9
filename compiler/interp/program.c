/* program.c: a module made ready to run: places for messages, descriptions of runtime calls, and the
 * FlProgram that stands for it in the runtime. */
#include "interp/interp_internal.h"

/* ---- places ------------------------------------------------------------------------------------------ */

static int32_t add_site(FlInterp *in, FlSpan span, FlFaultText said, const char *callee);

/* The site of the call within which something is; -1: none. */
static int32_t caller_of(FlInterp *in, FlSpan span) {
  if (span.call == 0 || in->sources == NULL) return -1;
  const FlCall *call = fl_sources_call_at(in->sources, span.call);
  int32_t known = (int32_t)(intptr_t)fl_map_get(in->call_sites, call);
  if (known != 0) return known - 1;
  int32_t site = add_site(in, call->place, (FlFaultText){0}, call->callee);
  fl_map_set(in->call_sites, call, (void *)(intptr_t)(site + 1));
  return site;
}

/* Operations at one place that say the same have one site, which is what a record of the run counts by. */
static int32_t add_site(FlInterp *in, FlSpan span, FlFaultText said, const char *callee) {
  const uint64_t words[] = {span.file,
                            span.start,
                            span.len,
                            span.call,
                            (uint64_t)said.faults,
                            (uint64_t)(uintptr_t)said.text,
                            (uint64_t)(uintptr_t)callee};
  const char *name = fl_intern(in->site_names, (const char *)words, sizeof words);
  int32_t known = (int32_t)(intptr_t)fl_map_get(in->site_numbers, name);
  if (known != 0) return known - 1;
  FlSite site = {.file = "",
                 .line_text = "",
                 .message = said.text,
                 .faults = said.faults,
                 .caller = caller_of(in, span),
                 .callee = callee};
  const FlSource *source =
      span.file != 0 && in->sources != NULL ? fl_sources_get(in->sources, span.file) : NULL;
  if (source != NULL) {
    int line, column;
    fl_source_position(source, span.start, &line, &column);
    uint32_t start, end;
    fl_source_line(source, line, &start, &end);
    uint32_t stop = span.start + span.len > end ? end : span.start + span.len;
    site.file = source->path;
    site.library = source->is_library;
    site.line = line;
    site.column = column;
    site.length = (int32_t)fl_source_points(source, span.start, stop);
    site.line_text = fl_map_get(in->line_texts, source->text + start);
    if (site.line_text == NULL) {
      site.line_text = fl_arena_strndup(in->arena, source->text + start, end - start);
      fl_map_set(in->line_texts, source->text + start, (void *)site.line_text);
    }
  }
  fl_vec_push(in->arena, &in->sites, site);
  fl_map_set(in->site_numbers, name, (void *)(intptr_t)in->sites.n);
  return in->sites.n - 1;
}

/* ---- operations -------------------------------------------------------------------------------------- */

static const FlType1 *types_of(FlInterp *in, int n, FlValue *const *values) {
  FlType1 *types = FL_NEW_ARRAY(in->arena, FlType1, n + 1);
  for (int i = 0; i < n; i++) types[i] = values[i]->type;
  return types;
}

/* The plan says it of host code; in a kernel the order of factors and of positions does. */
static bool runs_whole(const FlPlanStep *step, const FlOp *op) {
  if (op->attrs.i & FL_LOOP_BY_POSITION) return false;
  return step ? step->kernel && step->kernel_code : !fl_ir_reduces_in_order(op);
}

static int seen_site(void *in, FlSpan at) { return add_site(in, at, (FlFaultText){0}, NULL); }

static const int32_t *seen_of(FlInterp *in, int n, FlValue *const *values) {
  FlSeenList list = {0};
  int from = fl_plan_see(in->arena, &list, n, values, NULL, seen_site, in);
  return from ? list.numbers.at + from : NULL;
}

static void prepare_op(FlInterp *in, const FlOp *op) {
  OpNote *note = FL_NEW(in->arena, OpNote);
  bool calls = op->code == FL_OP_CALL || op->code == FL_OP_STAGE;
  note->site = add_site(in, op->span, fl_ir_fault_text(in->arena, op), calls ? op->attrs.func->callee : NULL);
  note->step = fl_plan_step(in->plan, op);
  if (note->step) note->seen = seen_of(in, op->n_results, op->results);
  if (op->code == FL_OP_EXTERN) note->extern_call = prepare_extern(in, op, note->site);
  if (op->code == FL_OP_REDUCE) {
    note->sites = FL_NEW_ARRAY(in->arena, int32_t, op->n_results);
    for (int i = 0; i < op->n_results; i++)
      note->sites[i] = add_site(in, fl_ir_place(op, i), fl_ir_fault_text(in->arena, op), NULL);
  }
  bool elements = op->code == FL_OP_MAP || op->code == FL_OP_REDUCE || op->code == FL_OP_COLLECT;
  note->whole = elements && runs_whole(note->step, op);
  bool runs = fl_op_info[op->code].op_class == FL_CLASS_RUNTIME;
  int arrays;
  if (note->step && note->step->kernel)
    note->rows = fl_plan_row_bytes(in->arena, note->step->kernel->n_uses, note->step->kernel->uses);
  if (runs || op->code == FL_OP_WITHIN)
    note->desc =
        (FlOpDesc){.op = (int32_t)op->code,
                   .site = note->site,
                   .n_args = op->n_args,
                   .n_results = op->n_results,
                   .arg_types = types_of(in, op->n_args, op->args),
                   .result_types = types_of(in, op->n_results, op->results),
                   .i = fl_plan_attr(in->plan, op),
                   .f = op->attrs.f,
                   .s = op->attrs.s,
                   .list = (const char *const *)op->attrs.list,
                   .n_list = op->attrs.n_list,
                   .n_columns = op->attrs.n_columns,
                   .columns = op->attrs.columns,
                   .options = op->attrs.options,
                   .n_options = op->attrs.n_options,
                   .acts = (fl_op_info[op->code].flags & FL_OPF_EFFECT) != 0,
                   .passes = (int32_t)fl_ir_passes(op),
                   .by_rows = runs && fl_plan_by_rows(in->plan, note->step),
                   .in_parts = runs ? (int32_t)fl_plan_in_parts(in->plan, note->step) : FL_PARTS_NONE,
                   .rows = runs ? fl_plan_row_bytes(in->arena, op->n_args, note->step->uses) : NULL,
                   .stays = runs ? fl_plan_stays(in->arena, in->plan, op, &arrays) : NULL,
                   .run = runs ? runtime_ops[op->code] : NULL,
                   .name = fl_ir_run_name(op),
                   .format = op->attrs.format ? runtime_format(op->attrs.format) : NULL};
  fl_map_set(in->notes, op, note);
}

static void prepare_region(FlInterp *in, const FlRegion *r) {
  for (const FlOp *op = r->first; op != NULL; op = op->next) {
    prepare_op(in, op);
    for (int i = 0; i < op->n_regions; i++) prepare_region(in, op->regions[i]);
  }
}

/* ---- host functions: self says which ----------------------------------------------------------------- */

typedef struct Entry {
  const FlInterp *in;
  const FlFunc *func;
} Entry;

static FlStatus run_entry(FlCtx *ctx, const FlSlot *args, FlSlot *results) {
  const Entry *e = fl_ctx_self(ctx);
  return fl_interp_call(e->in, ctx, e->func, args, results);
}

static const Entry *entry_of(FlInterp *in, const FlFunc *func) {
  Entry *e = FL_NEW(in->arena, Entry);
  *e = (Entry){in, func};
  return e;
}

/* Weak as the operators of calls.c: a program without products holds no BLAS. */
extern FlDigest blas_identity(void) __asm__("fl_blas_identity") __attribute__((weak));

static void add_stage(FlInterp *in, const FlFunc *func) {
  const FlRegion *b = func->body;
  const char **names = FL_NEW_ARRAY(in->arena, const char *, b->n_params + 1);
  for (int i = 0; i < b->n_params; i++) names[i] = fl_ir_arg_name(func, i);
  FlStage stage = {.name = func->name,
                   .fn = run_entry,
                   .code = func->key,
                   .machine = func->uses_blas ? blas_identity : NULL,
                   .n_args = b->n_params,
                   .n_results = b->n_yields,
                   .arg_types = types_of(in, b->n_params, b->params),
                   .result_types = types_of(in, b->n_yields, b->yields),
                   .result_type = func->result_type,
                   .memo = func->memo,
                   .sources = func->sources,
                   .arg_names = names,
                   .site = add_site(in, func->span, (FlFaultText){0}, NULL),
                   .self = entry_of(in, func)};
  fl_vec_push(in->arena, &in->stages, stage);
  fl_map_set(in->stage_index, func, (void *)(intptr_t)in->stages.n);
}

FlInterp *fl_interp_make(FlArena *arena, const FlPlan *plan, const FlSources *sources) {
  FlInterp *in = FL_NEW(arena, FlInterp);
  in->arena = arena;
  const FlModule *m = in->module = plan->module;
  in->plan = plan;
  in->sources = sources;
  in->notes = fl_map_make(arena);
  in->seen = fl_map_make(arena);
  in->line_texts = fl_map_make(arena);
  in->stage_index = fl_map_make(arena);
  in->call_sites = fl_map_make(arena);
  in->site_names = fl_interner_make(arena);
  in->site_numbers = fl_map_make(arena);
  for (const FlFunc *func = m->first; func != NULL; func = func->next) {
    prepare_region(in, func->body);
    fl_map_set(in->seen, func, (void *)(uintptr_t)seen_of(in, func->body->n_params, func->body->params));
    if (func->kind == FL_FUNC_STAGE) add_stage(in, func);
  }
  return in;
}

const FlProgram *fl_interp_program(FlInterp *in, const FlFunc *main) {
  const FlModule *m = in->module;
  FlParam *params = FL_NEW_ARRAY(in->arena, FlParam, m->n_params + 1);
  for (int i = 0; i < m->n_params; i++) {
    const FlIrParam *p = &m->params[i];
    params[i] = (FlParam){.name = p->name,
                          .type = p->type,
                          .help = p->help != NULL ? p->help : "",
                          .default_text = p->default_text,
                          .t = p->t,
                          .nullable = p->nullable};
  }
  FlProgram *program = FL_NEW(in->arena, FlProgram);
  *program = (FlProgram){.version = FL_PROGRAM_VERSION,
                         .name = m->name != NULL ? m->name : "",
                         .doc = m->doc != NULL ? m->doc : "",
                         .main = run_entry,
                         .params = params,
                         .stages = in->stages.at,
                         .sites = in->sites.at,
                         .n_params = m->n_params,
                         .n_stages = in->stages.n,
                         .n_sites = in->sites.n,
                         .externs = in->externs.at,
                         .n_externs = in->externs.n,
                         .bind = in->externs.n ? fl_externs_bind : NULL,
                         .about = m->about != NULL ? m->about : "",
                         .self = entry_of(in, main != NULL ? main : m->main)};
  return program;
}
