/* answers.c: what names mean and where they are used, what a message proposes, layout. See answers.h. */
#include "lsp/answers.h"

#include <stdlib.h>

static const FlSource *script(const FlLspDocument *d) { return d->c.script; }

static bool same_place(FlSpan a, FlSpan b) { return a.file == b.file && a.start == b.start; }

/* ---- hover --------------------------------------------------------------------------------------------- */

/* What the source of a declaration says of it; NULL: it declares no such name at its top. */
static const FlLspDeclared *declaration(FlArena *arena, const FlLspDocument *d, FlSpan at) {
  FlLspDeclaredList all = {0};
  fl_lsp_declared_in(arena, fl_sources_get(d->c.sources, at.file), &all);
  for (int i = 0; i < all.n; i++)
    if (all.at[i].at.start == at.start) return &all.at[i];
  return NULL;
}

static bool is_function(FlStmtKind kind) {
  return kind == FL_STMT_FN || kind == FL_STMT_STAGE || kind == FL_STMT_EXTERN;
}

static bool is_name(const FlSource *f, FlSpan at) {
  uint32_t n = 0;
  while (n < at.len && fl_lsp_in_name(f->text[at.start + n])) n++;
  return n == at.len;
}

/* A column by its name. */
typedef struct Column {
  const char *name, *type; /* type: NULL until it is found */
} Column;

static void find_column(void *env, const char *name, const char *type) {
  Column *c = env;
  if (strcmp(name, c->name) == 0) c->type = type;
}

/* What a name means that nothing declares: the column of it. NULL: none. */
static json_t *hover_column(FlLspDocuments *all, FlLspDocument *d, uint32_t at) {
  const FlSource *f = script(d);
  uint32_t from = at, to = at;
  while (from > 0 && fl_lsp_in_name(f->text[from - 1])) from--;
  while (to < f->len && fl_lsp_in_name(f->text[to])) to++;
  const char *row = to > from ? fl_lsp_row_at(&d->c, &d->facts, at) : NULL;
  FlArena *arena = fl_arena_new();
  Column column = {fl_arena_strndup(arena, f->text + from, to - from), NULL};
  if (row) fl_lsp_fields(arena, row, &column, find_column);
  json_t *out = NULL;
  if (column.type)
    out = json_pack("{s:{s:s, s:o}, s:o}", "contents", "kind", "markdown", "value",
                    json_sprintf("```flow\n%s: %s\n```", column.name, column.type), "range",
                    fl_lsp_range(all, f, from, to - from));
  fl_arena_free(arena);
  return out;
}

/* What a name, or a value where there is none, is: its type, and what its declaration says. */
static void say_meaning(const FlLspDocument *d, const FlLspName *name, const FlLspValue *value,
                        FlText1 *out) {
  FlArena *arena = fl_arena_new();
  const FlLspDeclared *decl =
      name && name->what.declared.file ? declaration(arena, d, name->what.declared) : NULL;
  const FlSource *f = script(d);
  fl_text_addz(out, "```flow\n");
  if (name && name->what.signature) fl_text_addf(out, "%s(%s)", name->what.name, name->what.signature);
  else if (decl && (is_function(decl->kind) || !value)) fl_text_addz(out, decl->head);
  else if (value && value->at.len <= 80 && !memchr(f->text + value->at.start, '\n', value->at.len))
    fl_text_addf(out, "%.*s: %s", (int)value->at.len, f->text + value->at.start, value->type);
  else if (value) fl_text_addz(out, value->type);
  else fl_text_addz(out, name->what.name);
  fl_text_addz(out, "\n```");
  if (value && name && (name->what.signature || (decl && is_function(decl->kind))))
    fl_text_addf(out, "\n\n`%s`", value->type);
  const char *doc = decl && decl->doc ? decl->doc : name ? name->what.doc : NULL;
  if (doc) fl_text_addf(out, "\n\n%s", doc);
  fl_arena_free(arena);
}

