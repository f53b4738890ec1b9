/* types.c: hash-consing, parts and printing of types; see types.h. */
#include "types/types.h"

#include "data/name_text.h"

#include <limits.h>

const char *fl_dtype_name(FlDtype d) { return fl_dtype_info[d].name; }

/* decimal(p, s): the type of that scale, which has digits for any p that there may be. */
static bool find_decimal(const char *name, FlDtype *out) {
  int digits, scale, n = 0;
  if (sscanf(name, "decimal(%2d, %2d)%n", &digits, &scale, &n) != 2 || !n || name[n]) return false;
  if (digits < 1 || digits > FL_DECIMAL_DIGITS || scale < 0 || scale > digits) return false;
  *out = (FlDtype)(FL_DECIMAL0 + scale);
  return true;
}

bool fl_dtype_find(const char *name, FlDtype *out) {
  if (name[0] == 'd' && find_decimal(name, out)) return true;
  for (int d = 0; d < FL_N_DTYPES; d++)
    if (fl_dtype_info[d].name[0] == name[0] && d != FL_LIST && strcmp(fl_dtype_info[d].name, name) == 0) {
      *out = (FlDtype)d;
      return true;
    }
  return false;
}

bool fl_type_is_category(const FlType *ty) {
  return (ty->kind == FL_TY_SCALAR || ty->kind == FL_TY_ARRAY) && ty->dtype == FL_CATEGORY;
}

int fl_type_element_parts(const FlType *ty) { return ty->n_parts - fl_type_is_category(ty); }

static bool same_fields(const FlType *a, const FlType *b) {
  if (a->n_fields != b->n_fields || a->name != b->name) return false;
  for (int i = 0; i < a->n_fields; i++)
    if (a->fields[i].name != b->fields[i].name || a->fields[i].type != b->fields[i].type) return false;
  return true;
}

static bool same_keys(const FlType *a, const FlType *b) {
  if (a->n_keys != b->n_keys) return false;
  for (int i = 0; i < a->n_keys; i++)
    if (a->keys[i] != b->keys[i]) return false;
  return true;
}

static int64_t count_parts(const FlType *t) {
  int64_t n = 0;
  switch (t->kind) {
  case FL_TY_SCALAR:
  case FL_TY_ARRAY: return 1 + t->nullable + fl_type_is_category(t);
  case FL_TY_TUPLE:
    for (int i = 0; i < t->n_fields; i++) n += t->fields[i].type->n_parts;
    return n;
  case FL_TY_TABLE: return 1 + t->elem->n_parts;
  case FL_TY_LIST: return t->elem->n_parts;
  case FL_TY_ERROR:
  case FL_TY_NONE:
  case FL_TY_NEVER:
  case FL_TY_NULL:
  case FL_TY_FUNC: return 0;
  }
  return 0;
}

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 1099511628211U; }

/* Of what same() compares; never 0, as keys of a map are. */
static uintptr_t hash_of(const FlType *t) {
  uint64_t h =
      mix(mix(mix((uint64_t)t->kind + 7, (uint64_t)t->dtype), (uint64_t)t->nullable), (uint64_t)t->rank);
  h = mix(mix(h, (uintptr_t)t->elem), (uintptr_t)t->name);
  for (int i = 0; i < t->n_fields; i++)
    h = mix(mix(h, (uintptr_t)t->fields[i].name), (uintptr_t)t->fields[i].type);
  for (int i = 0; i < t->n_keys; i++) h = mix(h, (uintptr_t)t->keys[i]);
  return (uintptr_t)(h ^ (h >> 29)) | 1;
}

static bool same(const FlType *a, const FlType *b) {
  return a->kind == b->kind && a->dtype == b->dtype && a->nullable == b->nullable && a->rank == b->rank &&
         a->elem == b->elem && same_fields(a, b) && same_keys(a, b);
}

static const bool *levels_of(FlArena *a, const FlType *t) {
  bool *levels = FL_NEW_ARRAY(a, bool, t->n_parts), *out = levels;
  if (fl_type_is_category(t)) levels[t->n_parts - 1] = true;
  const FlType *row = fl_type_row(t);
  if (row && t->kind == FL_TY_TABLE) out++;
  for (int i = 0; row && i < row->n_fields; i++) {
    const FlType *field = row->fields[i].type;
    if (field->n_parts) memcpy(out, field->levels, sizeof *out * (size_t)field->n_parts);
    out += field->n_parts;
  }
  return levels;
}

/* Rows of few fields are searched faster one by one. */
enum { FEW_FIELDS = 12 };

