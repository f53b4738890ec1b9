/* diff.c: which of what two runs showed belongs together, and texts that differ; see diff.h. */
#include "cli/diff.h"

#include "base/width.h"
#include "report/record.h"

enum { MOST_TEXTS = 50, MOST_LINES = 10, MOST_WIDTH = 40 };

void fl_diff_value(FlText1 *out, const char *value) {
  size_t n = strlen(value), end = n, size;
  if (fl_width_text(value, n) > MOST_WIDTH) end = fl_width_fit(value, n, MOST_WIDTH - 1);
  for (size_t at = 0; at < end; at += size) {
    if (fl_width_next(value + at, n - at, &size) >= 0) fl_text_add(out, value + at, size);
    else if (value[at] == '\n') fl_text_addz(out, "\\n");
    else fl_text_addz(out, "?");
  }
  if (end < n) fl_text_addz(out, "…");
}

/* ---- what belongs together ---- */

/* How surely two things are one: shown by the same line; in the same place of the order, and equal, or with
 * the same columns; in the same place. */
typedef enum Alike { BY_LINE, BY_CONTENT, BY_PLACE } Alike;

static bool same_columns(const FlShown *a, const FlShown *b) {
  bool same = a->n_columns == b->n_columns;
  for (int k = 0; same && k < a->n_columns; k++) same = strcmp(a->names[k], b->names[k]) == 0;
  return same;
}

static bool is_alike(const FlShown *a, const FlShown *b, Alike by) {
  if (a->is_table != b->is_table) return false;
  switch (by) {
  case BY_LINE: return a->of == b->of;
  case BY_CONTENT: return a->is_table ? same_columns(a, b) : strcmp(a->text, b->text) == 0;
  case BY_PLACE: break;
  }
  return true;
}

/* For each thing of `is` the one of `was`, -1: none. */
static int *pairs_of(FlArena *arena, const FlShownList *was, const FlShownList *is) {
  int *pair = FL_NEW_ARRAY(arena, int, is->n + 1);
  int *next = FL_NEW_ARRAY(arena, int, is->n + 1); /* of those behind, the least */
  bool *used = FL_NEW_ARRAY(arena, bool, was->n + 1);
  for (int i = 0; i < is->n; i++) pair[i] = -1;
  for (int by = BY_LINE; by <= BY_PLACE; by++) {
    next[is->n] = was->n;
    for (int i = is->n - 1; i >= 0; i--)
      next[i] = pair[i] >= 0 && pair[i] < next[i + 1] ? pair[i] : next[i + 1];
    for (int i = 0, least = 0; i < is->n; i++) {
      int from = by == BY_LINE ? 0 : least, to = by == BY_LINE ? was->n : next[i];
      for (int k = from; pair[i] < 0 && k < to; k++)
        if (!used[k] && is_alike(&was->at[k], &is->at[i], (Alike)by)) pair[i] = k;
      if (pair[i] < 0) continue;
      used[pair[i]] = true;
      if (pair[i] + 1 > least) least = pair[i] + 1;
    }
  }
  return pair;
}

/* "line 9: `|> show`", as far as its script is still there. */
static const char *place_of(FlArena *arena, const FlDiffSide *side, const FlShown *s, const char *whose) {
  if (!s->line) return fl_arena_printf(arena, "what %sthe library shows", whose);
  const char *head = fl_arena_printf(arena, "line %d%s", s->line, whose);
  if (!side->script || s->line > (int)side->script->n_lines) return head;
  uint32_t start, end;
  fl_source_line(side->script, s->line, &start, &end);
  const char *line = side->script->text + start;
  if (fl_record_line(line, end - start) != s->of) return head;
  while (start < end && strchr(" \t", *line)) line++, start++;
  FlText1 text = {0};
  fl_diff_value(&text, fl_arena_strndup(arena, line, end - start));
  const char *place = fl_arena_printf(arena, "%s, `%s`", head, text.s ? text.s : "");
  fl_text_reset(&text);
  return place;
}

/* ---- texts ---- */

static void put_lines(FlText1 *out, const char *text, char mark) {
  int n = 0;
  for (const char *line = text, *end;; line = end + 1) {
    end = line + strcspn(line, "\n");
    if (n++ < MOST_LINES) fl_text_addf(out, "  %c %.*s\n", mark, (int)(end - line), line);
    if (!*end) break;
  }
  if (n > MOST_LINES) fl_text_addf(out, "  %c ... and %d more lines\n", mark, n - MOST_LINES);
}

static bool diff_text(FlText1 *out, const FlShown *was, const FlShown *is, const char *place) {
  if (!was->kept || !is->kept) {
    fl_text_addf(out, "\n%s: it is too long for a record: not compared\n", place);
    return true;
  }
  if (strcmp(was->text, is->text) == 0) return false;
  fl_text_addf(out, "\n%s\n", place);
  put_lines(out, was->text, '-');
  put_lines(out, is->text, '+');
  return true;
}

bool fl_diff_shown(FlArena *arena, FlText1 *out, FlDiffSide was, FlDiffSide is, const char *key) {
  int *pair = pairs_of(arena, was.shown, is.shown);
  bool *left = FL_NEW_ARRAY(arena, bool, was.shown->n + 1);
  int texts = 0;
  bool any = false;
  for (int i = 0; i < is.shown->n; i++) {
    const FlShown *s = &is.shown->at[i];
    const char *place = place_of(arena, &is, s, "");
    if (pair[i] >= 0) left[pair[i]] = true;
    if (pair[i] < 0) fl_text_addf(out, "\n%s: shown now, and not before\n", place);
    else if (s->is_table) any |= fl_diff_table(arena, out, &was.shown->at[pair[i]], s, key, place);
    else if (texts < MOST_TEXTS) texts += diff_text(out, &was.shown->at[pair[i]], s, place);
    else texts += strcmp(was.shown->at[pair[i]].text, s->text) != 0;
    any |= pair[i] < 0;
  }
  if (texts > MOST_TEXTS) fl_text_addf(out, "\n... and %d more texts\n", texts - MOST_TEXTS);
  for (int k = 0; k < was.shown->n; k++) {
    if (left[k]) continue;
    any = true;
    fl_text_addf(out, "\n%s: not shown any more\n", place_of(arena, &was, &was.shown->at[k], " before"));
  }
  return any || texts;
}