json_t *fl_lsp_hover(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  uint32_t at = fl_lsp_asked(all, d, params);
  const FlLspName *name = fl_lsp_name_at(d, at);
  const FlLspValue *value = fl_lsp_value_at(d, at);
  FlText1 rows = {0}, out = {0};
  FlSpan step = {0};
  bool shows = fl_lsp_rows(all, d, at, &rows, &step);
  if ((name && value && value->at.start != name->at.start) || (shows && !name)) value = NULL;
  bool column = !name && !shows && !(value && is_name(script(d), value->at));
  json_t *answer = column ? hover_column(all, d, at) : NULL;
  FlSpan span = name ? name->at : value ? value->at : step;
  if (!answer && span.file) {
    if (name || value) say_meaning(d, name, value, &out);
    if (shows) fl_text_addf(&out, "%s%s", out.len ? "\n\n---\n\n" : "", rows.s);
    answer = json_pack("{s:{s:s, s:s#}, s:o}", "contents", "kind", "markdown", "value", out.s, (int)out.len,
                       "range", fl_lsp_range(all, script(d), span.start, span.len));
  }
  fl_text_reset(&rows);
  fl_text_reset(&out);
  return answer;
}

/* ---- names --------------------------------------------------------------------------------------------- */

json_t *fl_lsp_definition(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  const FlLspName *name = fl_lsp_name_at(d, fl_lsp_asked(all, d, params));
  return name && name->what.declared.file ? fl_lsp_location(all, d->c.sources, name->what.declared) : NULL;
}

static int by_place(const void *a, const void *b) {
  const FlSpan *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start;
}

typedef FlVec(FlSpan) Spans;

/* Where the name is written that the one at a place stands for, each place once, in all files of the check.
 */
static Spans uses(FlArena *arena, const FlLspDocument *d, FlSpan declared, bool with_declaration) {
  Spans all = {0};
  for (int i = 0; i < d->facts.names.n; i++) {
    const FlLspName *x = &d->facts.names.at[i];
    bool is_declaration = same_place(x->at, declared);
    if (same_place(x->what.declared, declared) && (with_declaration || !is_declaration))
      fl_vec_push(arena, &all, x->at);
  }
  if (with_declaration) fl_vec_push(arena, &all, declared);
  if (all.n) qsort(all.at, (size_t)all.n, sizeof *all.at, by_place);
  int n = 0;
  for (int i = 0; i < all.n; i++)
    if (!n || !same_place(all.at[n - 1], all.at[i])) all.at[n++] = all.at[i];
  all.n = n;
  return all;
}

typedef struct Places {
  FlLspDocuments *all;
  json_t *out;
} Places;

/* Unless it is there. */
static void append(json_t *list, json_t *item) {
  size_t k;
  const json_t *x;
  bool there = false;
  json_array_foreach(list, k, x) there = there || json_equal(x, item);
  if (there) json_decref(item);
  else json_array_append_new(list, item);
}

static void add_place(void *env, const FlSource *f, FlSpan at) {
  const Places *p = env;
  append(p->out, json_pack("{s:o, s:o}", "uri", fl_lsp_uri(p->all, f), "range",
                           fl_lsp_range(p->all, f, at.start, at.len)));
}

json_t *fl_lsp_references(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  const FlLspName *name = fl_lsp_name_at(d, fl_lsp_asked(all, d, params));
  if (!name || !name->what.declared.file) return NULL;
  bool with = json_is_true(json_object_get(json_object_get(params, "context"), "includeDeclaration"));
  FlArena *arena = fl_arena_new();
  Spans at = uses(arena, d, name->what.declared, with);
  json_t *out = json_array();
  for (int i = 0; i < at.n; i++) json_array_append_new(out, fl_lsp_location(all, d->c.sources, at.at[i]));
  fl_lsp_elsewhere(all, d, name->what.declared, &(Places){all, out}, add_place);
  fl_arena_free(arena);
  return out;
}

