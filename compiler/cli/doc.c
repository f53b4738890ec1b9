/* doc.c: what a module says of itself, and as text; see doc.h. Types that nobody wrote are those that a check
 * of the module finds, as an editor shows them. */
#include "cli/doc.h"

#include "driver.h"

#include "cli/scripts.h"
#include "lsp/answers.h"
#include "sema/builtins/builtin.h"
#include "sema/sema.h"
#include "syntax/ast.h"

#include <stdlib.h>

const char *fl_doc_title(FlDocKind kind) {
  static const char *const titles[FL_N_DOC_KINDS] = {"Types",      "Functions",          "Values",
                                                     "Parameters", "Verbs of tables",    "Aggregates",
                                                     "Windows",    "All other functions"};
  return titles[kind];
}

const FlDocItem *fl_doc_find(const FlDocModule *m, const char *name, size_t len) {
  for (int i = 0; i < m->items.n; i++) {
    const char *its = m->items.at[i].name;
    if (strncmp(its, name, len) == 0 && !its[len]) return &m->items.at[i];
  }
  return NULL;
}

const FlDocModule *fl_doc_module(const FlDocModules *all, const char *name, size_t len) {
  for (int i = 0; i < all->n; i++) {
    const char *its = all->at[i].name;
    if (strncmp(its, name, len) == 0 && !its[len]) return &all->at[i];
  }
  return NULL;
}

/* ---- reading ---- */

/* A type that the check told of an expression of the module. */
typedef struct Told {
  FlSpan at;
  const char *type; /* NULL: it told different ones */
} Told;

typedef struct Reader {
  FlArena *arena;
  FlVec(Told) told; /* in the order of places */
  FlSource *source;
  FlAst *ast;
  FlDocModule *out;
} Reader;

/* The comment that the file begins with, without its marks; `NAME: ` in front of it says what the page says.
 */
static const char *about(const Reader *r) {
  FlText1 text = {0};
  fl_text_addz(&text, "");
  int last = 0;
  for (int i = 0; i < r->ast->comments.n; i++) {
    const FlComment *c = &r->ast->comments.at[i];
    int line = fl_source_line_at(r->source, c->span.start);
    const char *s = r->source->text + c->span.start + 1, *end = s + c->span.len - 1;
    if (line == 1 && *s == '!') { /* for the system: how it is run */
      last = line;
      continue;
    }
    if (line != last + 1 || !c->own_line || c->doc) break;
    last = line;
    if (s < end && *s == ' ') s++;
    fl_text_add(&text, s, (size_t)(end - s));
    fl_text_addc(&text, '\n');
  }
  const char *kept = fl_arena_strndup(r->arena, text.s, text.len);
  fl_text_reset(&text);
  size_t n = strlen(r->out->name);
  return strncmp(kept, r->out->name, n) == 0 && strncmp(kept + n, ": ", 2) == 0 ? kept + n + 2 : kept;
}

static void add_imports(Reader *r, const FlStmt *s) {
  for (int i = 0; i < s->import.n; i++) {
    const FlImport *m = &s->import.at[i];
    if (!m->module.text) continue;
    fl_vec_push(r->arena, &r->out->imports,
                ((FlDocImport){m->alias.text ? m->alias.text : m->module.text, m->module.text}));
  }
}

/* let name = module.function */
static bool is_alias(const Reader *r, const FlStmt *s) {
  const FlExpr *value = s->let.value;
  if (s->kind != FL_STMT_LET || value->kind != FL_EXPR_FIELD || value->field.base->kind != FL_EXPR_NAME)
    return false;
  for (int i = 0; i < r->out->imports.n; i++)
    if (strcmp(r->out->imports.at[i].alias, value->field.base->name.text) == 0) return true;
  return false;
}

static const FlStmt *statement_of(const Reader *r, const FlLspDeclared *d) {
  for (int i = 0; i < r->ast->stmts.n; i++)
    if (r->ast->stmts.at[i]->span.start == d->whole.start) return r->ast->stmts.at[i];
  return NULL;
}

static const char *free_id(const Reader *r, const char *name) {
  int same = 1;
  for (int i = 0; i < r->out->items.n; i++) same += strcmp(r->out->items.at[i].name, name) == 0;
  char *id = same > 1 ? fl_arena_printf(r->arena, "%s-%d", name, same)
                      : fl_arena_strndup(r->arena, name, strlen(name));
  for (char *c = id; *c; c++)
    if (strchr(" \t\"'<>&#%", *c)) *c = '-';
  return id;
}

static int by_place(const void *a, const void *b) {
  const Told *x = a, *y = b;
  return x->at.start != y->at.start ? (x->at.start > y->at.start) - (x->at.start < y->at.start)
                                    : (x->at.len > y->at.len) - (x->at.len < y->at.len);
}