static void index_fields(FlArena *a, FlType *t) {
  int *at = FL_NEW_ARRAY(a, int, t->n_fields + 1), part = 0;
  FlMap *field_of = t->n_fields > FEW_FIELDS ? fl_map_make(a) : NULL;
  for (int i = 0; i < t->n_fields; i++) {
    at[i] = part;
    part += t->fields[i].type->n_parts;
    if (field_of && !fl_map_get(field_of, t->fields[i].name))
      fl_map_set(field_of, t->fields[i].name, (void *)(intptr_t)(i + 1));
  }
  t->part_at = at;
  t->field_of = field_of;
}

static int depth_of(const FlType *t) {
  int deepest = t->elem ? t->elem->depth : 0;
  for (int i = 0; i < t->n_fields; i++)
    if (t->fields[i].type->depth > deepest) deepest = t->fields[i].type->depth;
  return deepest + (t->elem || t->n_fields);
}

static int rank_of(const FlType *t) {
  int most = t->rank;
  for (int i = 0; t->kind == FL_TY_TABLE && i < t->elem->n_fields; i++)
    if (t->elem->fields[i].type->rank >= most) most = t->elem->fields[i].type->rank + 1;
  return most;
}

static FlTypeRefusal too_large(const FlType *t) {
  if (rank_of(t) > FL_MAX_RANK) return t->kind == FL_TY_TABLE ? FL_REFUSED_COLUMN : FL_REFUSED_RANK;
  if (t->depth > FL_TYPE_DEPTH) return FL_REFUSED_DEPTH;
  return count_parts(t) > FL_TYPE_PARTS ? FL_REFUSED_PARTS : FL_REFUSED_NONE;
}

static const FlType *intern(FlTypes *types, FlType want) {
  const void *hash = (const void *)hash_of(&want);
  const FlType *newest = fl_map_get(types->made, hash);
  for (const FlType *t = newest; t; t = t->next) {
    if (!same(t, &want)) continue;
    if (t->refused) types->refused = t->refused;
    return t;
  }
  want.depth = depth_of(&want);
  want.refused = too_large(&want);
  if (want.refused) types->refused = want.refused;
  if (want.refused == FL_REFUSED_PARTS) return types->error; /* nobody may try to make its parts */
  FlType *t = FL_NEW(types->arena, FlType);
  *t = want;
  t->fields = fl_arena_copy(types->arena, want.fields, sizeof(FlTyField) * (size_t)want.n_fields);
  t->keys = fl_arena_copy(types->arena, want.keys, sizeof *want.keys * (size_t)want.n_keys);
  t->n_parts = (int)count_parts(t);
  t->levels = levels_of(types->arena, t);
  t->next = newest;
  if (t->n_fields) index_fields(types->arena, t);
  fl_map_set(types->made, hash, t);
  return t;
}

FlTypes *fl_types_make(FlArena *a, FlInterner *names) {
  FlTypes *t = FL_NEW(a, FlTypes);
  t->arena = a;
  t->names = names;
  t->made = fl_map_make(a);
  t->scalars = fl_map_make(a);
  for (int d = 0; d < FL_N_DTYPES; d++)
    if (d != FL_LIST)
      fl_map_set(t->scalars, fl_intern_z(names, fl_dtype_info[d].name), (void *)(intptr_t)(d + 1));
  t->error = intern(t, (FlType){.kind = FL_TY_ERROR});
  t->none = intern(t, (FlType){.kind = FL_TY_NONE});
  t->never = intern(t, (FlType){.kind = FL_TY_NEVER});
  t->null = intern(t, (FlType){.kind = FL_TY_NULL});
  t->func = intern(t, (FlType){.kind = FL_TY_FUNC});
  return t;
}

bool fl_type_names_dtype(const FlTypes *t, const char *name, FlDtype *out) {
  intptr_t known = (intptr_t)fl_map_get(t->scalars, name);
  if (known) *out = (FlDtype)(known - 1);
  return known || (name[0] == 'd' && find_decimal(name, out));
}

const FlType *fl_type_scalar(FlTypes *t, FlDtype d, bool nullable) {
  const FlType **at = &t->plain[d][nullable][0];
  if (!*at) *at = intern(t, (FlType){.kind = FL_TY_SCALAR, .dtype = d, .nullable = nullable});
  return *at;
}

