/* show.c: any value on standard output, for people.
 *
 * In: a value's parts and its type's text. The parts are cut as compiler/types/types.h says: a tuple is its
 * fields, a table its row count and columns, T? a value and a validity, a category has its levels last; a
 * list has for each part of its element an array (of scalars) or a list (of arrays). Out: text that ends with
 * a line end. */
#include "io/show_internal.h"
#include "data/data.h"
#include "data/value_type.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FL_ELEMENTS = 5, FL_ROWS = 20, FL_SOME_ROWS = 15, FL_LINE = 110, FL_LEAST_LINE = 20 };

/* The next part to be shown, and its type. */
typedef struct FlParts {
  const FlSlot *at;
  const FlType1 *types;
  int32_t left;
  FlPage page;
} FlParts;

static bool take(FlParts *p, FlSlot *value, FlType1 *type) {
  if (p->left == 0) return false;
  *value = *p->at++;
  *type = *p->types++;
  p->left--;
  return true;
}

static bool is_scalar(FlType1 t) { return t.rank == 0 && t.depth == 0; }

static bool show(FlBytes *out, const FlShowType *t, FlParts *p, int indent);

static bool show_scalar(FlBytes *out, const FlShowType *t, FlParts *p) {
  FlSlot v, valid = {.i = 1};
  FlType1 type;
  if (!take(p, &v, &type) || (t->nullable && !take(p, &valid, &type))) return false;
  if (t->dtype != FL_CATEGORY) {
    fl_io_cell(out, (int32_t)t->dtype, v, valid.i != 0);
    return true;
  }
  FlSlot levels, text = {.t = {NULL, 0}};
  if (!take(p, &levels, &type) || is_scalar(type)) return false;
  if (valid.i) text.t = ((const FlText *)levels.a->data)[v.i];
  fl_io_cell(out, FL_TEXT, text, valid.i != 0);
  return true;
}

static bool take_cells(FlParts *p, const FlShowType *t, FlCells *out) {
  FlSlot v, valid = {.a = NULL}, levels = {.a = NULL};
  FlType1 type;
  if (!take(p, &v, &type) || (t->nullable && !take(p, &valid, &type)) || is_scalar(type)) return false;
  if (t->dtype == FL_CATEGORY && !take(p, &levels, &type)) return false;
  *out = (FlCells){v.a, valid.a, levels.a};
  return true;
}

static bool show_tuple(FlBytes *out, const FlShowType *t, FlParts *p, int indent) {
  bool flat = true;
  for (int32_t k = 0; k < t->n_fields; k++) flat = flat && t->fields[k].kind == FL_SHOW_SCALAR;
  if (flat) fl_bytes_addz(out, "(");
  for (int32_t k = 0; k < t->n_fields; k++) {
    const FlShowType *f = &t->fields[k];
    size_t begin = out->len;
    if (k) fl_bytes_addz(out, flat ? ", " : "\n");
    if (k && !flat) fl_bytes_fill(out, ' ', (size_t)indent);
    begin = k && !flat ? begin + 1 + (size_t)indent : begin;
    if (f->name) {
      fl_show_name(out, f->name);
      fl_bytes_addz(out, " = ");
    }
    bool below = f->kind == FL_SHOW_TUPLE || f->kind == FL_SHOW_MANY;
    if (!flat && below) {
      fl_bytes_addz(out, "\n");
      fl_bytes_fill(out, ' ', (size_t)indent + 2);
    }
    int inner = below ? indent + 2 : indent + (int)(out->len - begin);
    if (!show(out, f, p, inner)) return false;
  }
  if (flat) fl_bytes_addz(out, ")");
  return true;
}

/* Takes the parts of the column of a row's field; fields that are tuples or lists become columns of their
 * own. */
static bool take_column(const FlShowType *field, FlParts *p, FlShowColumn *column, int32_t *n, int32_t room) {
  if (*n == room) return false;
  if (field->kind == FL_SHOW_SCALAR || field->kind == FL_SHOW_ARRAY) {
    FlShowColumn *c = &column[(*n)++];
    c->type = field;
    c->name = field->name ? field->name : "";
    return take_cells(p, field, &c->cells);
  }
  FlSlot rows;
  FlType1 type;
  if (field->kind == FL_SHOW_TUPLE && p->left && is_scalar(*p->types)) take(p, &rows, &type);
  for (int32_t k = 0; k < field->n_fields; k++) {
    if (!take_column(&field->fields[k], p, column, n, room)) return false;
  }
  return true;
}

