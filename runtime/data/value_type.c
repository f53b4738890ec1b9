/* value_type.c: see value_type.h. The text may come from a file of anybody: nothing in it is trusted. */
#include "data/value_type.h"
#include "data/codec.h"
#include "data/data.h"
#include "data/name_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 1 << 16 };

typedef struct Text {
  const char *at, *end;
  int depth;
} Text;

static bool see(const Text *t, const char *word) {
  size_t n = strlen(word);
  return (size_t)(t->end - t->at) >= n && memcmp(t->at, word, n) == 0;
}

static bool take(Text *t, const char *word) {
  if (!see(t, word)) return false;
  t->at += strlen(word);
  return true;
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127; }

static void reset(FlValueType *t) {
  for (int32_t k = 0; k < t->n_fields; k++) reset(&t->fields[k]);
  free(t->fields);
  free(t->name);
  free(t->nominal);
}

static bool parse(Text *t, FlValueType *out);

/* `name: ` before a field's type, if there is one. */
static bool parse_name(Text *t, FlValueType *field) {
  if (take(t, "`")) {
    field->name = fl_name_read(&t->at, t->end);
    return field->name && take(t, ": ");
  }
  const char *end = t->at;
  while (end < t->end && is_name_byte(*end)) end++;
  if (end == t->at || end == t->end || *end != ':') return true;
  field->name = strndup(t->at, (size_t)(end - t->at));
  t->at = end;
  return field->name && take(t, ": ");
}

static FlValueType *add_field(FlValueType *t) {
  FlValueType *grown = realloc(t->fields, (size_t)(t->n_fields + 1) * sizeof *grown);
  if (!grown) return NULL;
  t->fields = grown;
  memset(&grown[t->n_fields], 0, sizeof *grown);
  return &grown[t->n_fields++];
}

static bool parse_fields(Text *t, FlValueType *out) {
  out->kind = FL_VALUE_TUPLE;
  if (take(t, ")")) return true;
  do {
    FlValueType *field = add_field(out);
    if (!field || !parse_name(t, field) || !parse(t, field)) return false;
    out->n_parts += field->n_parts;
    if (out->n_parts > MAX_PARTS) return false;
  } while (take(t, ", "));
  return take(t, ")");
}

/* The tuple becomes the row of a table. */
static bool make_table(FlValueType *t) {
  for (int32_t k = 0; k < t->n_fields; k++) {
    const FlValueType *f = &t->fields[k];
    if (f->kind != FL_VALUE_SCALAR && (f->kind != FL_VALUE_ARRAY || f->rank == FL_MAX_RANK)) return false;
  }
  FlValueType row = *t, *fields = malloc(sizeof *fields);
  if (!fields) return false;
  row.name = NULL;
  *fields = row;
  *t = (FlValueType){
      .kind = FL_VALUE_TABLE, .n_fields = 1, .fields = fields, .name = t->name, .n_parts = row.n_parts + 1};
  return true;
}

static bool parse_plain(Text *t, const char *begin, FlValueType *out) {
  out->kind = FL_VALUE_SCALAR;
  if (!fl_dtype_named(begin, (size_t)(t->at - begin), &out->dtype)) return false;
  if (out->dtype == FL_LIST || out->dtype == FL_FILE) return false;
  out->nullable = take(t, "?");
  out->n_parts = 1 + out->nullable + (out->dtype == FL_CATEGORY);
  if (!take(t, "[_")) return true;
  out->kind = FL_VALUE_ARRAY;
  for (out->rank = 1; take(t, ", _"); out->rank++)
    if (out->rank == FL_MAX_RANK) return false;
  return take(t, "]");
}

