/* graph.c: see graph.h.
 *
 * How: a statement uses another where a name in it is declared in the other, and all that a function uses
 * which it names; sema says which name is which (FlWitness). What no name says, that a statement changes a
 * variable, comes from the IR: each operation of the main function belongs to the statement where it stands,
 * or where the call that brought it stands. What always holds: names that columns and parameters hide make no
 * edge. */
#include "cli/graph.h"

#include "cli/explain_internal.h"
#include "sema/witness.h"
#include "syntax/ast.h"

#include <stdlib.h>

/* A statement that calls a stage. */
typedef struct StageCall {
  const char *stage;
  int node;
} StageCall;

/* A statement of the top level. */
typedef struct Item {
  FlSpan span;
  int node;        /* -1: a declaration, which is none */
  bool binds;      /* its value has a name */
  int seen;        /* the last item whose uses led here */
  FlVec(int) uses; /* items */
} Item;

/* A name, and where it is declared. */
typedef struct Use {
  FlSpan at, declared;
} Use;

typedef struct Maker {
  FlArena *arena;
  const FlModule *module;
  const FlSources *sources;
  const FlSource *script;
  FlVec(Item) items; /* in the order of the text */
  FlMap *nodes_of;   /* (index + 1) of the node by value */
  FlVec(StageCall) calls;
  FlVec(Use) told;
  FlGraph graph;
} Maker;

/* The statement where an operation or a name stands, -1: none. */
static int item_at(const Maker *m, FlSpan span) {
  while (span.call) span = fl_sources_call_at(m->sources, span.call)->place;
  if (span.file != m->script->id) return -1;
  int lo = 0, hi = m->items.n;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (m->items.at[mid].span.start <= span.start) lo = mid + 1;
    else hi = mid;
  }
  if (!lo) return -1;
  FlSpan s = m->items.at[lo - 1].span;
  return span.start < s.start + s.len ? lo - 1 : -1;
}

static int node_at(const Maker *m, FlSpan span) {
  int item = item_at(m, span);
  return item < 0 ? -1 : m->items.at[item].node;
}

/* ---- edges ---- */

static void add_edge(Maker *m, int from, int to) {
  if (from < 0 || to < 0 || from == to) return;
  FlGraphNode *node = &m->graph.nodes.at[to];
  int at = 0;
  while (at < node->from.n && node->from.at[at] < from) at++;
  if (at < node->from.n && node->from.at[at] == from) return;
  fl_vec_push(m->arena, &node->from, from);
  for (int i = node->from.n - 1; i > at; i--) node->from.at[i] = node->from.at[i - 1];
  node->from.at[at] = from;
}

static int node_of(const Maker *m, const FlValue *v) { return (int)(intptr_t)fl_map_get(m->nodes_of, v) - 1; }

static void set_node(Maker *m, const FlValue *v, int node) {
  if (node >= 0) fl_map_set(m->nodes_of, v, (void *)(intptr_t)(node + 1));
}

static void raise_kind(Maker *m, int node, FlGraphKind kind) {
  FlGraphNode *n = node >= 0 ? &m->graph.nodes.at[node] : NULL;
  if (n && n->kind == FL_GRAPH_VALUE) n->kind = kind;
}

/* An edge to where a variable was changed, whose value this is. */
static void add_changed(Maker *m, const FlValue *v, int node) {
  int from = node_of(m, v);
  if (from >= 0 && m->graph.nodes.at[from].changes) add_edge(m, from, node);
}

static void walk(Maker *m, const FlRegion *region, int around);

static void add_stage_call(Maker *m, const char *stage, int node) {
  for (int i = 0; i < m->calls.n; i++)
    if (m->calls.at[i].node == node && strcmp(m->calls.at[i].stage, stage) == 0) return;
  StageCall call = {stage, node};
  if (node >= 0) fl_vec_push(m->arena, &m->calls, call);
  raise_kind(m, node, FL_GRAPH_STAGE);
}