/* The only type that was told of an expression; NULL: none, or several. */
static const char *type_of(const Reader *r, const FlExpr *e) {
  const Told wanted = {.at = e->span};
  const Told *found =
      r->told.n ? bsearch(&wanted, r->told.at, (size_t)r->told.n, sizeof wanted, by_place) : NULL;
  return found ? found->type : NULL;
}

/* What follows the head of a declaration that says no type: of a function all of whose parameters have types
 * its result, of a value its type. "": it is written, or not known. */
static const char *inferred(const Reader *r, const FlStmt *s) {
  const char *type = NULL;
  if (!s) return "";
  if (s->kind == FL_STMT_LET && s->let.pattern->kind == FL_PAT_NAME && !s->let.type) {
    type = type_of(r, s->let.value);
    return type ? fl_arena_printf(r->arena, ": %s", type) : "";
  }
  if ((s->kind != FL_STMT_FN && s->kind != FL_STMT_STAGE) || s->fn.result || !s->fn.body) return "";
  for (int p = 0; p < s->fn.params.n; p++)
    if (!s->fn.params.at[p].type) return "";
  type = type_of(r, s->fn.body);
  return type ? fl_arena_printf(r->arena, " -> %s", type) : "";
}

static void add_item(Reader *r, const FlLspDeclared *d, FlDocKind kind) {
  const FlStmt *s = statement_of(r, d);
  const char *head = fl_arena_printf(r->arena, "%s%s", d->head, s && is_alias(r, s) ? "" : inferred(r, s));
  if (s && is_alias(r, s))
    head = fl_arena_printf(r->arena, "%s = %s.%s", head, s->let.value->field.base->name.text,
                           s->let.value->field.name.text);
  FlDocItem item = {kind, d->name, free_id(r, d->name), head, d->doc ? d->doc : ""};
  fl_vec_push(r->arena, &r->out->items, item);
}

static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (unsigned char)c >= 0x80;
}

/* Whether a text has a name in it, as a word. */
static bool names(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)); at += n)
    if ((at == text || !in_name(at[-1])) && !in_name(at[n])) return true;
  return false;
}

/* Whether something that others use names the type. */
static bool is_named(const FlLspDeclaredList *all, const bool *shown, const char *type) {
  for (int i = 0; i < all->n; i++)
    if (shown[i] && names(all->at[i].head, type)) return true;
  return false;
}

static FlDocKind kind_of(const Reader *r, const FlLspDeclared *d) {
  switch (d->kind) {
  case FL_STMT_TYPE: return FL_DOC_TYPE;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN: return FL_DOC_FUNCTION;
  case FL_STMT_PARAM: return FL_DOC_PARAM;
  case FL_STMT_LET: {
    const FlStmt *s = statement_of(r, d);
    return d->doc || (s && is_alias(r, s)) ? FL_DOC_VALUE : FL_N_DOC_KINDS;
  }
  case FL_STMT_VAR:
  case FL_STMT_TEST:
  case FL_STMT_ERROR:
  case FL_STMT_ASSIGN:
  case FL_STMT_EXPR:
  case FL_STMT_FOR:
  case FL_STMT_WHILE:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE:
  case FL_STMT_ASSERT:
  case FL_STMT_IMPORT:
  case FL_STMT_REQUIRES: break;
  }
  return FL_N_DOC_KINDS;
}

static void add_items(Reader *r) {
  FlLspDeclaredList all = {0};
  fl_lsp_declared(r->arena, r->ast, &all);
  bool *shown = FL_NEW_ARRAY(r->arena, bool, all.n + 1);
  for (int i = 0; i < all.n; i++) {
    const FlLspDeclared *d = &all.at[i];
    FlDocKind kind = kind_of(r, d);
    shown[i] = kind != FL_N_DOC_KINDS && d->name[0] != '_' && (kind != FL_DOC_TYPE || d->doc);
  }
  for (bool more = true; more;) { /* a type that is named may name others */
    more = false;
    for (int i = 0; i < all.n; i++) {
      const FlLspDeclared *d = &all.at[i];
      if (shown[i] || d->kind != FL_STMT_TYPE || d->name[0] == '_' || !is_named(&all, shown, d->name))
        continue;
      shown[i] = more = true;
    }
  }
  for (int kind = 0; kind < FL_N_DOC_KINDS; kind++)
    for (int i = 0; i < all.n; i++)
      if (shown[i] && kind_of(r, &all.at[i]) == (FlDocKind)kind) add_item(r, &all.at[i], (FlDocKind)kind);
}

/* ---- examples ---- */

typedef struct Search {
  const Reader *r;
  const char *title;
  int first, titled; /* items: the first that is named, and that the title names, too */
  uint32_t first_at, titled_at;
} Search;

