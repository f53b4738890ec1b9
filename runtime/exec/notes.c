/* notes.c: values that pure code reports: note(loss = x).
 *
 * In: notes of contexts, each list in program order. Out: lists joined in the order of the program, whatever
 * order the pieces ran in; the bytes that are stored with a stage's result.
 *
 * bytes := version:u32 count:u32 note*
 * note  := name_len:u32 name type:u32 value     value := len:u32 bytes (text) or 8 bytes of the slot */
#include "exec/exec_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FL_NOTES_VERSION = 1 };

static bool add(FlNotes *notes, const char *name, size_t name_len, int32_t type, FlSlot value) {
  if (notes->n == notes->cap) {
    int32_t cap = notes->cap ? notes->cap * 2 : 8;
    FlNote *at = realloc(notes->at, (size_t)cap * sizeof *at);
    if (!at) return false;
    notes->at = at;
    notes->cap = cap;
  }
  FlNote note = {strndup(name, name_len), type, value};
  if (note.name && fl_dtype_is_text(type)) {
    char *copy = malloc((size_t)value.t.len + 1);
    if (copy && value.t.len) memcpy(copy, value.t.ptr, (size_t)value.t.len);
    note.value.t.ptr = copy;
  }
  if (!note.name || (fl_dtype_is_text(type) && !note.value.t.ptr)) {
    free(note.name);
    return false;
  }
  notes->at[notes->n++] = note;
  return true;
}

void fl_notes_reset(FlNotes *notes) {
  for (int32_t i = 0; i < notes->n; i++) {
    free(notes->at[i].name);
    if (fl_dtype_is_text(notes->at[i].type)) free((char *)notes->at[i].value.t.ptr);
  }
  free(notes->at);
  *notes = (FlNotes){0};
}

void fl_notes_copy(FlNotes *to, const FlNotes *from) {
  for (int32_t i = 0; i < from->n; i++)
    add(to, from->at[i].name, strlen(from->at[i].name), from->at[i].type, from->at[i].value);
}

void fl_notes_move(FlNotes *to, FlNotes *from) {
  if (to->n == 0) {
    fl_notes_reset(to);
    *to = *from;
    *from = (FlNotes){0};
  } else if (from->n) {
    fl_notes_copy(to, from);
    fl_notes_reset(from);
  }
}

static void put_u32(FlBytes *b, size_t value) {
  uint32_t v = (uint32_t)value;
  fl_bytes_add(b, (const char *)&v, sizeof v);
}

bool fl_notes_encode(const FlNotes *notes, FlText *out) {
  FlBytes b = {0};
  put_u32(&b, FL_NOTES_VERSION);
  put_u32(&b, (size_t)notes->n);
  for (int32_t i = 0; i < notes->n && !b.failed; i++) {
    const FlNote *note = &notes->at[i];
    put_u32(&b, strlen(note->name));
    fl_bytes_addz(&b, note->name);
    put_u32(&b, (size_t)note->type);
    if (fl_dtype_is_text(note->type)) {
      put_u32(&b, (size_t)note->value.t.len);
      fl_bytes_add(&b, note->value.t.ptr, (size_t)note->value.t.len);
    } else {
      fl_bytes_add(&b, (const char *)&note->value.u, sizeof note->value.u);
    }
  }
  if (b.failed) {
    fl_bytes_reset(&b);
    return false;
  }
  *out = (FlText){b.at, (int64_t)b.len};
  return true;
}

static bool get(FlText *in, void *out, int64_t len) {
  if (in->len < len) return false;
  memcpy(out, in->ptr, (size_t)len);
  in->ptr += len;
  in->len -= len;
  return true;
}

static bool get_text(FlText *in, FlText *out) {
  uint32_t len;
  if (!get(in, &len, sizeof len) || in->len < len) return false;
  *out = (FlText){in->ptr, len};
  in->ptr += len;
  in->len -= len;
  return true;
}

bool fl_notes_decode(FlText in, FlNotes *out) {
  uint32_t version, count, type;
  if (!get(&in, &version, sizeof version) || version != FL_NOTES_VERSION || !get(&in, &count, sizeof count))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    FlText name;
    FlSlot value = {0};
    if (!get_text(&in, &name) || !get(&in, &type, sizeof type) || type >= FL_N_DTYPES) return false;
    if (fl_dtype_is_text((int32_t)type) ? !get_text(&in, &value.t) : !get(&in, &value.u, sizeof value.u))
      return false;
    if (!add(out, name.ptr, (size_t)name.len, (int32_t)type, value)) return false;
  }
  return in.len == 0;
}

void fl_notes_show(const FlNotes *notes, FlReport *report, int32_t event) {
  char shown[FL_SHOWN];
  for (int32_t i = 0; i < notes->n; i++)
    fl_report_note(report, event, notes->at[i].name,
                   fl_show_scalar(shown, notes->at[i].type, notes->at[i].value));
}

/* The operator NOTE: attr s is the name, one scalar. */
FlRuntimeOp fl_rt_note;
FlStatus fl_rt_note(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  int32_t type = desc->arg_types[0].dtype;
  char shown[FL_SHOWN];
  if (!add(&ctx->notes, desc->s, strlen(desc->s), type, args[0]))
    return fl_fail_op(ctx, desc, FL_FAULT_MEMORY, "out of memory");
  fl_report_note(ctx->run->report, ctx->event, desc->s, fl_show_scalar(shown, type, args[0]));
  return 0;
}
