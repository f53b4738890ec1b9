/* tokens.c: what names are, for colours: functions, types, columns, .. See answers.h. */
#include "lsp/answers.h"

#include <ctype.h>
#include <stdlib.h>

/* Of two that are said of one place the first holds: what is told of a name, and not that it is a column. */
typedef enum Kind { TYPE, PARAMETER, VARIABLE, FUNCTION, COLUMN } Kind;
enum { DECLARATION = 1, LIBRARY = 2, STAGE = 4 };

json_t *fl_lsp_token_kinds(void) {
  return json_pack("[s, s, s, s, s]", "type", "parameter", "variable", "function", "property");
}
json_t *fl_lsp_token_modifiers(void) {
  return json_pack("[s, s, s]", "declaration", "defaultLibrary", "stage");
}

typedef struct Token {
  uint32_t at, len;
  Kind kind;
  int modifiers;
} Token;
typedef FlVec(Token) Tokens;

static int by_place(const void *a, const void *b) {
  const Token *x = a, *y = b;
  return x->at != y->at ? (x->at < y->at ? -1 : 1) : (x->kind > y->kind) - (x->kind < y->kind);
}

typedef struct Places {
  FlArena *arena;
  FlMap *kinds; /* of declarations at the top, by file and place: 1 + kind of statement */
  FlMap *files; /* that were read */
  const FlSources *sources;
} Places;

static const void *key_of(FlSpan at) {
  return (const void *)(uintptr_t)((uint64_t)at.file << 32 | at.start | UINT64_C(1) << 60);
}

/* The statement that declares a name at the top of its file; ERROR: none does. */
static FlStmtKind declares(Places *p, FlSpan at) {
  const void *file = (const void *)(uintptr_t)at.file;
  if (!fl_map_get(p->files, file)) {
    FlLspDeclaredList tops = {0};
    const FlSource *f = fl_sources_get(p->sources, at.file);
    fl_lsp_declared_in(p->arena, f, &tops);
    fl_map_set(p->files, file, p);
    for (int i = 0; i < tops.n; i++) {
      FlSpan place = {.file = at.file, .start = tops.at[i].at.start};
      fl_map_set(p->kinds, key_of(place), (void *)(uintptr_t)(tops.at[i].kind + 1));
    }
  }
  uintptr_t kind = (uintptr_t)fl_map_get(p->kinds, key_of(at));
  return kind ? (FlStmtKind)(kind - 1) : FL_STMT_ERROR;
}

static Token of_name(Places *p, const FlLspName *x) {
  Token t = {x->at.start, x->at.len, VARIABLE, 0};
  if (x->what.signature) {
    t.kind = FUNCTION;
    t.modifiers = LIBRARY;
  } else if (x->what.declared.file) {
    FlStmtKind kind = declares(p, x->what.declared);
    if (kind == FL_STMT_TYPE) t.kind = TYPE;
    if (kind == FL_STMT_PARAM) t.kind = PARAMETER;
    if (kind == FL_STMT_FN || kind == FL_STMT_STAGE || kind == FL_STMT_EXTERN) t.kind = FUNCTION;
    if (kind == FL_STMT_STAGE) t.modifiers |= STAGE;
    if (fl_sources_get(p->sources, x->what.declared.file)->is_library) t.modifiers |= LIBRARY;
    if (x->what.declared.file == x->at.file && x->what.declared.start == x->at.start)
      t.modifiers |= DECLARATION;
  }
  return t;
}

/* Stretches of the script, in order and apart. */
typedef FlVec(FlSpan) Stretches;

static int by_start(const void *a, const void *b) {
  const FlSpan *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

/* Where columns are names: arguments of verbs may stand within each other. */
static Stretches of_verbs(FlArena *arena, const FlLspDocument *d) {
  Stretches all = {0};
  for (int i = 0; i < d->facts.columns.n; i++)
    if (d->facts.columns.at[i].at.file == d->c.script->id)
      fl_vec_push(arena, &all, d->facts.columns.at[i].at);
  if (all.n) qsort(all.at, (size_t)all.n, sizeof *all.at, by_start);
  int n = 0;
  for (int i = 0; i < all.n; i++) {
    FlSpan *last = n ? &all.at[n - 1] : NULL, next = all.at[i];
    if (!last || next.start > last->start + last->len) all.at[n++] = next;
    else if (next.start + next.len > last->start + last->len) last->len = next.start + next.len - last->start;
  }
  all.n = n;
  return all;
}

static bool holds(const Stretches *all, FlSpan at) {
  int low = 0, high = all->n; /* those before `low` begin at or before the place */
  while (low < high) {
    int mid = (low + high) / 2;
    if (all->at[mid].start <= at.start) low = mid + 1;
    else high = mid;
  }
  return low > 0 && at.start + at.len <= all->at[low - 1].start + all->at[low - 1].len;
}

json_t *fl_lsp_tokens(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  (void)params;
  FlArena *arena = fl_arena_new();
  Places p = {arena, fl_map_make(arena), fl_map_make(arena), d->c.sources};
  const FlSource *f = d->c.script;
  Tokens tokens = {0};
  Stretches verbs = of_verbs(arena, d);
  for (int i = 0; i < d->facts.names.n; i++)
    if (d->facts.names.at[i].at.file == f->id)
      fl_vec_push(arena, &tokens, of_name(&p, &d->facts.names.at[i]));
  for (int i = 0; i < d->facts.values.n; i++) { /* a name that nothing declares is a column */
    FlSpan at = d->facts.values.at[i].at;
    bool name = at.file == f->id && !isdigit((unsigned char)f->text[at.start]);
    for (uint32_t k = 0; name && k < at.len; k++) name = fl_lsp_in_name(f->text[at.start + k]);
    if (name && holds(&verbs, at)) fl_vec_push(arena, &tokens, ((Token){at.start, at.len, COLUMN, 0}));
  }
  if (tokens.n) qsort(tokens.at, (size_t)tokens.n, sizeof *tokens.at, by_place);
  json_t *data = json_array();
  json_int_t line = 0, column = 0;
  uint32_t end = 0;
  for (int i = 0; i < tokens.n; i++) {
    Token t = tokens.at[i];
    if (t.at < end) continue;
    json_t *from = fl_lsp_position(all, f, t.at), *to = fl_lsp_position(all, f, t.at + t.len);
    json_int_t its_line = json_integer_value(json_object_get(from, "line")),
               its_column = json_integer_value(json_object_get(from, "character")),
               its_end = json_integer_value(json_object_get(to, "character"));
    json_array_append_new(data, json_integer(its_line - line));
    json_array_append_new(data, json_integer(its_line == line ? its_column - column : its_column));
    json_array_append_new(data, json_integer(its_end - its_column));
    json_array_append_new(data, json_integer((json_int_t)t.kind));
    json_array_append_new(data, json_integer(t.modifiers));
    json_decref(from);
    json_decref(to);
    line = its_line;
    column = its_column;
    end = t.at + t.len;
  }
  fl_arena_free(arena);
  return json_pack("{s:o}", "data", data);
}