static bool look_at(void *env, const FlExpr *e) {
  Search *x = env;
  if (e->kind != FL_EXPR_NAME) return true;
  const FlDocItem *item = fl_doc_find(x->r->out, e->name.text, strlen(e->name.text));
  if (!item || item->kind != FL_DOC_FUNCTION) return true;
  int at = (int)(item - x->r->out->items.at);
  if (e->span.start < x->first_at) x->first = at, x->first_at = e->span.start;
  if (e->span.start < x->titled_at && names(x->title, item->name))
    x->titled = at, x->titled_at = e->span.start;
  return true;
}

static const char *code_of(const Reader *r, const FlExpr *body) {
  const char *s = r->source->text + body->span.start, *end = s + body->span.len;
  if (s < end && *s == '{') s++;
  if (end > s && end[-1] == '}') end--;
  while (end > s && strchr(" \t\r\n", end[-1])) end--;
  while (s < end && (*s == '\n' || *s == '\r')) s++;
  size_t shared = SIZE_MAX;
  for (const char *line = s, *next; line < end; line = next) {
    size_t n = strcspn(line, "\n"), blanks = strspn(line, " ");
    next = line + n + 1;
    if (blanks < n && blanks < shared) shared = blanks;
  }
  FlText1 out = {0};
  fl_text_addz(&out, "");
  for (const char *line = s, *next; line < end; line = next) {
    size_t n = strcspn(line, "\n");
    next = line + n + 1;
    if (line + n > end) n = (size_t)(end - line);
    size_t left = n < shared ? n : shared;
    fl_text_add(&out, line + left, n - left);
    fl_text_addc(&out, '\n');
  }
  const char *kept = fl_arena_strndup(r->arena, out.s, out.len);
  fl_text_reset(&out);
  return kept;
}

static void add_example(Reader *r, const FlStmt *s) {
  Search x = {r, s->test.name, -1, -1, UINT32_MAX, UINT32_MAX};
  fl_syntax_walk_expr(&(FlWalker){&x, look_at, NULL}, s->test.body);
  FlDocExample example = {s->test.name, code_of(r, s->test.body), x.titled >= 0 ? x.titled : x.first};
  fl_vec_push(r->arena, &r->out->examples, example);
}

/* ---- types ---- */

typedef struct Hearer {
  Reader *r;
  const FlCompilation *c;
} Hearer;

static void hear_type(void *env, FlSpan at, const char *type) {
  const Hearer *h = env;
  if (at.file != h->c->script->id) return;
  fl_vec_push(h->r->arena, &h->r->told, ((Told){at, fl_arena_strndup(h->r->arena, type, strlen(type))}));
}

static void hear_name(void *env, FlSpan at, const FlNamed *what) { (void)env, (void)at, (void)what; }
static void hear_columns(void *env, FlSpan at, const char *row) { (void)env, (void)at, (void)row; }
static void hear_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  (void)env, (void)at, (void)takes, (void)gives;
}

/* What is told of one place several times becomes one. What is wrong with the module is `check`'s to say. */
static void learn_types(Reader *r, const char *path) {
  FlCompilation c = {0};
  if (strcmp(path, "-") != 0 && fl_compilation_init(&c, path) == 0) {
    Hearer h = {r, &c};
    const FlWitness witness = {&h, hear_type, hear_name, hear_columns, hear_step, NULL};
    c.silent = true;
    fl_front_check(&c, NULL, &witness, -1);
  }
  fl_compilation_reset(&c);
  if (r->told.n) qsort(r->told.at, (size_t)r->told.n, sizeof *r->told.at, by_place);
  int n = 0;
  for (int i = 0; i < r->told.n; i++) {
    Told *last = n ? &r->told.at[n - 1] : NULL, *x = &r->told.at[i];
    if (!last || by_place(last, x) != 0) r->told.at[n++] = *x;
    else if (last->type && strcmp(last->type, x->type) != 0) last->type = NULL;
  }
  r->told.n = n;
}

