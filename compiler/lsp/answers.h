/* answers.h: what is answered to each request about a document that was checked. Each takes the params of the
 * request and gives the result, which the caller owns; NULL is null. `all` says how places are written. */
#ifndef FL_LSP_ANSWERS_H
#define FL_LSP_ANSWERS_H

#include "lsp/document.h"

typedef json_t *FlLspAnswer(FlLspDocuments *all, FlLspDocument *d, const json_t *params);

FlLspAnswer fl_lsp_hover, fl_lsp_definition, fl_lsp_references, fl_lsp_highlight, fl_lsp_prepare_rename,
    fl_lsp_rename;
FlLspAnswer fl_lsp_symbols, fl_lsp_folds, fl_lsp_format, fl_lsp_actions, fl_lsp_tokens;
FlLspAnswer fl_lsp_complete, fl_lsp_signature;
/* elsewhere.c: tells of each place where the name that is declared there, at the top of its file, is used in
 * other files than the document: what that imports, and all of the open folder. `f` lives until tell returns.
 */
void fl_lsp_elsewhere(FlLspDocuments *all, const FlLspDocument *d, FlSpan declared, void *env,
                      void (*tell)(void *env, const FlSource *f, FlSpan at));
/* rows.c: the first rows of the table that the step of a pipe at a place gives, as Markdown, and where that
 * step is; false: nothing is known of them. */
bool fl_lsp_rows(FlLspDocuments *all, FlLspDocument *d, uint32_t at, FlText1 *out, FlSpan *step);
/* last_run.c: rows at each |>, and what is to be computed again. */
FlLspAnswer fl_lsp_hints, fl_lsp_lenses;
/* The same of the last run, where neither texts nor files have changed since; the step by its call, or a
 * `let` by its name. false: the record has no rows of it. */
bool fl_lsp_last_rows(const FlLspDocuments *all, const FlLspDocument *d, FlSpan at, bool let, FlText1 *out);
/* last_rows.c: rows of the record as Markdown; `several`: the record has others of that place. */
struct FlRecord;
struct FlRecordRows;
void fl_lsp_say_rows(struct FlRecord *record, const struct FlRecordRows *rows, bool several, FlText1 *out);
/* 27,004 */
void fl_lsp_add_number(FlText1 *out, int64_t n);

/* The messages of the document, as publishDiagnostics wants them. */
json_t *fl_lsp_messages(FlLspDocuments *all, FlLspDocument *d);
/* The kinds of token that fl_lsp_tokens numbers, and their modifiers. */
json_t *fl_lsp_token_kinds(void);
json_t *fl_lsp_token_modifiers(void);

/* ---- declarations (declared.c) ---- */

/* One that stands at the top of a file. */
typedef struct FlLspDeclared {
  const char *name, *doc; /* doc: or NULL */
  const char *head;       /* as it is written, without its body: "fn f(x: f64) -> f64" */
  FlStmtKind kind;
  FlSpan at, whole; /* its name, and all of it */
} FlLspDeclared;
typedef FlVec(FlLspDeclared) FlLspDeclaredList;
/* What a file declares and binds at its top, in order. */
void fl_lsp_declared(FlArena *arena, const FlAst *ast, FlLspDeclaredList *out);
/* The declarations of a source that was read by a check, parsed anew; what is in the list lives in the arena.
 */
void fl_lsp_declared_in(FlArena *arena, const FlSource *f, FlLspDeclaredList *out);
/* Calls `tell` for each name that a pattern binds. */
void fl_lsp_bound(const FlPat *p, void *env, void (*tell)(void *env, FlName name));

#endif
