/* witness.c: what is said to a witness, see witness.h. Without one nothing of this is computed, nor of values
 * called. */
#include "sema/builtins/builtin.h"
#include "sema/scope.h"
#include "sema/value.h"

/* The same types are told of over and over, and equal ones are the same. */
static const char *text_of(FlSema *s, const FlType *type) {
  if (!s->told_types) s->told_types = fl_map_make(s->arena);
  const char *text = fl_map_get(s->told_types, type);
  if (text) return text;
  text = fl_type_text(s->types, type);
  fl_map_set(s->told_types, type, (void *)(uintptr_t)text);
  return text;
}

void fl_witness_value(FlSema *s, FlSpan at, FlVal v) {
  if (fl_val_bad(v) || !at.file) return;
  s->witness->value(s->witness->env, at, text_of(s, v.type));
}

/* Notes that the place is told; false: it was, and only what nobody told is wanted. */
static bool is_news(FlSema *s, FlSpan at) {
  const void *place = (const void *)(uintptr_t)((uint64_t)at.file << 32 | at.start);
  if (!s->told) s->told = fl_map_make(s->arena);
  bool before = fl_map_get(s->told, place) != NULL;
  if (!before) fl_map_set(s->told, place, s->told);
  return !before || !s->by_tree;
}

void fl_witness_name(FlSema *s, FlSpan at, const FlBinding *b) {
  /* Nobody has declared a column: of where it is a name `columns` tells. */
  if (!s->witness || b->lost || b->kind == FL_BIND_COLUMN || !at.file || !is_news(s, at)) return;
  const char *path = fl_binding_path(b); /* of a file that is named by its path alone */
  if (path) return;
  s->witness->name(s->witness->env, at,
                   &(FlNamed){.name = b->name, .declared = b->span, .doc = b->decl ? b->decl->doc : NULL});
}

void fl_witness_builtin(FlSema *s, FlSpan at, const FlBuiltin *bi) {
  if (!s->witness || !at.file || !is_news(s, at)) return;
  s->witness->name(s->witness->env, at,
                   &(FlNamed){.name = bi->name, .signature = bi->signature, .doc = bi->doc});
}

void fl_witness_columns(FlSema *s, FlSpan at, FlVal table) {
  const FlType *row = table.type->elem;
  if (!s->witness || !at.file || !row) return;
  /* A verb tells what its arguments may name, and again what each is elaborated with, `each` for every
   * column: mostly the same. */
  const uint32_t where[] = {at.file, at.start, at.len};
  const char *place = fl_intern(s->names, (const char *)where, sizeof where);
  if (!s->told_rows) s->told_rows = fl_map_make(s->arena);
  if (fl_map_get(s->told_rows, place) == row) return;
  fl_map_set(s->told_rows, place, (void *)(uintptr_t)row);
  s->witness->columns(s->witness->env, at, text_of(s, row));
}

static FlFlow flow_of(FlVal v) {
  if (fl_val_bad(v) || v.type->kind != FL_TY_TABLE || fl_type_is_grouped(v.type)) return (FlFlow){0};
  return (FlFlow){fl_val_rows(v), v.type->elem->n_fields};
}

/* A column of scalars: its values, which of them are valid, its levels. */
static void see_column(FlSema *s, const FlSeen *like, const FlType *type, FlValue *const *parts) {
  for (int k = 0; k < type->n_parts; k++) {
    FlSeen seen = *like;
    seen.n_parts = type->n_parts;
    seen.part = k == 0 ? FL_SEEN_VALUES : k == 1 && type->nullable ? FL_SEEN_VALID : FL_SEEN_LEVELS;
    fl_ir_see(s->arena, parts[k], &seen);
  }
}

void fl_sema_see(FlSema *s, FlSpan at, FlVal v, bool let) {
  if (!at.file || fl_val_bad(v) || s->tried) return;
  if (v.type->kind != FL_TY_TABLE || fl_type_is_grouped(v.type)) return;
  if (fl_sources_get(s->sources, at.file)->is_library) return;
  const FlType *row = v.type->elem;
  if (!at.call) at.call = s->b.call;
  int depth = fl_ir_depth(s->b.region);
  for (int i = 0; i < row->n_fields && i < FL_SEEN_COLUMNS; i++) {
    const FlType *type = row->fields[i].type;
    if (type->kind != FL_TY_SCALAR) continue;
    FlSeen seen = {.at = at,
                   .name = row->fields[i].name,
                   .column = i,
                   .n_columns = row->n_fields,
                   .dtype = type->dtype,
                   .let = let,
                   .depth = depth};
    see_column(s, &seen, fl_type_many(s->types, type), v.parts + fl_type_field_part(v.type, i));
  }
}

void fl_witness_step(FlSema *s, FlSpan at, FlVal takes, FlVal gives) {
  if (at.file && !fl_val_bad(gives)) s->witness->step(s->witness->env, at, flow_of(takes), flow_of(gives));
}
