/* complete_text.c: what may stand in a text literal that is being written: the levels or values that a column
 * has with which it is compared, and the files of a reader or an import. See complete.h. */
#include "lsp/complete.h"

#include "io/io.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { VALUE = 12, FILE_NAME = 17, FOLDER = 19, MOST_FILES = 500 };

/* A text literal: its quote, what is between it and the cursor, and where it ends. */
typedef struct Literal {
  FlLspDocuments *all;
  FlArena *arena;
  const FlLspDocument *d;
  uint32_t quote, at, end; /* end: of its closing quote; 0: it has none in this line */
  json_t *range;           /* of what is replaced */
  json_t *items;
} Literal;

/* rank: a digit, what is near stands first. */
static void offer(const Literal *l, const char *label, const char *written, int kind, char rank) {
  size_t k;
  const json_t *x;
  json_array_foreach(l->items, k,
                     x) if (strcmp(json_string_value(json_object_get(x, "label")), label) == 0) return;
  json_array_append_new(l->items,
                        json_pack("{s:s, s:i, s:s, s:o, s:s, s:{s:O, s:s}}", "label", label, "kind", kind,
                                  "filterText", label, "sortText", json_sprintf("%c%s", rank, label),
                                  "insertText", written, "textEdit", "range", l->range, "newText", written));
}

/* ---- what it is compared with -------------------------------------------------------------------------- */

static const FlLspAmong *among_at(const FlCompilation *c, const FlLspFacts *facts, uint32_t quote) {
  for (int i = 0; i < facts->among.n; i++) {
    const FlLspAmong *x = &facts->among.at[i];
    if (x->at.file == c->script->id && x->at.start == quote) return x;
  }
  return NULL;
}

static void offer_texts(const Literal *l, const FlLspAmong *among) {
  for (int i = 0; i < among->n; i++) {
    FlText1 written = {0};
    fl_text_addz(&written, "");
    for (const char *c = among->texts[i]; *c; c++) {
      if (strchr("\"\\{", *c)) fl_text_addc(&written, '\\');
      if (*c == '\n') fl_text_addz(&written, "\\n");
      else fl_text_addc(&written, *c);
    }
    if (*among->texts[i]) offer(l, among->texts[i], written.s, VALUE, '0');
    fl_text_reset(&written);
  }
}

/* The last check may know it; else the text is mended as for names. */
static bool complete_value(const Literal *l) {
  const FlLspAmong *among = l->d->c.sources ? among_at(&l->d->c, &l->d->facts, l->quote) : NULL;
  for (int closed = l->end ? 0 : 1; closed < 2 && !among; closed++) {
    FlLspMended m;
    fl_lsp_mend(l->all, l->arena, l->d, l->quote + 1, closed ? l->at : l->end - 1, closed, &m);
    among = m.c.ast ? among_at(&m.c, &m.facts, l->quote) : NULL;
  }
  if (among) offer_texts(l, among);
  return among != NULL;
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* Whether a path is being written, and of which reader ("": of any file). */
static bool names_file(const Literal *l, const char **reader) {
  const FlText1 *t = &l->d->text;
  uint32_t line = l->quote;
  FlLspCall call;
  while (line > 0 && t->s[line - 1] != '\n') line--;
  *reader = "flow";
  if (strncmp(t->s + line, "import ", 7) == 0) return true;
  if (!fl_lsp_call_at(l->arena, l->d, l->quote, &call) || call.module || call.argument != 0) return false;
  *reader = strncmp(call.name, "read_", 5) == 0 ? call.name : "";
  return **reader || strcmp(call.name, "file") == 0 || strcmp(call.name, "files") == 0 ||
         strcmp(call.name, "load") == 0;
}

static bool is_script(const char *name) {
  size_t n = strlen(name);
  return n > 5 && strcmp(name + n - 5, ".flow") == 0;
}

/* Whether a file is one of the reader by its name. */
static bool fits(const char *name, const char *reader) {
  const char *its = fl_io_reader_of(name);
  return strcmp(reader, "flow") == 0 || (its && (!*reader || strcmp(its, reader) == 0));
}

/* The entries of a folder, behind what was written of the path to it. */
static void offer_files(const Literal *l, const char *folder, const char *written, const char *reader) {
  DIR *dir = opendir(folder);
  const struct dirent *x;
  for (int n = 0; dir && n < MOST_FILES && (x = readdir(dir)); n++) {
    struct stat is;
    if (*x->d_name == '.' || strpbrk(x->d_name, "\"\\{\n")) continue;
    const char *path = fl_arena_printf(l->arena, "%s/%s", folder, x->d_name);
    if (stat(path, &is) != 0) continue;
    bool is_folder = S_ISDIR(is.st_mode), right = !is_folder && fits(x->d_name, reader);
    if (!is_folder && is_script(x->d_name) != (strcmp(reader, "flow") == 0)) continue;
    const char *name = fl_arena_printf(l->arena, "%s%s%s", written, x->d_name, is_folder ? "/" : "");
    offer(l, name, name, is_folder ? FOLDER : FILE_NAME, right ? '0' : is_folder ? '1' : '2');
  }
  if (dir) closedir(dir);
}

static void complete_file(const Literal *l, const char *reader) {
  const char *text = fl_arena_strndup(l->arena, l->d->text.s + l->quote + 1, l->at - l->quote - 1);
  const char *slash = strrchr(text, '/'), *beside = strrchr(l->d->path, '/');
  const char *written = slash ? fl_arena_strndup(l->arena, text, (size_t)(slash - text) + 1) : "";
  if (*written == '/') {
    offer_files(l, written, written, reader);
    return;
  }
  const char *folder = beside ? fl_arena_strndup(l->arena, l->d->path, (size_t)(beside - l->d->path)) : ".";
  offer_files(l, fl_arena_printf(l->arena, "%s/%s", folder, written), written, reader);
  const char *root = l->all->root;
  if (root && strcmp(root, folder) != 0 && strcmp(reader, "flow") != 0)
    offer_files(l, fl_arena_printf(l->arena, "%s/%s", root, written), written, reader);
}

/* ---- both ---------------------------------------------------------------------------------------------- */

/* Behind the quote that closes a text, in the line of `at`; 0: none. */
static uint32_t closing_quote(const FlText1 *t, uint32_t at) {
  for (; at < t->len && t->s[at] != '\n'; at++) {
    if (t->s[at] == '\\') at++;
    else if (t->s[at] == '"') return at + 1;
  }
  return 0;
}

void fl_lsp_complete_text(FlLspDocuments *all, FlArena *arena, const FlLspDocument *d, uint32_t at,
                          json_t *items) {
  FlOpens open = {0};
  if (!fl_lsp_opens(arena, &d->text, at, &open) || !open.n) return;
  const FlOpen *last = &open.at[open.n - 1];
  if (strcmp(last->closer, "\"") != 0 || last->at >= at || d->text.s[last->at] != '"') return;
  Literal l = {all, arena, d, last->at, at, closing_quote(&d->text, at), NULL, items};
  FlSource *f = fl_sources_add(fl_sources_make(arena), d->path, d->text.s, d->text.len);
  l.range = fl_lsp_range(all, f, l.quote + 1, at - l.quote - 1);
  const char *reader;
  if (names_file(&l, &reader)) complete_file(&l, reader);
  else (void)complete_value(&l);
  json_decref(l.range);
}
