/* habits.c: the flow way of names that people bring along from other languages.
 *
 * In: a name that stands for nothing, and the message that says so. Out: what is said beside it. What always
 * holds: an edit replaces a name by one of flow that takes the same first argument; what needs more is shown
 * as a line. */
#include "data/name_text.h"
#include "sema/builtins/builtin.h"
#include "sema/habits.h"
#include "sema/scope.h"

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
#define FL_NO_PARAMETER(name, value, sentence)
static const Param params[] = {
#include "sema/habit_params.def"
};
#undef FL_PARAMETER
#undef FL_NO_PARAMETER

typedef struct NoParam {
  const char *name, *value, *sentence;
} NoParam;

#define FL_PARAMETER(name, flow, sentence)
#define FL_NO_PARAMETER(name, value, sentence) {name, value, sentence},
static const NoParam no_params[] = {
#include "sema/habit_params.def"
};
#undef FL_PARAMETER
#undef FL_NO_PARAMETER

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

/* A value without brackets, or a plain text: its bytes. */
static size_t plain_value(const char *text) {
  size_t n = strspn(text, "-.0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (*text == '"') n = 1 + strcspn(text + 1, "\"\\{\n");
  if (*text == '"' && text[n++] != '"') return 0;
  const char *behind = text + n + strspn(text + n, " ");
  return *behind == ',' || *behind == ')' ? n : 0;
}

/* `write_csv(t, "x.csv", index = False)`: the argument, with the comma before it. */
static bool left_out(FlSema *s, FlDiag *d, FlName name) {
  const char *text = fl_sources_get(s->sources, name.span.file)->text;
  size_t begin = name.span.start, at = begin + name.span.len;
  at += strspn(text + at, " ");
  if (text[at] != '=') return false;
  at += 1 + strspn(text + at + 1, " ");
  size_t n = plain_value(text + at);
  for (size_t k = 0; k < sizeof no_params / sizeof *no_params; k++) {
    const NoParam *p = &no_params[k];
    bool any = !p->value[0], given = strlen(p->value) == n && strncmp(p->value, text + at, n) == 0;
    if (strcmp(p->name, name.text) != 0 || !(any || given)) continue;
    fl_diag_help(s->sink, d, "%s", p->sentence);
    while (begin && text[begin - 1] == ' ') begin--;
    if (!n || !begin || text[begin - 1] != ',') return true;
    d->edit.span = name.span;
    d->edit.span.start = (uint32_t)begin - 1;
    d->edit.span.len = (uint32_t)(at + n - begin + 1);
    d->edit.text = "";
    return true;
  }
  return false;
}

FlVal fl_habit_nothing_bound(FlSema *s, FlName name) {
  const char *text = fl_sources_get(s->sources, name.span.file)->text;
  size_t begin = name.span.start, at = begin + name.span.len;
  FlDiag *d = fl_sema_report(s, FL_E0309, name.span, "there is no value to bind to `%s`", name.text);
  at += strspn(text + at, " ");
  while (begin && text[begin - 1] == ' ') begin--;
  if (text[at] != '=' || begin < 3 || strncmp(text + begin - 3, "let", 3) != 0) return fl_val_error(s);
  at += 1 + strspn(text + at + 1, " ");
  const size_t n = strcspn(text + at, "\n");
  if (text[at] == '{') return fl_val_error(s); /* it may be a dictionary */
  fl_diag_help(s->sink, d, "in flow: `%.*s`", (int)n, text + at);
  d->edit.span =
      (FlSpan){.file = name.span.file, .start = (uint32_t)begin - 3, .len = (uint32_t)(at - begin + 3)};
  d->edit.text = "";
  return fl_val_error(s);
}

void fl_habit_import(FlSema *s, FlDiag *d, const char *module) {
  const FlAst *ast = s->file->ast;
  int first = 0;
  while (first < ast->stmts.n && ast->stmts.at[first]->kind == FL_STMT_REQUIRES) first++;
  if (first == ast->stmts.n) return;
  const FlSpan at = ast->stmts.at[first]->span;
  const char *text = fl_sources_get(s->sources, at.file)->text;
  uint32_t from = at.start;
  while (from > 0) { /* what is said of the statement stays before it */
    uint32_t begin = from - 1;
    while (begin > 0 && text[begin - 1] != '\n') begin--;
    if (strncmp(text + begin, "##", 2) != 0) break;
    from = begin;
  }
  if (from > 0 && text[from - 1] != '\n') return;
  d->edit.span = (FlSpan){.file = at.file, .start = from};
  d->edit.text = fl_arena_printf(s->arena, "import %s\n", module);
}

bool fl_habit_arrow(FlSema *s, FlDiag *d, FlName name) {
  const char *text = fl_sources_get(s->sources, name.span.file)->text;
  size_t begin = name.span.start, at = begin + name.span.len;
  while (begin && text[begin - 1] == ' ') begin--;
  at += strspn(text + at, " ");
  if ((begin && text[begin - 1] != '\n') || strncmp(text + at, "<-", 2) != 0) return false;
  fl_diag_help(s->sink, d, "a name is bound by `let %s = ..`", name.text);
  d->edit.span = name.span;
  d->edit.span.len = (uint32_t)at + 2 - name.span.start;
  d->edit.text = fl_arena_printf(s->arena, "let %s =", name.text);
  return true;
}

bool fl_habit_shouted(FlSema *s, FlDiag *d, FlName name) {
  size_t n = strlen(name.text);
  char *lower = fl_arena_strndup(s->arena, name.text, n);
  for (size_t k = 0; k < n; k++) {
    if (lower[k] >= 'a' && lower[k] <= 'z') return false;
    if (lower[k] >= 'A' && lower[k] <= 'Z') lower[k] = (char)(lower[k] | 32);
  }
  lower = (char *)(uintptr_t)fl_intern_z(s->names, lower);
  if (n < 2) return false;
  if (fl_builtin_find(s, lower)) fl_diag_meant(s->sink, d, name.span, "", lower);
  else return fl_habit_help(s, d, lower, name.span, true);
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
  return left_out(s, d, name);
}

const char *fl_habit_plain_text(const FlExpr *e) {
  bool plain = e && e->kind == FL_EXPR_TEXT && e->text.parts.n == 1 && !e->text.parts.at[0].value;
  return plain ? e->text.parts.at[0].bytes : NULL;
}

void fl_habit_quoted_field(FlSema *s, FlDiag *d, const FlExpr *e) {
  const char *name = fl_habit_plain_text(e), *text = fl_sources_get(s->sources, e->span.file)->text;
  size_t end = e->span.start + e->span.len;
  fl_diag_help(s->sink, d, "a column or a field is written behind a point: `.%s`", name);
  if (!e->span.start || text[e->span.start - 1] != '[' || text[end] != ']') return;
  FlBytes edit = fl_piece_bytes();
  fl_bytes_add(&edit, ".", 1);
  fl_name_write(&edit, name);
  d->edit.span = e->span;
  d->edit.span.start--;
  d->edit.span.len += 2;
  d->edit.text = fl_arena_strndup(s->arena, edit.at, edit.len);
  fl_bytes_reset(&edit);
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
  bool call = e && e->kind == FL_EXPR_CALL && e->call.func->kind == FL_EXPR_NAME &&
              strcmp(e->call.func->name.text, "c") == 0; /* c(k, x), of R */
  int n = call ? e->call.args.n : e && e->kind == FL_EXPR_ARRAY ? e->array.n : 0;
  if (!n) return false;
  FlBytes names = fl_piece_bytes();
  bool all = true;
  for (int i = 0; i < n; i++) {
    const FlExpr *item = call ? e->call.args.at[i].value : e->array.at[i];
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

static bool has(const char *const *names, int n, const char *name) {
  for (int k = 0; k < n; k++)
    if (strcmp(names[k], name) == 0) return true;
  return false;
}

bool fl_habit_member(FlSema *s, FlDiag *d, const char *module, const char *called, FlName name,
                     const char *const *names, int n_names) {
  static const char *const methods[][2] = {
      {"transform", "apply"}, {"inverse_transform", "invert"}, {"predict_proba", "predict_prob"}};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    if (strcmp(methods[k][0], name.text) != 0 || !has(names, n_names, methods[k][1])) continue;
    fl_diag_meant(s->sink, d, name.span, fl_arena_printf(s->arena, "%s.", called), methods[k][1]);
    return true;
  }
  const Habit *h = find(name.text, true);
  size_t n = strlen(module);
  if (!h || strcmp(h->module, module) != 0) return false;
  fl_diag_help(s->sink, d, "in flow: `%s`", h->example);
  bool same = strncmp(h->example, module, n) == 0 && h->example[n] == '.';
  bool makes = name.text[0] >= 'A' && name.text[0] <= 'Z'; /* what makes one is called otherwise */
  if (!same || makes) return true;
  d->edit.span = name.span;
  d->edit.text = fl_arena_strndup(s->arena, h->example + n + 1, strcspn(h->example + n + 1, "("));
  return true;
}

/* What a file has at a place. */
static const char *text_at(FlSema *s, FlSpan at) {
  return fl_arena_strndup(s->arena, fl_sources_get(s->sources, at.file)->text + at.start, at.len);
}

static bool same_span(FlSpan a, FlSpan b) { return a.file == b.file && a.start == b.start && a.len == b.len; }

/* The message about a place, of one of two codes; NULL: none. */
static FlDiag *said_of(FlSema *s, FlSpan at, FlDiagCode one, FlDiagCode other) {
  for (int i = s->sink->diags.n - 1; i >= 0; i--) {
    FlDiag *d = s->sink->diags.at[i];
    if (same_span(d->span, at) && (d->code == one || d->code == other)) return d;
  }
  return NULL;
}

/* That there is no such field. */
static FlDiag *no_field(FlSema *s, FlSpan at) { return said_of(s, at, FL_E0601, FL_E0604); }

/* The row of a name behind a point. What tables have too, as `t.filter(..)`, is not meant of them. */
static const Habit *behind_point(FlSema *s, const FlDiag *d, const char *name) {
  const Habit *h = find(fl_arena_printf(s->arena, ".%s", name), false);
  const Habit *called = find(name, true);
  const FlBuiltin *verb = fl_builtin_find(s, called && called->flow[0] ? called->flow : name);
  return d->code == FL_E0601 && verb && (verb->kinds & FL_BUILTIN_COLUMNS) ? NULL : h;
}

bool fl_habit_field(FlSema *s, FlDiag *d, const char *name) {
  const Habit *h = behind_point(s, d, name);
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

/* `flow(base, arguments)`; NULL: the arguments have no end. */
static const char *called_with(FlSema *s, const char *flow, FlSpan base, const FlExpr *call) {
  const char *args = "";
  if (call->kind == FL_EXPR_CALL && call->call.args.n) {
    uint32_t from = call->call.func->span.start + call->call.func->span.len;
    FlSpan rest = {.file = call->span.file, .start = from, .len = call->span.start + call->span.len - from};
    const char *text = text_at(s, rest), *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close) return NULL;
    args = fl_arena_printf(s->arena, ", %.*s", (int)(close - open - 1), open + 1);
  }
  return fl_arena_printf(s->arena, "%s(%s%s)", flow, text_at(s, base), args);
}

/* `pd.merge(t, other)`, `np.mean(a)`: the name of a package is left out. */
static bool of_package(FlSema *s, const FlExpr *call, const FlExpr *field) {
  static const char *const packages[][2] = {{"np", "np"},     {"numpy", "np"}, {"pd", "pd"},
                                            {"pandas", "pd"}, {"pl", "pl"},    {"polars", "pl"},
                                            {"math", "math"}, {"F", "pl"}};
  const FlExpr *base = field->field.base;
  const char *package = NULL, *name = field->field.name.text;
  for (size_t k = 0; k < sizeof packages / sizeof *packages && base->kind == FL_EXPR_NAME; k++)
    if (strcmp(packages[k][0], base->name.text) == 0) package = packages[k][1];
  if (base->kind != FL_EXPR_NAME) return false;
  const char *whole = fl_arena_printf(s->arena, "%s.%s", package ? package : base->name.text, name);
  const Habit *own = find(whole, false); /* or a name of R: `is.na(x)` */
  FlDiag *d = package || own ? said_of(s, base->span, FL_E0201, FL_E0601) : NULL;
  if (!d && own) d = no_field(s, field->field.name.span); /* date.today(): there is a function `date` */
  if (!d) return false;
  bool column = call->kind == FL_EXPR_CALL && call->call.args.n == 1 && strcmp(name, "col") == 0;
  const char *text = column ? fl_habit_plain_text(call->call.args.at[0].value) : NULL;
  if (text) { /* pl.col("x") */
    fl_diag_meant(s->sink, d, call->span, "", text);
    fl_diag_help(s->sink, d, "a column is its name: `%s`", text);
    return true;
  }
  const Habit *h = own ? own : find(name, call->kind == FL_EXPR_CALL);
  const char *flow = own ? own->flow : fl_builtin_find(s, name) ? name : h ? h->flow : "";
  d->edit.text = NULL; /* what the name of the package is spelt like */
  if (h && strcmp(flow, name) != 0) fl_diag_help(s->sink, d, "%s", said(s->arena, h));
  else if (flow[0]) fl_diag_help(s->sink, d, "it is part of the language: `%s`", flow);
  if (!flow[0]) return true;
  d->edit.span = field->span;
  d->edit.text = flow;
  return true;
}

/* `d.dt.month`, `s.str.upper()` */
static bool of_accessor(FlSema *s, const FlExpr *call, const FlExpr *field) {
  static const char *const accessors[] = {"dt", "str"};
  const FlExpr *inner = field->field.base;
  bool is = false;
  for (size_t k = 0; k < 2 && inner->kind == FL_EXPR_FIELD; k++)
    is |= strcmp(accessors[k], inner->field.name.text) == 0;
  FlDiag *d = is ? no_field(s, inner->field.name.span) : NULL;
  if (!d) return false;
  const char *name = field->field.name.text;
  const char *whole = fl_arena_printf(s->arena, "%s.%s", inner->field.name.text, name);
  const Habit *own = find(whole, false), *h = own ? own : find(name, true);
  const char *flow = own ? own->flow : fl_builtin_find(s, name) ? name : h ? h->flow : "";
  const char *by = flow[0] ? called_with(s, flow, inner->field.base->span, call) : NULL;
  if (h && !by) fl_diag_help(s->sink, d, "%s", said(s->arena, h));
  if (!by) return true;
  fl_diag_help(s->sink, d, "a function stands before what it is called with: `%s`", by);
  d->edit.span = call->span;
  d->edit.text = by;
  return true;
}

/* `", ".join(a)`, and `a.join(", ")` */
static bool joined(FlSema *s, const FlExpr *call, const FlExpr *field) {
  FlDiag *d = strcmp(field->field.name.text, "join") == 0 ? no_field(s, field->field.name.span) : NULL;
  if (!d || d->code != FL_E0604 || call->kind != FL_EXPR_CALL || call->call.args.n != 1) return false;
  const FlExpr *base = field->field.base, *other = call->call.args.at[0].value;
  const bool before = fl_habit_plain_text(base) != NULL;
  if (!before && !fl_habit_plain_text(other)) return false;
  const char *array = text_at(s, before ? other->span : base->span),
             *separator = text_at(s, before ? base->span : other->span);
  d->edit.span = call->span;
  d->edit.text = fl_arena_printf(s->arena, "join_text(%s, %s)", array, separator);
  fl_diag_help(s->sink, d, "in flow: `%s`", d->edit.text);
  return true;
}

void fl_habit_method(FlSema *s, const FlExpr *call) {
  const FlExpr *field = call->kind == FL_EXPR_CALL ? call->call.func : call;
  if (field->kind != FL_EXPR_FIELD) return;
  if (of_package(s, call, field) || of_accessor(s, call, field) || joined(s, call, field)) return;
  FlName name = field->field.name;
  FlDiag *d = no_field(s, name.span);
  const Habit *h = find(name.text, call->kind == FL_EXPR_CALL);
  const char *flow = fl_builtin_find(s, name.text) ? name.text : h ? h->flow : NULL;
  bool field_alone = d && d->edit.text && same_span(d->edit.span, field->span); /* it is called, after all */
  if (!d || (d->edit.text && !field_alone) || !flow) return;
  if (behind_point(s, d, name.text)) return;
  bool takes = d->code != FL_E0604 || !of_tables_alone(fl_builtin_find(s, flow));
  const FlExpr *of = field->field.base; /* of a function there is nothing to call it with */
  bool named = of->kind == FL_EXPR_NAME && !fl_scope_find(s, of->name.text);
  if (named && fl_builtin_find(s, of->name.text)) return;
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
  const char *by = called_with(s, flow, field->field.base->span, call);
  if (!by) return;
  d->edit.span = call->span;
  d->edit.text = by;
  fl_diag_help(s->sink, d, "a function stands before what it is called with: `%s`", d->edit.text);
}