json_t *fl_lsp_highlight(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  const FlLspName *name = fl_lsp_name_at(d, fl_lsp_asked(all, d, params));
  if (!name || !name->what.declared.file) return NULL;
  FlArena *arena = fl_arena_new();
  Spans at = uses(arena, d, name->what.declared, true);
  json_t *out = json_array();
  for (int i = 0; i < at.n; i++) {
    if (at.at[i].file != script(d)->id) continue;
    json_array_append_new(out, json_pack("{s:o, s:i}", "range",
                                         fl_lsp_range(all, script(d), at.at[i].start, at.at[i].len), "kind",
                                         same_place(at.at[i], name->what.declared) ? 3 : 2));
  }
  fl_arena_free(arena);
  return out;
}

/* The name at the place asked for, if it is the user's to change. */
static const FlLspName *renamed(FlLspDocuments *all, const FlLspDocument *d, const json_t *params) {
  const FlLspName *name = fl_lsp_name_at(d, fl_lsp_asked(all, d, params));
  if (!name || !name->what.declared.file) return NULL;
  const FlSource *f = fl_sources_get(d->c.sources, name->what.declared.file);
  return f->is_library ? NULL : name;
}

json_t *fl_lsp_prepare_rename(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  const FlLspName *name = renamed(all, d, params);
  return name ? fl_lsp_range(all, script(d), name->at.start, name->at.len) : NULL;
}

typedef struct Renaming {
  FlLspDocuments *all;
  json_t *changes;
  const char *written;
} Renaming;

static void rename_at(void *env, const FlSource *f, FlSpan at) {
  const Renaming *r = env;
  json_t *uri = fl_lsp_uri(r->all, f), *list = json_object_get(r->changes, json_string_value(uri));
  if (!list) {
    list = json_array();
    json_object_set_new(r->changes, json_string_value(uri), list);
  }
  append(list,
         json_pack("{s:o, s:s}", "range", fl_lsp_range(r->all, f, at.start, at.len), "newText", r->written));
  json_decref(uri);
}

json_t *fl_lsp_rename(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  const FlLspName *name = renamed(all, d, params);
  const char *wanted = json_string_value(json_object_get(params, "newName"));
  if (!name || !wanted || !*wanted) return NULL;
  FlText1 written = {0};
  size_t n = strlen(wanted);
  bool quoted = n > 2 && wanted[0] == '`' && wanted[n - 1] == '`';
  if (quoted) fl_text_addz(&written, wanted);
  else fl_syntax_add_name(&written, wanted);
  FlArena *arena = fl_arena_new();
  Spans at = uses(arena, d, name->what.declared, true);
  Renaming r = {all, json_object(), written.s};
  for (int i = 0; i < at.n; i++) rename_at(&r, fl_sources_get(d->c.sources, at.at[i].file), at.at[i]);
  fl_lsp_elsewhere(all, d, name->what.declared, &r, rename_at);
  fl_arena_free(arena);
  fl_text_reset(&written);
  return json_pack("{s:o}", "changes", r.changes);
}

/* ---- messages ------------------------------------------------------------------------------------------ */

/* Where a message stands in the script: its own place, or of a note, if it is about another file; else the
 * start. */
static FlSpan place_of(const FlLspDocument *d, const FlDiag *x) {
  if (x->span.file == script(d)->id) return x->span;
  for (int k = 0; k < x->n_notes; k++)
    if (x->notes[k].span.file == script(d)->id) return x->notes[k].span;
  return (FlSpan){.file = script(d)->id};
}

