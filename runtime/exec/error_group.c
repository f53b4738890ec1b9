/* error_group.c: which group it was that an operation failed in.
 *
 * In: an error whose position is that of a group, or of a row, and the keys of all groups. Out: a note with
 * the keys of that one, written as the script writes names and texts; in place of a group's position, behind
 * a row's. */
#include "exec/exec_internal.h"
#include "data/name_text.h"
#include "data/value_type.h"

#include <string.h>

/* One key: its values, then whether they are there, then the levels, as `kind` says. How many arrays. */
static int put_key(FlBytes *out, const FlColumnAttr *key, const FlSlot *arrays, int64_t group) {
  char shown[FL_SHOWN];
  bool nullable = key->flags & FL_COLUMN_NULLS, levels = key->flags & FL_COLUMN_LEVELS;
  FlSlot value = fl_array_slot(arrays[0].a, group);
  int32_t type = arrays[0].a->dtype;
  if (nullable && !fl_array_slot(arrays[1].a, group).i) {
    fl_bytes_addz(out, "null");
  } else {
    if (levels) {
      const FlArray *texts = arrays[nullable ? 2 : 1].a;
      value = fl_array_slot(texts, value.i);
      type = texts->dtype;
    }
    fl_bytes_addz(out, fl_show_scalar(shown, type, value));
  }
  return 1 + nullable + levels;
}

void fl_fail_within(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args) {
  if (!ctx || !ctx->error || ctx->error->n_index != 1) return;
  for (int32_t i = 1; i < desc->n_args; i++) {
    bool array = desc->arg_types[i].rank || desc->arg_types[i].depth;
    if (array && args[i].a && fl_array_cut(args[i].a)) return; /* the key may be elsewhere */
  }
  int64_t group = ctx->error->index[0];
  int at = 1;
  if (desc->i == FL_WITHIN_ROWS) {
    const FlArray *group_of = args[at++].a;
    fl_fail_position_settle(ctx);
    group = fl_array_slot(group_of, group).i;
  }
  FlBytes text = {0};
  for (int32_t i = 0; i < desc->n_columns; i++) {
    if (i) fl_bytes_addz(&text, ", ");
    fl_name_write(&text, desc->columns[i].name);
    fl_bytes_addz(&text, " = ");
    at += put_key(&text, &desc->columns[i], args + at, group);
  }
  fl_bytes_add(&text, "", 1);
  if (!text.failed) fl_fail_note(ctx, "in the group %s", text.at);
  ctx->error->n_index = 0;
  fl_bytes_reset(&text);
}