const FlType *fl_type_array(FlTypes *t, FlDtype d, bool nullable, int rank) {
  bool plain = rank > 0 && rank <= FL_MAX_RANK;
  const FlType *known = plain ? t->plain[d][nullable][rank] : NULL;
  if (known) return known;
  known = intern(t, (FlType){.kind = FL_TY_ARRAY, .dtype = d, .nullable = nullable, .rank = rank});
  if (plain) t->plain[d][nullable][rank] = known;
  return known;
}

const FlType *fl_type_tuple(FlTypes *t, int n, const FlTyField *fields, const char *name) {
  return intern(t, (FlType){.kind = FL_TY_TUPLE, .n_fields = n, .fields = fields, .name = name});
}

const FlType *fl_type_table(FlTypes *t, const FlType *row) {
  return intern(t, (FlType){.kind = FL_TY_TABLE, .elem = row});
}

const FlType *fl_type_grouped(FlTypes *t, const FlType *table, int n_keys, const char *const *keys) {
  return intern(t, (FlType){.kind = FL_TY_TABLE, .elem = table->elem, .n_keys = n_keys, .keys = keys});
}

const FlType *fl_type_list(FlTypes *t, const FlType *elem) {
  return intern(t, (FlType){.kind = FL_TY_LIST, .elem = elem});
}

const FlType *fl_type_many(FlTypes *t, const FlType *elem) {
  switch (elem->kind) {
  case FL_TY_SCALAR: return fl_type_array(t, elem->dtype, elem->nullable, 1);
  case FL_TY_ARRAY: return fl_type_array(t, elem->dtype, elem->nullable, elem->rank + 1);
  case FL_TY_TUPLE: return fl_type_table(t, elem);
  case FL_TY_TABLE:
  case FL_TY_LIST: return fl_type_list(t, elem);
  case FL_TY_ERROR:
  case FL_TY_NONE:
  case FL_TY_NEVER:
  case FL_TY_NULL:
  case FL_TY_FUNC: break;
  }
  return t->error;
}

const FlType *fl_type_with_null(FlTypes *t, const FlType *ty, bool nullable) {
  if (ty->kind == FL_TY_SCALAR) return fl_type_scalar(t, ty->dtype, nullable);
  if (ty->kind == FL_TY_ARRAY) return fl_type_array(t, ty->dtype, nullable, ty->rank);
  return ty;
}

/* The part of many values side by side, one level out from a single one. */
static FlType1 widen(FlType1 p, bool list) {
  if (p.rank == 0 && p.depth == 0) p.rank = 1;
  else if (list) p.depth++;
  else p.rank++;
  return p;
}

static void widen_row(const FlType *ty, FlType1 *out) { /* but for levels */
  for (int p = 0; ty->kind != FL_TY_TUPLE && p < fl_type_element_parts(ty); p++)
    out[p] = widen(out[p], false);
  for (int i = 0; i < ty->n_fields; i++) {
    widen_row(ty->fields[i].type, out);
    out += ty->fields[i].type->n_parts;
  }
}

void fl_type_parts(const FlType *ty, FlType1 *out) {
  switch (ty->kind) {
  case FL_TY_SCALAR:
  case FL_TY_ARRAY:
    out[0] = (FlType1){(uint8_t)fl_dtype_stored(ty->dtype), (uint8_t)(ty->kind == FL_TY_ARRAY ? ty->rank : 0),
                       0, 0};
    if (ty->nullable) out[1] = (FlType1){FL_BOOL, out[0].rank, 0, 0};
    if (fl_type_is_category(ty)) out[ty->n_parts - 1] = (FlType1){FL_TEXT, 1, 0, 0};
    break;
  case FL_TY_TUPLE:
    for (int i = 0; i < ty->n_fields; i++) {
      fl_type_parts(ty->fields[i].type, out);
      out += ty->fields[i].type->n_parts;
    }
    break;
  case FL_TY_TABLE:
    out[0] = (FlType1){FL_I64, 0, 0, 0};
    fl_type_parts(ty->elem, out + 1);
    widen_row(ty->elem, out + 1);
    break;
  case FL_TY_LIST:
    fl_type_parts(ty->elem, out);
    for (int i = 0; i < ty->n_parts; i++) out[i] = widen(out[i], true);
    break;
  case FL_TY_ERROR:
  case FL_TY_NONE:
  case FL_TY_NEVER:
  case FL_TY_NULL:
  case FL_TY_FUNC: break;
  }
}

const FlType *fl_type_row(const FlType *ty) {
  return ty->kind == FL_TY_TUPLE ? ty : ty->kind == FL_TY_TABLE ? ty->elem : NULL;
}

