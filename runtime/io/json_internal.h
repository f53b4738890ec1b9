/* json_internal.h: the parts of reading JSON: an array of objects, or objects one after the other (JSON
 * lines). */
#ifndef FL_JSON_INTERNAL_H
#define FL_JSON_INTERNAL_H

#include "data/data.h"
#include "io/tables.h"

/* ---- objects: json_spans.c ----------------------------------------------------------------------------- */

/* Where the objects of a text are. */
typedef struct FlJsonSpan {
  int64_t at, len;
} FlJsonSpan;
typedef struct FlJsonSpans {
  FlJsonSpan *at; /* counted memory (data.h) */
  int64_t n;
  FlPool *pool; /* whose; set by the caller before; may be NULL */
} FlJsonSpans;

/* Finds the objects, without looking at what is in them but for brackets and quotes. most: stop there once
 * that many bytes were seen, 0: never; then what remains is not looked at. The caller gives out->at back,
 * also on failure. */
bool fl_json_spans(const char *text, int64_t len, int64_t most, const char *path, FlJsonSpans *out,
                   FlIoError *e);
/* The same where each line that is not blank is one object. */
bool fl_json_lines(const char *text, int64_t len, int64_t most, const char *path, FlJsonSpans *out,
                   FlIoError *e);
/* Lines before an offset, plus one. */
int64_t fl_json_line_at(const char *text, int64_t offset);

/* ---- what is in them: json_scan.c ---------------------------------------------------------------------- */

typedef enum FlJsonKind {
  FL_JSON_NULL,
  FL_JSON_TRUE,
  FL_JSON_FALSE,
  FL_JSON_NUMBER,
  FL_JSON_TEXT,
  FL_JSON_NESTED /* an array or an object */
} FlJsonKind;

/* A value as it is written; of a text what is between its quotes. */
typedef struct FlJsonValue {
  FlJsonKind kind;
  bool plain; /* of a number: digits alone; of a text: no escapes */
  const char *at;
  int64_t len;
} FlJsonValue;

typedef struct FlJsonScan {
  const char *at, *end;
  int64_t members;
  const char *bad, *why; /* where something is no JSON; NULL: nothing was found */
} FlJsonScan;

#define FL_JSON_NO_NAN "JSON has no nan and no infinity"

/* Begins with the object that the text is; then one key and value after the other. false: the object has
 * ended, or s->bad says what is wrong. */
bool fl_json_open(FlJsonScan *s, const char *text, int64_t len);
bool fl_json_next(FlJsonScan *s, FlJsonValue *key, FlJsonValue *v);
/* A text without escapes, into v.len bytes of room; how many they are. */
int64_t fl_json_unescape(FlJsonValue v, char *to);
/* A nested value without the blanks between its parts, likewise. */
int64_t fl_json_compact(FlJsonValue v, char *to);
/* A number as sign and magnitude; false: it is not whole, or has more than 64 bits. */
bool fl_json_whole(FlJsonValue v, bool *negative, uint64_t *magnitude);

/* ---- tables: json_read.c, json_types.c ----------------------------------------------------------------- */

/* Finds the objects of an input; lines: each is a line. */
bool fl_json_objects(const FlInput *in, bool lines, int64_t most, const char *path, FlJsonSpans *out,
                     FlIoError *e);
/* What the scan of text[span] found to be wrong; a key that is there twice. Return false. */
bool fl_json_wrong(const FlJsonScan *s, const char *text, const char *path, FlIoError *e);
bool fl_json_twice(FlJsonValue key, const char *text, const char *path, FlIoError *e);
/* The wanted columns of all objects, in parallel; without one of a key its value is null. */
FlIoSchemaFn fl_json_schema, fl_jsonl_schema; /* of lines: each is one object */
bool fl_json_read(FlCtx *ctx, const char *path, bool lines, FlTableWanted *wanted, int32_t n_wanted,
                  int64_t *n_rows, FlIoError *e);

#endif
