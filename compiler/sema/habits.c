/* habits.c: the flow way of names that people bring along from other languages.
 *
 * In: a name that stands for nothing, and the message that says so. Out: what is said beside it. What always
 * holds: an edit replaces a name by one of flow that takes the same first argument; what needs more is shown
 * as a line. */
#include "data/name_text.h"
#include "sema/builtins/builtin.h"
#include "sema/habits.h"

#include <string.h>

typedef struct Habit {
  const char *name, *flow, *module, *example, *sentence;
} Habit;

#define FL_HABIT(name, flow, module, example) {name, flow, module, example, ""},
#define FL_SAYING(name, sentence) {name, "", "", "", sentence},
#define FL_ELSEWHERE(names)
static const Habit habits[] = {
#include "sema/habits.def"
};
#undef FL_HABIT
#undef FL_SAYING
#undef FL_ELSEWHERE

/* Each between spaces. */
#define FL_HABIT(name, flow, module, example)
#define FL_SAYING(name, sentence)
#define FL_ELSEWHERE(names) " " names " "
static const char elsewhere[] =
#include "sema/habits.def"
    ;
#undef FL_HABIT
#undef FL_SAYING
#undef FL_ELSEWHERE

typedef struct Param {
  const char *name, *flow, *sentence;
} Param;

#define FL_PARAMETER(name, flow, sentence) {name, flow, sentence},
static const Param params[] = {
#include "sema/habit_params.def"
};
#undef FL_PARAMETER

/* `called`: it stands before a `(`, where rows with one are meant too. */
static const Habit *find(const char *name, bool called) {
  const size_t n = strlen(name);
  for (size_t k = 0; k < sizeof habits / sizeof *habits; k++) {
    const char *rest = strncmp(habits[k].name, name, n) == 0 ? habits[k].name + n : "other";
    if (!*rest || (called && strcmp(rest, "(") == 0)) return &habits[k];
  }
  return NULL;
}

bool fl_habit_is_called(const char *name) { return find(name, true) != NULL; }

static const char *said(FlArena *a, const Habit *h) {
  if (h->sentence[0]) return h->sentence;
  if (h->module[0]) return fl_arena_printf(a, "in flow: `%s`, with `import %s`", h->example, h->module);
  if (h->example[0] && h->flow[0]) return fl_arena_printf(a, "in flow it is `%s`: `%s`", h->flow, h->example);
  if (h->example[0]) return fl_arena_printf(a, "in flow: `%s`", h->example);
  return fl_arena_printf(a, "in flow it is `%s`", h->flow);
}

const char *fl_habit_says(FlArena *a, const char *name) {
  const Habit *h = find(name, true);
  return h ? said(a, h) : NULL;
}

bool fl_habit_help(FlSema *s, FlDiag *d, const char *name, FlSpan at, bool called) {
  const Habit *h = find(name, called);
  if (!h) return strstr(elsewhere, fl_arena_printf(s->arena, " %s ", name)) != NULL;
  fl_diag_help(s->sink, d, "%s", said(s->arena, h));
  if (!h->flow[0]) return true;
  d->edit.span = at;
  d->edit.text = h->flow;
  return true;
}

bool fl_habit_param(FlSema *s, FlDiag *d, FlName name, int n, const char *const *known) {
  for (size_t i = 0; i < sizeof params / sizeof *params; i++)
    for (int k = 0; k < n; k++) {
      const Param *p = &params[i];
      if (strcmp(p->name, name.text) != 0 || strcmp(p->flow, known[k]) != 0) continue;
      if (p->sentence[0]) fl_diag_help(s->sink, d, "%s", p->sentence);
      else fl_diag_meant(s->sink, d, name.span, "", p->flow);
      return true;
    }
  return false;
}

const char *fl_habit_plain_text(const FlExpr *e) {
  bool plain = e && e->kind == FL_EXPR_TEXT && e->text.parts.n == 1 && !e->text.parts.at[0].value;
  return plain ? e->text.parts.at[0].bytes : NULL;
}

void fl_habit_left_out(FlSema *s, FlDiag *d, FlName name) {
  static const char *const words[] = {"by", "cols", "columns", "key", "keys", "subset"};
  const char *text = fl_sources_get(s->sources, name.span.file)->text;
  size_t at = name.span.start + name.span.len, k = 0;
  while (k < sizeof words / sizeof *words && strcmp(words[k], name.text) != 0) k++;
  at += strspn(text + at, " ");
  if (k == sizeof words / sizeof *words || text[at] != '=') return;
  at += 1 + strspn(text + at + 1, " ");
  d->edit.span = name.span;
  d->edit.span.len = (uint32_t)at - name.span.start;
  d->edit.text = "";
}

