/* store_place.c: the store of remembered results that a command line means; see store_tools.h. */
#include "cli/store_tools.h"

#include "exec/exec.h"
#include "exec/last_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fl_store_place(const FlWords *w, const char *command, const char *word, char *out, size_t size) {
  const char *named = w->flags[FL_FLAG_CACHE];
  struct stat st;
  int n = 0;
  if (named) {
    n = snprintf(out, size, "%s", named);
  } else if (word && stat(word, &st) == 0 && S_ISDIR(st.st_mode)) {
    n = snprintf(out, size, "%s/.flow/cache", word);
    if (access(out, F_OK) != 0) n = snprintf(out, size, "%s", word);
  } else if (fl_cache_dir(word ? word : "./", out, size)) {
    return 0;
  } else {
    fprintf(stderr, "flowc %s: no results are remembered: neither FLOW_CACHE nor HOME is set\n", command);
    return 1;
  }
  if (n > 0 && (size_t)n < size) return 0;
  fprintf(stderr, "flowc %s: the path of the store is too long\n", command);
  return 2;
}

char *fl_store_last_run_text(const char *dir, const char *script, size_t *len) {
  FlMemo *memo = fl_memo_open(&(FlMemoOptions){.dir = dir, .look = true});
  char *name = fl_last_run_name(script), *text = NULL;
  FlMemoEntry *entry = memo && name ? fl_memo_record_get(memo, name) : NULL;
  *len = entry ? (size_t)entry->bytes : 0;
  if (entry) text = malloc(*len + 1);
  if (text) memcpy(text, entry->payload, *len);
  fl_memo_unmap(entry);
  fl_memo_close(memo);
  free(name);
  return text;
}

FlRecord *fl_store_last_run(const char *script) {
  char dir[4096];
  FlMemo *memo =
      fl_cache_dir(script, dir, sizeof dir) ? fl_memo_open(&(FlMemoOptions){.dir = dir, .look = true}) : NULL;
  FlRecord *record = memo ? fl_last_run_read(memo, script) : NULL;
  fl_memo_close(memo);
  return record;
}
