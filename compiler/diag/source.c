/* source.c: the source texts of one compilation and places in them.
 *
 * In: bytes of files. Out: FlSource with its line starts; positions and joined spans. A file's text is a copy
 * in the arena, NUL-terminated, never changed. */
#include "diag/diag.h"

FlSources *fl_sources_make(FlArena *a) {
  FlSources *s = FL_NEW(a, FlSources);
  s->arena = a;
  return s;
}

FlSource *fl_sources_add(FlSources *s, const char *path, const char *text, size_t len) {
  FlSource *f = FL_NEW(s->arena, FlSource);
  if (len >= UINT32_MAX) len = UINT32_MAX - 1; /* the driver refuses such files first */
  f->path = fl_arena_strndup(s->arena, path, strlen(path));
  char *copy = FL_NEW_ARRAY(s->arena, char, len + 1);
  if (len) memcpy(copy, text, len);
  f->text = copy;
  f->len = (uint32_t)len;
  f->n_lines = 1;
  for (const char *p = copy; (p = memchr(p, '\n', (size_t)(copy + len - p))); p++) f->n_lines++;
  f->lines = FL_NEW_ARRAY(s->arena, uint32_t, f->n_lines);
  uint32_t line = 1;
  for (const char *p = copy; (p = memchr(p, '\n', (size_t)(copy + len - p))); p++)
    f->lines[line++] = (uint32_t)(p - copy + 1);
  fl_vec_push(s->arena, &s->files, f);
  f->id = (uint16_t)s->files.n;
  return f;
}

FlSource *fl_sources_get(const FlSources *s, uint16_t id) {
  return id >= 1 && id <= s->files.n ? s->files.at[id - 1] : NULL;
}

void fl_source_position(const FlSource *f, uint32_t offset, int *line, int *column) {
  if (offset > f->len) offset = f->len;
  uint32_t lo = 0, hi = f->n_lines; /* lines[lo] <= offset < lines[hi] */
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (f->lines[mid] <= offset) lo = mid;
    else hi = mid;
  }
  int points = 1;
  for (uint32_t i = f->lines[lo]; i < offset; i++) points += ((unsigned char)f->text[i] & 0xC0) != 0x80;
  *line = (int)lo + 1;
  *column = points;
}

FlSpan fl_span_join(FlSpan a, FlSpan b) {
  if (!a.file) return b;
  if (!b.file || a.file != b.file) return a;
  uint32_t start = a.start < b.start ? a.start : b.start;
  uint32_t a_end = a.start + a.len, b_end = b.start + b.len;
  return (FlSpan){a.file, start, (a_end > b_end ? a_end : b_end) - start};
}
