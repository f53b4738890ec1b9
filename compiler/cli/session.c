/* session.c: see session.h. */
#include "cli/session.h"

void fl_session_init(FlSession *s, const char *folder) {
  *s = (FlSession){.arena = fl_arena_new(), .folder = folder};
  s->names = fl_interner_make(s->arena);
}

void fl_session_reset(FlSession *s) {
  fl_arena_free(s->arena);
  *s = (FlSession){0};
}

/* ---- the names of a statement ------------------------------------------------------------------------ */

typedef struct Bound {
  FlSession *s;
  FlEntry *e;
} Bound;

static void add_name(FlSession *s, FlEntry *e, const char *name) {
  FlText1 t = {0};
  fl_syntax_add_name(&t, name);
  const char *written = fl_intern(s->names, t.s, t.len);
  fl_text_reset(&t);
  for (int k = 0; k < e->names.n; k++)
    if (e->names.at[k] == written) return;
  fl_vec_push(s->arena, &e->names, written);
}

static void add_bound(FlSession *s, FlEntry *e, const FlPat *p) {
  if (p->kind == FL_PAT_NAME) add_name(s, e, p->name.text);
  for (int k = 0; p->kind == FL_PAT_TUPLE && k < p->tuple.n; k++) add_bound(s, e, p->tuple.at[k]);
}

/* Is a name, as it is written, a variable at the end of the session? */
static bool is_variable(const FlSession *s, const char *written) {
  for (int i = s->entries.n - 1; i >= 0; i--) {
    const FlEntry *e = &s->entries.at[i];
    if (e->kind != FL_STMT_LET && e->kind != FL_STMT_VAR) continue;
    for (int k = 0; k < e->names.n; k++)
      if (e->names.at[k] == written) return e->kind == FL_STMT_VAR;
  }
  return false;
}

static bool add_assigned(void *env, const FlStmt *stmt) {
  Bound *b = env;
  if (stmt->kind != FL_STMT_ASSIGN) return true;
  const FlExpr *x = stmt->assign.target;
  while (x->kind == FL_EXPR_INDEX || x->kind == FL_EXPR_FIELD)
    x = x->kind == FL_EXPR_INDEX ? x->index.base : x->field.base;
  if (x->kind != FL_EXPR_NAME) return true;
  FlText1 t = {0};
  fl_syntax_add_name(&t, x->name.text);
  if (is_variable(b->s, fl_intern(b->s->names, t.s, t.len))) add_name(b->s, b->e, x->name.text);
  fl_text_reset(&t);
  return true;
}

static const char *text_of(FlSession *s, const FlSource *f, FlSpan span) {
  return fl_intern(s->names, f->text + span.start, span.len);
}

/* Is it a type by which functions of one name may differ: one that a module has, or that was declared here?
 */
static bool is_declared_type(const FlSession *s, const FlTypeExpr *t) {
  while (t && t->kind == FL_TE_ARRAY) t = t->array.element;
  if (!t || t->kind != FL_TE_NAME) return false;
  bool found = t->name.module.text != NULL;
  const char *name = fl_intern_z(s->names, t->name.name.text);
  for (int i = 0; i < s->entries.n; i++)
    found |= s->entries.at[i].kind == FL_STMT_TYPE && s->entries.at[i].name == name;
  return found;
}

static void set_declared(FlSession *s, FlEntry *e, const FlSource *f, const FlStmt *stmt) {
  switch (stmt->kind) {
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN:
    e->name = fl_intern_z(s->names, stmt->fn.name.text);
    if (stmt->fn.params.n && is_declared_type(s, stmt->fn.params.at[0].type))
      e->first = text_of(s, f, stmt->fn.params.at[0].type->span);
    break;
  case FL_STMT_TYPE: e->name = fl_intern_z(s->names, stmt->type.name.text); break;
  case FL_STMT_PARAM: e->name = fl_intern_z(s->names, stmt->param.name.text); break;
  case FL_STMT_TEST: e->name = fl_intern_z(s->names, stmt->test.name); break;
  default: e->name = e->text; break;
  }
}

