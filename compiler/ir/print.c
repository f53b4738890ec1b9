/* print.c: the IR as text. read.c reads exactly this back, and printing that again gives the same bytes.
 *
 *   module "name"
 *   doc "text"
 *   param "n" "i64" i64 nullable default "5" help "how many"
 *   fn @f(%0: f64[,], %1: i64) -> (f64[]) memo 1 {
 *     %2 = const 5 : i64
 *     %3 = map %2 : f64[] {
 *       (%4: i64)
 *       %5 = load<i=1> %0, %4, %1 : f64
 *       yield %5
 *     }
 *     yield %3
 *   }
 *
 * Values are numbered in the order of printing. Types: a dtype, then [] [,] [,,] for rank 1 2 3, each list
 * level adds a leading `list `. A column of an attribute is `col`, its name in quotes, words for its flags
 * and
 * `->` with the aggregate that is made of it. An op is results, name, attributes in <>, arguments, result
 * types, regions. Spans are not printed. Floats print the shortest digits that read back. */
#include "ir/ir_internal.h"

#include <math.h>
#include <stdlib.h>

void fl_ir_print_type(FlText1 *out, FlType1 t) {
  for (int i = 0; i < t.depth; i++) fl_text_addz(out, "list ");
  fl_text_addz(out, fl_dtype_info[t.dtype].name);
  if (!t.rank) return;
  fl_text_addc(out, '[');
  for (int i = 1; i < t.rank; i++) fl_text_addc(out, ',');
  fl_text_addc(out, ']');
}

void fl_ir_print_string(FlText1 *out, const char *s, size_t len) {
  fl_text_addc(out, '"');
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\') fl_text_addf(out, "\\%c", c);
    else if (c == '\n') fl_text_addz(out, "\\n");
    else if (c < 32 || c == 127) fl_text_addf(out, "\\x%02x", c);
    else fl_text_addc(out, (char)c);
  }
  fl_text_addc(out, '"');
}

void fl_ir_print_float(FlText1 *out, double v) {
  if (v != v) fl_text_addz(out, "nan");
  else if (isinf(v)) fl_text_addz(out, v < 0 ? "-inf" : "inf");
  else {
    char digits[40];
    for (int precision = 1; precision <= 17; precision += precision < 15 ? 7 : 1) {
      snprintf(digits, sizeof digits, "%.*g", precision, v);
      if (strtod(digits, NULL) == v) break;
    }
    fl_text_addz(out, digits);
    if (!strpbrk(digits, ".e")) fl_text_addz(out, ".0");
  }
}

typedef struct Printer {
  FlText1 *out;
  uint32_t *number; /* by value id: printed number + 1 */
  uint32_t next;
  bool untold; /* without the messages of checks, and keys */
} Printer;

static void print_value(Printer *p, const FlValue *v, const FlFunc *f) {
  if (v->region->func != f || v->id >= f->next_id || !p->number[v->id]) fl_text_addz(p->out, "%?");
  else fl_text_addf(p->out, "%%%u", p->number[v->id] - 1);
}

static void define(Printer *p, const FlValue *v) {
  p->number[v->id] = ++p->next;
  fl_text_addf(p->out, "%%%u", p->next - 1);
}

static bool plain_name(const char *s) {
  if (!*s) return false;
  for (; *s; s++)
    if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_' ||
          *s == '.'))
      return false;
  return true;
}

static void print_name(FlText1 *out, const char *name) {
  fl_text_addc(out, '@');
  if (plain_name(name)) fl_text_addz(out, name);
  else fl_ir_print_string(out, name, strlen(name));
}

static void separate(FlText1 *out, bool *any) {
  fl_text_addz(out, *any ? ", " : "<");
  *any = true;
}

/* The words of the flags of a column; read.c takes them in any order. */
const FlColumnWord fl_ir_column_words[FL_N_COLUMN_WORDS] = {
    {"null", FL_COLUMN_NULLS}, {"down", FL_COLUMN_DOWN},   {"levels", FL_COLUMN_LEVELS},
    {"rows", FL_COLUMN_NONE},  {"says", FL_COLUMN_SAYS},   {"arrays", FL_COLUMN_ARRAYS},
    {"file", FL_COLUMN_FILE},  {"table", FL_COLUMN_TABLE}, {"scalar", FL_COLUMN_SCALAR},
    {"beside", FL_COLUMN_BESIDE}};

static void print_column(FlText1 *out, const FlColumnAttr *c) {
  fl_text_addz(out, "col");
  if (c->name) {
    fl_text_addc(out, ' ');
    fl_ir_print_string(out, c->name, strlen(c->name));
  }
  for (int k = 0; k < FL_N_COLUMN_WORDS; k++)
    if (c->flags & fl_ir_column_words[k].flag) fl_text_addf(out, " %s", fl_ir_column_words[k].word);
  if (c->flags & FL_COLUMN_TYPED) fl_text_addf(out, ": %s", fl_dtype_info[c->dtype].name);
  if (c->made) fl_text_addf(out, " -> %s", c->made);
}

