/* aggregates.c: aggregates of the same groups become one operation, which passes over the rows once:
 * AGGREGATEs of one region become AGGREGATES.
 *
 * What always holds: those that join move up to the first of them, so they read only what is there before it,
 * and cannot fail; the first may, at its own place in the source. Only aggregates whose states are small and
 * simple join: counts, and sums, means, minima and maxima of numbers without nulls. */
#include "opt/opt_internal.h"

enum { MOST = 8 };

static bool is_integer(FlDtype d) {
  switch ((int)d) {
  case FL_I8:
  case FL_I16:
  case FL_I32:
  case FL_I64:
  case FL_U8:
  case FL_U16:
  case FL_U32:
  case FL_U64: return true;
  }
  return false;
}

/* May join others; *fails: its sum may be too large. */
static bool is_simple(const FlOp *op, bool *fails) {
  *fails = false;
  if (op->code != FL_OP_AGGREGATE || op->attrs.i != 0 || op->attrs.n_list > 1) return false;
  const char *kind = op->attrs.s;
  if (op->attrs.n_list == 0) return strcmp(kind, "count") == 0;
  FlDtype d = (FlDtype)op->args[2]->type.dtype;
  if (strcmp(op->attrs.list[0], "col") != 0 || op->args[2]->type.rank != 1) return false;
  if (strcmp(kind, "min") == 0 || strcmp(kind, "max") == 0) return is_integer(d);
  if (strcmp(kind, "sum") != 0 && strcmp(kind, "mean") != 0) return false;
  *fails = strcmp(kind, "sum") == 0 && (d == FL_I64 || d == FL_U64);
  return is_integer(d) || d == FL_F64;
}

static FlOp *join(FlOp *const *ops, int n) {
  FlBuilder b = fl_opt_before(ops[0]);
  FlArena *arena = b.module->arena;
  FlValue *args[2 + MOST] = {ops[0]->args[0], ops[0]->args[1]};
  FlType1 types[2 * MOST];
  const char **list = FL_NEW_ARRAY(arena, const char *, n);
  FlSpan *places = FL_NEW_ARRAY(arena, FlSpan, 2 * n);
  int n_args = 2;
  for (int k = 0; k < n; k++) {
    bool column = ops[k]->attrs.n_list == 1;
    if (column) args[n_args++] = ops[k]->args[2];
    list[k] = fl_arena_printf(arena, "%s%s", ops[k]->attrs.s, column ? ":col" : "");
    for (int r = 0; r < 2; r++) {
      types[2 * k + r] = ops[k]->results[r]->type;
      places[2 * k + r] = fl_ir_place(ops[k], r);
    }
  }
  FlOp *all = fl_ir_op(&b, FL_OP_AGGREGATES, n_args, args, 2 * n, types, 0);
  all->attrs.list = list;
  all->attrs.n_list = n;
  all->places = places;
  return all;
}

/* The op and those behind it that join it; how many. */
static int gather(const FlSubst *s, FlOp *first, FlOp **ops) {
  bool fails;
  int n = 0;
  if (!is_simple(first, &fails)) return 0;
  ops[n++] = first;
  for (FlOp *op = first->next; op && n < MOST; op = op->next) {
    if (!is_simple(op, &fails) || fails) continue;
    bool ready = true;
    for (int i = 0; i < op->n_args; i++)
      ready = ready && fl_opt_is_before(fl_subst_get(s, op->args[i]), first);
    bool same =
        fl_subst_get(s, op->args[0]) == first->args[0] && fl_subst_get(s, op->args[1]) == first->args[1];
    if (ready && same) ops[n++] = op;
  }
  return n;
}

static void visit(FlSubst *s, FlRegion *r) {
  for (FlOp *op = r->first, *next; op; op = next) {
    FlOp *ops[MOST];
    fl_subst_args(s, op);
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
    int n = gather(s, op, ops);
    next = op->next;
    if (n < 2) continue;
    for (int k = 1; k < n; k++) fl_subst_args(s, ops[k]);
    FlOp *all = join(ops, n);
    for (int k = 0; k < n; k++) {
      for (int i = 0; i < 2; i++) fl_subst_set(s, ops[k]->results[i], all->results[2 * k + i]);
      fl_ir_remove(ops[k]);
    }
    next = all->next;
  }
  fl_subst_yields(s, r);
}

void fl_opt_aggregates(FlModule *m) {
  FlSubst s = {0};
  for (FlFunc *f = m->first; f; f = f->next) {
    visit(&s, f->body);
    fl_subst_reset(&s);
  }
}
