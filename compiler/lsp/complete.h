/* complete.h: what the files share that say what may stand at a place of a text that is being written. */
#ifndef FL_LSP_COMPLETE_H
#define FL_LSP_COMPLETE_H

#include "lsp/answers.h"

/* What is open at a place, the innermost last. In a comment: false. */
bool fl_lsp_opens(FlArena *arena, const FlText1 *t, uint32_t at, FlOpens *out);

/* What a check of a text says in which a name that means nothing stands for what is being written. */
typedef struct FlLspMended {
  FlCompilation c;
  FlLspFacts facts;
  uint32_t at; /* of that name */
} FlLspMended;
/* Checks the document with the name from `from` to `to`; with `closed`, what is open there is closed and the
 * rest of the line left out. */
void fl_lsp_mend(FlLspDocuments *all, FlArena *arena, const FlLspDocument *d, uint32_t from, uint32_t to,
                 bool closed, FlLspMended *m);

/* A call that is being written. */
typedef struct FlLspCall {
  const char *name, *module; /* module: NULL, none is named */
  const char *head, *doc;    /* the function's, or NULL: nothing is known of it */
  const char *params;        /* within the head, what is in its brackets; of flow's own their signature */
  int argument;              /* which one is being written */
} FlLspCall;
/* The innermost call around a place whose arguments are being written. false: none, or nobody knows the
 * function. */
bool fl_lsp_call_at(FlArena *arena, const FlLspDocument *d, uint32_t at, FlLspCall *out);

/* complete_text.c: adds what may stand in the text literal around a place: what it is compared with, or
 * files. */
void fl_lsp_complete_text(FlLspDocuments *all, FlArena *arena, const FlLspDocument *d, uint32_t at,
                          json_t *items);

#endif
