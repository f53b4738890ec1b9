/* requires.c: `requires flow >= 0.2`: which flow a file is for.
 *
 * In: the tokens of a file. Out: a message, and nothing else of that file, when this flow is not meant: what
 * a later flow understands may be no text of this one. What always holds: versions are compared number by
 * number from the left, as far as the bound is written: 0.2.5 is `== 0.2`, and not `> 0.2`. */
#include "syntax/syntax_internal.h"

#include "flow/version.h"

#include <stdlib.h>

bool fl_version_read(const char *s, size_t len, FlVersion *out) {
  *out = (FlVersion){0};
  const char *end = s + len;
  while (s < end) {
    if (out->n == FL_VERSION_NUMBERS || *s < '0' || *s > '9') return false;
    long v = 0;
    for (; s < end && *s >= '0' && *s <= '9'; s++) {
      v = v * 10 + (*s - '0');
      if (v > 999999) return false;
    }
    out->numbers[out->n++] = (int)v;
    if (s == end) return true;
    if (*s++ != '.') return false;
  }
  return false;
}

bool fl_version_holds(const FlVersion *have, int comparison, const FlVersion *bound) {
  int order = 0;
  for (int i = 0; i < bound->n && !order; i++)
    order = (have->numbers[i] > bound->numbers[i]) - (have->numbers[i] < bound->numbers[i]);
  switch (comparison) {
  case FL_TOK_GE: return order >= 0;
  case FL_TOK_GT: return order > 0;
  case FL_TOK_LE: return order <= 0;
  case FL_TOK_LT: return order < 0;
  default: return order == 0;
  }
}

/* Behind the words `requires flow`: bounds, with commas between. A form that is none is the grammar's to
 * report. */
static bool check_bounds(FlParser *p, int i) {
  FlVersion here, bound;
  fl_version_read(FL_FLOW_VERSION, strlen(FL_FLOW_VERSION), &here);
  for (;; i += 3) {
    const FlToken *comparison = &p->tokens.at[i], *version = comparison + 1;
    if (!comparison->kind || version->kind != FL_TOK_VERSION) return true;
    const char *text = p->source->text + version->span.start;
    if (!fl_version_read(text, version->span.len, &bound)) return true;
    if (!fl_version_holds(&here, comparison->kind, &bound)) {
      const char *sign = p->source->text + comparison->span.start;
      FlDiag *d = fl_report(p->sink, FL_E0117, fl_span_join(comparison->span, version->span),
                            "this file is for flow %.*s %.*s, and this is flow %s", (int)comparison->span.len,
                            sign, (int)version->span.len, text, FL_FLOW_VERSION);
      bool newer = comparison->kind == FL_TOK_GE || comparison->kind == FL_TOK_GT;
      fl_diag_help(p->sink, d,
                   newer ? "install a later flow, or take a version of the file that is for this one"
                         : "take a version of the file that is for this flow, or the flow that it is for");
      return false;
    }
    if (version[1].kind != FL_TOK_COMMA) return true;
  }
}

bool fl_syntax_meant_for_this(FlParser *p, int n_diags, int n_errors) {
  int i = 0;
  while (i < p->tokens.n && p->tokens.at[i].kind == FL_TOK_NEWLINE) i++;
  if (i + 3 >= p->tokens.n || p->tokens.at[i].kind != FL_TOK_REQUIRES) return true;
  FlSink *sink = p->sink;
  int n = sink->diags.n, errors = sink->n_errors;
  if (check_bounds(p, i + 2)) return true;
  FlDiag *said = sink->diags.n > n ? sink->diags.at[n] : NULL;
  sink->diags.n = n_diags;
  sink->n_errors = n_errors + (sink->n_errors - errors);
  if (said) fl_vec_push(sink->arena, &sink->diags, said);
  return false;
}

FlVersionBound *fl_build_bound(FlParser *p, FlTok comparison, FlTok version) {
  FlVersionBound *b = FL_NEW(p->arena, FlVersionBound);
  FlVersion read;
  const char *text = p->source->text + version->span.start;
  b->comparison = fl_arena_strndup(p->arena, p->source->text + comparison->span.start, comparison->span.len);
  b->version = fl_arena_strndup(p->arena, text, version->span.len);
  b->span = fl_span_join(comparison->span, version->span);
  if (!version->made && !fl_version_read(text, version->span.len, &read)) {
    FlDiag *d = fl_report(p->sink, FL_E0118, version->span, "`%.*s` is not a version of flow",
                          (int)version->span.len, text);
    fl_diag_help(p->sink, d, "a version is up to three numbers with points between: 0.2 or 0.2.1");
  }
  return b;
}

void fl_syntax_check_requires(FlParser *p) {
  for (int i = 1; i < p->ast->stmts.n; i++) {
    const FlStmt *s = p->ast->stmts.at[i];
    if (s->kind == FL_STMT_REQUIRES)
      fl_report(p->sink, FL_E0118, s->span, "`requires flow` stands before all other statements of a file");
  }
}