static json_t *message(FlLspDocuments *all, const FlLspDocument *d, const FlDiag *x) {
  FlSpan at = place_of(d, x);
  json_t *related = json_array();
  FlText1 text = {0};
  fl_text_addz(&text, x->message);
  if (x->help) fl_text_addf(&text, "\nhelp: %s", x->help);
  if (x->span.file && x->span.file != script(d)->id)
    json_array_append_new(related,
                          json_pack("{s:o, s:s}", "location", fl_lsp_location(all, d->c.sources, x->span),
                                    "message", x->message));
  for (int k = 0; k < x->n_notes; k++) {
    if (x->notes[k].span.file)
      json_array_append_new(related, json_pack("{s:o, s:s}", "location",
                                               fl_lsp_location(all, d->c.sources, x->notes[k].span),
                                               "message", x->notes[k].text));
    else fl_text_addf(&text, "\nnote: %s", x->notes[k].text);
  }
  json_t *out =
      json_pack("{s:o, s:i, s:s, s:s, s:s, s:o}", "range", fl_lsp_range(all, script(d), at.start, at.len),
                "severity", fl_diag_severity(x->code) == FL_ERROR ? 1 : 2, "code", fl_diag_name(x->code),
                "source", "flow", "message", text.s, "relatedInformation", related);
  fl_text_reset(&text);
  return out;
}

json_t *fl_lsp_messages(FlLspDocuments *all, FlLspDocument *d) {
  json_t *out = json_array();
  if (!d->c.sources) {
    json_t *start = json_pack("{s:i, s:i}", "line", 0, "character", 0);
    json_array_append_new(out, json_pack("{s:{s:O, s:o}, s:i, s:s, s:s}", "range", "start", start, "end",
                                         start, "severity", 1, "source", "flow", "message",
                                         d->c.bug[0] ? "flow itself failed; please report this text"
                                                     : "there is not enough memory to check this text"));
    return out;
  }
  for (int i = 0; i < d->c.sink->diags.n; i++)
    json_array_append_new(out, message(all, d, d->c.sink->diags.at[i]));
  return out;
}

json_t *fl_lsp_actions(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  const json_t *range = json_object_get(params, "range");
  uint32_t from = fl_lsp_offset(all, &d->text, json_object_get(range, "start")),
           to = fl_lsp_offset(all, &d->text, json_object_get(range, "end"));
  json_t *out = json_array();
  for (int i = 0; i < d->c.sink->diags.n; i++) {
    const FlDiag *x = d->c.sink->diags.at[i];
    FlSpan at = place_of(d, x);
    const FlSource *f =
        x->edit.text && x->edit.span.file ? fl_sources_get(d->c.sources, x->edit.span.file) : NULL;
    if (!f || f->is_library || at.start > to || at.start + at.len < from) continue;
    json_t *uri = fl_lsp_uri(all, f), *changes = json_object();
    json_object_set_new(changes, json_string_value(uri),
                        json_pack("[{s:o, s:s}]", "range",
                                  fl_lsp_range(all, f, x->edit.span.start, x->edit.span.len), "newText",
                                  x->edit.text));
    json_decref(uri);
    json_array_append_new(out, json_pack("{s:s++, s:s, s:b, s:[o], s:{s:o}}", "title", "write `",
                                         x->edit.text, "`", "kind", "quickfix", "isPreferred", 1,
                                         "diagnostics", message(all, d, x), "edit", "changes", changes));
  }
  return out;
}

/* ---- the tree ------------------------------------------------------------------------------------------ */

json_t *fl_lsp_symbols(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  (void)params;
  static const int kinds[] = {
      [FL_STMT_FN] = 12,    [FL_STMT_STAGE] = 6, [FL_STMT_EXTERN] = 12, [FL_STMT_TYPE] = 23,
      [FL_STMT_PARAM] = 14, [FL_STMT_TEST] = 24, [FL_STMT_LET] = 13,    [FL_STMT_VAR] = 13};
  FlArena *arena = fl_arena_new();
  FlLspDeclaredList tops = {0};
  fl_lsp_declared(arena, d->c.ast, &tops);
  json_t *out = json_array();
  for (int i = 0; i < tops.n; i++) {
    const FlLspDeclared *x = &tops.at[i];
    json_array_append_new(out,
                          json_pack("{s:s, s:s, s:i, s:o, s:o}", "name", x->name[0] ? x->name : "_", "detail",
                                    x->head, "kind", kinds[x->kind], "range",
                                    fl_lsp_range(all, script(d), x->whole.start, x->whole.len),
                                    "selectionRange", fl_lsp_range(all, script(d), x->at.start, x->at.len)));
  }
  fl_arena_free(arena);
  return out;
}

