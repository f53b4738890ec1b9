/* error_group.c: which group it was that a loop over groups failed in.
 *
 * In: an error whose position is that of a group, the keys of all groups. Out: a note with the keys of that
 * one, written as the script writes names and texts, in place of the position. */
#include "exec/exec_internal.h"
#include "data/name_text.h"
#include "data/value_type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_name(FILE *out, const char *name) {
  if (fl_name_is_plain(name)) {
    fputs(name, out);
    return;
  }
  fputc('`', out);
  for (const char *c = name; *c; c++) {
    char escaped[FL_NAME_ESCAPE];
    int n = fl_name_escape(*c, escaped);
    fwrite(escaped, 1, (size_t)n, out);
  }
  fputc('`', out);
}

/* One key: its values, then whether they are there, then the levels, as `kind` says. How many arrays. */
static int put_key(FILE *out, const char *kind, const FlSlot *arrays, int64_t group) {
  char shown[FL_SHOWN];
  bool nullable = strchr(kind, '?') != NULL, levels = strncmp(kind, "levels", 6) == 0;
  FlSlot value = fl_array_slot(arrays[0].a, group);
  int32_t type = arrays[0].a->dtype;
  if (nullable && !fl_array_slot(arrays[1].a, group).i) {
    fputs("null", out);
  } else {
    if (levels) {
      const FlArray *texts = arrays[nullable ? 2 : 1].a;
      value = fl_array_slot(texts, value.i);
      type = texts->dtype;
    }
    fputs(fl_show_scalar(shown, type, value), out);
  }
  return 1 + nullable + levels;
}

void fl_fail_within(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args) {
  if (!ctx || !ctx->error || ctx->error->n_index != 1) return;
  int64_t group = ctx->error->index[0];
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return;
  for (int32_t i = 0, at = 1; i < desc->n_list; i += 2) {
    if (i) fputs(", ", out);
    put_name(out, desc->list[i]);
    fputs(" = ", out);
    at += put_key(out, desc->list[i + 1], args + at, group);
  }
  fclose(out);
  fl_fail_note(ctx, "in the group %s", text);
  ctx->error->n_index = 0;
  free(text);
}