static bool show_table_of(FlBytes *out, const FlShowType *row, FlParts *p, int indent) {
  FlSlot n_rows;
  FlType1 type;
  int32_t n = 0, room = p->left;
  FlShowColumn *columns = calloc((size_t)room + 1, sizeof *columns);
  out->failed |= !columns;
  bool ok = columns && take(p, &n_rows, &type);
  for (int32_t k = 0; ok && k < row->n_fields; k++) ok = take_column(&row->fields[k], p, columns, &n, room);
  if (ok) {
    FlBytes table = {0};
    fl_show_table(&table, columns, n, n_rows.i, (FlPage){p->page.line - indent, p->page.most, p->page.rows});
    for (size_t k = 0, end = table.len ? table.len - 1 : 0; k < end; k++) {
      fl_bytes_add(out, table.at + k, 1);
      if (table.at[k] == '\n') fl_bytes_fill(out, ' ', (size_t)indent);
    }
    out->failed |= table.failed;
    fl_bytes_reset(&table);
  }
  free(columns);
  return ok;
}

/* Element `at` of one part of a list, and its type. */
static FlSlot element(FlSlot part, FlType1 type, int64_t at, FlType1 *out) {
  *out = type.depth > 0 ? (FlType1){type.dtype, type.rank, (uint8_t)(type.depth - 1), 0}
                        : (FlType1){type.dtype, 0, 0, 0};
  return fl_array_slot(part.a, at);
}

/* How many parts a value of this type has when they begin at `types`. */
static int32_t count_parts(const FlShowType *t, const FlType1 *types, int32_t left) {
  int32_t n = 0;
  if (t->kind == FL_SHOW_SCALAR || t->kind == FL_SHOW_ARRAY)
    return 1 + t->nullable + (t->dtype == FL_CATEGORY);
  if (t->kind == FL_SHOW_MANY && left && types->dtype == FL_I64 && t->fields->kind == FL_SHOW_TUPLE &&
      is_scalar(*types))
    n = 1;
  const FlShowType *of = t->kind == FL_SHOW_MANY && t->fields->kind == FL_SHOW_TUPLE ? t->fields : t;
  for (int32_t k = 0; k < of->n_fields && n < left; k++)
    n += count_parts(&of->fields[k], types + n, left - n);
  return n;
}

/* The elements of a list whose element has n parts; `slots` and `types` have room for them. */
static bool show_elements(FlBytes *out, const FlShowType *elem, FlParts *p, int indent, int32_t n,
                          FlSlot *slots, FlType1 *types) {
  int64_t len = p->at[0].a->dims[0];
  fl_bytes_addf(out, "list of %lld ", (long long)len);
  fl_show_type_print(out, elem);
  for (int64_t k = 0; k < len && k < FL_ELEMENTS; k++) {
    for (int32_t j = 0; j < n; j++) slots[j] = element(p->at[j], p->types[j], k, &types[j]);
    FlParts parts = {slots, types, n, p->page};
    fl_bytes_addz(out, "\n");
    fl_bytes_fill(out, ' ', (size_t)indent);
    size_t begin = out->len;
    fl_bytes_addf(out, "%lld: ", (long long)k);
    if (!show(out, elem, &parts, indent + (int)(out->len - begin))) return false;
  }
  if (len > FL_ELEMENTS) {
    fl_bytes_addz(out, "\n");
    fl_bytes_fill(out, ' ', (size_t)indent);
    fl_bytes_addf(out, "... and %lld more", (long long)(len - FL_ELEMENTS));
  }
  return true;
}

static bool show_list_of(FlBytes *out, const FlShowType *elem, FlParts *p, int indent) {
  FlSlot *slots = calloc((size_t)p->left + 1, sizeof *slots);
  FlType1 *types = calloc((size_t)p->left + 1, sizeof *types);
  out->failed |= !slots || !types;
  bool ok = slots && types && p->left && !is_scalar(*p->types);
  /* The parts of the list: as many as its element has, when its own parts are looked at as the element's. */
  for (int32_t n = 0; ok && n < p->left; n++) {
    FlType1 t = p->types[n];
    types[n] = t.depth ? (FlType1){t.dtype, t.rank, (uint8_t)(t.depth - 1), 0} : (FlType1){t.dtype, 0, 0, 0};
  }
  int32_t n = ok ? count_parts(elem, types, p->left) : 0;
  ok = n > 0 && n <= p->left && show_elements(out, elem, p, indent, n, slots, types);
  if (ok) {
    p->at += n;
    p->types += n;
    p->left -= n;
  }
  free(slots);
  free(types);
  return ok;
}

