/* encode.c: the canonical encoding of a function, for keys of remembered results (LANGUAGE 13).
 *
 *   function := 'F' count(params) type* ops
 *   ops      := op* 'Y' count(yields) value*
 *   op       := 'O' name version attrs count(args) value* count(results) type* count(regions) region*
 *   region   := 'R' count(params) type* ops
 *   attrs    := i:8 f:8 text count(list) text* count(columns) column* format? count(options) option* library
 *               (0 | 1 callee)
 *   a reduction of several stands behind the texts of the list, as a text and filtered:1; one alone is the
 * text,
 *   and bit 1 of i, where it is filtered
 *   column   := text text flags:4 dtype?      format := text version:4, of operators that have one
 *   option   := text text number:8 found:1    library := 0 | 1 text | 2 digest:16
 *   text     := count(bytes) bytes, or all ones when absent
 *
 * Counts, versions and values are 4 bytes little endian. Values are numbered in order of definition; names,
 * spans and ids do not appear, operators go by name, so the order of rows in ops.def and of declarations does
 * not matter. No two functions that differ in meaning share an encoding: every part has a fixed length or its
 * length before it. */
#include "ir/ir_internal.h"

#include <stdlib.h>

typedef struct Encoder {
  FlText1 *out;
  uint32_t *number, next;
  FlIrEncodeFunc callee;
  void *user;
} Encoder;

static void put(Encoder *e, const void *bytes, size_t n) { fl_text_add(e->out, bytes, n); }
static void put_count(Encoder *e, uint32_t n) {
  put(e,
      (unsigned char[]){(unsigned char)n, (unsigned char)(n >> 8), (unsigned char)(n >> 16),
                        (unsigned char)(n >> 24)},
      4);
}
static void put_u64(Encoder *e, uint64_t v) {
  put_count(e, (uint32_t)v);
  put_count(e, (uint32_t)(v >> 32));
}

static void put_text(Encoder *e, const char *s, size_t len) {
  put_count(e, s ? (uint32_t)len : UINT32_MAX);
  if (s) put(e, s, len);
}

/* Element types go by name too: rows of dtypes.def may move. */
static void put_type(Encoder *e, FlType1 t) {
  put_text(e, fl_dtype_info[t.dtype].name, strlen(fl_dtype_info[t.dtype].name));
  put(e, (unsigned char[]){t.rank, t.depth}, 2);
}

/* The version of what writes the format that a reader reads. */
static uint32_t writer_version(const FlFormatInfo *reader) {
  char name[64];
  snprintf(name, sizeof name, "write_%s", reader->name + strlen("read_"));
  const FlFormatInfo *writer = fl_format_find(name);
  return writer ? (uint32_t)writer->version : 0;
}

