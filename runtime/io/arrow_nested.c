/* arrow_nested.c: columns of structs, lists and maps as texts of JSON.
 *
 * In: a field and its share of a batch's nodes and buffers. Out: for each element its JSON: objects, arrays
 * (maps are arrays of objects with key and value, as Arrow has them), numbers with all their digits, times in
 * ISO 8601, durations in microseconds. What always holds: offsets and lengths are checked before an element
 * is read. */
#include "io/arrow.h"
#include "data/data.h"
#include "data/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A field with its elements in one batch. */
typedef struct FlArrowNode {
  FlArrowLeaf leaf;     /* of what is not nested; else n and valid */
  FlArrowBytes offsets; /* of lists; NULL: all have the size that the field says */
  struct FlArrowNode *children;
} FlArrowNode;

static bool is_list(const FlArrowField *f) {
  return f->type == FL_ARROW_LIST || f->type == FL_ARROW_LARGE_LIST || f->type == FL_ARROW_FIXED_LIST ||
         f->type == FL_ARROW_MAP;
}

static bool is_printed(const FlArrowField *f) {
  if (f->dictionary || f->type == FL_ARROW_NULL)
    return false; /* nulls take no bytes: their number is only claimed */
  if (fl_arrow_is_nested(f)) return true;
  static const FlDtype kinds[] = {FL_BOOL, FL_I64,  FL_U64,      FL_F64,
                                  FL_TEXT, FL_DATE, FL_DATETIME, FL_DURATION};
  FlArrowBatch none = {.label = ""};
  FlIoError ignored;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (fl_arrow_converts(&none, f, &(FlTableWanted){.name = "", .dtype = kinds[k]}, &ignored)) return true;
  return false;
}

bool fl_arrow_is_nested(const FlArrowField *f) {
  if (f->dictionary || !(f->type == FL_ARROW_STRUCT || (is_list(f) && f->n_children == 1))) return false;
  if (f->type == FL_ARROW_FIXED_LIST && f->width < 0) return false;
  for (int32_t k = 0; k < f->n_children; k++)
    if (!is_printed(&f->children[k])) return false;
  return true;
}

bool fl_arrow_makes_text(const FlArrowField *f) {
  return f->type == FL_ARROW_DECIMAL || fl_arrow_is_nested(f);
}

/* ---- where elements are -------------------------------------------------------------------------------- */

static void reset(FlArrowNode *node) {
  for (int32_t k = 0; node->children && k < node->leaf.field->n_children; k++) reset(&node->children[k]);
  free(node->children);
}

void fl_arrow_nested_free(FlArrowNode *node) {
  if (node) reset(node);
  free(node);
}

static int64_t bytes_of_offset(const FlArrowField *f) { return f->type == FL_ARROW_LARGE_LIST ? 8 : 4; }

static int64_t offset_at(const FlArrowNode *node, int64_t k) {
  int64_t bytes = bytes_of_offset(node->leaf.field);
  return fl_arrow_load(node->offsets.at + k * bytes, bytes * 8, true);
}

/* Where the elements of list k begin and end in the child. */
static void range_of(const FlArrowNode *node, int64_t k, int64_t *from, int64_t *to) {
  const FlArrowField *f = node->leaf.field;
  bool fixed = f->type == FL_ARROW_FIXED_LIST;
  *from = fixed ? k * f->width : offset_at(node, k);
  *to = fixed ? *from + f->width : offset_at(node, k + 1);
}

static bool ranges_fit(const FlArrowNode *node, int64_t n_child) {
  const FlArrowField *f = node->leaf.field;
  int64_t total, n = node->leaf.n;
  if (f->type == FL_ARROW_FIXED_LIST) return !__builtin_mul_overflow(n, f->width, &total) && total <= n_child;
  for (int64_t k = 0, from, to; k < n; k++) {
    range_of(node, k, &from, &to);
    if (from < 0 || to < from || to > n_child) return false;
  }
  return true;
}

/* `least`: elements that whatever is around needs. */
static bool open_node(FlArrowBatch *b, const FlArrowField *f, int64_t least, FlArrowNode *node) {
  FlArrowLeaf *l = &node->leaf;
  int64_t nulls, needed;
  if (!fl_arrow_is_nested(f)) return fl_arrow_scalars(b, f, l) && l->n >= least;
  *l = (FlArrowLeaf){.field = f};
  if (!fl_arrow_node(b, &l->n, &nulls) || l->n < least || !fl_arrow_validity(b, l->n, nulls, &l->valid))
    return false;
  if (is_list(f) && f->type != FL_ARROW_FIXED_LIST) {
    if (!fl_arrow_next_buffer(b, &node->offsets)) return false;
    bool fits = !__builtin_mul_overflow(l->n + 1, bytes_of_offset(f), &needed) && node->offsets.n >= needed;
    if (l->n && !fits) return false;
  }
  node->children = calloc((size_t)f->n_children + 1, sizeof *node->children);
  bool ok = node->children != NULL;
  for (int32_t k = 0; ok && k < f->n_children; k++)
    ok = open_node(b, &f->children[k], is_list(f) ? 0 : l->n, &node->children[k]);
  return ok && (!is_list(f) || ranges_fit(node, node->children->leaf.n));
}

