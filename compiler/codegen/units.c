/* units.c: the code of a program function by function, so that what did not change is not made again.
 *
 * In: a plan, and a store of code. Out: an object, as the generator makes it of the whole. The functions of
 * the plan are cut into units: the script, a larger stage, some small ones. The key of a unit is the text of
 * its functions (the IR behind all passes) and all else that its code depends on. Places in the source and
 * messages of checks (which may say lines) are no part of it: a unit's code counts its places from the first
 * one, and what is remembered says of each which operation it is of. So code stays where lines only move, and
 * between scripts. What is not remembered is made at once, and then cut into units.
 *
 * What always holds: what the code of a unit computes depends on its key alone. Of the functions that it
 * calls it knows their names. Which places and messages are the same is part of the key, as equal ones have
 * one number. */
#include "codegen/codegen.h"

#include <stdlib.h>

enum {
  MANY = 150,   /* operators of a program that is worth cutting, */
  MOST = 30000, /* and that can be: an object has 65,000 sections at most, a constant takes one */
  LARGE = 60,   /* and of a function that is a unit by itself; */
  FULL = 150    /* small ones share one up to this */
};

/* ---- places as bytes --------------------------------------------------------------------------------- */

static void put_u32(FlText1 *out, uint32_t v) { fl_text_add(out, (const char *)&v, sizeof v); }

static void put_text(FlText1 *out, const char *s) {
  put_u32(out, s ? (uint32_t)strlen(s) + 1 : 0);
  if (s) fl_text_addz(out, s);
}

static bool take_u32(const char **at, const char *end, uint32_t *out) {
  if ((size_t)(end - *at) < sizeof *out) return false;
  memcpy(out, *at, sizeof *out);
  *at += sizeof *out;
  return true;
}

static bool take_text(FlArena *arena, const char **at, const char *end, const char **out) {
  uint32_t n;
  *out = NULL;
  if (!take_u32(at, end, &n)) return false;
  if (!n) return true;
  if ((size_t)(end - *at) < n - 1) return false;
  *out = fl_arena_strndup(arena, *at, n - 1);
  *at += n - 1;
  return true;
}

void fl_code_site_put(FlText1 *out, const FlCodeSite *site) {
  const uint32_t numbers[] = {site->span.file, site->span.start, site->span.len, site->span.call,
                              (uint32_t)site->said.faults};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) put_u32(out, numbers[i]);
  put_text(out, site->said.text);
  put_text(out, site->callee);
}

bool fl_code_site_take(FlArena *arena, const char **at, const char *end, FlCodeSite *out) {
  uint32_t numbers[5];
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!take_u32(at, end, &numbers[i])) return false;
  *out = (FlCodeSite){.span = {(uint16_t)numbers[0], numbers[1], numbers[2], numbers[3]},
                      .said = {.faults = (int32_t)numbers[4]}};
  return take_text(arena, at, end, &out->said.text) && take_text(arena, at, end, &out->callee);
}

/* ---- units ------------------------------------------------------------------------------------------- */

typedef struct Unit {
  FlVec(const FlFunc *) funcs;
  FlVec(FlSpan) spans;          /* the different places of their operations, in the order of the text */
  FlMap *number;                /* place -> 1 + its number there */
  FlVec(const char *) messages; /* of their checks, likewise; interned */
  FlMap *message_number;
  FlText1 key;
  FlVec(FlCodeSite) sites;
  FlObject object;
} Unit;

typedef struct Cut {
  FlArena *arena;
  const FlPlan *plan;
  const FlSources *sources;
  const FlCodegenOptions *options;
  FlInterner *interner;
  const FlCodeStore *store;
  FlCodegenFn *generate;
  FlVec(Unit *) units;
  FlVec(const FlFunc *) stages;
  FlObject made, tables, part; /* of malloc's: freed also where the work is left (fl_guard) */
  FlObject out;
} Cut;

typedef FlVec(const char *) Names;

