/* explain_names.c: values, sizes and places in the words of the script; see plan_internal.h. */
#include "cli/explain_internal.h"

#include <stdlib.h>

enum { MOST_TEXT = 72 };

const char *fl_explain_source(const FlExplain *p, FlSpan span) {
  if (!span.file) return "";
  const FlSource *f = fl_sources_get(p->sources, span.file);
  FlText1 t = {0};
  for (uint32_t k = 0; k < span.len && span.start + k < f->len; k++) {
    char c = f->text[span.start + k];
    bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) fl_text_addc(&t, c);
    else if (t.len && t.s[t.len - 1] != ' ') fl_text_addc(&t, ' ');
  }
  size_t n = t.len;
  if (n > MOST_TEXT) {
    for (n = MOST_TEXT - 3; n > 0 && ((unsigned char)t.s[n] & 0xc0) == 0x80;) n--;
  }
  const char *out = fl_arena_printf(p->arena, "%.*s%s", (int)n, t.s ? t.s : "", n < t.len ? "..." : "");
  fl_text_reset(&t);
  return out;
}

const char *fl_explain_line(const FlExplain *p, FlSpan span) {
  if (!span.file) return "";
  int line, column;
  const FlSource *f = fl_sources_get(p->sources, span.file);
  fl_source_position(f, span.start, &line, &column);
  if (span.file == 1) return fl_arena_printf(p->arena, "%d", line);
  const char *slash = strrchr(f->path, '/');
  return fl_arena_printf(p->arena, "%s:%d", slash ? slash + 1 : f->path, line);
}

void fl_explain_set_name(FlExplain *p, const FlValue *v, const char *name) {
  if (name && name[0]) fl_map_set(p->names, v, (void *)(uintptr_t)name);
}

const char *fl_explain_name(const FlExplain *p, const FlValue *v) { return fl_map_get(p->names, v); }

const char *fl_explain_names(const FlExplain *p, int n, FlValue *const *values) {
  enum { MOST_NAMES = 12 };
  FlText1 t = {0};
  int shown = 0, left = 0;
  for (int i = 0; i < n; i++) {
    const char *name = fl_explain_name(p, values[i]);
    bool again = !name;
    for (int k = 0; k < i && !again; k++) {
      const char *other = fl_explain_name(p, values[k]);
      again = other && strcmp(name, other) == 0;
    }
    if (again) continue;
    if (shown == MOST_NAMES) left++;
    else fl_text_addf(&t, "%s%s", shown++ ? ", " : "", name);
  }
  const char *out = left ? fl_arena_printf(p->arena, "%s and %d more", t.s, left)
                         : fl_arena_printf(p->arena, "%s", t.s ? t.s : "");
  fl_text_reset(&t);
  return out;
}