static bool parse(Text *t, FlValueType *out) {
  if (++t->depth > FL_CODEC_DEPTH) return false;
  bool ok;
  if (take(t, "[")) {
    out->kind = FL_VALUE_LIST;
    FlValueType *elem = add_field(out);
    ok = elem && parse(t, elem) && take(t, "]");
    if (ok) out->n_parts = elem->n_parts;
  } else {
    const char *begin = t->at;
    while (t->at < t->end && (is_name_byte(*t->at) || *t->at == '.')) t->at++;
    size_t len = (size_t)(t->at - begin);
    bool decimal =
        t->end - begin > 11 && memcmp(begin, "decimal(18,", 11) == 0; /* and no tuple of that name */
    if (decimal) {
      while (t->at < t->end && *t->at++ != ')') continue;
      ok = parse_plain(t, begin, out);
    } else if (take(t, "(")) {
      if (len && !(out->nominal = strndup(begin, len))) return false;
      ok = parse_fields(t, out) && (!take(t, "[_]") || make_table(out));
    } else {
      ok = parse_plain(t, begin, out);
    }
  }
  t->depth--;
  return ok;
}

FlValueType *fl_value_type_new(const char *text, size_t len) {
  Text t = {text, text + len, 0};
  errno = 0;
  FlValueType *out = calloc(1, sizeof *out);
  if (out && parse(&t, out) && t.at == t.end) return out;
  fl_value_type_free(out);
  return NULL;
}

void fl_value_type_free(FlValueType *t) {
  if (t) reset(t);
  free(t);
}

void fl_value_type_parts(const FlValueType *t, FlType1 *out) {
  switch (t->kind) {
  case FL_VALUE_SCALAR:
  case FL_VALUE_ARRAY:
    out[0] = (FlType1){(uint8_t)(t->dtype == FL_CATEGORY ? FL_I32 : t->dtype), (uint8_t)t->rank, 0, 0};
    if (t->dtype == FL_CATEGORY) out[t->n_parts - 1] = (FlType1){FL_TEXT, 1, 0, 0};
    if (t->nullable) out[1] = (FlType1){FL_BOOL, (uint8_t)t->rank, 0, 0};
    break;
  case FL_VALUE_TUPLE:
    for (int32_t k = 0; k < t->n_fields; k++) {
      fl_value_type_parts(&t->fields[k], out);
      out += t->fields[k].n_parts;
    }
    break;
  case FL_VALUE_TABLE:
    out[0] = (FlType1){FL_I64, 0, 0, 0};
    fl_value_type_parts(t->fields, out + 1);
    out++;
    for (int32_t k = 0; k < t->fields->n_fields; k++) { /* levels are as they are */
      const FlValueType *f = &t->fields->fields[k];
      for (int32_t p = 0; p < f->n_parts - (f->dtype == FL_CATEGORY); p++) out[p].rank++;
      out += f->n_parts;
    }
    break;
  case FL_VALUE_LIST:
    fl_value_type_parts(t->fields, out);
    for (int32_t k = 0; k < t->n_parts; k++) {
      if (out[k].rank || out[k].depth) out[k].depth++;
      else out[k].rank = 1;
    }
    break;
  }
}

static bool same_name(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool fl_value_type_fits(const FlValueType *have, const FlValueType *want) {
  if (have->kind != want->kind || have->dtype != want->dtype || have->nullable != want->nullable ||
      have->rank != want->rank || have->n_fields != want->n_fields || !same_name(have->name, want->name) ||
      (have->nominal && !same_name(have->nominal, want->nominal)))
    return false;
  for (int32_t k = 0; k < have->n_fields; k++)
    if (!fl_value_type_fits(&have->fields[k], &want->fields[k])) return false;
  return true;
}

FlSlot fl_array_slot(const FlArray *a, int64_t at) {
  int32_t size = fl_dtype_info[a->dtype].bytes;
  FlSlot v = {.t = {NULL, 0}};
  memcpy(&v, (const char *)a->data + at * size, (size_t)size);
  FlKind kind = fl_dtype_info[a->dtype].kind;
  if (kind == FL_KIND_SIGNED || kind == FL_KIND_TIME || kind == FL_KIND_DECIMAL) {
    int shift = 64 - 8 * size;
    v.i = (int64_t)(v.u << shift) >> shift;
  }
  return v;
}

void fl_array_put(FlArray *a, int64_t at, FlSlot v) {
  int32_t size = fl_dtype_info[a->dtype].bytes;
  if (a->dtype == FL_F64 && v.f != v.f) v.f = __builtin_nan("");
  if (a->dtype == FL_F32 && v.f32 != v.f32) v.f32 = __builtin_nanf("");
  memcpy((char *)a->data + at * size, &v, (size_t)size);
}
