/* source.c: the source texts of one compilation, places in them, and the tree of calls that brought them
 * there.
 *
 * In: bytes of files. Out: FlSource with its line starts; positions and joined spans. A file's text is a copy
 * in the arena, NUL-terminated, never changed. */
#include "diag/diag.h"

FlSources *fl_sources_make(FlArena *a) {
  FlSources *s = FL_NEW(a, FlSources);
  s->arena = a;
  return s;
}

FlSources *fl_sources_make_shared(FlArena *a) {
  FlSources *s = fl_sources_make(a);
  s->from = FL_SHARED_FROM;
  return s;
}

static uint32_t count_points(const char *s, uint32_t n) {
  uint32_t points = 0;
  for (uint32_t i = 0; i < n; i++) points += ((unsigned char)s[i] & 0xC0) != 0x80;
  return points;
}

static uint32_t points_before(const FlSource *f, uint32_t offset) {
  uint32_t step = offset / FL_POINTS_STEP;
  return f->points[step] + count_points(f->text + step * FL_POINTS_STEP, offset % FL_POINTS_STEP);
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
  f->points = FL_NEW_ARRAY(s->arena, uint32_t, f->len / FL_POINTS_STEP + 1);
  for (uint32_t i = 1; i <= f->len / FL_POINTS_STEP; i++)
    f->points[i] = f->points[i - 1] + count_points(copy + (i - 1) * FL_POINTS_STEP, FL_POINTS_STEP);
  fl_vec_push(s->arena, &s->files, f);
  f->id = (uint16_t)(s->from + s->files.n);
  return f;
}

FlSource *fl_sources_get(const FlSources *s, uint16_t id) {
  if (s->own && s->own->id == id) return s->own;
  if (id > FL_SHARED_FROM && s->shared) s = s->shared;
  return id > s->from && id <= s->from + s->files.n ? s->files.at[id - s->from - 1] : NULL;
}

FlSource *fl_sources_take(FlSources *s, const FlSource *shared, const char *path) {
  s->own = fl_arena_copy(s->arena, shared, sizeof *shared);
  s->own->path = fl_arena_strndup(s->arena, path, strlen(path));
  s->own->is_library = false;
  return s->own;
}

int fl_source_line_at(const FlSource *f, uint32_t offset) {
  uint32_t lo = 0, hi = f->n_lines; /* lines[lo] <= offset < lines[hi] */
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (f->lines[mid] <= offset) lo = mid;
    else hi = mid;
  }
  return (int)lo + 1;
}

void fl_source_position(const FlSource *f, uint32_t offset, int *line, int *column) {
  if (offset > f->len) offset = f->len;
  *line = fl_source_line_at(f, offset);
  *column = (int)fl_source_points(f, f->lines[*line - 1], offset) + 1;
}

uint32_t fl_source_points(const FlSource *f, uint32_t start, uint32_t end) {
  return points_before(f, end) - points_before(f, start);
}

void fl_source_line(const FlSource *f, int line, uint32_t *start, uint32_t *end) {
  *start = f->lines[line - 1];
  *end = (uint32_t)line < f->n_lines ? f->lines[line] - 1 : f->len;
}

FlSpan fl_span_join(FlSpan a, FlSpan b) {
  if (!a.file) return b;
  if (!b.file || a.file != b.file) return a;
  uint32_t start = a.start < b.start ? a.start : b.start;
  uint32_t a_end = a.start + a.len, b_end = b.start + b.len;
  return (FlSpan){a.file, start, (a_end > b_end ? a_end : b_end) - start, a.call};
}

/* ---- calls ---- */

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

static uint32_t *call_slot(const FlSources *s, FlSpan place, const char *callee) {
  uint64_t h = mix(mix(place.file, (uint64_t)place.start << 32 | place.len), place.call);
  for (uint32_t i = (uint32_t)h;; i++) {
    uint32_t *slot = &s->call_slots[i & (s->n_call_slots - 1)];
    if (!*slot) return slot;
    const FlCall *c = fl_sources_call_at(s, *slot);
    if (c->place.file == place.file && c->place.start == place.start && c->place.len == place.len &&
        c->place.call == place.call && strcmp(c->callee, callee) == 0)
      return slot;
  }
}

uint32_t fl_sources_call(FlSources *s, FlSpan place, const char *callee) {
  if ((uint32_t)s->calls.n * 2 >= s->n_call_slots) {
    s->n_call_slots = s->n_call_slots ? s->n_call_slots * 2 : 64;
    s->call_slots = FL_NEW_ARRAY(s->arena, uint32_t, s->n_call_slots);
    for (int i = 0; i < s->calls.n; i++)
      *call_slot(s, s->calls.at[i].place, s->calls.at[i].callee) = (uint32_t)i + 1;
  }
  uint32_t *slot = call_slot(s, place, callee);
  if (!*slot) {
    fl_vec_push(s->arena, &s->calls, ((FlCall){place, callee}));
    *slot = (uint32_t)s->calls.n;
  }
  return *slot;
}

uint32_t fl_sources_call_within(FlSources *s, uint32_t number, uint32_t outer) {
  if (!number || !outer) return number ? number : outer;
  FlCall c = *fl_sources_call_at(s, number);
  c.place.call = fl_sources_call_within(s, c.place.call, outer);
  return fl_sources_call(s, c.place, c.callee);
}
