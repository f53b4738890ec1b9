/* complete.c: what may stand at a place of a text that is being written, and what a call takes. See
 * answers.h.
 *
 * How: the half-written name becomes a whole one that means nothing, what is open is closed if need be, and
 * the text is checked: then its witness says which columns are names there and what stands before a point. */
#include "lsp/complete.h"

#include "sema/sema.h"

#include <ctype.h>
#include <stdlib.h>

static const char placeholder[] = "flow_completes_this";

/* Where the name begins that ends at a place. */
static uint32_t name_start(const FlText1 *t, uint32_t at) {
  while (at > 0 && fl_lsp_in_name(t->s[at - 1])) at--;
  return at;
}

/* ---- what is open -------------------------------------------------------------------------------------- */

/* Where the statement around a place may begin: the last line that begins with a name or a word. */
static uint32_t statement_start(const FlText1 *t, uint32_t at) {
  for (uint32_t line = at;; line--) {
    while (line > 0 && t->s[line - 1] != '\n') line--;
    if (line == 0 || (line < t->len && (isalpha((unsigned char)t->s[line]) || t->s[line] == '@')))
      return line;
  }
}

bool fl_lsp_opens(FlArena *arena, const FlText1 *t, uint32_t at, FlOpens *out) {
  uint32_t start = statement_start(t, at);
  bool code = fl_syntax_open_at_end(arena, t->s + start, at - start, out);
  for (int i = 0; i < out->n; i++) out->at[i].at += start;
  return code;
}

/* ---- what a check of the mended text says ---------------------------------------------------------------
 */

/* The type of what ends at a place, the largest that does. */
static const char *type_before(const FlLspMended *m, uint32_t end) {
  const FlLspValue *best = NULL;
  for (int i = 0; i < m->facts.values.n; i++) {
    const FlLspValue *x = &m->facts.values.at[i];
    if (x->at.file == m->c.script->id && x->at.start + x->at.len == end &&
        (!best || x->at.len > best->at.len))
      best = x;
  }
  return best ? best->type : NULL;
}

/* What is offered there: behind a point the type before it, else a row. NULL: the check says nothing. */
static const char *said_at(const FlLspMended *m, bool point) {
  return point ? type_before(m, m->at - 1) : fl_lsp_row_at(&m->c, &m->facts, m->at);
}

void fl_lsp_mend(FlLspDocuments *all, FlArena *arena, const FlLspDocument *d, uint32_t from, uint32_t to,
                 bool closed, FlLspMended *m) {
  FlText1 text = {0};
  fl_text_add(&text, d->text.s, from);
  fl_text_addz(&text, placeholder);
  if (closed) {
    FlOpens open = {0};
    fl_lsp_opens(arena, &d->text, from, &open);
    for (int i = open.n - 1; i >= 0; i--) fl_text_addz(&text, open.at[i].closer);
    while (to < d->text.len && d->text.s[to] != '\n') to++;
  }
  fl_text_add(&text, d->text.s + to, d->text.len - to);
  m->at = from;
  if (!fl_lsp_try(all, arena, d, &text, &m->c, &m->facts)) {
    m->facts = (FlLspFacts){0};
    m->c.ast = NULL;
  }
  fl_text_reset(&text);
}

/* ---- the list ------------------------------------------------------------------------------------------ */

enum {
  METHOD = 2,
  FUNCTION = 3,
  FIELD = 5,
  VARIABLE = 6,
  MODULE = 9,
  KEYWORD = 14,
  CONSTANT = 21,
  STRUCT = 22
};

typedef struct List {
  FlArena *arena;
  FlInterner *names;
  FlMap *there; /* labels that are in the list */
  json_t *items;
  uint32_t at; /* what is bound behind it is not known there */
} List;

