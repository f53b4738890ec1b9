/* json_types.c: the row type of a JSON file from the values in it.
 *
 * In: a path. Out: the keys in the order in which they are first met, each with a type that holds all of its
 * values, and which of these made it so. What always holds: no type loses a digit: an integer beyond i64 and
 * a number beyond f64 make a column of texts, in which they stand as they are written. */
#include "io/json_internal.h"
#include "data/number.h"

#include <stdlib.h>
#include <string.h>

enum { FL_JSON_SAMPLE = 4 << 20 };

typedef struct Key {
  char *name; /* NUL-terminated, on the heap */
  int64_t len;
  int seen;           /* FL_SEEN_* */
  int64_t count, met; /* objects that have it, and the last of them, from 1 */
  int64_t lacks;      /* the first object in which it is null or not there, from 1; 0: none yet */
  FlJsonValue odd;    /* by which its type is as it is (FlIoColumn) */
} Key;

/* All keys; `slots` is a hash table of their numbers + 1, 0 where there is none. */
typedef struct Keys {
  Key *at;
  uint32_t *slots;
  size_t n, n_slots; /* a power of 2, at least twice n */
} Keys;

static void keys_reset(Keys *keys) {
  for (size_t k = 0; k < keys->n; k++) free(keys->at[k].name);
  free(keys->at);
  free(keys->slots);
}

/* FNV-1a: keys are short. */
static size_t hash_of(const char *s, int64_t len) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (int64_t k = 0; k < len; k++) h = (h ^ (unsigned char)s[k]) * UINT64_C(0x100000001b3);
  return (size_t)(h ^ h >> 32);
}

static bool grow(Keys *keys) {
  size_t n_slots = keys->n_slots ? 2 * keys->n_slots : 64;
  uint32_t *slots = calloc(n_slots, sizeof *slots);
  Key *at = slots ? realloc(keys->at, n_slots / 2 * sizeof *at) : NULL;
  if (!at) {
    free(slots);
    return false;
  }
  keys->at = at;
  for (size_t k = 0; k < keys->n; k++) {
    size_t slot = hash_of(at[k].name, at[k].len) & (n_slots - 1);
    while (slots[slot]) slot = (slot + 1) & (n_slots - 1);
    slots[slot] = (uint32_t)k + 1;
  }
  free(keys->slots);
  keys->slots = slots;
  keys->n_slots = n_slots;
  return true;
}

/* The key of that name, new or not; the name becomes the table's. NULL: out of memory. */
static Key *key_named(Keys *keys, char *name, int64_t len) {
  if (2 * keys->n >= keys->n_slots && !grow(keys)) {
    free(name);
    return NULL;
  }
  size_t slot = hash_of(name, len) & (keys->n_slots - 1);
  for (; keys->slots[slot]; slot = (slot + 1) & (keys->n_slots - 1)) {
    Key *key = &keys->at[keys->slots[slot] - 1];
    if (key->len != len || memcmp(key->name, name, (size_t)len) != 0) continue;
    free(name);
    return key;
  }
  keys->at[keys->n] = (Key){.name = name, .len = len};
  keys->slots[slot] = (uint32_t)++keys->n;
  return &keys->at[keys->n - 1];
}

/* ---- what values are ---------------------------------------------------------------------------------- */

static int class_of_text(FlJsonValue v) {
  char text[64];
  int64_t micros;
  int32_t day;
  if (v.len > (int64_t)sizeof text) return FL_SEEN_TEXT;
  int64_t len = fl_json_unescape(v, text);
  if (fl_parse_date(text, len, &day)) return FL_SEEN_DATE;
  return fl_parse_datetime(text, len, &micros) ? FL_SEEN_DATETIME : FL_SEEN_TEXT;
}

static int class_of(FlJsonValue v) {
  int64_t i;
  double x;
  switch (v.kind) {
  case FL_JSON_NULL: return FL_SEEN_EMPTY;
  case FL_JSON_TRUE:
  case FL_JSON_FALSE: return FL_SEEN_BOOL;
  case FL_JSON_NUMBER:
    if (v.plain) return fl_parse_i64(v.at, v.len, &i) ? FL_SEEN_INT : FL_SEEN_TEXT;
    return fl_parse_f64(v.at, v.len, &x) ? FL_SEEN_FLOAT : FL_SEEN_TEXT;
  case FL_JSON_TEXT: return class_of_text(v);
  case FL_JSON_NESTED: break;
  }
  return FL_SEEN_TEXT;
}

static bool no_memory(const char *path, FlIoError *e) {
  return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
}

static bool look_at_member(Keys *keys, FlJsonValue name, FlJsonValue v, int64_t row, const char *text,
                           const char *path, FlIoError *e) {
  char *copy = malloc((size_t)name.len + 1);
  if (!copy) return no_memory(path, e);
  int64_t len = fl_json_unescape(name, copy);
  copy[len] = '\0';
  if (strlen(copy) != (size_t)len) {
    free(copy);
    FlJsonScan s = {
        .bad = name.at, .end = name.at + name.len, .why = "a key with \\u0000 is no name of a column"};
    return fl_json_wrong(&s, text, path, e);
  }
  Key *key = key_named(keys, copy, len);
  if (!key) return no_memory(path, e);
  if (key->met == row) return fl_json_twice(name, text, path, e);
  int class = class_of(v), before = key->seen & ~FL_SEEN_EMPTY, with = before | (class & ~FL_SEEN_EMPTY);
  if (with != before && (!before || fl_io_seen_dtype(with) != fl_io_seen_dtype(before))) key->odd = v;
  if (!key->lacks && key->met < row - 1) key->lacks = key->met + 1;
  if (!key->lacks && class == FL_SEEN_EMPTY) key->lacks = row;
  key->met = row;
  key->count++;
  key->seen |= class;
  return true;
}

