/* known_values.c: see known_values.h.
 *
 * In: comparisons, as they are elaborated. Out: warnings at the end. How: the column is followed through the
 * operators that only choose among its values (filters, sorting, joins, levels of a category) to the reader
 * of a file with a constant path, and the world is asked for all of its texts. What always holds: a text that
 * is warned about is in none of the files that it is compared with, and one that is spelt like it is. */
#include "sema/category.h"
#include "sema/habits.h"
#include "sema/known_values.h"
#include "sema/value.h"

#include <ctype.h>
#include <stdlib.h>

enum {
  MOST = 256,   /* different texts; of more it is no matter of spelling */
  SHORTEST = 4, /* bytes of a text that another one may be a misspelling of */
  DEEPEST = 64
};

/* ---- where the values of a column come from ---- */

/* What a parameter of a function stands for that takes what it uses from around it; NULL: what a call gives.
 */
static const FlValue *captured(const FlSema *s, const FlValue *v) {
  for (const FlFrame *f = s->frame; f; f = f->outer) {
    for (int i = 0; i < f->captures.n; i++) {
      const FlCapture *c = &f->captures.at[i];
      for (int k = 0; k < c->inside.type->n_parts; k++)
        if (c->inside.parts[k] == v)
          return c->binding->kind == FL_BIND_VALUE ? c->binding->val.parts[k] : NULL;
    }
  }
  return NULL;
}

/* The array whose elements alone v has; NULL: others, or v is what it begins with. */
static const FlValue *chosen_from(const FlSema *s, const FlValue *v) {
  const FlOp *op = v->op;
  if (!op) return captured(s, v);
  if (op->code == FL_OP_COMPRESS) return v->index > 0 ? op->args[v->index] : NULL;
  if (op->code == FL_OP_TAKE) return op->args[v->index + 1];
  if (op->code == FL_OP_ROWS || op->code == FL_OP_LOAD) return op->args[0];
  if (op->code == FL_OP_MAP && v->index < op->regions[0]->n_yields) return op->regions[0]->yields[v->index];
  return NULL;
}

/* The reader that gives the values of a text, or of an array of texts; *column: which. NULL: they are
 * computed, or the file is known only when the script runs. */
static const FlOp *reader_of(const FlSema *s, const FlValue *v, const FlColumnAttr **column) {
  for (int depth = 0; v && depth < DEEPEST; depth++) {
    if (!v->op || v->op->code != FL_OP_READ_TABLE) {
      v = chosen_from(s, v);
      continue;
    }
    int at = 1; /* behind the number of rows */
    for (int i = 0; i < v->op->attrs.n_columns; i++) {
      const FlColumnAttr *c = &v->op->attrs.columns[i];
      if (at == v->index) *column = c;
      at += c->flags & FL_COLUMN_NULLS ? 2 : 1;
    }
    return *column ? v->op : NULL;
  }
  return NULL;
}

/* The path that is written in the script; NULL: another one may be given. */
static const char *path_of(const FlSema *s, const FlValue *file) {
  for (int depth = 0; file && depth < DEEPEST; depth++) {
    if (!file->op) file = captured(s, file);
    else if (file->op->code == FL_OP_FILE_OF) file = file->op->args[0];
    else return file->op->code == FL_OP_CONST && file->type.dtype == FL_TEXT ? file->op->attrs.s : NULL;
  }
  return NULL;
}

/* ---- looking ---- */

/* All texts of the column; NULL: not all are known. */
static const FlKnownColumn *texts_of(FlSema *s, const FlOp *reader, const FlColumnAttr *column) {
  const char *path = path_of(s, reader->args[0]);
  if (!path) return NULL;
  for (int i = 0; i < s->known_columns.n; i++) {
    const FlKnownColumn *k = &s->known_columns.at[i];
    if (k->reader == reader && k->column == column) return k->n >= 0 ? k : NULL;
  }
  FlKnownColumn k = {.reader = reader, .column = column, .path = path, .n = -1};
  FlOptions options = {reader->attrs.options, reader->attrs.n_options};
  FlIoTexts all;
  FlColumnAttr as_text = *column; /* integers as they are written */
  as_text.dtype = FL_TEXT;
  if (s->world->texts(s->world->env, reader->attrs.format->name, path, options, &as_text, MOST, &all)) {
    k.n = all.n;
    k.texts = FL_NEW_ARRAY(s->arena, const char *, all.n + 1);
    for (int i = 0; i < all.n; i++) k.texts[i] = fl_arena_strndup(s->arena, all.at[i], strlen(all.at[i]));
    fl_io_texts_reset(&all);
  }
  fl_vec_push(s->arena, &s->known_columns, k);
  return k.n >= 0 ? &s->known_columns.at[s->known_columns.n - 1] : NULL;
}

/* The texts that are written out in the script, of which a column is made; NULL: it is another one. */
static const FlOp *written_texts(const FlSema *s, const FlValue *v) {
  for (int depth = 0; v && depth < DEEPEST; depth++) {
    if (!v->op || v->op->code != FL_OP_ARRAY) {
      v = chosen_from(s, v);
      continue;
    }
    for (int i = 0; i < v->op->n_args; i++) {
      const FlOp *one = v->op->args[i]->op;
      if (!one || one->code != FL_OP_CONST || v->op->args[i]->type.dtype != FL_TEXT) return NULL;
    }
    return v->op;
  }
  return NULL;
}