/* rank: a digit, what is near stands first. */
static void offer(List *l, const char *label, int kind, char rank, const char *detail, const char *doc) {
  const char *key = fl_intern_z(l->names, label);
  if (!*label || *label == '_' || fl_map_get(l->there, key)) return;
  fl_map_set(l->there, key, l);
  FlText1 written = {0}, sort = {0};
  fl_syntax_add_name(&written, label);
  if (kind == KEYWORD) written.len = 0, fl_text_addz(&written, label);
  fl_text_addf(&sort, "%c%s", rank, label);
  json_t *item = json_pack("{s:s, s:i, s:s, s:s}", "label", label, "kind", kind, "insertText", written.s,
                           "sortText", sort.s);
  if (detail) json_object_set_new(item, "detail", json_string(detail));
  if (doc) json_object_set_new(item, "documentation", json_string(doc));
  json_array_append_new(l->items, item);
  fl_text_reset(&written);
  fl_text_reset(&sort);
}

static void offer_field(void *env, const char *name, const char *type) {
  offer(env, name, FIELD, '0', type, NULL);
}

static void offer_declared(List *l, const FlLspDeclaredList *tops, char rank) {
  for (int i = 0; i < tops->n; i++) {
    const FlLspDeclared *x = &tops->at[i];
    bool bound = x->kind == FL_STMT_LET || x->kind == FL_STMT_VAR;
    if (x->kind == FL_STMT_TEST || (bound && x->whole.start + x->whole.len > l->at)) continue;
    int kind = x->kind == FL_STMT_TYPE    ? STRUCT
               : x->kind == FL_STMT_PARAM ? CONSTANT
               : bound                    ? VARIABLE
                                          : FUNCTION;
    offer(l, x->name, kind, rank, x->head, x->doc);
  }
}

static void offer_name(void *env, FlName name) { offer(env, name.text, VARIABLE, '1', NULL, NULL); }

static bool around(const List *l, FlSpan at) { return l->at > at.start && l->at <= at.start + at.len; }

static bool local_expr(void *env, const FlExpr *e) {
  List *l = env;
  if (!around(l, e->span)) return false;
  for (int i = 0; e->kind == FL_EXPR_LAMBDA && i < e->lambda.params.n; i++)
    fl_lsp_bound(e->lambda.params.at[i], l, offer_name);
  const FlComprehension *c = e->kind == FL_EXPR_COMPREHENSION ? &e->comprehension
                             : e->kind == FL_EXPR_REDUCE      ? &e->reduce.comprehension
                                                              : NULL;
  for (int i = 0; c && i < c->clauses.n; i++)
    if (c->clauses.at[i].span.start < l->at) fl_lsp_bound(c->clauses.at[i].pattern, l, offer_name);
  for (int i = 0; e->kind == FL_EXPR_MATCH && i < e->match.arms.n; i++)
    if (around(l, e->match.arms.at[i].span)) fl_lsp_bound(e->match.arms.at[i].pattern, l, offer_name);
  for (int i = 0; e->kind == FL_EXPR_BLOCK && i < e->block.n; i++) {
    const FlStmt *s = e->block.at[i];
    if ((s->kind == FL_STMT_LET || s->kind == FL_STMT_VAR) && s->span.start + s->span.len < l->at)
      fl_lsp_bound(s->let.pattern, l, offer_name);
  }
  return true;
}

static bool local_stmt(void *env, const FlStmt *s) {
  List *l = env;
  if (!around(l, s->span)) return false;
  if (s->kind == FL_STMT_FOR) fl_lsp_bound(s->loop.pattern, l, offer_name);
  if (s->kind == FL_STMT_FN || s->kind == FL_STMT_STAGE)
    for (int i = 0; i < s->fn.params.n; i++) offer_name(l, s->fn.params.at[i].name);
  return true;
}

/* What the name of a module stands for; NULL: it is none of the script's imports, or cannot be read. */
static const FlSource *module_of(const FlCompilation *c, const char *name) {
  for (int i = 0; i < c->ast->stmts.n; i++) {
    const FlStmt *s = c->ast->stmts.at[i];
    for (int k = 0; s->kind == FL_STMT_IMPORT && k < s->import.n; k++) {
      const FlImport *x = &s->import.at[k];
      const char *path = x->path ? x->path : x->module.text, *base = strrchr(path, '/');
      base = base ? base + 1 : path;
      size_t stem = x->path && strlen(base) > 5 ? strlen(base) - 5 : strlen(base);
      const char *alias = x->alias.text;
      if (alias ? strcmp(alias, name) != 0 : strlen(name) != stem || strncmp(base, name, stem) != 0) continue;
      for (int f = 0; f < c->sources->files.n; f++) {
        const FlSource *file = c->sources->files.at[f];
        const char *its = strrchr(file->path, '/');
        its = its ? its + 1 : file->path;
        if (file != c->script && strncmp(its, base, stem) == 0 && strcmp(its + stem, ".flow") == 0)
          return file;
      }
    }
  }
  return NULL;
}