FlEntry fl_session_entry(FlSession *s, const FlSource *source, const FlStmt *stmt, int first) {
  FlEntry e = {.kind = stmt->kind, .role = fl_syntax_stmt_role(stmt->kind), .number = s->n_files++};
  e.text = text_of(s, source, stmt->span);
  e.line = first + fl_source_line_at(source, stmt->span.start) - 1;
  if (e.role == FL_STMT_ROLE_BINDS) add_bound(s, &e, stmt->let.pattern);
  else if (e.role == FL_STMT_ROLE_ACTS)
    fl_syntax_walk_stmt(&(FlWalker){.env = &(Bound){s, &e}, .stmt = add_assigned}, stmt);
  else set_declared(s, &e, source, stmt);
  return e;
}

/* ---- the session -------------------------------------------------------------------------------------- */

/* Does `e` declare what `old` declares? Functions of one name may differ by the type of their first
 * parameter. */
static bool declares_anew(const FlEntry *e, const FlEntry *old) {
  if (e->role != FL_STMT_ROLE_DECLARES || old->role != FL_STMT_ROLE_DECLARES || e->name != old->name)
    return false;
  if ((e->kind == FL_STMT_TEST) != (old->kind == FL_STMT_TEST)) return false;
  return e->first == old->first;
}

void fl_session_add(FlSession *s, const FlEntry *e) {
  int n = 0;
  for (int i = 0; i < s->entries.n; i++)
    if (!declares_anew(e, &s->entries.at[i])) s->entries.at[n++] = s->entries.at[i];
  s->entries.n = n;
  fl_vec_push(s->arena, &s->entries, *e);
  for (; n && s->entries.at[n - 1].line > e->line; n--) s->entries.at[n] = s->entries.at[n - 1];
  s->entries.at[n] = *e;
}

const char *fl_session_file(const FlSession *s, const FlEntry *e, int k) {
  return fl_arena_printf(s->arena, "%s/%d.%d", s->folder, e->number, k);
}

/* A path as a text of a script. */
static void add_path(FlText1 *out, const char *path) {
  fl_text_addc(out, '"');
  for (; *path; path++) {
    if (strchr("\"\\{", *path)) fl_text_addc(out, '\\');
    fl_text_addc(out, *path);
  }
  fl_text_addc(out, '"');
}

static void add_loads(const FlSession *s, const FlEntry *e, FlText1 *out) {
  const char *word = e->kind == FL_STMT_LET ? "let " : e->kind == FL_STMT_VAR ? "var " : "";
  for (int k = 0; k < e->names.n; k++) {
    fl_text_addf(out, "%s%s%s = load(", k ? "; " : "", word, e->names.at[k]);
    add_path(out, fl_session_file(s, e, k));
    fl_text_addc(out, ')');
  }
}

void fl_session_add_saves(const FlSession *s, const FlEntry *e, FlText1 *out) {
  for (int k = 0; k < e->names.n; k++) {
    fl_text_addf(out, "\nsave(%s, ", e->names.at[k]);
    add_path(out, fl_session_file(s, e, k));
    fl_text_addc(out, ')');
  }
}

/* Where the text that is being written ends. */
typedef struct At {
  int line;
  bool used; /* something stands in that line */
} At;

static void go_to(FlText1 *out, At *at, int line) {
  if (at->line == line && at->used) fl_text_addz(out, "; ");
  for (; at->line < line; at->line++) fl_text_addc(out, '\n');
}

static void add_written(FlText1 *out, At *at, const char *text) {
  fl_text_addz(out, text);
  for (; *text; text++) at->line += *text == '\n';
  at->used = true;
}

static void add_entry(const FlSession *s, const FlEntry *e, FlText1 *out, At *at) {
  bool stays = e->role == FL_STMT_ROLE_DECLARES || (e->names.n && !e->saved);
  if (!stays && !e->names.n) return;
  if (at->line < e->line) at->used = false;
  go_to(out, at, e->line);
  if (stays) {
    add_written(out, at, e->text);
    return;
  }
  add_loads(s, e, out);
  at->used = true;
}

void fl_session_text(const FlSession *s, const FlEntry *e, FlText1 *out, size_t *from, size_t *end) {
  At at = {.line = 1};
  int i = 0;
  for (; i < s->entries.n && (!e || s->entries.at[i].line <= e->line); i++)
    if (!e || !declares_anew(e, &s->entries.at[i])) add_entry(s, &s->entries.at[i], out, &at);
  if (e) {
    if (at.line < e->line) at.used = false;
    go_to(out, &at, e->line);
    *from = out->len;
    add_written(out, &at, e->text);
    *end = out->len;
  }
  for (; i < s->entries.n; i++) add_entry(s, &s->entries.at[i], out, &at);
}
