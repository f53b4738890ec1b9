/* columns.c: are the columns of a matrix those that a model was fitted on, or those of rows above it?
 *
 * Comes in: two lists of names. Goes out: whether they are the same in the same order, and if not the message
 * that says how they differ. Always holds: no names fit any. */
#include "part/part_internal.h"
#include "data/text_order.h"
#include "base/bytes.h"

static bool holds(const FlArray *names, FlText name) {
  for (int64_t i = 0; i < names->dims[0]; i++)
    if (fl_text_same(((const FlText *)names->data)[i], name)) return true;
  return false;
}

/* `price`, or for a column of one_hot: the level "S" of `size`. */
static void add_name(FlBytes *out, FlText name) {
  const char *equals = name.len > 0 ? memchr(name.ptr, '=', (size_t)name.len) : NULL;
  int before = equals ? (int)(equals - name.ptr) : (int)name.len;
  if (equals) fl_bytes_addf(out, "the level \"%.*s\" of ", (int)name.len - before - 1, equals + 1);
  else fl_bytes_addz(out, "the column ");
  fl_bytes_addf(out, "`%.*s`", before, name.len > 0 ? name.ptr : "");
}

static void add_difference(FlBytes *out, const FlArray *model, const FlArray *found, bool rows) {
  const FlText *want = model->data, *have = found->data;
  int64_t k = model->dims[0], d = found->dims[0], at = 0;
  if (k == 0 || d == 0) return;
  while (at < k && at < d && fl_text_same(want[at], have[at])) at++;
  if (at == k && at == d) return;
  fl_bytes_addz(out, rows ? "these rows have other columns than those above them: "
                          : "these are other columns than those that the model was fitted on: ");
  for (int64_t i = 0; i < d; i++)
    if (!holds(model, have[i])) {
      add_name(out, have[i]);
      fl_bytes_addz(out, " is new");
      return;
    }
  for (int64_t i = 0; i < k; i++)
    if (!holds(found, want[i])) {
      add_name(out, want[i]);
      fl_bytes_addz(out, " is missing");
      return;
    }
  if (at == k || at == d) {
    fl_bytes_addf(out, "there are %lld instead of %lld", (long long)d, (long long)k);
    return;
  }
  add_name(out, have[at]);
  fl_bytes_addz(out, " stands where ");
  add_name(out, want[at]);
  fl_bytes_addz(out, " did");
}

FlStatus fl_rt_same_columns(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlBytes message = {0};
  if (args[0].a != args[1].a) add_difference(&message, args[0].a, args[1].a, desc->i == 1);
  if (message.failed) {
    fl_bytes_reset(&message);
    return fl_fail_text(ctx, desc->site, FL_FAULT_MEMORY, "out of memory");
  }
  results[0].i = message.len == 0;
  results[1].t = fl_heap_text(fl_ctx_heap(ctx), message.at, (int64_t)message.len);
  fl_bytes_reset(&message);
  return 0;
}
