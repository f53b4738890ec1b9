/* parquet_thrift.c: reading Thrift's compact protocol (github.com/apache/thrift,
 * doc/specs/thrift-compact-protocol.md).
 *
 * What always holds: nothing behind `end` is read; what does not fit makes `bad`, and every answer 0. */
#include "io/parquet.h"

enum { STOP = 0, FALSE = 2, BYTE = 3, I16 = 4, I32 = 5, I64 = 6, DOUBLE = 7, SET = 10, MAP = 11 };
enum { DEPTH = 32 };

static uint8_t next_byte(FlThrift *t) {
  if (t->bad || t->at >= t->end) {
    t->bad = true;
    return 0;
  }
  return *t->at++;
}

uint64_t fl_thrift_unsigned(FlThrift *t) {
  uint64_t v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = next_byte(t);
    v |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return t->bad ? 0 : v;
  }
  t->bad = true;
  return 0;
}

static int64_t next_signed(FlThrift *t) {
  uint64_t v = fl_thrift_unsigned(t);
  return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

bool fl_thrift_field(FlThrift *t, int *id, int *type) {
  uint8_t head = next_byte(t);
  *type = head & 15;
  if (t->bad || *type == STOP) return false;
  int64_t next = head >> 4 ? *id + (head >> 4) : next_signed(t);
  if (next <= 0 || next > INT16_MAX) t->bad = true;
  *id = t->bad ? 0 : (int)next;
  return !t->bad;
}

int64_t fl_thrift_number(FlThrift *t, int type) {
  switch (type) {
  case FL_THRIFT_TRUE: return 1;
  case FALSE: return 0;
  case BYTE: return (int8_t)next_byte(t);
  case I16:
  case I32:
  case I64: return next_signed(t);
  }
  t->bad = true;
  return 0;
}

FlText fl_thrift_text(FlThrift *t) {
  uint64_t n = fl_thrift_unsigned(t);
  if (t->bad || n > (uint64_t)(t->end - t->at)) {
    t->bad = true;
    return (FlText){NULL, 0};
  }
  FlText out = {(const char *)t->at, (int64_t)n};
  t->at += n;
  return out;
}

/* Each element takes a byte at least. */
static int64_t count(FlThrift *t, uint64_t n) {
  if (n > (uint64_t)(t->end - t->at)) t->bad = true;
  return t->bad ? 0 : (int64_t)n;
}

int64_t fl_thrift_list(FlThrift *t, int *type) {
  uint8_t head = next_byte(t);
  *type = head & 15;
  return count(t, head >> 4 == 15 ? fl_thrift_unsigned(t) : head >> 4);
}

static void skip(FlThrift *t, int type, int depth);

static void skip_elements(FlThrift *t, int type, int depth) {
  for (int64_t n = fl_thrift_list(t, &type); n > 0 && !t->bad; n--)
    if (type == FL_THRIFT_TRUE || type == FALSE) next_byte(t);
    else skip(t, type, depth);
}

static void skip_map(FlThrift *t, int depth) {
  int64_t n = count(t, fl_thrift_unsigned(t));
  uint8_t types = n ? next_byte(t) : 0;
  for (; n > 0 && !t->bad; n--) {
    skip(t, types >> 4, depth);
    skip(t, types & 15, depth);
  }
}

static void skip(FlThrift *t, int type, int depth) {
  int id = 0, of = 0;
  if (depth > DEPTH) t->bad = true;
  if (t->bad) return;
  switch (type) {
  case FL_THRIFT_BINARY: fl_thrift_text(t); return;
  case FL_THRIFT_LIST:
  case SET: skip_elements(t, 0, depth + 1); return;
  case MAP: skip_map(t, depth + 1); return;
  case DOUBLE:
    for (int k = 0; k < 8; k++) next_byte(t);
    return;
  case FL_THRIFT_STRUCT:
    while (fl_thrift_field(t, &id, &of)) skip(t, of, depth + 1);
    return;
  }
  fl_thrift_number(t, type);
}

void fl_thrift_skip(FlThrift *t, int type) { skip(t, type, 0); }