static void offer_builtin(void *env, const FlNamed *what, unsigned kinds) {
  List *l = env;
  (void)kinds;
  offer(l, what->name, FUNCTION, '4', fl_arena_printf(l->arena, "%s(%s)", what->name, what->signature),
        what->doc);
}

static void offer_modules(List *l, const FlAst *ast) {
  for (int i = 0; i < ast->stmts.n; i++) {
    const FlStmt *s = ast->stmts.at[i];
    for (int k = 0; s->kind == FL_STMT_IMPORT && k < s->import.n; k++) {
      const FlImport *x = &s->import.at[k];
      if (x->alias.text || x->module.text)
        offer(l, x->alias.text ? x->alias.text : x->module.text, MODULE, '3', NULL, NULL);
    }
  }
}

static void offer_words(List *l) {
#define FL_WORD(word, token, group) offer(l, #word, KEYWORD, '5', NULL, NULL);
#include "syntax/keywords.def"
#undef FL_WORD
}

/* The names of the parameters that may be given by name: of "x, axis=, *seed=" the last two. */
static void offer_params(List *l, const char *signature) {
  for (const char *at = signature; *at;) {
    at += strspn(at, " ,*");
    size_t n = strcspn(at, ",=:");
    if (at[n] == '=') offer(l, fl_arena_strndup(l->arena, at, n), METHOD, '0', "parameter", NULL);
    at += strcspn(at, ",");
  }
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static void find_builtin(void *env, const FlNamed *what, unsigned kinds) {
  FlLspCall *call = env;
  (void)kinds;
  if (strcmp(what->name, call->name) != 0) return;
  call->params = what->signature;
  call->doc = what->doc;
}

bool fl_lsp_call_at(FlArena *arena, const FlLspDocument *d, uint32_t at, FlLspCall *out) {
  FlOpens open = {0};
  if (!fl_lsp_opens(arena, &d->text, at, &open)) return false;
  int k = open.n - 1;
  while (k >= 0 && *open.at[k].closer != ')') k--;
  if (k < 0) return false;
  uint32_t end = open.at[k].at, start = name_start(&d->text, end);
  *out = (FlLspCall){.name = fl_arena_strndup(arena, d->text.s + start, end - start),
                     .argument = open.at[k].commas};
  if (start == end) return false;
  if (start > 0 && d->text.s[start - 1] == '.') {
    uint32_t from = name_start(&d->text, start - 1);
    out->module = fl_arena_strndup(arena, d->text.s + from, start - 1 - from);
    start = from;
  }
  while (start > 0 && isspace((unsigned char)d->text.s[start - 1])) start--;
  out->argument +=
      start >= 2 && d->text.s[start - 1] == '>' && d->text.s[start - 2] == '|'; /* the first is before `|>` */
  FlLspDeclaredList tops = {0};
  const FlSource *module = out->module ? module_of(&d->c, out->module) : NULL;
  if (module) fl_lsp_declared_in(arena, module, &tops);
  else if (!out->module) fl_lsp_declared(arena, d->c.ast, &tops);
  for (int i = 0; i < tops.n && !out->head; i++) {
    bool function = tops.at[i].kind == FL_STMT_FN || tops.at[i].kind == FL_STMT_STAGE ||
                    tops.at[i].kind == FL_STMT_EXTERN;
    if (!function || strcmp(tops.at[i].name, out->name) != 0) continue;
    out->head = tops.at[i].head;
    out->doc = tops.at[i].doc;
    out->params = strchr(out->head, '(');
    out->params = out->params ? out->params + 1 : "";
  }
  if (!out->head && !out->module) {
    fl_sema_builtins(out, find_builtin);
    if (out->params) out->head = fl_arena_printf(arena, "%s(%s)", out->name, out->params);
  }
  return out->head != NULL;
}

json_t *fl_lsp_signature(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  FlArena *arena = fl_arena_new();
  FlLspCall call;
  json_t *out = NULL;
  if (fl_lsp_call_at(arena, d, fl_lsp_asked(all, d, params), &call)) {
    json_t *labels = json_array();
    const char *from = strchr(call.head, '(');
    int depth = 0;
    bool rest = false;
    for (const char *at = from + 1, *start = at; from && *start; at++) {
      if (!*at || (depth == 0 && (*at == ',' || *at == ')'))) { /* brackets may be wrong */
        if (at > start)
          json_array_append_new(
              labels, json_pack("{s:[i,i]}", "label", (int)(start - call.head), (int)(at - call.head)));
        rest = rest || strncmp(start, "...", 3) == 0;
        if (*at != ',') break;
        start = at + 1 + strspn(at + 1, " ");
      }
      depth += (strchr("([", *at) != NULL) - (strchr(")]", *at) != NULL);
    }
    int n = (int)json_array_size(labels), active = call.argument;
    if (rest && active >= n) active = n - 1;
    json_t *signature = json_pack("{s:s, s:o}", "label", call.head, "parameters", labels);
    if (call.doc) json_object_set_new(signature, "documentation", json_string(call.doc));
    out = json_pack("{s:[o], s:i, s:i}", "signatures", signature, "activeSignature", 0, "activeParameter",
                    active);
  }
  fl_arena_free(arena);
  return out;
}

/* ---- completion ---------------------------------------------------------------------------------------- */

json_t *fl_lsp_complete(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  uint32_t at = fl_lsp_asked(all, d, params), from = name_start(&d->text, at);
  FlArena *arena = fl_arena_new();
  List l = {arena, fl_interner_make(arena), fl_map_make(arena), json_array(), from};
  FlOpens open = {0};
  bool code = fl_lsp_opens(arena, &d->text, from, &open), text = open.n && *open.at[open.n - 1].closer == '"';
  bool named = code && !text;
  if (code && text) fl_lsp_complete_text(all, arena, d, at, l.items);
  bool point = from > 0 && d->text.s[from - 1] == '.' && !(from > 1 && d->text.s[from - 2] == '.');
  bool number = from < at && isdigit((unsigned char)d->text.s[from]);
  if (named && !number) {
    FlLspMended m = {d->c, d->facts, from};
    const char *found = said_at(&m, point);
    for (int closed = 0; closed < 2 && !found && (point || open.n); closed++) {
      FlLspMended other;
      fl_lsp_mend(all, arena, d, from, at, closed, &other);
      found = said_at(&other, point);
      if (found || (other.c.ast && d->c.sink->n_errors)) m = other;
    }
    if (point) {
      uint32_t start = name_start(&d->text, from - 1);
      const FlSource *module =
          m.c.ast ? module_of(&m.c, fl_arena_strndup(arena, d->text.s + start, from - 1 - start)) : NULL;
      FlLspDeclaredList tops = {0};
      l.at = UINT32_MAX;
      if (module) fl_lsp_declared_in(arena, module, &tops);
      offer_declared(&l, &tops, '0');
      if (found) fl_lsp_fields(arena, found, &l, offer_field);
    } else {
      FlLspCall call;
      if (fl_lsp_call_at(arena, d, at, &call)) offer_params(&l, call.params);
      if (found) fl_lsp_fields(arena, found, &l, offer_field);
      FlWalker w = {&l, local_expr, local_stmt};
      FlLspDeclaredList tops = {0};
      l.at = from + 1;
      for (int i = 0; m.c.ast && i < m.c.ast->stmts.n; i++) fl_syntax_walk_stmt(&w, m.c.ast->stmts.at[i]);
      if (m.c.ast) {
        fl_lsp_declared(arena, m.c.ast, &tops);
        offer_declared(&l, &tops, '2');
        offer_modules(&l, m.c.ast);
      }
      fl_sema_builtins(&l, offer_builtin);
      offer_words(&l);
    }
  }
  fl_arena_free(arena);
  return json_pack("{s:b, s:o}", "isIncomplete", 0, "items", l.items);
}