/* false: the program is one piece. */
static bool cut_program(Cut *c) {
  int all = 0, in_last = 0;
  Unit *last = NULL;
  for (const FlFunc *f = c->plan->module->first; f; f = f->next) {
    if (fl_ir_n_of(f->body, FL_OP_EXTERN)) return false; /* its table is a variable of the whole program */
    int n = fl_ir_n_ops(f->body);
    all += n;
    if (f->kind == FL_FUNC_STAGE) fl_vec_push(c->arena, &c->stages, f);
    bool alone = f == c->plan->module->main || n >= LARGE;
    if (alone || !last || in_last + n > FULL) {
      Unit *u = FL_NEW(c->arena, Unit);
      fl_vec_push(c->arena, &c->units, u);
      fl_vec_push(c->arena, &u->funcs, f);
      if (alone) continue;
      last = u;
      in_last = 0;
    } else {
      fl_vec_push(c->arena, &last->funcs, f);
    }
    in_last += n;
  }
  return all >= MANY && all <= MOST;
}

/* ---- keys -------------------------------------------------------------------------------------------- */

static const char *span_name(Cut *c, FlSpan span) {
  const uint32_t words[] = {span.file, span.start, span.len, span.call};
  return fl_intern(c->interner, (const char *)words, sizeof words);
}

/* 1 + the number of the place in the unit; 0: it is none of its operations'. */
static uint32_t span_number(Cut *c, const Unit *u, FlSpan span) {
  return (uint32_t)(uintptr_t)fl_map_get(u->number, span_name(c, span));
}

/* Of a place that was met before the key says which. */
static void add_span(Cut *c, Unit *u, FlSpan span) {
  uint32_t known = span_number(c, u, span);
  if (known) {
    fl_text_addf(&u->key, "%u ", known);
    return;
  }
  fl_text_addc(&u->key, '.');
  fl_vec_push(c->arena, &u->spans, span);
  fl_map_set(u->number, span_name(c, span), (void *)(intptr_t)u->spans.n);
}

/* So do messages of checks, which are said of places. */
static void add_message(Cut *c, Unit *u, const FlOp *op) {
  if (!op->attrs.s || !*op->attrs.s) return;
  const char *text = fl_intern_z(c->interner, op->attrs.s);
  int known = (int)(intptr_t)fl_map_get(u->message_number, text);
  fl_text_addf(&u->key, "m%d ", known);
  if (known) return;
  fl_vec_push(c->arena, &u->messages, text);
  fl_map_set(u->message_number, text, (void *)(intptr_t)u->messages.n);
}

/* What other functions do with results decides whether these may be parted. */
static void add_parted(Cut *c, Unit *u, const FlOp *op) {
  const FlPlanStep *s = fl_plan_step(c->plan, op);
  if (!s || (s->kind != FL_STEP_KERNEL && s->kind != FL_STEP_BULK)) return;
  if (fl_plan_by_rows(c->plan, s)) fl_text_addc(&u->key, 'r');
  if (fl_plan_codes(c->plan, op) & FL_CODES_GIVEN) fl_text_addc(&u->key, 'c');
  int64_t apart = fl_plan_apart(c->plan, op);
  if (apart) fl_text_addf(&u->key, "a%llx ", (unsigned long long)apart);
  for (int i = 0; i < op->n_results; i++) {
    const FlValue *v = op->results[i];
    if (fl_t_is_scalar(v->type)) continue;
    bool stays = v->type.depth ? fl_plan_list_stays(c->plan, v) : fl_plan_may_part(c->plan, v);
    fl_text_addc(&u->key, stays ? 'p' : 'w');
  }
}

/* The columns that values are seen as. */
static void add_seen(Cut *c, Unit *u, int n, FlValue *const *values) {
  for (int i = 0; i < n; i++)
    for (const FlSeen *s = values[i]->seen; s; s = s->next) {
      fl_text_addf(&u->key, "s%d %d/%d %d %d/%d %d %s ", i, s->column, s->n_columns, (int)s->dtype, s->part,
                   s->n_parts, 8 * s->looped + 4 * s->outer + 2 * s->if_first + s->let, s->name);
      add_span(c, u, s->at);
    }
}

static void add_spans(Cut *c, Unit *u, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    add_span(c, u, op->span);
    add_parted(c, u, op);
    add_seen(c, u, op->n_results, op->results);
    if (fl_ir_has_message(op)) add_message(c, u, op);
    if (op->places) fl_text_addc(&u->key, ':');
    for (int i = 0; op->places && i < op->n_results; i++) add_span(c, u, op->places[i]);
    for (int i = 0; i < op->n_regions; i++) add_spans(c, u, op->regions[i]);
  }
}