const char *fl_explain_count(const FlExplain *p, int64_t n) {
  char digits[32], out[48];
  int len = snprintf(digits, sizeof digits, "%lld", (long long)n), at = 0;
  for (int i = 0; i < len; i++) {
    if (i && digits[i - 1] != '-' && (len - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  return fl_arena_strndup(p->arena, out, (size_t)at);
}

const char *fl_explain_bytes(const FlExplain *p, int64_t bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double v = (double)bytes;
  int unit = 0;
  for (; v >= 1000 && unit < 4; unit++) v /= 1000;
  return fl_arena_printf(p->arena, unit ? "%.1f %s" : "%.0f %s", v, units[unit]);
}

/* How many rows a column that parts were joined to has, in terms of a part; NULL: it is none. */
static const FlValue *joined_rows(const FlValue *column) {
  const FlValue *part = column->op ? fl_explain_joined(column->op) : NULL;
  const FlOp *op = part ? part->op : NULL;
  if (op && op->code == FL_OP_COMPRESS) return op->results[0];
  return op && op->code == FL_OP_MAP ? op->args[0] : NULL;
}

const char *fl_explain_size(const FlExplain *p, const FlValue *size) {
  int64_t n;
  if (fl_ir_const_value_i(size, &n)) return fl_explain_count(p, n);
  const char *name = fl_explain_name(p, size);
  if (name) return name;
  const FlOp *op = size->op;
  if (!op) return "given elements";
  const char *line = fl_explain_line(p, op->span);
  if (fl_explain_is_reader(op)) return fl_arena_printf(p->arena, "the rows of the file of line %s", line);
  if (fl_explain_is_grouped(op)) return fl_explain_size(p, op->regions[1]->yields[size->index]);
  switch (op->code) {
  case FL_OP_DIM: {
    const FlValue *joined = joined_rows(op->args[0]);
    if (joined) return fl_explain_size(p, joined);
    const FlOp *texts = op->args[0]->op;
    const char *of = fl_explain_name(p, op->args[0]);
    if (texts && texts->code == FL_OP_TEXT_VALUES) {
      of = fl_explain_name(p, texts->args[0]);
      return of ? fl_arena_printf(p->arena, "the different texts of %s", of)
                : "the different texts of a column";
    }
    return of ? fl_arena_printf(p->arena, "the elements of %s", of) : "the elements of an array";
  }
  case FL_OPS_READING:
    if (op->code != FL_OP_TABLE_PART) break;
    return fl_arena_printf(p->arena, "the rows of the file of line %s", line);
  case FL_OP_COMPRESS:
  case FL_OP_COLLECT: return fl_arena_printf(p->arena, "the rows kept in line %s", line);
  case FL_OPS_TABLES:
    if (op->code == FL_OP_GROUP) return fl_arena_printf(p->arena, "the groups of line %s", line);
    if (op->code == FL_OP_JOIN) return fl_arena_printf(p->arena, "the rows of line %s", line);
    break;
  case FL_OP_STAGE:
  case FL_OP_CALL: return fl_arena_printf(p->arena, "the rows of line %s", line);
  case FL_OP_CONST:
  case FL_OP_ARRAY:
  case FL_OP_LOAD:
  case FL_OP_PICK:
  case FL_OP_STORE:
  case FL_OP_MAP:
  case FL_OP_REDUCE:
  case FL_OP_SCAN:
  case FL_OP_CUSTOM:
  case FL_OP_EXTERN:
  case FL_OP_ROWS:
  case FL_OP_ROW_PART:
  case FL_OP_TAKE:
  case FL_OP_CONCAT:
  case FL_OPS_SCALAR:
  case FL_OPS_CONTROL:
  case FL_OPS_CHECKS:
  case FL_OPS_LISTS:
  case FL_OPS_MATRIX:
  case FL_OPS_ARRAYS:
  case FL_OPS_WORLD: break;
  }
  const char *text = fl_explain_source(p, op->span);
  return text[0] ? text : "given elements";
}

/* ---- pieces ---- */

typedef FlVec(FlSpan) Spans;

static bool within(FlSpan a, FlSpan b) {
  return a.file == b.file && a.start >= b.start && a.start + a.len <= b.start + b.len;
}

/* The range of a generator: 0..n. */
static bool is_range(const FlExplain *p, FlSpan span) {
  const char *text = fl_explain_source(p, span);
  return strstr(text, "..") && !strchr(text, '[') && !strstr(text, "...");
}

static void add_piece(const FlExplain *p, Spans *out, FlSpan span) {
  if (!span.file || is_range(p, span)) return;
  for (int i = 0; i < out->n; i++)
    if (within(span, out->at[i])) return;
  int kept = 0;
  for (int i = 0; i < out->n; i++)
    if (!within(out->at[i], span)) out->at[kept++] = out->at[i];
  out->n = kept;
  fl_vec_push(p->arena, out, span);
}

static void find_pieces(const FlExplain *p, const FlRegion *r, Spans *out) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_op_info[op->code].op_class == FL_CLASS_SCALAR || op->code == FL_OP_REDUCE)
      for (int k = 0; k < op->n_results; k++) add_piece(p, out, fl_ir_place(op, k));
    for (int i = 0; i < op->n_regions; i++) find_pieces(p, op->regions[i], out);
  }
}

static int by_place(const void *a, const void *b) {
  const FlSpan *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return x->start < y->start ? -1 : x->start > y->start;
}

FlSpan *fl_explain_pieces(const FlExplain *p, const FlOp *op, int *n) {
  Spans out = {0};
  for (int i = 0; i < op->n_regions; i++) find_pieces(p, op->regions[i], &out);
  if (op->code == FL_OP_REDUCE || !out.n)
    for (int k = 0; k < op->n_results; k++) add_piece(p, &out, fl_ir_place(op, k));
  if (out.n) qsort(out.at, (size_t)out.n, sizeof *out.at, by_place);
  *n = out.n;
  return out.at;
}
