/* column_origin.c: see column_origin.h.
 *
 * In: the row types of files, the messages at the end, the trees of the files. How: an error that speaks of
 * text, at an expression, or at an operator, whose operand has the name of a column that one value made text.
 * What always holds: nothing is said of a name that columns of several files have. */
#include "sema/column_origin.h"

void fl_column_origin_keep(FlSema *s, const char *path, const FlIoSchema *schema) {
  for (int i = 0; i < schema->n_columns; i++) {
    const FlIoColumn *c = &schema->columns[i];
    if (!c->odd[0]) continue;
    FlOddColumn odd = {.name = fl_intern_z(s->names, c->name),
                       .path = path,
                       .value = fl_arena_strndup(s->arena, c->odd, strlen(c->odd)),
                       .line = c->odd_line};
    fl_vec_push(s->arena, &s->odd_columns, odd);
  }
}

/* The only such column of this name in all files; NULL: none, or several. */
static const FlOddColumn *column_of(const FlSema *s, const char *name) {
  const FlOddColumn *found = NULL;
  for (int i = 0; i < s->odd_columns.n; i++) {
    const FlOddColumn *c = &s->odd_columns.at[i];
    if (c->name != name) continue;
    if (found && strcmp(found->path, c->path) != 0) return NULL;
    found = c;
  }
  return found;
}

typedef struct Search {
  FlSema *s;
  FlDiag *diag;
  const FlOddColumn *said;
} Search;

/* e is what the message is about, or a side of it. */
static void explain(Search *x, const FlExpr *e) {
  while (e->kind == FL_EXPR_UNARY || e->kind == FL_EXPR_INDEX)
    e = e->kind == FL_EXPR_UNARY ? e->unary.operand : e->index.base;
  const char *name = e->kind == FL_EXPR_NAME || e->kind == FL_EXPR_COL ? e->name.text
                     : e->kind == FL_EXPR_FIELD                        ? e->field.name.text
                                                                       : NULL;
  const FlOddColumn *c = name ? column_of(x->s, name) : NULL;
  if (!c || c == x->said) return;
  x->said = c;
  FlText1 where = {0};
  if (c->line) fl_text_addf(&where, "line %lld of ", (long long)c->line);
  fl_diag_note(x->s->sink, x->diag, (FlSpan){0}, "`%s` is text because of %s%s: `%s`", c->name,
               where.s ? where.s : "", c->path, c->value);
  fl_text_reset(&where);
}

static bool same(FlSpan a, FlSpan b) { return a.file == b.file && a.start == b.start && a.len == b.len; }

static bool look(void *env, const FlExpr *e) {
  Search *x = env;
  FlSpan at = x->diag->span;
  if (at.start < e->span.start || at.start + at.len > e->span.start + e->span.len) return false;
  if (e->kind == FL_EXPR_BINARY && (same(e->binary.op_span, at) || same(e->span, at))) {
    explain(x, e->binary.left);
    explain(x, e->binary.right);
  } else if (same(e->span, at)) {
    explain(x, e);
  }
  return true;
}

void fl_column_origin_say(FlSema *s) {
  if (!s->odd_columns.n) return;
  for (int i = 0; i < s->sink->diags.n; i++) {
    Search x = {s, s->sink->diags.at[i], NULL};
    if (!x.diag->span.file || !strstr(x.diag->message, "text")) continue;
    FlWalker w = {&x, look, NULL};
    for (int f = 0; f < s->files.n; f++) {
      const FlAst *ast = s->files.at[f]->ast;
      for (int k = 0; ast && ast->source->id == x.diag->span.file && k < ast->stmts.n; k++)
        fl_syntax_walk_stmt(&w, ast->stmts.at[k]);
    }
  }
}