int fl_doc_read(FlArena *arena, const char *path, const char *name, FlDocModule *out) {
  FlText1 text = {0}, why = {0};
  *out = (FlDocModule){.name = name, .about = ""};
  int status = fl_script_read(path, &text, &why);
  if (status) fprintf(stderr, "flowc doc: %s\n", why.s);
  FlSources *sources = fl_sources_make(arena);
  FlSink *sink = fl_sink_make(arena, sources);
  if (!status) {
    const char *called = strcmp(path, "-") == 0 ? FL_STANDARD_INPUT : path;
    FlSource *f = fl_sources_add(sources, called, text.s ? text.s : "", text.len);
    Reader r = {.arena = arena, .source = f, .out = out};
    r.ast = fl_syntax_parse(arena, fl_interner_make(arena), f, sink);
    if (sink->n_errors) {
      FlText1 said = {0};
      fl_sink_print(sink, &said, false);
      fputs(said.s, stderr);
      fl_text_reset(&said);
      status = 3;
    } else {
      learn_types(&r, path);
      out->about = about(&r);
      for (int i = 0; i < r.ast->stmts.n; i++)
        if (r.ast->stmts.at[i]->kind == FL_STMT_IMPORT) add_imports(&r, r.ast->stmts.at[i]);
      add_items(&r);
      for (int i = 0; i < r.ast->stmts.n; i++)
        if (r.ast->stmts.at[i]->kind == FL_STMT_TEST) add_example(&r, r.ast->stmts.at[i]);
    }
  }
  fl_text_reset(&text);
  fl_text_reset(&why);
  return status;
}

/* ---- flow's own functions ---- */

typedef struct Own {
  FlArena *arena;
  FlVec(FlDocItem) all;
} Own;

static void tell_builtin(void *env, const FlNamed *what, unsigned kinds) {
  Own *own = env;
  FlDocKind kind = kinds & (FL_BUILTIN_VERB | FL_BUILTIN_COLUMNS) ? FL_DOC_VERB
                   : kinds & FL_BUILTIN_AGGREGATE                 ? FL_DOC_AGGREGATE
                   : kinds & FL_BUILTIN_WINDOW                    ? FL_DOC_WINDOW
                                                                  : FL_DOC_OWN;
  const char *head = fl_arena_printf(own->arena, "%s(%s)", what->name, what->signature);
  FlDocItem item = {kind, what->name, what->name, head, what->doc ? what->doc : ""};
  fl_vec_push(own->arena, &own->all, item);
}

static int by_kind_and_name(const void *a, const void *b) {
  const FlDocItem *x = a, *y = b;
  return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : strcmp(x->name, y->name);
}

void fl_doc_builtins(FlArena *arena, FlDocModule *out) {
  Own own = {.arena = arena};
  *out = (FlDocModule){
      .name = FL_DOC_BUILTINS,
      .about =
          "The functions that every script knows, without an import.\n\nIn the heads `x=` is left out where "
          "one likes, `*x=` is given by its name only, and `...` takes all that follow.\n"};
  fl_sema_builtins(&own, tell_builtin);
  if (own.all.n) qsort(own.all.at, (size_t)own.all.n, sizeof *own.all.at, by_kind_and_name);
  for (int i = 0; i < own.all.n; i++) fl_vec_push(arena, &out->items, own.all.at[i]);
}

/* ---- as text ---- */

const char *fl_doc_first_sentence(FlArena *arena, const FlDocModule *m) {
  FlText1 out = {0};
  fl_text_addz(&out, "");
  for (const char *c = m->about; *c && !(c[0] == '\n' && c[1] == '\n'); c++) {
    fl_text_addc(&out, *c == '\n' ? ' ' : *c);
    if (*c == '.' && (c[1] == ' ' || c[1] == '\n' || !c[1])) break;
  }
  while (out.len && strchr(" .", out.s[out.len - 1])) out.len--;
  const char *kept = fl_arena_strndup(arena, out.s, out.len);
  fl_text_reset(&out);
  return kept;
}

static void print_lines(FlText1 *out, const char *text, const char *indent) {
  for (const char *line = text, *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    if (end > line) fl_text_addf(out, "%s%.*s", indent, (int)(end - line), line);
    fl_text_addc(out, '\n');
  }
}

static void print_item(FlText1 *out, const FlDocModule *m, int at) {
  const FlDocItem *item = &m->items.at[at];
  fl_text_addf(out, "\n%s\n", item->head);
  print_lines(out, item->doc, "  ");
  for (int i = 0; i < m->examples.n; i++) {
    const FlDocExample *e = &m->examples.at[i];
    if (e->item != at) continue;
    fl_text_addf(out, "\n  Example: %s\n", e->name);
    print_lines(out, e->code, "    ");
  }
}

void fl_doc_print(FlText1 *out, const FlDocModule *m, const char *name) {
  if (!name) {
    fl_text_addf(out, "%s\n", m->name);
    if (*m->about) fl_text_addc(out, '\n');
    print_lines(out, m->about, "  ");
  }
  FlDocKind kind = FL_N_DOC_KINDS;
  for (int i = 0; i < m->items.n; i++) {
    const FlDocItem *item = &m->items.at[i];
    if (name && strcmp(item->name, name) != 0) continue;
    if (!name && item->kind != kind) fl_text_addf(out, "\n%s\n", fl_doc_title(item->kind));
    kind = item->kind;
    print_item(out, m, i);
  }
  if (!name && !m->items.n) fl_text_addz(out, "\n  It has nothing for others.\n");
}