static bool look(const char *text, const FlJsonSpans *spans, const char *path, Keys *keys, FlIoError *e) {
  for (int64_t k = 0; k < spans->n; k++) {
    FlJsonScan s;
    FlJsonValue name, v;
    if (fl_json_open(&s, text + spans->at[k].at, spans->at[k].len))
      while (fl_json_next(&s, &name, &v))
        if (!look_at_member(keys, name, v, k + 1, text, path, e)) return false;
    if (s.bad) return fl_json_wrong(&s, text, path, e);
  }
  return true;
}

/* ---- the row type ------------------------------------------------------------------------------------- */

/* What of a value is told, as it is written; its line is to be found. */
static void tell(FlJsonValue v, FlIoCause *out) {
  bool text = v.kind == FL_JSON_TEXT;
  int64_t most = (int64_t)sizeof out->value - 1, len = v.len + 2 * text;
  if (len > most)
    for (len = most; len > 0 && (v.at[len - text] & 0xC0) == 0x80;) len--;
  memcpy(out->value, v.at - text, (size_t)len);
  out->value[len] = '\0';
}

typedef struct Told {
  int64_t at;
  FlIoCause *to;
} Told;

static int by_place(const void *a, const void *b) {
  const Told *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* Which values made the types of the columns. One way through the text counts the lines before all of them.
 * false: no memory. */
static bool tell_causes(const Keys *keys, const char *text, const FlJsonSpans *spans, FlIoSchema *out) {
  Told *told = malloc((2 * keys->n + 1) * sizeof *told);
  size_t n = 0;
  if (!told) return false;
  for (size_t k = 0; k < keys->n; k++) {
    const Key *key = &keys->at[k];
    FlIoColumn *c = &out->columns[k];
    int kinds = key->seen & ~FL_SEEN_EMPTY;
    int64_t lacks = key->lacks ? key->lacks : key->met < spans->n ? key->met + 1 : 0;
    if (kinds & (kinds - 1)) {
      tell(key->odd, &c->odd);
      told[n++] = (Told){key->odd.at - text, &c->odd};
    }
    if (kinds && lacks) told[n++] = (Told){spans->at[lacks - 1].at, &c->null};
  }
  qsort(told, n, sizeof *told, by_place);
  int64_t line = 1, at = 0;
  for (size_t k = 0; k < n; k++) {
    line += fl_json_line_at(text + at, told[k].at - at) - 1;
    at = told[k].at;
    told[k].to->line = line;
  }
  free(told);
  return true;
}

static bool take_names(const Keys *keys, int64_t n_rows, const char *path, FlIoSchema *out, FlIoError *e) {
  size_t bytes = keys->n * sizeof(FlIoColumn);
  for (size_t k = 0; k < keys->n; k++) bytes += (size_t)keys->at[k].len + 1;
  out->own = malloc(bytes + 1);
  if (!out->own) return no_memory(path, e);
  out->columns = out->own;
  out->n_columns = (int32_t)keys->n;
  out->n_rows = n_rows;
  char *to = (char *)(out->columns + keys->n);
  for (size_t k = 0; k < keys->n; k++) {
    const Key *key = &keys->at[k];
    memcpy(to, key->name, (size_t)key->len + 1);
    out->columns[k] = (FlIoColumn){.name = to,
                                   .dtype = fl_io_seen_dtype(key->seen),
                                   .nullable = (key->seen & FL_SEEN_EMPTY) || key->count < n_rows};
    to += key->len + 1;
  }
  return true;
}

static bool schema_of(const char *path, bool lines, FlIoSchema *out, FlIoError *e) {
  FlInput in;
  FlJsonSpans spans = {0};
  Keys keys = {0};
  memset(out, 0, sizeof *out);
  memset(e, 0, sizeof *e);
  if (!fl_input_open(NULL, path, &in, e)) return false;
  out->whole = in.size <= FL_JSON_SAMPLE;
  bool ok =
      fl_json_objects(&in, lines, FL_JSON_SAMPLE, path, &spans, e) && look(in.data, &spans, path, &keys, e);
  if (ok && !keys.n) {
    ok = fl_io_error(e, FL_E_EMPTY, "`%s` holds no row, so it says nothing of its columns", path);
    fl_io_help(e, "write the type of a row: `let t: Trip[_] = read_json%s(f)`", lines ? "l" : "");
  }
  ok = ok && take_names(&keys, spans.n, path, out, e) &&
       (tell_causes(&keys, in.data, &spans, out) || no_memory(path, e)) && fl_input_check(&in, path, e);
  fl_counted_free(spans.at);
  keys_reset(&keys);
  fl_input_close(&in);
  if (!ok) fl_io_schema_reset(out);
  return ok;
}

bool fl_json_schema(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  (void)options;
  return schema_of(path, false, out, e);
}

bool fl_jsonl_schema(const char *path, FlOptions options, FlIoSchema *out, FlIoError *e) {
  (void)options;
  return schema_of(path, true, out, e);
}