static void print_option(FlText1 *out, const FlOptionAttr *o) {
  fl_text_addf(out, "%s%s ", o->name, o->found ? " found" : "");
  if (o->text) fl_ir_print_string(out, o->text, strlen(o->text));
  else fl_text_addf(out, "%lld", (long long)o->number);
}

static void print_attrs(FlText1 *out, const FlAttrs *a) {
  bool any = false;
  if (a->func) {
    separate(out, &any);
    print_name(out, a->func->name);
  }
  if (a->i) {
    separate(out, &any);
    fl_text_addf(out, "i=%lld", (long long)a->i);
  }
  if (a->f != 0 || signbit(a->f)) {
    separate(out, &any);
    fl_text_addz(out, "f=");
    fl_ir_print_float(out, a->f);
  }
  if (a->s) {
    separate(out, &any);
    fl_text_addz(out, "s=");
    fl_ir_print_string(out, a->s, strlen(a->s));
  }
  if (a->n_list) {
    separate(out, &any);
    fl_text_addz(out, "list=[");
    for (int i = 0; i < a->n_list; i++) {
      if (i) fl_text_addz(out, ", ");
      fl_ir_print_string(out, a->list[i], strlen(a->list[i]));
    }
    fl_text_addc(out, ']');
  }
  if (a->n_reductions) {
    separate(out, &any);
    fl_text_addz(out, "kinds=[");
    for (int i = 0; i < a->n_reductions; i++)
      fl_text_addf(out, "%s%s%s", i ? ", " : "", fl_reduce_names[a->reductions[i].kind],
                   a->reductions[i].filtered ? " filtered" : "");
    fl_text_addc(out, ']');
  }
  if (a->n_columns) {
    separate(out, &any);
    fl_text_addz(out, "columns=[");
    for (int i = 0; i < a->n_columns; i++) {
      if (i) fl_text_addz(out, ", ");
      print_column(out, &a->columns[i]);
    }
    fl_text_addc(out, ']');
  }
  if (a->format) {
    separate(out, &any);
    fl_text_addf(out, "format=%s", a->format->name);
  }
  if (a->n_options) {
    separate(out, &any);
    fl_text_addz(out, "options=[");
    for (int i = 0; i < a->n_options; i++) {
      if (i) fl_text_addz(out, ", ");
      print_option(out, &a->options[i]);
    }
    fl_text_addc(out, ']');
  }
  if (a->library) {
    separate(out, &any);
    fl_text_addz(out, "library=");
    fl_ir_print_string(out, a->library->name, strlen(a->library->name));
    if (a->library->by_path)
      fl_text_addf(out, " content %016llx%016llx", (unsigned long long)a->library->content.hi,
                   (unsigned long long)a->library->content.lo);
  }
  if (any) fl_text_addc(out, '>');
}

static void print_const(FlText1 *out, const FlOp *op) {
  FlType1 t = op->results[0]->type;
  fl_text_addc(out, ' ');
  FlKind kind = fl_dtype_info[t.dtype].kind;
  if (kind == FL_KIND_FLOAT) fl_ir_print_float(out, op->attrs.f);
  else if (kind == FL_KIND_TEXT || t.dtype == FL_FILE)
    fl_ir_print_string(out, op->attrs.s, op->attrs.s ? (size_t)op->attrs.s_len : 0);
  else if (kind == FL_KIND_BOOL) fl_text_addz(out, op->attrs.i ? "true" : "false");
  else fl_text_addf(out, "%lld", (long long)op->attrs.i);
}

static void indent(FlText1 *out, int depth) {
  for (int i = 0; i < depth; i++) fl_text_addz(out, "  ");
}

static void print_body(Printer *p, const FlRegion *r, int depth);

static void print_params(Printer *p, const FlRegion *r) {
  fl_text_addc(p->out, '(');
  for (int i = 0; i < r->n_params; i++) {
    if (i) fl_text_addz(p->out, ", ");
    define(p, r->params[i]);
    fl_text_addz(p->out, ": ");
    fl_ir_print_type(p->out, r->params[i]->type);
  }
  fl_text_addc(p->out, ')');
}