bool fl_habit_alias(FlSema *s, FlDiag *d, const FlExpr *e) {
  const FlExpr *f = e && e->kind == FL_EXPR_CALL && e->call.args.n == 1 ? e->call.func : NULL;
  const char *name = f && f->kind == FL_EXPR_FIELD && strcmp(f->field.name.text, "alias") == 0
                         ? fl_habit_plain_text(e->call.args.at[0].value)
                         : NULL;
  if (!name) return false;
  const char *text = fl_sources_get(s->sources, e->span.file)->text + e->span.start;
  size_t n = f->field.name.span.start - e->span.start;
  while (n && strchr(" .\n", text[n - 1])) n--;
  FlBytes edit = fl_piece_bytes();
  fl_name_write(&edit, name);
  fl_diag_help(s->sink, d, "the name stands before it: `%.*s = ..`", (int)edit.len, (const char *)edit.at);
  fl_bytes_add(&edit, " = ", 3);
  fl_bytes_add(&edit, text, n);
  d->edit.span = e->span;
  d->edit.text = fl_arena_strndup(s->arena, edit.at, edit.len);
  fl_bytes_reset(&edit);
  return true;
}

bool fl_habit_name_list(FlSema *s, FlDiag *d, const FlExpr *e) {
  if (!e || e->kind != FL_EXPR_ARRAY || !e->array.n) return false;
  FlBytes names = fl_piece_bytes();
  bool all = true;
  for (int i = 0; i < e->array.n; i++) {
    const FlExpr *item = e->array.at[i];
    const char *name = item->kind == FL_EXPR_NAME ? item->name.text : fl_habit_plain_text(item);
    if (i) fl_bytes_add(&names, ", ", 2);
    if (name) fl_name_write(&names, name);
    all = all && name;
  }
  if (all) {
    d->edit.span = e->span;
    d->edit.text = fl_arena_strndup(s->arena, names.at, names.len);
    fl_diag_help(s->sink, d, "names stand alone, with commas: `%s`", d->edit.text);
  }
  fl_bytes_reset(&names);
  return all;
}

/* What a file has at a place. */
static const char *text_at(FlSema *s, FlSpan at) {
  return fl_arena_strndup(s->arena, fl_sources_get(s->sources, at.file)->text + at.start, at.len);
}

/* The message about a place that there is no such field; NULL: none. */
static FlDiag *no_field(FlSema *s, FlSpan at) {
  for (int i = s->sink->diags.n - 1; i >= 0; i--) {
    FlDiag *d = s->sink->diags.at[i];
    bool here = d->span.file == at.file && d->span.start == at.start && d->span.len == at.len;
    if (here && (d->code == FL_E0601 || d->code == FL_E0604)) return d;
  }
  return NULL;
}

bool fl_habit_field(FlSema *s, FlDiag *d, const char *name) {
  const Habit *h = find(fl_arena_printf(s->arena, ".%s", name), false);
  if (h) fl_diag_help(s->sink, d, "%s", said(s->arena, h));
  else if (d->code == FL_E0604 && fl_builtin_find(s, name))
    fl_diag_help(s->sink, d, "a function stands before what it is called with: `%s(..)`", name);
  return h != NULL;
}

/* A verb, but those that arrays have too. */
static bool of_tables_alone(const FlBuiltin *bi) {
  static const char *const both[] = {"head", "sort", "tail", "value_counts"};
  if (!bi || !(bi->kinds & FL_BUILTIN_VERB)) return false;
  for (size_t k = 0; k < sizeof both / sizeof *both; k++)
    if (strcmp(bi->name, both[k]) == 0) return false;
  return true;
}

void fl_habit_method(FlSema *s, const FlExpr *call) {
  const FlExpr *field = call->kind == FL_EXPR_CALL ? call->call.func : call;
  if (field->kind != FL_EXPR_FIELD) return;
  FlName name = field->field.name;
  FlDiag *d = no_field(s, name.span);
  const Habit *h = find(name.text, call->kind == FL_EXPR_CALL);
  const char *flow = fl_builtin_find(s, name.text) ? name.text : h ? h->flow : NULL;
  if (!d || d->edit.text || !flow || find(fl_arena_printf(s->arena, ".%s", name.text), false)) return;
  bool takes = d->code != FL_E0604 || !of_tables_alone(fl_builtin_find(s, flow));
  if (!takes && !h) return;
  if (!takes) {
    fl_diag_help(s->sink, d, "%s", said(s->arena, h));
    return;
  }
  if (!flow[0]) {
    fl_habit_help(s, d, name.text, name.span, call->kind == FL_EXPR_CALL);
    return;
  }
  const char *behind = fl_sources_get(s->sources, call->span.file)->text + call->span.start + call->span.len;
  if (h && h->example[0] &&
      (*behind == '.' || *behind == '[')) { /* what it is called with stands further right */
    fl_diag_help(s->sink, d, "%s", said(s->arena, h));
    return;
  }
  const char *base = text_at(s, field->field.base->span), *args = "";
  if (call->kind == FL_EXPR_CALL && call->call.args.n) {
    uint32_t from = call->call.func->span.start + call->call.func->span.len;
    FlSpan rest = {.file = call->span.file, .start = from, .len = call->span.start + call->span.len - from};
    const char *text = text_at(s, rest), *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close) return;
    args = fl_arena_printf(s->arena, ", %.*s", (int)(close - open - 1), open + 1);
  }
  d->edit.span = call->span;
  d->edit.text = fl_arena_printf(s->arena, "%s(%s%s)", flow, base, args);
  fl_diag_help(s->sink, d, "a function stands before what it is called with: `%s`", d->edit.text);
}