/* A constant belongs to nobody: equal ones may be one. */
static void walk_op(Maker *m, const FlOp *op, int around) {
  int node = node_at(m, op->span);
  if (node < 0) node = around;
  if (op->code == FL_OP_STAGE) add_stage_call(m, op->attrs.func->name, node);
  if (fl_explain_is_reader(op)) raise_kind(m, node, FL_GRAPH_FILE);
  for (int i = 0; i < op->n_args; i++) add_changed(m, op->args[i], node);
  for (int i = 0; i < op->n_regions; i++) {
    const FlRegion *r = op->regions[i];
    for (int k = 0; k < r->n_params; k++) set_node(m, r->params[k], node);
    walk(m, r, node);
    for (int k = 0; k < r->n_yields; k++) add_changed(m, r->yields[k], node);
  }
  if (op->code == FL_OP_CONST) return;
  for (int i = 0; i < op->n_results; i++) set_node(m, op->results[i], node);
}

static void walk(Maker *m, const FlRegion *region, int around) {
  for (const FlOp *op = region->first; op; op = op->next) walk_op(m, op, around);
}

/* ---- names ---- */

static void told_name(void *env, FlSpan at, const FlNamed *what) {
  Maker *m = env;
  Use use = {at, what->declared};
  if (at.file == m->script->id && use.declared.file == at.file) fl_vec_push(m->arena, &m->told, use);
}

static void add_use(Maker *m, const Use *use) {
  int user = item_at(m, use->at), used = item_at(m, use->declared);
  if (user < 0 || used < 0 || user == used) return;
  Item *item = &m->items.at[user];
  for (int i = 0; i < item->uses.n; i++)
    if (item->uses.at[i] == used) return;
  fl_vec_push(m->arena, &item->uses, used);
}

static void told_value(void *env, FlSpan at, const char *type) { (void)env, (void)at, (void)type; }
static void told_columns(void *env, FlSpan at, const char *row) { (void)env, (void)at, (void)row; }
static void told_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  (void)env, (void)at, (void)takes, (void)gives;
}

/* Edges to a node from all that an item names, and that the functions name which it names. */
static void follow(Maker *m, int item, int node) {
  for (int i = 0; i < m->items.at[item].uses.n; i++) {
    int used = m->items.at[item].uses.at[i];
    if (m->items.at[used].seen == node + 1) continue;
    m->items.at[used].seen = node + 1;
    if (m->items.at[used].node >= 0) add_edge(m, m->items.at[used].node, node);
    else follow(m, used, node);
  }
}

/* ---- nodes ---- */

static void set_texts(FlExplain *texts, FlGraphNode *node, const FlStmt *s) {
  FlSpan text = s->span;
  if (s->kind == FL_STMT_PARAM) {
    node->kind = FL_GRAPH_PARAM;
    node->name = s->param.name.text;
    text = s->param.fallback ? s->param.fallback->span : (FlSpan){0};
  } else if (s->kind == FL_STMT_LET || s->kind == FL_STMT_VAR) {
    node->name = fl_explain_source(texts, s->let.pattern->span);
    text = s->let.value->span;
  } else if (s->kind == FL_STMT_ASSIGN) {
    node->name = fl_explain_source(texts, s->assign.target->span);
    node->changes = true;
  } else {
    node->kind = FL_GRAPH_OUTPUT;
    node->changes = true;
  }
  node->text = fl_explain_source(texts, text);
}

static void add_statement(Maker *m, FlExplain *texts, const FlStmt *s) {
  Item item = {.span = s->span, .node = -1};
  if (s->kind == FL_STMT_PARAM || fl_syntax_stmt_role(s->kind) == FL_STMT_ROLE_BINDS ||
      fl_syntax_stmt_role(s->kind) == FL_STMT_ROLE_ACTS) {
    FlGraphNode node = {.kind = FL_GRAPH_VALUE, .name = "", .last = ""};
    set_texts(texts, &node, s);
    node.line = fl_source_line_at(m->script, s->span.start);
    item.node = m->graph.nodes.n;
    fl_vec_push(m->arena, &m->graph.nodes, node);
  }
  fl_vec_push(m->arena, &m->items, item);
}

/* ---- the last run ---- */

static int file_of_script(const Maker *m, const FlRecord *r) {
  char *real = realpath(m->script->path, NULL);
  int found = -1;
  for (int k = 0; k < r->n_files && found < 0; k++)
    if (strcmp(r->files[k], real ? real : m->script->path) == 0) found = k;
  free(real);
  return found;
}

