/* doc.h: the documentation of modules: what they say of themselves, as data, as text and as pages of HTML.
 *
 * In: files of flow, or the functions that every script knows. Out: all that a module has for others (names
 * without `_` in front; types without a doc comment where a signature that is shown names them), in the order
 * of its kinds; its tests as examples. Everything lives in the arena given. */
#ifndef FL_DOC_H
#define FL_DOC_H

#include "base/base.h"

typedef enum FlDocKind {
  FL_DOC_TYPE,
  FL_DOC_FUNCTION,
  FL_DOC_VALUE,
  FL_DOC_PARAM,
  /* flow's own functions */
  FL_DOC_VERB,
  FL_DOC_AGGREGATE,
  FL_DOC_WINDOW,
  FL_DOC_OWN,
  FL_N_DOC_KINDS
} FlDocKind;

typedef struct FlDocItem {
  FlDocKind kind;
  const char *name;
  const char *id;   /* of its place on the page: the name, of the second of that name `name-2` */
  const char *head; /* as it is declared, without its body, in a line */
  const char *doc;  /* "" where it has none */
} FlDocItem;

/* A test, as an example. */
typedef struct FlDocExample {
  const char *name, *code; /* the code: lines, without the indentation that they share */
  /* The function that it is about: the first that both its name and it name, or that it names; -1. */
  int item;
} FlDocExample;

/* A module that it imports. */
typedef struct FlDocImport {
  const char *alias, *module;
} FlDocImport;

typedef struct FlDocModule {
  const char *name;  /* as imports call it; also of its page */
  const char *about; /* the comment at its top, paragraphs apart by an empty line; "" */
  FlVec(FlDocItem) items;
  FlVec(FlDocExample) examples;
  FlVec(FlDocImport) imports;
} FlDocModule;
typedef FlVec(FlDocModule) FlDocModules;

/* The module of a file, `-` for standard input. 0, or after messages 2 where it cannot be read, 3 where it
 * does not parse. */
int fl_doc_read(FlArena *arena, const char *path, const char *name, FlDocModule *out);
/* The functions that every script knows, as a module of this name. */
#define FL_DOC_BUILTINS "builtins"
void fl_doc_builtins(FlArena *arena, FlDocModule *out);

const char *fl_doc_title(FlDocKind kind); /* "Types" */
/* The first sentence of what a module says of itself; in the arena. */
const char *fl_doc_first_sentence(FlArena *arena, const FlDocModule *m);
/* The item of this name, the first of several; NULL: none. */
const FlDocItem *fl_doc_find(const FlDocModule *m, const char *name, size_t len);
const FlDocModule *fl_doc_module(const FlDocModules *all, const char *name, size_t len);

/* All of a module as text, or what it has of one name. */
void fl_doc_print(FlText1 *out, const FlDocModule *m, const char *name);
/* The page of module `at` of those that get pages side by side, and the page that lists them. */
void fl_doc_page(FlText1 *out, const FlDocModules *all, int at);
void fl_doc_index(FlText1 *out, FlArena *arena, const FlDocModules *all);

#endif