/* Ends without a line end; lines after the first begin with `indent` blanks. */
static bool show(FlBytes *out, const FlShowType *t, FlParts *p, int indent) {
  FlCells cells;
  switch (t->kind) {
  case FL_SHOW_SCALAR: return show_scalar(out, t, p);
  case FL_SHOW_ARRAY:
    if (!take_cells(p, t, &cells)) return false;
    fl_show_array(out, cells, indent, p->page.line);
    return true;
  case FL_SHOW_TUPLE: return show_tuple(out, t, p, indent);
  case FL_SHOW_MANY:
    if (p->left && is_scalar(*p->types)) return show_table_of(out, t->fields, p, indent);
    return show_list_of(out, t->fields, p, indent);
  }
  return false;
}

/* As wide as the terminal, where there is one. */
static int line_width(void) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col) return FL_LINE;
  return size.ws_col < FL_LEAST_LINE ? FL_LEAST_LINE : size.ws_col;
}

/* ---- for the record of the run ---- */

static void keep_columns(FlCtx *ctx, int32_t site, const FlShowColumn *columns, int32_t n, int64_t rows) {
  FlBytes cell = {0};
  int64_t each = 0;
  for (int32_t k = 0; k < n; k++) each += fl_array_row_count(columns[k].cells.values);
  if (!fl_ctx_keep_table(ctx, site, rows, n, each)) return;
  for (int32_t k = 0; k < n; k++) {
    cell.len = 0;
    fl_show_type_print(&cell, columns[k].type);
    fl_ctx_keep_column(ctx, columns[k].name, cell.at, cell.len);
  }
  if (fl_ctx_keep_rows(ctx))
    for (int32_t k = 0; k < n; k++)
      fl_ctx_keep_cells(ctx, columns[k].cells.values, columns[k].cells.valid, columns[k].cells.levels);
  fl_bytes_reset(&cell);
}

/* What was shown: a table, or the text that it was shown as. */
static void keep(FlCtx *ctx, int32_t site, const FlShowType *t, FlParts p, const FlBytes *shown) {
  if (t->kind != FL_SHOW_MANY || !p.left || !is_scalar(*p.types)) {
    fl_ctx_keep_text(ctx, site, shown->at, shown->len - 1);
    return;
  }
  FlSlot rows;
  FlType1 type;
  int32_t n = 0, room = p.left;
  FlShowColumn *columns = calloc((size_t)room + 1, sizeof *columns);
  bool ok = columns && take(&p, &rows, &type);
  for (int32_t k = 0; ok && k < t->fields->n_fields; k++)
    ok = take_column(&t->fields->fields[k], &p, columns, &n, room);
  if (ok) keep_columns(ctx, site, columns, n, rows.i);
  free(columns);
}

FlStatus fl_rt_show(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  FlBytes out = {0};
  int32_t n = desc->i ? desc->n_args - 1 : desc->n_args;
  int64_t most = desc->i ? args[n].i : FL_ROWS;
  if (most < 1)
    return fl_fail_text(ctx, desc->site, FL_FAULT_DOMAIN, "`rows` must be at least 1, and is %lld",
                        (long long)most);
  FlShowType *t = fl_show_type_new(desc->s);
  FlParts parts = {args, desc->arg_types, n, {line_width(), most, desc->i ? most : FL_SOME_ROWS}};
  FlStatus status;
  bool ok = t && show(&out, t, &parts, 0) && parts.left == 0;
  fl_bytes_addz(&out, "\n");
  if (!t || out.failed) { /* the compiler wrote the type: it is one */
    status = fl_fail_text(ctx, desc->site, FL_FAULT_MEMORY, "out of memory");
  } else if (!ok) {
    status =
        fl_fail_text(ctx, desc->site, FL_CODE_INTERNAL, "a value of type `%s` came in other parts", desc->s);
  } else {
    status = fl_ctx_print(ctx, desc->site, out.at, (int64_t)out.len);
    if (!status) keep(ctx, desc->site, t, (FlParts){args, desc->arg_types, n, {0}}, &out);
  }
  fl_show_type_free(t);
  fl_bytes_reset(&out);
  return status;
}