typedef struct Folds {
  const FlSource *source;
  json_t *out;
  int last; /* the line of the last fold: one begins in a line */
} Folds;

static void fold(Folds *f, FlSpan at, const char *kind) {
  int from, to, column;
  fl_source_position(f->source, at.start, &from, &column);
  fl_source_position(f->source, at.start + at.len, &to, &column);
  if (to <= from || from <= f->last) return;
  f->last = from;
  json_t *range = json_pack("{s:i, s:i}", "startLine", from - 1, "endLine", to - 1);
  if (kind) json_object_set_new(range, "kind", json_string(kind));
  json_array_append_new(f->out, range);
}

static bool fold_expr(void *env, const FlExpr *e) {
  fold(env, e->span, NULL);
  return true;
}
static bool fold_stmt(void *env, const FlStmt *s) {
  fold(env, s->span, NULL);
  return true;
}

json_t *fl_lsp_folds(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  (void)all, (void)params;
  Folds f = {script(d), json_array(), 0};
  const FlCommentList *comments = &d->c.ast->comments;
  for (int i = 0; i < comments->n; i++) { /* comments in lines one behind the other are one */
    int k = i, line, next, column;
    fl_source_position(f.source, comments->at[i].span.start, &line, &column);
    for (; comments->at[i].own_line && k + 1 < comments->n && comments->at[k + 1].own_line; k++) {
      fl_source_position(f.source, comments->at[k + 1].span.start, &next, &column);
      if (next != line + (k + 1 - i)) break;
    }
    fold(&f, fl_span_join(comments->at[i].span, comments->at[k].span), "comment");
    i = k;
  }
  f.last = 0;
  FlWalker w = {&f, fold_expr, fold_stmt};
  for (int i = 0; i < d->c.ast->stmts.n; i++) fl_syntax_walk_stmt(&w, d->c.ast->stmts.at[i]);
  return f.out;
}

/* The one layout as an edit of what differs; nothing where the text has errors. */
json_t *fl_lsp_format(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  (void)params;
  FlArena *arena = fl_arena_new();
  FlSources *sources = fl_sources_make(arena);
  FlSink *sink = fl_sink_make(arena, sources);
  FlInterner *names = fl_interner_make(arena);
  FlSource *f = fl_sources_add(sources, d->path, d->text.s ? d->text.s : "", d->text.len);
  FlAst *ast = fl_syntax_parse(arena, names, f, sink), *again = NULL;
  FlText1 layout = {0};
  fl_text_addz(&layout, "");
  if (!sink->n_errors) {
    fl_fmt_print(&layout, ast);
    again = fl_syntax_parse(arena, names, fl_sources_add(sources, d->path, layout.s, layout.len), sink);
  }
  json_t *out = NULL;
  if (again && !sink->n_errors && fl_syntax_same(ast, again)) {
    uint32_t from = 0, line = 0, old = f->len, new = (uint32_t)layout.len;
    while (from < old && from < new && f->text[from] == layout.s[from])
      from++, line = f->text[from - 1] == '\n' ? from : line;
    while (old > from && new > from && f->text[old - 1] == layout.s[new - 1]) old--, new --;
    out = json_array();
    if (old > from || new > from) /* from the start of the line on: characters stay whole */
      for (; old < f->len && f->text[old] != '\n' && old > line; old++, new ++) continue;
    if (old > from || new > from)
      json_array_append_new(out, json_pack("{s:o, s:s#}", "range", fl_lsp_range(all, f, line, old - line),
                                           "newText", layout.s + line, (int)(new - line)));
  }
  fl_text_reset(&layout);
  fl_arena_free(arena);
  return out;
}