int fl_type_field_part(const FlType *ty, int field) {
  const FlType *row = fl_type_row(ty);
  int first = ty->kind == FL_TY_TABLE ? 1 : 0;
  return field < row->n_fields ? first + row->part_at[field] : first + row->n_parts;
}

bool fl_type_alike(const FlType *a, const FlType *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->dtype != b->dtype || a->nullable != b->nullable || a->rank != b->rank ||
      a->n_fields != b->n_fields || !same_keys(a, b) || (a->elem && !fl_type_alike(a->elem, b->elem)))
    return false;
  for (int i = 0; i < a->n_fields; i++)
    if (a->fields[i].name != b->fields[i].name || !fl_type_alike(a->fields[i].type, b->fields[i].type))
      return false;
  return true;
}

int fl_type_field_find(const FlType *row, const char *name) {
  if (row->field_of) return (int)(intptr_t)fl_map_get(row->field_of, name) - 1;
  for (int i = 0; i < row->n_fields; i++)
    if (row->fields[i].name == name) return i;
  return -1;
}

bool fl_type_has_names(const FlType *row) {
  char position[16];
  for (int i = 0; i < row->n_fields; i++) {
    snprintf(position, sizeof position, "%d", i);
    if (strcmp(row->fields[i].name, position) != 0) return true;
  }
  return false;
}

void fl_type_add_name(FlText1 *out, const char *name) {
  FlBytes written = fl_piece_bytes();
  fl_name_write(&written, name);
  fl_text_add(out, written.at, written.len);
  fl_bytes_reset(&written);
}

static void print_keys(FlText1 *out, const FlType *ty) {
  for (int i = 0; i < ty->n_keys; i++) {
    if (i) fl_text_addz(out, ", ");
    fl_type_add_name(out, ty->keys[i]);
  }
}

enum { MANY_FIELDS = 16, MOST_FIELDS = 8 }; /* of a tuple in a message */

/* most: of fields that are written of a tuple that has more than MANY_FIELDS. */
static void print(FlText1 *out, const FlType *ty, int most) {
  switch (ty->kind) {
  case FL_TY_ERROR: fl_text_addz(out, "?"); break;
  case FL_TY_NONE: fl_text_addz(out, "nothing"); break;
  case FL_TY_NEVER: fl_text_addz(out, "error"); break;
  case FL_TY_NULL: fl_text_addz(out, "null"); break;
  case FL_TY_FUNC: fl_text_addz(out, "function"); break;
  case FL_TY_SCALAR:
  case FL_TY_ARRAY:
    fl_text_addf(out, "%s%s", fl_dtype_name(ty->dtype), ty->nullable ? "?" : "");
    for (int i = 0; ty->kind == FL_TY_ARRAY && i < ty->rank; i++) fl_text_addz(out, i ? ", _" : "[_");
    if (ty->kind == FL_TY_ARRAY) fl_text_addc(out, ']');
    break;
  case FL_TY_TUPLE:
    fl_text_addc(out, '(');
    for (int i = 0; i < ty->n_fields; i++) {
      if (i == most && ty->n_fields > MANY_FIELDS) {
        fl_text_addf(out, ", and %d more", ty->n_fields - i);
        break;
      }
      if (i) fl_text_addz(out, ", ");
      if (fl_type_has_names(ty)) {
        fl_type_add_name(out, ty->fields[i].name);
        fl_text_addz(out, ": ");
      }
      print(out, ty->fields[i].type, most);
    }
    fl_text_addc(out, ')');
    break;
  case FL_TY_TABLE:
  case FL_TY_LIST:
    print(out, ty->elem, most);
    fl_text_addz(out, "[_]");
    if (ty->n_keys) fl_text_addz(out, " grouped by ");
    print_keys(out, ty);
    break;
  }
}

static const char *taken(FlTypes *t, FlText1 *text) {
  const char *s = fl_arena_strndup(t->arena, text->len ? text->s : "", text->len);
  fl_text_reset(text);
  return s;
}

const char *fl_type_keys_text(FlTypes *t, const FlType *ty) {
  FlText1 text = {0};
  print_keys(&text, ty);
  return taken(t, &text);
}

static const char *text_of(FlTypes *t, const FlType *ty, int most) {
  FlText1 text = {0};
  print(&text, ty, most);
  return taken(t, &text);
}

const char *fl_type_text(FlTypes *t, const FlType *ty) { return text_of(t, ty, INT_MAX); }
const char *fl_type_brief(FlTypes *t, const FlType *ty) { return text_of(t, ty, MOST_FIELDS); }