static void put_attrs(Encoder *e, const FlOp *op) {
  const FlAttrs *a = &op->attrs;
  const char *s = op->code == FL_OP_CHECK ? NULL : a->s; /* what a failure says is no part of a result */
  uint64_t bits;
  memcpy(&bits, &a->f, sizeof bits);
  if (a->f != a->f) bits = 0x7ff8000000000000u; /* there is one NaN */
  bool alone = a->n_reductions == 1;            /* its kind and filter, as the text and a bit of the number */
  if (alone) s = fl_reduce_names[a->reductions[0].kind];
  put_u64(e, (uint64_t)(a->i | (alone && a->reductions[0].filtered)));
  put_u64(e, bits);
  put_text(e, s, s ? (a->s_len ? (size_t)a->s_len : strlen(s)) : 0);
  put_count(e, (uint32_t)(a->n_list + (alone ? 0 : a->n_reductions)));
  for (int i = 0; i < a->n_list; i++) put_text(e, a->list[i], strlen(a->list[i]));
  for (int i = 0; !alone && i < a->n_reductions; i++) {
    const char *name = fl_reduce_names[a->reductions[i].kind];
    put_text(e, name, strlen(name));
    put(e, a->reductions[i].filtered ? "\1" : "\0", 1);
  }
  put_count(e, (uint32_t)a->n_columns);
  for (int i = 0; i < a->n_columns; i++) {
    const FlColumnAttr *c = &a->columns[i];
    put_text(e, c->name, c->name ? strlen(c->name) : 0);
    put_text(e, c->made, c->made ? strlen(c->made) : 0);
    put_count(e, (uint32_t)c->flags);
    if (c->flags & FL_COLUMN_TYPED)
      put_text(e, fl_dtype_info[c->dtype].name, strlen(fl_dtype_info[c->dtype].name));
  }
  if (a->format) { /* no other operators are told so */
    put_text(e, a->format->name, strlen(a->format->name));
    put_count(e, (uint32_t)a->format->version);
    if (op->code == FL_OP_EXEC)
      put_count(e, writer_version(a->format)); /* it writes what the program reads */
  }
  put_count(e, (uint32_t)a->n_options);
  for (int i = 0; i < a->n_options; i++) {
    const FlOptionAttr *o = &a->options[i];
    put_text(e, o->name, strlen(o->name));
    put_text(e, o->text, o->text ? strlen(o->text) : 0);
    put_u64(e, (uint64_t)o->number);
    put(e, o->found ? "\1" : "\0", 1);
  }
  const FlLibraryAttr *library = a->library; /* where it lies is no part of what it is */
  put(e, !library ? "\0" : library->by_path ? "\2" : "\1", 1);
  if (library && library->by_path) {
    put_u64(e, library->content.hi);
    put_u64(e, library->content.lo);
  } else if (library) {
    put_text(e, library->name, strlen(library->name));
  }
  put(e, a->func ? "\1" : "\0", 1);
  if (a->func) e->callee(e->out, a->func, e->user);
}

static void define(Encoder *e, const FlValue *v) {
  e->number[v->id] = e->next++;
  put_type(e, v->type);
}

static void put_region(Encoder *e, const FlRegion *r, char tag) {
  put(e, &tag, 1);
  put_count(e, (uint32_t)r->n_params);
  for (int i = 0; i < r->n_params; i++) define(e, r->params[i]);
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_WITHIN) continue;
    put(e, "O", 1);
    put_text(e, fl_op_info[op->code].name, strlen(fl_op_info[op->code].name));
    put_count(e, (uint32_t)fl_op_info[op->code].version);
    put_attrs(e, op);
    put_count(e, (uint32_t)op->n_args);
    for (int i = 0; i < op->n_args; i++) put_count(e, e->number[op->args[i]->id]);
    put_count(e, (uint32_t)op->n_results);
    for (int i = 0; i < op->n_results; i++) define(e, op->results[i]);
    int n_regions = fl_op_info[op->code].flags & FL_OPF_GROUPS ? 0 : op->n_regions; /* that of a WITHIN */
    put_count(e, (uint32_t)n_regions);
    for (int i = 0; i < n_regions; i++) put_region(e, op->regions[i], 'R');
  }
  put(e, "Y", 1);
  put_count(e, (uint32_t)r->n_yields);
  for (int i = 0; i < r->n_yields; i++) put_count(e, e->number[r->yields[i]->id]);
}

void fl_ir_encode_with(FlText1 *out, const FlFunc *f, FlIrEncodeFunc encode_callee, void *user) {
  Encoder e = {out, fl_piece_new((size_t)f->next_id + 1, sizeof *e.number), 0, encode_callee, user};
  put_region(&e, f->body, 'F');
  fl_piece_free(e.number);
}

static void callee_key(FlText1 *out, const FlFunc *callee, void *user) {
  (void)user;
  fl_text_add(out, (const char *)&callee->key, sizeof callee->key);
}

void fl_ir_encode_func(FlText1 *out, const FlFunc *f) { fl_ir_encode_with(out, f, callee_key, NULL); }
