/* show_type.c: the text of a type as a tree.
 *
 * type := base suffix*      base := dtype '?'? (one, `decimal(18, 2)`, has brackets) | '(' (field (',' field)*)? ')'
 * field := (name ':')? type  name := as data/name_text.h writes it
 * suffix := '[' size (',' size)* ']'     the first one after a dtype makes an array, others tables and lists
 */
#include "io/show_internal.h"
#include "data/data.h"
#include "data/name_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_SHOW_DEPTH = 80 };

typedef struct FlTypeText {
  const char *at;
  int depth;
} FlTypeText;

static void skip_blanks(FlTypeText *t) {
  while (*t->at == ' ') t->at++;
}

static bool take(FlTypeText *t, char c) {
  skip_blanks(t);
  if (*t->at != c) return false;
  t->at++;
  return true;
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127; }

static void reset(FlShowType *t) {
  for (int32_t k = 0; k < t->n_fields; k++) reset(&t->fields[k]);
  free(t->fields);
  free(t->name);
  memset(t, 0, sizeof *t);
}

static bool parse(FlTypeText *t, FlShowType *out);

/* `name:` before a field's type, if there is one. */
static bool parse_name(FlTypeText *t, FlShowType *field) {
  skip_blanks(t);
  if (take(t, '`')) {
    field->name = fl_name_read(&t->at, t->at + strlen(t->at));
    return field->name && take(t, ':');
  }
  const char *begin = t->at, *end = begin;
  while (is_name_byte(*end)) end++;
  if (*end != ':') return true;
  t->at = end;
  field->name = strndup(begin, (size_t)(end - begin));
  return field->name && take(t, ':');
}

static bool parse_fields(FlTypeText *t, FlShowType *out) {
  out->kind = FL_SHOW_TUPLE;
  if (take(t, ')')) return true;
  do {
    FlShowType *grown = realloc(out->fields, (size_t)(out->n_fields + 1) * sizeof *grown);
    if (!grown) return false;
    out->fields = grown;
    FlShowType *field = &out->fields[out->n_fields++];
    memset(field, 0, sizeof *field);
    if (!parse_name(t, field) || !parse(t, field)) return false;
  } while (take(t, ','));
  return take(t, ')');
}

static bool parse_base(FlTypeText *t, FlShowType *out) {
  if (take(t, '(')) return parse_fields(t, out);
  const char *begin = t->at;
  while (is_name_byte(*t->at)) t->at++;
  if (t->at - begin == 7 && memcmp(begin, "decimal", 7) == 0 && *t->at == '(')
    while (*t->at && *t->at++ != ')') continue;
  out->kind = FL_SHOW_SCALAR;
  if (!fl_dtype_named(begin, (size_t)(t->at - begin), &out->dtype)) return false;
  out->nullable = take(t, '?');
  return true;
}

/* Sizes up to the closing bracket; how many, or 0 when they do not end. */
static int32_t parse_sizes(FlTypeText *t) {
  int32_t n = 1;
  for (; *t->at && *t->at != ']'; t->at++) n += *t->at == ',';
  return *t->at++ ? n : 0;
}

/* The type of many of t. Columns have names: those without are called by their position, as in scripts. */
static bool wrap(FlShowType *t) {
  FlShowType *elem = malloc(sizeof *elem);
  if (!elem) return false;
  *elem = *t;
  elem->name = NULL;
  bool named = true;
  for (int32_t k = 0; t->kind == FL_SHOW_TUPLE && k < t->n_fields; k++) {
    char position[16];
    snprintf(position, sizeof position, "%d", k);
    if (!elem->fields[k].name) named = (elem->fields[k].name = strdup(position)) && named;
  }
  *t = (FlShowType){.kind = FL_SHOW_MANY, .n_fields = 1, .fields = elem, .name = t->name};
  return named;
}

static bool parse(FlTypeText *t, FlShowType *out) {
  if (++t->depth > FL_SHOW_DEPTH || !parse_base(t, out)) return false;
  while (take(t, '[')) {
    int32_t n = parse_sizes(t);
    if (n == 0 || n > FL_MAX_RANK) return false;
    if (out->kind == FL_SHOW_SCALAR) {
      out->kind = FL_SHOW_ARRAY;
      out->rank = n;
    } else if (!wrap(out)) {
      return false;
    }
  }
  t->depth--;
  return true;
}

FlShowType *fl_show_type_new(const char *text) {
  FlTypeText t = {text, 0};
  FlShowType *out = calloc(1, sizeof *out);
  if (!out) return NULL;
  if (parse(&t, out) && (skip_blanks(&t), *t.at == 0)) return out;
  fl_show_type_free(out);
  return NULL;
}

void fl_show_type_free(FlShowType *t) {
  if (t) reset(t);
  free(t);
}

void fl_show_type_print(FlBytes *out, const FlShowType *t) {
  switch (t->kind) {
  case FL_SHOW_SCALAR:
  case FL_SHOW_ARRAY:
    fl_bytes_addf(out, "%s%s", fl_dtype_info[t->dtype].name, t->nullable ? "?" : "");
    for (int32_t k = 0; t->kind == FL_SHOW_ARRAY && k < t->rank; k++) fl_bytes_addz(out, k ? ", _" : "[_");
    if (t->kind == FL_SHOW_ARRAY) fl_bytes_addz(out, "]");
    break;
  case FL_SHOW_TUPLE:
    fl_bytes_addz(out, "(");
    for (int32_t k = 0; k < t->n_fields; k++) {
      if (k) fl_bytes_addz(out, ", ");
      if (t->fields[k].name) {
        fl_name_write(out, t->fields[k].name); /* so no name looks like more of the type */
        fl_bytes_addz(out, ": ");
      }
      fl_show_type_print(out, &t->fields[k]);
    }
    fl_bytes_addz(out, ")");
    break;
  case FL_SHOW_MANY:
    fl_show_type_print(out, t->fields);
    fl_bytes_addz(out, "[_]");
    break;
  }
}