bool fl_arrow_nested(FlArrowBatch *b, const FlArrowField *f, FlArrowNode **out, FlIoError *e) {
  *out = calloc(1, sizeof **out);
  if (!*out) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", b->label);
  (*out)->leaf.field = f;
  return open_node(b, f, b->n_rows, *out) || fl_arrow_damaged(b, e);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

bool fl_arrow_nested_valid(const FlArrowNode *node, int64_t k) {
  return !node->leaf.all_null && (!node->leaf.valid || fl_arrow_bit(node->leaf.valid, k));
}

static void put_text(FlBytes *to, FlText t) {
  fl_bytes_add(to, "\"", 1);
  for (int64_t k = 0; k < t.len; k++) {
    char c = t.ptr[k];
    if (c == '"' || c == '\\') fl_bytes_addf(to, "\\%c", c);
    else if (c == '\n') fl_bytes_addz(to, "\\n");
    else if (c == '\t') fl_bytes_addz(to, "\\t");
    else if ((unsigned char)c < 0x20) fl_bytes_addf(to, "\\u%04x", (unsigned)(unsigned char)c);
    else fl_bytes_add(to, &c, 1);
  }
  fl_bytes_add(to, "\"", 1);
}

static void put_float(FlBytes *to, const FlArrowLeaf *l, int64_t k) {
  char text[FL_NUMBER_ROOM];
  double x;
  float narrow;
  int n;
  if (l->field->width == 2) {
    memcpy(&x, l->data.at + 8 * k, 8);
    n = fl_print_f64(text, x);
  } else {
    if (l->field->width == 0) narrow = fl_arrow_half(l->data.at + 2 * k);
    else memcpy(&narrow, l->data.at + 4 * k, 4);
    x = (double)narrow;
    n = fl_print_f32(text, narrow);
  }
  if (isfinite(x)) fl_bytes_add(to, text, (size_t)n);
  else fl_bytes_addf(to, "\"%.*s\"", n, text); /* JSON has no number for it */
}

static bool put_time(FlBytes *to, const FlArrowBatch *b, const FlArrowField *f, int64_t v, FlIoError *e) {
  char text[FL_NUMBER_ROOM];
  const char *why = fl_arrow_scale_time(f, &v);
  if (why)
    return fl_io_error(e, FL_E_VALUE, "`%s` holds a time in a list or struct that is %s", b->label, why);
  if (f->type == FL_ARROW_DATE) fl_bytes_addf(to, "\"%.*s\"", fl_print_date(text, (int32_t)v), text);
  else if (f->type == FL_ARROW_TIMESTAMP) fl_bytes_addf(to, "\"%.*s\"", fl_print_datetime(text, v), text);
  else fl_bytes_addf(to, "%lld", (long long)v);
  return true;
}

static bool put_scalar(FlBytes *to, const FlArrowBatch *b, const FlArrowLeaf *l, int64_t k, FlIoError *e) {
  const FlArrowField *f = l->field;
  int64_t bits = fl_arrow_bits(f);
  char decimal[FL_ARROW_DECIMAL_ROOM];
  FlText t;
  switch (f->type) {
  case FL_ARROW_BOOL: fl_bytes_addz(to, fl_arrow_bit(l->data.at, k) ? "true" : "false"); return true;
  case FL_ARROW_INT: {
    int64_t v = fl_arrow_load(l->data.at + k * (bits / 8), bits, f->sign);
    if (f->sign) fl_bytes_addf(to, "%lld", (long long)v);
    else fl_bytes_addf(to, "%llu", (unsigned long long)v);
    return true;
  }
  case FL_ARROW_FLOAT: put_float(to, l, k); return true;
  case FL_ARROW_DECIMAL:
    fl_bytes_add(to, decimal, (size_t)fl_arrow_decimal(l->data.at + k * (bits / 8), bits, f->scale, decimal));
    return true;
  case FL_ARROW_DATE:
  case FL_ARROW_TIME:
  case FL_ARROW_TIMESTAMP:
  case FL_ARROW_DURATION:
    return put_time(to, b, f, fl_arrow_load(l->data.at + k * (bits / 8), bits, true), e);
  }
  if (!fl_arrow_text(b, l, k, &t)) return fl_arrow_damaged(b, e);
  if (fl_utf8_check(t.ptr, t.len) != t.len)
    return fl_io_error(e, FL_E_UTF8, "`%s` holds a text that is not UTF-8", b->label);
  put_text(to, t);
  return true;
}

bool fl_arrow_nested_put(const FlArrowBatch *b, const FlArrowNode *node, int64_t k, FlBytes *to,
                         FlIoError *e) {
  const FlArrowField *f = node->leaf.field;
  int64_t at, end;
  if (!fl_arrow_nested_valid(node, k)) {
    fl_bytes_addz(to, "null");
    return true;
  }
  if (!node->children) return put_scalar(to, b, &node->leaf, k, e);
  bool ok = true;
  if (f->type == FL_ARROW_STRUCT) {
    for (int32_t i = 0; ok && i < f->n_children; i++) {
      fl_bytes_addz(to, i ? "," : "{");
      put_text(to, f->children[i].name);
      fl_bytes_add(to, ":", 1);
      ok = fl_arrow_nested_put(b, &node->children[i], k, to, e);
    }
    fl_bytes_addz(to, f->n_children ? "}" : "{}");
    return ok;
  }
  range_of(node, k, &at, &end);
  fl_bytes_add(to, "[", 1);
  for (int64_t first = at; ok && at < end; at++) {
    if (at > first) fl_bytes_add(to, ",", 1);
    ok = fl_arrow_nested_put(b, node->children, at, to, e);
  }
  fl_bytes_add(to, "]", 1);
  return ok;
}