static void make_key(Cut *c, Unit *u) {
  u->number = fl_map_make(c->arena);
  u->message_number = fl_map_make(c->arena);
  for (int i = 0; i < u->funcs.n; i++) {
    const FlFunc *f = u->funcs.at[i];
    fl_ir_print_code(&u->key, f);
    add_span(c, u, f->span);
    add_seen(c, u, f->body->n_params, f->body->params);
    add_spans(c, u, f->body);
    fl_text_addc(&u->key, '\n');
  }
}

/* ---- what is remembered: number of places, places and messages by number, object
 * ----------------------------------- */

/* Of a check; of other operators the operator says it. */
static bool is_message(const FlCodeSite *site) { return site->said.text && site->said.faults == -1; }

static bool remembered(Cut *c, Unit *u) {
  FlText1 bytes = {0};
  if (!c->store->get(c->store->arg, &u->key, &bytes)) return false;
  const char *at = bytes.s, *end = bytes.s + bytes.len;
  uint32_t n = 0;
  bool ok = take_u32(&at, end, &n);
  for (uint32_t i = 0; ok && i < n; i++) {
    FlCodeSite site;
    ok = fl_code_site_take(c->arena, &at, end, &site) && site.span.start < (uint32_t)u->spans.n;
    if (!ok) break;
    site.span = u->spans.at[site.span.start];
    if (is_message(&site)) {
      long number = strtol(site.said.text, NULL, 10);
      ok = number > 0 && number <= u->messages.n;
      if (!ok) break;
      site.said.text = u->messages.at[number - 1];
    }
    fl_vec_push(c->arena, &u->sites, site);
  }
  if (ok) {
    u->object.size = (size_t)(end - at);
    u->object.bytes = fl_arena_copy(c->arena, at, u->object.size);
  } else {
    u->sites.n = 0;
  }
  fl_text_reset(&bytes);
  return ok;
}

static void remember(Cut *c, const Unit *u, const FlObject *object) {
  FlText1 bytes = {0};
  bool ok = true;
  put_u32(&bytes, (uint32_t)u->sites.n);
  for (int i = 0; ok && i < u->sites.n; i++) {
    FlCodeSite site = u->sites.at[i];
    uint32_t number = span_number(c, u, site.span);
    ok = number > 0;
    site.span = (FlSpan){.start = number - 1};
    if (is_message(&site)) {
      int message = (int)(intptr_t)fl_map_get(u->message_number, fl_intern_z(c->interner, site.said.text));
      ok = ok && message > 0;
      site.said.text = fl_arena_printf(c->arena, "%d", message);
    }
    fl_code_site_put(&bytes, &site);
  }
  fl_text_add(&bytes, object->bytes, object->size);
  if (ok) c->store->put(c->store->arg, &u->key, &bytes);
  fl_text_reset(&bytes);
}

/* ---- code -------------------------------------------------------------------------------------------- */

/* Functions that are called, and numbers of stages. */
static void add_called(Cut *c, FlMap *seen, const FlRegion *r, Names *out) {
  for (const FlOp *op = r->first; op; op = op->next) {
    const FlFunc *f = op->attrs.func;
    if (f && !fl_map_get(seen, f)) {
      fl_map_set(seen, f, (void *)(uintptr_t)f);
      const char *what = op->code == FL_OP_STAGE ? "flow.stage." : "flow.";
      fl_vec_push(c->arena, out, fl_arena_printf(c->arena, "%s%s", what, f->name));
    }
    for (int i = 0; i < op->n_regions; i++) add_called(c, seen, op->regions[i], out);
  }
}

static void free_object(FlObject *o) {
  free(o->bytes);
  free(o->why);
  *o = (FlObject){0};
}

/* The code of the unit within that of others. */
static void cut_out(Cut *c, Unit *u) {
  Names own = {0}, called = {0};
  FlMap *seen = fl_map_make(c->arena);
  fl_vec_push(c->arena, &called, fl_arena_printf(c->arena, "flow.at.%s", u->funcs.at[0]->name));
  for (int i = 0; i < u->funcs.n; i++) {
    fl_vec_push(c->arena, &own, fl_arena_printf(c->arena, "flow.%s", u->funcs.at[i]->name));
    add_called(c, seen, u->funcs.at[i]->body, &called);
  }
  c->part = fl_cut_object(&c->made, own.at, own.n, called.at, called.n);
  if (c->part.bytes) remember(c, u, &c->part);
  free_object(&c->part);
}

