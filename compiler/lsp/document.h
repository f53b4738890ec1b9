/* document.h: texts that are open in the editor, what is known of each, and places in them. */
#ifndef FL_LSP_DOCUMENT_H
#define FL_LSP_DOCUMENT_H

#include "driver.h"
#include "lsp/lsp.h"
#include "syntax/ast.h"

#include <jansson.h>

/* What a check of a text has said to its witness, in the order in which it said it. */
typedef struct FlLspValue {
  FlSpan at;
  const char *type;
} FlLspValue;
typedef struct FlLspName {
  FlSpan at;
  FlNamed what;
} FlLspName;
typedef struct FlLspStep {
  FlSpan at;
  FlFlow takes, gives;
} FlLspStep;
typedef struct FlLspAmong {
  FlSpan at;
  int n;
  const char *const *texts;
} FlLspAmong;
typedef struct FlLspFacts {
  FlArena *arena; /* the compilation's */
  FlVec(FlLspValue) values;
  FlVec(FlLspName) names;
  FlVec(FlLspValue) columns; /* `type`: of the row */
  FlVec(FlLspStep) steps;
  FlVec(FlLspAmong) among;
} FlLspFacts;

typedef struct FlLspDocument {
  char *uri, *path; /* as the editor names it; as the compiler does */
  FlText1 text;
  json_int_t version;
  bool stale;  /* `c` and `facts` are of an older text, or of files that have changed */
  bool unsaid; /* its messages were not sent yet */
  FlArena *arena;
  FlCompilation c;
  FlLspFacts facts;
  struct FlLspDocument *next;
} FlLspDocument;

/* What a file held when somebody asked last. */
typedef struct FlLspFile FlLspFile;

typedef struct FlLspDocuments {
  FlLspDocument *first;
  char *root;                      /* the folder that is open, or NULL */
  bool utf8;                       /* columns are bytes; else units of UTF-16 */
  bool no_hints, no_lens, no_rows; /* what the editor does not want to hear of: rows of the last run, what a
                                      run would do, rows of a sample */
  int rows_ms;                     /* how long rows of a sample may take */
  FlLspSampler *sample;            /* or NULL */
  FlLspFile *files;
} FlLspDocuments;

/* ---- the documents ---- */

FlLspDocument *fl_lsp_find(const FlLspDocuments *all, const char *uri);
FlLspDocument *fl_lsp_open(FlLspDocuments *all, const char *uri, const char *text, size_t len);
void fl_lsp_close(FlLspDocuments *all, FlLspDocument *d);
/* The documents whose meaning depends on the file: those are stale now. NULL: all. */
void fl_lsp_changed(FlLspDocuments *all, const char *path);
/* Replaces what is between two places, {"line", "character"} each. */
void fl_lsp_edit(FlLspDocuments *all, FlLspDocument *d, const json_t *range, const char *text, size_t len);
/* Checks the document if it is stale. false: the compiler lacks memory or has a bug; nothing is known of the
 * text. */
bool fl_lsp_check(FlLspDocuments *all, FlLspDocument *d);
/* Checks a text as if it were the document's; what it gives is in `c` and `facts`, which live in the arena.
 */
bool fl_lsp_try(FlLspDocuments *all, FlArena *arena, const FlLspDocument *d, const FlText1 *text,
                FlCompilation *c, FlLspFacts *facts);

/* The document of a path; NULL: it is not open. */
FlLspDocument *fl_lsp_of_path(const FlLspDocuments *all, const char *path);

/* ---- the world of a check (world.c) ---- */

typedef struct FlLspWorld {
  FlLspDocuments *all;
  const char *script; /* its path */
} FlLspWorld;
/* The files here, and the texts that are open. `w` outlives it. */
FlWorld fl_lsp_world(FlLspWorld *w);
/* Where a path that a script names is, to be freed. */
char *fl_lsp_found(const FlLspWorld *w, const char *path);
/* Forgets what files hold. */
void fl_lsp_files_forget(FlLspDocuments *all);

/* ---- places ---- */

/* The path of a URI of a file, which the caller frees; of another one a name that no file has. */
char *fl_lsp_path(const FlLspDocuments *all, const char *uri);
/* The URI of a source: that by which the editor opened it, else one of its path. */
json_t *fl_lsp_uri(const FlLspDocuments *all, const FlSource *f);
/* Bytes before a place; past the end of a line or the text: its end. */
uint32_t fl_lsp_offset(const FlLspDocuments *all, const FlText1 *text, const json_t *position);
json_t *fl_lsp_position(const FlLspDocuments *all, const FlSource *f, uint32_t offset);
json_t *fl_lsp_range(const FlLspDocuments *all, const FlSource *f, uint32_t start, uint32_t len);
json_t *fl_lsp_location(const FlLspDocuments *all, const FlSources *sources, FlSpan at);
/* `position` of a request's params in its document. */
uint32_t fl_lsp_asked(const FlLspDocuments *all, const FlLspDocument *d, const json_t *params);

/* Whether a place is in a span, or right behind it, where a cursor stands that has just written it. */
static inline bool fl_lsp_in(FlSpan at, uint32_t offset) {
  return offset >= at.start && offset - at.start <= at.len;
}
/* Whether a byte may be of a name without backticks. */
static inline bool fl_lsp_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (unsigned char)c >= 0x80;
}
/* The name of the script that stands at a place; NULL: none. */
const FlLspName *fl_lsp_name_at(const FlLspDocument *d, uint32_t offset);
/* The row whose columns are names at a place of the script, as the language writes its type; of verbs within
 * each other the innermost. NULL: none. */
const char *fl_lsp_row_at(const FlCompilation *c, const FlLspFacts *facts, uint32_t offset);
/* The fields of a row, a table or a tuple as the language writes its type, "(a: i64, `b c`: text)[5]"; none
 * where they have no names. Texts live in the arena. */
void fl_lsp_fields(FlArena *arena, const char *type, void *env,
                   void (*tell)(void *env, const char *name, const char *type));
/* The type of the smallest expression of the script around a place; NULL: none. */
const FlLspValue *fl_lsp_value_at(const FlLspDocument *d, uint32_t offset);

#endif
