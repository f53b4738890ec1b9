/* arrow_flat.c: flatbuffers (flatbuffers.dev/internals), as far as Arrow's metadata needs them: tables,
 * vectors, texts.
 *
 * Reading: every position is checked before it is read, and what is out of bounds reads as absent. Writing:
 * forward, so that references, which are positive distances, are filled in when their target is written. */
#include "io/arrow.h"

#include <string.h>

/* ---- reading ------------------------------------------------------------------------------------------ */

static bool inside(FlFlat f, uint64_t at, uint64_t n) { return at <= f.size && n <= f.size - at; }

static uint32_t u32_at(FlFlat f, uint32_t at) {
  uint32_t v;
  memcpy(&v, f.at + at, 4);
  return v;
}

static uint16_t u16_at(FlFlat f, uint32_t at) {
  uint16_t v;
  memcpy(&v, f.at + at, 2);
  return v;
}

int64_t fl_flat_i64(FlFlat f, uint32_t at) {
  int64_t v;
  memcpy(&v, f.at + at, 8);
  return v;
}

/* Follows the reference at `at`; there must be 4 bytes at its target. */
static uint32_t follow(FlFlat f, uint64_t at) {
  if (!inside(f, at, 4)) return 0;
  uint64_t to = at + u32_at(f, (uint32_t)at);
  return to != at && inside(f, to, 4) ? (uint32_t)to : 0;
}

uint32_t fl_flat_root(FlFlat f) { return follow(f, 0); }

/* Where a field's bytes are; 0: absent. A table begins with the distance back to its vtable: its size, the
 * table's size, then where each field is in the table. */
static uint32_t field_at(FlFlat f, uint32_t table, int field, uint32_t bytes) {
  if (table == 0 || !inside(f, table, 4)) return 0;
  int64_t vtable = (int64_t)table - (int32_t)u32_at(f, table);
  if (vtable < 0 || !inside(f, (uint64_t)vtable, 4)) return 0;
  uint32_t size = u16_at(f, (uint32_t)vtable), entry = 4 + 2 * (uint32_t)field;
  if (!inside(f, (uint64_t)vtable, size) || entry + 2 > size) return 0;
  uint32_t offset = u16_at(f, (uint32_t)vtable + entry);
  return offset && inside(f, (uint64_t)table + offset, bytes) ? table + offset : 0;
}

int64_t fl_flat_number(FlFlat f, uint32_t table, int field, int bytes, int64_t otherwise) {
  uint32_t at = field_at(f, table, field, (uint32_t)bytes);
  if (!at) return otherwise;
  switch (bytes) {
  case 1: return f.at[at];
  case 2: return (int16_t)u16_at(f, at);
  case 4: return (int32_t)u32_at(f, at);
  default: return fl_flat_i64(f, at);
  }
}

uint32_t fl_flat_table(FlFlat f, uint32_t table, int field) {
  uint32_t at = field_at(f, table, field, 4);
  return at ? follow(f, at) : 0;
}

uint32_t fl_flat_vector(FlFlat f, uint32_t table, int field, uint32_t bytes, uint32_t *n) {
  uint32_t at = fl_flat_table(f, table, field);
  *n = at ? u32_at(f, at) : 0;
  if (!at || inside(f, (uint64_t)at + 4, (uint64_t)*n * bytes)) return at ? at + 4 : 0;
  *n = 0;
  return 0;
}

uint32_t fl_flat_element(FlFlat f, uint32_t vector, uint32_t k) {
  return follow(f, (uint64_t)vector + 4 * (uint64_t)k);
}

FlText fl_flat_text(FlFlat f, uint32_t table, int field) {
  uint32_t n, at = fl_flat_vector(f, table, field, 1, &n);
  return at ? (FlText){(const char *)f.at + at, n} : (FlText){NULL, 0};
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Zeros until (len + ahead) is a multiple of `to`. */
static void align(FlBytes *b, size_t to, size_t ahead) {
  size_t over = (b->len + ahead) % to;
  if (over) fl_bytes_fill(b, '\0', to - over);
}

void fl_flat_put(FlBytes *b, size_t at, int bytes, int64_t v) {
  if (!b->failed) memcpy(b->at + at, &v, (size_t)bytes);
}

void fl_flat_refer(FlBytes *b, size_t from, size_t to) { fl_flat_put(b, from, 4, (int64_t)(to - from)); }

size_t fl_flat_new_table(FlBytes *b, int n, const uint8_t *sizes, size_t *at) {
  align(b, 8, 0);
  size_t vtable = b->len, vtable_size = 4 + 2 * (size_t)n;
  size_t table = (vtable + vtable_size + 7) / 8 * 8, end = table + 4;
  for (int k = 0; k < n; k++) {
    if (!sizes[k]) continue;
    end = (end + sizes[k] - 1) / sizes[k] * sizes[k];
    at[k] = end;
    end += sizes[k];
  }
  fl_bytes_fill(b, '\0', end - vtable);
  fl_flat_put(b, vtable, 2, (int64_t)vtable_size);
  fl_flat_put(b, vtable + 2, 2, (int64_t)(end - table));
  for (int k = 0; k < n; k++)
    if (sizes[k]) fl_flat_put(b, vtable + 4 + 2 * (size_t)k, 2, (int64_t)(at[k] - table));
  fl_flat_put(b, table, 4, (int64_t)(table - vtable));
  return table;
}

size_t fl_flat_new_vector(FlBytes *b, uint32_t n, uint32_t bytes, size_t *at) {
  align(b, bytes >= 8 ? 8 : 4, 4);
  *at = b->len;
  fl_bytes_fill(b, '\0', 4 + (size_t)n * bytes);
  fl_flat_put(b, *at, 4, n);
  return *at + 4;
}

size_t fl_flat_new_text(FlBytes *b, const char *s, size_t n) {
  size_t at, bytes = fl_flat_new_vector(b, (uint32_t)n, 1, &at);
  if (!b->failed && n) memcpy(b->at + bytes, s, n);
  fl_bytes_fill(b, '\0', 1);
  return at;
}