/* Makes the code of all units that are not remembered, at once. */
static void make_missing(Cut *c) {
  FlVec(FlCodeUnit *) units = {0};
  FlVec(Unit *) missing = {0};
  for (int i = 0; i < c->units.n; i++) {
    Unit *u = c->units.at[i];
    if (u->object.bytes) continue;
    FlCodeUnit *unit = FL_NEW(c->arena, FlCodeUnit);
    *unit = (FlCodeUnit){.name = u->funcs.at[0]->name, .funcs = u->funcs.at, .n_funcs = u->funcs.n};
    fl_vec_push(c->arena, &units, unit);
    fl_vec_push(c->arena, &missing, u);
  }
  if (!units.n) return;
  FlCodegenOptions options = *c->options;
  options.units = units.at;
  options.n_units = units.n;
  c->made = c->generate(c->plan, c->sources, &options);
  for (int i = 0; i < units.n; i++) {
    const char *at = units.at[i]->sites.s, *end = at + units.at[i]->sites.len;
    FlCodeSite site;
    while (at && fl_code_site_take(c->arena, &at, end, &site))
      fl_vec_push(c->arena, &missing.at[i]->sites, site);
    fl_text_reset(&units.at[i]->sites);
    if (c->made.bytes) cut_out(c, missing.at[i]);
  }
}

static void make_tables(Cut *c) {
  FlVec(FlCodeSite) sites = {0};
  for (int i = 0; i < c->units.n; i++)
    for (int k = 0; k < c->units.at[i]->sites.n; k++)
      fl_vec_push(c->arena, &sites, c->units.at[i]->sites.at[k]);
  FlCodeTables tables = {sites.at, sites.n, c->stages.at, c->stages.n};
  FlCodegenOptions options = *c->options;
  options.tables = &tables;
  c->tables = c->generate(c->plan, c->sources, &options);
}

/* What was made, what is remembered, and the tables as one. */
static FlObject join(Cut *c) {
  FlVec(FlNumberName) numbers = {0};
  FlVec(FlObject) objects = {0};
  uint64_t site = 0;
  for (int i = 0; i < c->units.n; i++) {
    const Unit *u = c->units.at[i];
    const char *name = fl_arena_printf(c->arena, "flow.at.%s", u->funcs.at[0]->name);
    fl_vec_push(c->arena, &numbers, ((FlNumberName){name, site}));
    if (u->object.bytes) fl_vec_push(c->arena, &objects, u->object);
    site += (uint64_t)u->sites.n;
  }
  for (int i = 0; i < c->stages.n; i++) {
    const char *name = fl_arena_printf(c->arena, "flow.stage.%s", c->stages.at[i]->name);
    fl_vec_push(c->arena, &numbers, ((FlNumberName){name, (uint64_t)i}));
  }
  if (c->made.bytes) fl_vec_push(c->arena, &objects, c->made);
  fl_vec_push(c->arena, &objects, c->tables);
  return fl_merge_objects(objects.at, objects.n, numbers.at, numbers.n);
}

static void make(void *arg) {
  Cut *c = arg;
  c->arena = fl_arena_new();
  c->interner = fl_interner_make(c->arena);
  if (!cut_program(c)) {
    c->out = c->generate(c->plan, c->sources, c->options);
    fl_arena_free(c->arena);
    return;
  }
  for (int i = 0; i < c->units.n; i++) {
    make_key(c, c->units.at[i]);
    (void)remembered(c, c->units.at[i]);
  }
  make_missing(c);
  if (!c->made.why && !c->made.memory) make_tables(c);
  if (c->tables.bytes) {
    c->out = join(c);
  } else {
    FlObject *failed = c->made.why || c->made.memory ? &c->made : &c->tables;
    c->out = *failed;
    *failed = (FlObject){0};
  }
  if (c->out.why) { /* units that do not fit together, as too many sections do not */
    free_object(&c->out);
    c->out = c->generate(c->plan, c->sources, c->options);
  }
  for (int i = 0; i < c->units.n; i++) fl_text_reset(&c->units.at[i]->key);
  fl_arena_free(c->arena);
}

FlObject fl_code_of_units(FlCodegenFn *generate, const FlPlan *plan, const FlSources *sources,
                          const FlCodegenOptions *options, const FlCodeStore *store) {
  Cut c = {.plan = plan, .sources = sources, .options = options, .store = store, .generate = generate};
  if (!fl_guard(make, &c)) {
    free_object(&c.out);
    c.out.memory = true;
  }
  free_object(&c.made);
  free_object(&c.tables);
  free_object(&c.part);
  return c.out;
}