typedef struct Said {
  int64_t ns;
  int run, cached, failed;
} Said;

static void tell(Maker *m, FlGraphNode *node, const Said *s) {
  FlText1 t = {0};
  if (s->cached && !s->run && !s->failed) fl_text_addz(&t, "remembered");
  else if (s->cached)
    fl_text_addf(&t, "%d of %d calls remembered", s->cached, s->cached + s->run + s->failed);
  if (s->failed) fl_text_addf(&t, "%sfailed", t.len ? ", " : "");
  if (s->ns >= 100000 && !(s->cached && !s->run)) {
    double ms = (double)s->ns * 1e-6;
    fl_text_addf(&t, ms < 1000 ? "%s%.3g ms" : "%s%.3g s", t.len ? ", " : "", ms < 1000 ? ms : ms * 1e-3);
  }
  if (t.len) node->last = fl_arena_strndup(m->arena, t.s, t.len);
  fl_text_reset(&t);
}

/* The one statement that calls a stage, -1 where several do: a record does not say which of them a call was.
 */
static int only_caller(const Maker *m, const char *stage) {
  int found = -1;
  for (int i = 0; i < m->calls.n; i++) {
    if (strcmp(m->calls.at[i].stage, stage) != 0) continue;
    if (found >= 0) return -1;
    found = m->calls.at[i].node;
  }
  return found;
}

/* What the last run said of each statement whose lines are as they were. */
static void tell_last(Maker *m, const FlRecord *r) {
  enum { SHARED = -1 }; /* by statements, of which the record does not tell whose time it was */
  int its = file_of_script(m, r), n = m->graph.nodes.n;
  const uint64_t *texts = fl_source_lines(m->arena, m->script);
  int *node_of_line = FL_NEW_ARRAY(m->arena, int, m->script->n_lines + 2);
  Said *said = FL_NEW_ARRAY(m->arena, Said, n + 1);
  for (int i = 0; i < m->items.n; i++) {
    FlSpan span = m->items.at[i].span;
    int last = fl_source_line_at(m->script, span.start + span.len - 1);
    for (int line = fl_source_line_at(m->script, span.start); line <= last; line++) {
      int *at = &node_of_line[line], node = m->items.at[i].node + 1;
      *at = *at == 0 || *at == node ? node : SHARED;
    }
  }
  for (int i = 0; i < r->n_places; i++) {
    const FlRecordPlace *p = &r->places[i];
    int line = p->file == its ? fl_source_same(m->script, texts, p->line, p->text) : 0;
    if (line && node_of_line[line] != SHARED) said[node_of_line[line]].ns += p->ns;
  }
  for (int i = 0; i < r->now.n_stages; i++) {
    const FlRecordStage *s = &r->now.stages[i];
    Said *at = &said[only_caller(m, s->name) + 1];
    if (strcmp(s->how, "cached") == 0) at->cached++;
    else if (strcmp(s->how, "failed") == 0) at->failed++;
    else at->run++, at->ns += s->ns;
  }
  for (int i = 0; i < n; i++) tell(m, &m->graph.nodes.at[i], &said[i + 1]);
}

bool fl_graph_make(FlCompilation *c, const FlRecord *last, FlGraph *out) {
  Maker *m = FL_NEW(c->arena, Maker);
  *m = (Maker){
      .arena = c->arena, .sources = c->sources, .script = c->script, .nodes_of = fl_map_make(c->arena)};
  FlExplain texts = {.arena = c->arena, .sources = c->sources};
  m->graph.name = c->script->path;
  fl_front_check(c, NULL, &(FlWitness){m, told_value, told_name, told_columns, told_step, NULL}, -1);
  m->module = c->sema.module;
  if (c->lacks || !m->module) return false;
  for (int i = 0; i < c->ast->stmts.n; i++) add_statement(m, &texts, c->ast->stmts.at[i]);
  for (int i = 0; i < m->told.n; i++) add_use(m, &m->told.at[i]);
  for (int i = 0; i < m->items.n; i++)
    if (m->items.at[i].node >= 0) follow(m, i, m->items.at[i].node);
  walk(m, m->module->main->body, -1);
  if (last) tell_last(m, last);
  *out = m->graph;
  return true;
}