static void print_op(Printer *p, const FlOp *op, int depth) {
  FlText1 *out = p->out;
  FlFunc *f = op->parent->func;
  indent(out, depth);
  /* Results are numbered after the arguments are printed, but their text comes first: the regions that follow
   * number on from them. */
  uint32_t first = p->next;
  for (int i = 0; i < op->n_results; i++) fl_text_addf(out, "%s%%%u", i ? ", " : "", first + (uint32_t)i);
  if (op->n_results) fl_text_addz(out, " = ");
  fl_text_addz(out, fl_op_info[op->code].name);
  if (op->code == FL_OP_CONST) print_const(out, op);
  else if (p->untold && fl_ir_has_message(op))
    print_attrs(out, &(FlAttrs){.i = op->attrs.i, .f = op->attrs.f});
  else print_attrs(out, &op->attrs);
  for (int i = 0; i < op->n_args; i++) {
    fl_text_addz(out, i ? ", " : " ");
    print_value(p, op->args[i], f);
  }
  for (int i = 0; i < op->n_results; i++) {
    fl_text_addz(out, i ? ", " : " : ");
    fl_ir_print_type(out, op->results[i]->type);
    p->number[op->results[i]->id] = ++p->next;
  }
  for (int i = 0; i < op->n_regions; i++) {
    fl_text_addz(out, " {\n");
    if (op->regions[i]->n_params) {
      indent(out, depth + 1);
      print_params(p, op->regions[i]);
      fl_text_addc(out, '\n');
    }
    print_body(p, op->regions[i], depth + 1);
    indent(out, depth);
    fl_text_addc(out, '}');
  }
  fl_text_addc(out, '\n');
}

static void print_body(Printer *p, const FlRegion *r, int depth) {
  for (const FlOp *op = r->first; op; op = op->next) print_op(p, op, depth);
  indent(p->out, depth);
  fl_text_addz(p->out, "yield");
  for (int i = 0; i < r->n_yields; i++) {
    fl_text_addz(p->out, i ? ", " : " ");
    print_value(p, r->yields[i], r->func);
  }
  fl_text_addc(p->out, '\n');
}

static void print_func(FlText1 *out, const FlFunc *f, bool untold) {
  static const char *const kinds[] = {
      [FL_FUNC_PLAIN] = "fn", [FL_FUNC_STAGE] = "stage", [FL_FUNC_MAIN] = "main", [FL_FUNC_TEST] = "test"};
  Printer p = {out, fl_piece_new((size_t)f->next_id + 1, sizeof *p.number), 0, untold};
  fl_text_addf(out, "%s ", kinds[f->kind]);
  print_name(out, f->name);
  print_params(&p, f->body);
  fl_text_addz(out, " -> (");
  for (int i = 0; i < f->body->n_yields; i++) {
    if (i) fl_text_addz(out, ", ");
    fl_ir_print_type(out, f->body->yields[i]->type);
  }
  fl_text_addc(out, ')');
  if (f->memo) fl_text_addf(out, " memo %d", f->memo);
  if (f->recursive) fl_text_addz(out, " recursive");
  if (!untold && (f->key.lo || f->key.hi))
    fl_text_addf(out, " key %016llx%016llx", (unsigned long long)f->key.hi, (unsigned long long)f->key.lo);
  fl_text_addz(out, " {\n");
  print_body(&p, f->body, 1);
  fl_text_addz(out, "}\n");
  fl_piece_free(p.number);
}

void fl_ir_print_func(FlText1 *out, const FlFunc *f) { print_func(out, f, false); }

void fl_ir_print_code(FlText1 *out, const FlFunc *f) { print_func(out, f, true); }

static void print_param_row(FlText1 *out, const FlIrParam *p) {
  fl_text_addz(out, "param ");
  fl_ir_print_string(out, p->name, strlen(p->name));
  fl_text_addc(out, ' ');
  fl_ir_print_string(out, p->type, strlen(p->type));
  fl_text_addc(out, ' ');
  fl_ir_print_type(out, p->t);
  if (p->nullable) fl_text_addz(out, " nullable");
  if (p->default_text) {
    fl_text_addz(out, " default ");
    fl_ir_print_string(out, p->default_text, strlen(p->default_text));
  }
  if (p->help && *p->help) {
    fl_text_addz(out, " help ");
    fl_ir_print_string(out, p->help, strlen(p->help));
  }
  fl_text_addc(out, '\n');
}

void fl_ir_print(FlText1 *out, const FlModule *m) {
  fl_text_addz(out, "module ");
  fl_ir_print_string(out, m->name, strlen(m->name));
  fl_text_addc(out, '\n');
  if (m->doc && *m->doc) {
    fl_text_addz(out, "doc ");
    fl_ir_print_string(out, m->doc, strlen(m->doc));
    fl_text_addc(out, '\n');
  }
  for (int i = 0; i < m->n_params; i++) print_param_row(out, &m->params[i]);
  for (const FlFunc *f = m->first; f; f = f->next) {
    fl_text_addc(out, '\n');
    fl_ir_print_func(out, f);
  }
}
