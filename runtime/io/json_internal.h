/* json_internal.h: the parts of reading JSON: an array of objects, or objects one after the other (JSON
 * lines). */
#ifndef FL_JSON_INTERNAL_H
#define FL_JSON_INTERNAL_H

#include "io/io_internal.h"

#include <jansson.h>

/* Where the objects of a text are. */
typedef struct FlJsonSpan {
  int64_t at, len;
} FlJsonSpan;
typedef struct FlJsonSpans {
  FlJsonSpan *at;
  int64_t n;
} FlJsonSpans;

/* Finds the objects, without looking at what is in them but for brackets and quotes. most: stop there once
 * that many bytes were seen, 0: never; then what remains is not looked at. The caller frees out->at, also on
 * failure. */
bool fl_json_spans(const char *text, int64_t len, int64_t most, const char *path, FlJsonSpans *out,
                   FlIoError *e);
/* The same where each line that is not blank is one object. */
bool fl_json_lines(const char *text, int64_t len, int64_t most, const char *path, FlJsonSpans *out,
                   FlIoError *e);
/* One object; NULL: e says what is wrong. Integers that i64 cannot hold are an error. */
json_t *fl_json_object(const char *text, FlJsonSpan span, const char *path, FlIoError *e);
/* Lines before an offset, plus one. */
int64_t fl_json_line_at(const char *text, int64_t offset);

/* The wanted columns of all objects, in parallel; without one of a key its value is null. lines: each object
 * is a line. */
bool fl_json_read(FlCtx *ctx, const char *path, bool lines, FlTableWanted *wanted, int32_t n_wanted,
                  int64_t *n_rows, FlIoError *e);

#endif
