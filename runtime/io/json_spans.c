/* json_spans.c: where the objects of a JSON text begin and end.
 *
 * What always holds: an object that was found is closed; whether it is JSON inside, json_scan.c says. */
#include "io/json_internal.h"

#include <stdlib.h>
#include <string.h>

int64_t fl_json_line_at(const char *text, int64_t offset) {
  int64_t line = 1;
  for (const char *s = text, *end = text + offset; s < end && (s = memchr(s, '\n', (size_t)(end - s))); s++)
    line++;
  return line;
}

static bool wrong(FlIoError *e, const char *path, const char *text, int64_t at, const char *what) {
  int64_t line = fl_json_line_at(text, at);
  fl_io_error(e, FL_E_JSON, "`%s` line %lld: %s", path, (long long)line, what);
  e->line = line;
  return false;
}

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* The end of the object that begins at `at`; -1: it is never closed. */
static int64_t end_of_object(const char *s, int64_t at, int64_t len) {
  int64_t depth = 0;
  for (; at < len; at++) {
    char c = s[at];
    if (c == '"') {
      for (at++; at < len && s[at] != '"'; at++) at += s[at] == '\\';
    } else if (c == '{' || c == '[') {
      depth++;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return -1;
}

static bool add(FlJsonSpans *out, int64_t *room, FlJsonSpan span) {
  if (out->n == *room) {
    int64_t more = *room ? *room * 2 : 256;
    FlJsonSpan *grown = fl_counted_grow(out->pool, out->at, (size_t)more * sizeof *grown);
    if (!grown) return false;
    out->at = grown;
    *room = more;
  }
  out->at[out->n++] = span;
  return true;
}

bool fl_json_spans(const char *s, int64_t len, int64_t most, const char *path, FlJsonSpans *out,
                   FlIoError *e) {
  int64_t at = len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, room = 0;
  *out = (FlJsonSpans){.pool = out->pool};
  while (at < len && is_space(s[at])) at++;
  bool array = at < len && s[at] == '[', comma = false, closed = !array;
  if (array) at++;
  for (;;) {
    while (at < len && is_space(s[at])) at++;
    if (at == len || (most && at >= most)) break;
    if (array && s[at] == ']' && !comma) {
      closed = true;
      for (at++; at < len && is_space(s[at]); at++) {}
      if (at < len) return wrong(e, path, s, at, "something follows the array");
      break;
    }
    if (s[at] != '{') return wrong(e, path, s, at, "a row is an object, `{...}`, and here is something else");
    int64_t end = end_of_object(s, at, len);
    if (end < 0) return wrong(e, path, s, at, "this object is never closed");
    if (!add(out, &room, (FlJsonSpan){at, end - at}))
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
    at = end;
    comma = false;
    while (array && at < len && is_space(s[at])) at++;
    if (array && at < len && s[at] == ',') {
      comma = true;
      at++;
    } else if (array && at < len && s[at] != ']') {
      return wrong(e, path, s, at, "a comma between objects is missing");
    }
  }
  if (!closed && !(most && at >= most)) return wrong(e, path, s, len, "the array is never closed");
  return true;
}

bool fl_json_lines(const char *s, int64_t len, int64_t most, const char *path, FlJsonSpans *out,
                   FlIoError *e) {
  int64_t at = len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, room = 0;
  *out = (FlJsonSpans){.pool = out->pool};
  while (at < len && !(most && at >= most)) {
    const char *line_end = memchr(s + at, '\n', (size_t)(len - at));
    int64_t end = line_end ? line_end - s : len, next = end + 1;
    while (at < end && is_space(s[at])) at++;
    while (end > at && is_space(s[end - 1])) end--;
    if (end > at && (s[at] != '{' || s[end - 1] != '}')) {
      wrong(e, path, s, at, "a line is one object, `{...}`, and this one is not");
      if (s[at] == '[' || s[at] == '{')
        fl_io_help(e, "an array, or objects over several lines, are read by `read_json`");
      return false;
    }
    if (end > at && !add(out, &room, (FlJsonSpan){at, end - at}))
      return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
    at = next;
  }
  return true;
}