static int by_number(const void *a, const void *b) {
  long long x = atoll(*(const char *const *)a), y = atoll(*(const char *const *)b);
  return (x > y) - (x < y);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int fl_known_values_of(FlSema *s, FlVal v, const char ***out) {
  bool numbers = v.type->kind == FL_TY_ARRAY && v.type->dtype == FL_I64;
  bool plain = v.type->kind == FL_TY_ARRAY && (numbers || v.type->dtype == FL_TEXT);
  const FlColumnAttr *column = NULL;
  const FlOp *written = plain ? written_texts(s, v.parts[0]) : NULL;
  const FlOp *reader = plain && !written ? reader_of(s, v.parts[0], &column) : NULL;
  const FlKnownColumn *k = reader ? texts_of(s, reader, column) : NULL;
  int n = written ? written->n_args : k ? k->n : 0, different = 0;
  const char **all = FL_NEW_ARRAY(s->arena, const char *, n + 1);
  for (int i = 0; i < n; i++) all[i] = written ? written->args[i]->op->attrs.s : k->texts[i];
  qsort(all, (size_t)n, sizeof *all, numbers ? by_number : by_text);
  for (int i = 0; i < n; i++)
    if (!i || strcmp(all[i], all[i - 1]) != 0) all[different++] = all[i];
  *out = all;
  return different;
}

/* Texts that differ in their digits are numbers of something, and not each other's misspellings. */
static bool same_digits(const char *a, const char *b) {
  for (;; a++, b++) {
    while (*a && !isdigit((unsigned char)*a)) a++;
    while (*b && !isdigit((unsigned char)*b)) b++;
    if (*a != *b || !*a) return *a == *b;
  }
}

static bool same_but_case(const char *a, const char *b) {
  while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
  return *a == *b;
}

/* The text of the column that was meant; NULL: none. */
static const char *meant(FlSema *s, const FlKnownColumn *k, const char *text) {
  const char **near = FL_NEW_ARRAY(s->arena, const char *, k->n + 1);
  int n = 0;
  for (int i = 0; i < k->n; i++) {
    if (same_but_case(text, k->texts[i])) return k->texts[i];
    if (strlen(k->texts[i]) >= SHORTEST && same_digits(text, k->texts[i])) near[n++] = k->texts[i];
  }
  return strlen(text) >= SHORTEST ? fl_closest(text, near, n) : NULL;
}

static void look_at(FlSema *s, const FlKnownColumn *k, const FlExpr *literal) {
  const char *text = fl_habit_plain_text(literal);
  if (!text) return;
  if (s->witness && s->witness->among) s->witness->among(s->witness->env, literal->span, k->n, k->texts);
  FlUnknownText *u = NULL;
  for (int i = 0; i < s->unknown_texts.n && !u; i++) {
    FlUnknownText *x = &s->unknown_texts.at[i];
    if (x->span.file == literal->span.file && x->span.start == literal->span.start) u = x;
  }
  bool there = false;
  for (int i = 0; i < k->n; i++) there = there || strcmp(k->texts[i], text) == 0;
  if (u) u->there = u->there || there;
  else
    fl_vec_push(s->arena, &s->unknown_texts,
                ((FlUnknownText){literal->span, text, k->path, k->column->name,
                                 there ? NULL : meant(s, k, text), there}));
}

void fl_known_values_look(FlSema *s, const FlExpr *e, FlVal a, FlVal b) {
  FlBinaryOp op = e->binary.op;
  const FlExpr *left = e->binary.left, *right = e->binary.right;
  bool equal = op == FL_BIN_EQ || op == FL_BIN_NE, among = op == FL_BIN_IN && right->kind == FL_EXPR_ARRAY;
  if (equal && fl_habit_plain_text(left)) {
    const FlExpr *other = left;
    FlVal v = a;
    left = right, right = other;
    a = b, b = v;
  }
  if (!among && !(equal && fl_habit_plain_text(right))) return;
  bool plain = a.type->kind == FL_TY_SCALAR || a.type->kind == FL_TY_ARRAY;
  const FlValue *values = !plain                     ? NULL
                          : fl_val_is_category(a)    ? fl_val_levels(a)
                          : a.type->dtype == FL_TEXT ? a.parts[0]
                                                     : NULL;
  const FlColumnAttr *column = NULL;
  const FlOp *reader = values ? reader_of(s, values, &column) : NULL;
  const FlKnownColumn *k = reader ? texts_of(s, reader, column) : NULL;
  if (!k || !k->n) return;
  if (equal) look_at(s, k, right);
  for (int i = 0; among && i < right->array.n; i++) look_at(s, k, right->array.at[i]);
}

void fl_known_values_say(FlSema *s) {
  for (int i = 0; i < s->unknown_texts.n; i++) {
    const FlUnknownText *u = &s->unknown_texts.at[i];
    if (u->there || !u->near) continue;
    FlDiag *d = fl_report(s->sink, FL_W0003, u->span, "no `%s` in %s is \"%s\"", u->column, u->path, u->text);
    fl_diag_meant_text(s->sink, d, u->span, u->near);
  }
}
