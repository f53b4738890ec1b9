/* column_origin.c: see column_origin.h.
 *
 * In: the row types of files, the messages at the end, the trees of the files. How: an error that speaks of a
 * type, at an expression, or at an operator, whose operand has the name of a column that one value gave this
 * type. What always holds: nothing is said of a name that columns of several files have. */
#include "sema/column_origin.h"

void fl_column_origin_keep(FlSema *s, const char *path, const FlIoSchema *schema) {
  for (int i = 0; i < schema->n_columns; i++) {
    const FlIoColumn *c = &schema->columns[i];
    if (!c->odd.value[0] && !c->null.line) continue;
    FlOddColumn odd = {fl_intern_z(s->names, c->name), path, c->dtype, c->odd, c->null};
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

/* Whether a message has a word. */
static bool says(const FlDiag *d, const char *word) {
  size_t n = strlen(word);
  for (const char *at = d->message; (at = strstr(at, word)); at += n) {
    bool begins = at == d->message || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", at[-1]);
    if (begins && (!at[n] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", at[n]))) return true;
  }
  return false;
}

/* Whether a message is about a column being of its type, where it could have been of the one before. */
static bool about_type(const FlDiag *d, FlDtype dtype) {
  if (dtype == FL_F64) return says(d, "f64") && (says(d, "i64") || says(d, "integer") || says(d, "position"));
  if (dtype == FL_DATETIME) return says(d, "datetime") && says(d, "date");
  return says(d, fl_dtype_name(dtype));
}

/* Whether it is about nulls that may be there. */
static bool about_null(const FlDiag *d) {
  const char *found = strstr(d->message, "but this is ");
  return d->code == FL_E0501 || says(d, "null") || (found && strchr(found, '?'));
}

typedef struct Search {
  FlSema *s;
  FlDiag *diag;
  const FlOddColumn *said;
} Search;

/* "because of line 3 of t.csv" */
static const char *because(FlSema *s, const FlOddColumn *c, int64_t line) {
  return line ? fl_arena_printf(s->arena, "because of line %lld of %s", (long long)line, c->path)
              : fl_arena_printf(s->arena, "because of %s", c->path);
}

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
  if (c->odd.value[0] && about_type(x->diag, c->dtype))
    fl_diag_note(x->s->sink, x->diag, (FlSpan){0}, "`%s` is %s %s: `%s`", c->name, fl_dtype_name(c->dtype),
                 because(x->s, c, c->odd.line), c->odd.value);
  if (!c->null.line || !about_null(x->diag)) return;
  const char *why = because(x->s, c, c->null.line), *value = c->null.value;
  if (*value) fl_diag_note(x->s->sink, x->diag, (FlSpan){0}, "`%s` may be null %s: `%s`", name, why, value);
  else fl_diag_note(x->s->sink, x->diag, (FlSpan){0}, "`%s` may be null %s, which has none", name, why);
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
    if (!x.diag->span.file || fl_diag_severity(x.diag->code) != FL_ERROR) continue;
    FlWalker w = {&x, look, NULL};
    for (int f = 0; f < s->files.n; f++) {
      const FlAst *ast = s->files.at[f]->ast;
      for (int k = 0; ast && ast->source->id == x.diag->span.file && k < ast->stmts.n; k++)
        fl_syntax_walk_stmt(&w, ast->stmts.at[k]);
    }
  }
}
