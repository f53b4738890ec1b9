/* repl_complete.c: see repl_complete.h. How: the session's text with what is being entered is a document of
 * the language server's, which is asked what may stand at its end. */
#include "cli/repl_complete.h"

#include "lsp/answers.h"

#include <unistd.h>

/* Where the word begins that an item stands for: what it says itself, else the name before the end. */
static size_t start_of(const json_t *item, const FlText1 *text) {
  size_t from = text->len, line = text->len;
  while (line > 0 && text->s[line - 1] != '\n') line--;
  const json_t *start = json_object_get(json_object_get(json_object_get(item, "textEdit"), "range"), "start");
  if (start) return line + (size_t)json_integer_value(json_object_get(start, "character"));
  while (from > line && fl_lsp_in_name(text->s[from - 1])) from--;
  return from;
}

static void tell_items(const json_t *items, const FlText1 *text, void *to,
                       void (*tell)(void *to, const char *word, size_t there)) {
  size_t k;
  const json_t *item;
  json_array_foreach(items, k, item) {
    const char *written = json_string_value(json_object_get(item, "insertText"));
    if (!written) written = json_string_value(json_object_get(item, "label"));
    size_t from = start_of(item, text), there = from <= text->len ? text->len - from : 0;
    if (written && strncmp(written, text->s + from, there) == 0) tell(to, written, there);
  }
}

void fl_repl_complete(const FlText1 *before, const char *text, size_t len, void *to,
                      void (*tell)(void *to, const char *word, size_t there)) {
  FlLspDocuments all = {.utf8 = true, .no_hints = true, .no_lens = true, .no_rows = true};
  FlText1 whole = {0};
  char *folder = getcwd(NULL, 0), *uri = NULL;
  fl_text_add(&whole, before->s ? before->s : "", before->len);
  fl_text_add(&whole, text, len);
  fl_text_addz(&whole, "");
  if (folder && asprintf(&uri, "file://%s/session.flow", folder) < 0) uri = NULL;
  FlLspDocument *d = uri ? fl_lsp_open(&all, uri, whole.s, whole.len) : NULL;
  json_int_t line = 0, column = 0;
  for (size_t k = 0; k < whole.len; k++) {
    column = whole.s[k] == '\n' ? 0 : column + 1;
    line += whole.s[k] == '\n';
  }
  if (d && fl_lsp_check(&all, d)) {
    json_t *asked = json_pack("{s:{s:I, s:I}}", "position", "line", line, "character", column);
    json_t *answer = fl_lsp_complete(&all, d, asked);
    tell_items(json_object_get(answer, "items"), &whole, to, tell);
    json_decref(answer);
    json_decref(asked);
  }
  if (d) fl_lsp_close(&all, d);
  fl_lsp_files_forget(&all);
  fl_text_reset(&whole);
  free(folder);
  free(uri);
}
