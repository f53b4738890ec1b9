/* horizontal.c: horizontal fusion. Loops of one kind over the same index range that read a common array
 * become one loop with the results of both: one sweep over the array, one kernel. This pass joins REDUCEs;
 * outputs.c, which runs when no MAP can be computed where it is read any more, joins MAPs.
 *
 * What always holds: the first of several errors stays the first.
 *  - In a kernel the first operation in program order counts, whatever the position, and the body of the
 * first loop comes before the body of the second, as before. But the end of a loop (an EMPTY minimum, a sum
 * that overflows) comes after both bodies then: so the second body must not fail where the first end may.
 *  - Inside other loops errors are found element by element: only one of the two bodies may fail.
 *  - The second loop moves up to the first, with what it needs, if it cannot fail or passes nothing that can;
 * or the first one moves down, with what needs it, if it cannot fail. Only what can neither fail nor act
 * moves along. A checked integer product goes step by step and stays alone, and so does what makes texts. */
#include "opt/horizontal.h"

/* Of results of one loop, of buffers of a block where there are several axes, of operations in a body, and of
 * loops looked back at. */
enum { MAX_RESULTS = 16, MAX_WIDE_RESULTS = 4, MAX_OPS = 400, MAX_LOOK = 32 };

typedef struct Siblings {
  FlArena *arena; /* of one function */
  FlFunc *func;
  FlOpcode code;        /* of the loops that are joined */
  bool mixed;           /* MAPs with REDUCEs, which then keep arrays */
  unsigned char *marks; /* by value id; all zero between questions */
  FlVec(FlOp *) along;  /* what moves along, from last to first */
  FlVec(FlOp *) loops;  /* of the region, in program order */
} Siblings;

/* ---- which loops -------------------------------------------------------------------------------------- */

/* A REDUCE that keeps an array stands in host code, and none of its elements fails. */
static bool may_keep(const FlOp *op) {
  if (op->code != FL_OP_MAP && op->code != FL_OP_REDUCE) return false;
  if (fl_opt_in_loop(op->parent)) return false;
  const FlRegion *body = op->regions[0];
  for (const FlOp *in = body->first; in; in = in->next)
    if (in->n_regions || in->code == FL_OP_RANDOM || in->code == FL_OP_EXTERN) return false;
  if (op->code != FL_OP_MAP) return !fl_ir_region_may_fault(body);
  for (int i = 0; i < op->n_results; i++)
    if (op->results[i]->type.dtype == FL_TEXT || op->results[i]->type.depth) return false;
  return !fl_ir_may_fault(op);
}

static bool is_candidate(const Siblings *s, const FlOp *op) {
  if (s->mixed ? !may_keep(op) : op->code != s->code) return false;
  if (!fl_ir_is_kernel(op->regions[0]) || fl_ir_makes_text(op->regions[0])) return false;
  return op->code != FL_OP_REDUCE || !fl_ir_reduces_in_order(op);
}

static bool same_range(const FlOp *a, const FlOp *b) {
  if (a->n_args != b->n_args) return false;
  for (int i = 0; i < a->n_args; i++)
    if (!fl_opt_same_size(a->args[i], b->args[i])) return false;
  bool reduce = a->code == FL_OP_REDUCE || b->code == FL_OP_REDUCE;
  int most = a->n_args > 1 && reduce ? MAX_WIDE_RESULTS : MAX_RESULTS;
  if (a->n_results + b->n_results > most) return false;
  return fl_ir_n_ops(a->regions[0]) + fl_ir_n_ops(b->regions[0]) <= MAX_OPS;
}

/* `r` reads an array from outside that is marked. */
static bool reads_marked(const Siblings *s, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_LOAD && s->marks[op->args[0]->id]) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (reads_marked(s, op->regions[i])) return true;
  }
  return false;
}

static void mark_reads(Siblings *s, const FlRegion *r, unsigned char mark) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_LOAD) s->marks[op->args[0]->id] = mark;
    for (int i = 0; i < op->n_regions; i++) mark_reads(s, op->regions[i], mark);
  }
}

static bool share_array(Siblings *s, const FlOp *a, const FlOp *b) {
  mark_reads(s, a->regions[0], 1);
  bool share = reads_marked(s, b->regions[0]);
  mark_reads(s, a->regions[0], 0);
  return share;
}

/* ---- faults ------------------------------------------------------------------------------------------- */

static bool order_stays(const FlOp *a, const FlOp *b) {
  bool body_a = fl_ir_region_may_fault(a->regions[0]), body_b = fl_ir_region_may_fault(b->regions[0]);
  if (fl_opt_own_fault(a) && body_b) return false;
  if ((a->attrs.i | b->attrs.i) & FL_LOOP_BY_POSITION) return !body_a && !body_b;
  return !(body_a && body_b && fl_opt_in_loop(a->parent));
}

static bool is_still(const FlOp *op) {
  return !fl_ir_may_fault(op) && !fl_ir_is_effect(op) && !fl_opt_has_note(op);
}

/* Something that may take its place elsewhere, and is not a great work of its own. */
static bool may_move(const FlOp *op) {
  if (!is_still(op) || op->code == FL_OP_WHILE) return false;
  return fl_op_info[op->code].op_class != FL_CLASS_RUNTIME || op->code == FL_OP_TRANSPOSE ||
         op->code == FL_OP_ROWS;
}

/* ---- moving ------------------------------------------------------------------------------------------- */

static void mark_uses(Siblings *s, const FlOp *op, unsigned char mark);

static void mark_region_uses(Siblings *s, const FlRegion *r, unsigned char mark) {
  for (const FlOp *op = r->first; op; op = op->next) mark_uses(s, op, mark);
  for (int i = 0; i < r->n_yields; i++) s->marks[r->yields[i]->id] = mark;
}

static void mark_uses(Siblings *s, const FlOp *op, unsigned char mark) {
  for (int i = 0; i < op->n_args; i++) s->marks[op->args[i]->id] = mark;
  for (int k = 0; k < op->n_regions; k++) mark_region_uses(s, op->regions[k], mark);
}

static bool is_marked(const Siblings *s, const FlOp *op) {
  for (int i = 0; i < op->n_results; i++)
    if (s->marks[op->results[i]->id]) return true;
  return false;
}

static bool uses_marked(const Siblings *s, const FlOp *op) {
  for (int i = 0; i < op->n_args; i++)
    if (s->marks[op->args[i]->id]) return true;
  for (int k = 0; k < op->n_regions; k++) {
    const FlRegion *r = op->regions[k];
    for (const FlOp *in = r->first; in; in = in->next)
      if (uses_marked(s, in)) return true;
    for (int i = 0; i < r->n_yields; i++)
      if (s->marks[r->yields[i]->id]) return true;
  }
  return false;
}

/* Fills `along` with what `b` needs of the ops after `a`; false: `b` cannot come to `a`. */
static bool can_go_up(Siblings *s, const FlOp *a, FlOp *b) {
  s->along.n = 0;
  bool can = true, faults = !is_still(b);
  mark_uses(s, b, 1);
  FlOp *op = b->prev;
  for (; op && op != a && can; op = op->prev) {
    if (is_marked(s, op)) {
      can = may_move(op);
      mark_uses(s, op, 1);
      fl_vec_push(s->arena, &s->along, op);
    } else if (faults) {
      can = is_still(op);
    }
  }
  can = can && op && !is_marked(s, a); /* no op: what moved before may have left `a` behind `b` */
  mark_uses(s, b, 0);
  for (int i = 0; i < s->along.n; i++) mark_uses(s, s->along.at[i], 0);
  return can;
}

static void mark_results(Siblings *s, const FlOp *op, unsigned char mark) {
  for (int i = 0; i < op->n_results; i++) s->marks[op->results[i]->id] = mark;
}

/* The same for `a` to come to `b`, which moves along what needs `a`. */
static bool can_go_down(Siblings *s, FlOp *a, const FlOp *b) {
  s->along.n = 0;
  bool can = is_still(a);
  mark_results(s, a, 1);
  FlOp *op = a->next;
  for (; op && op != b && can; op = op->next) {
    if (!uses_marked(s, op)) continue;
    can = may_move(op);
    mark_results(s, op, 1);
    fl_vec_push(s->arena, &s->along, op);
  }
  can = can && op && !uses_marked(s, b);
  mark_results(s, a, 0);
  for (int i = 0; i < s->along.n; i++) mark_results(s, s->along.at[i], 0);
  return can;
}

/* ---- joining ------------------------------------------------------------------------------------------ */

static void **joined(FlArena *arena, void *const *a, int n_a, void *const *b, int n_b) {
  void **all = FL_NEW_ARRAY(arena, void *, n_a + n_b + 1);
  memcpy(all, a, (size_t)n_a * sizeof *all);
  memcpy(all + n_a, b, (size_t)n_b * sizeof *all);
  return all;
}

/* It would be an error if there were no elements. */
static bool wants_some(const FlOp *op) {
  for (int i = 0; i < op->attrs.n_reductions; i++)
    if (fl_reduce_picks(op->attrs.reductions[i].kind)) return true;
  return false;
}

static void join_kinds(FlArena *arena, FlOp *a, const FlOp *b) {
  bool want_a = wants_some(a), want_b = wants_some(b);
  bool some = (!want_a || (a->attrs.i & FL_REDUCE_SOME)) && (!want_b || (b->attrs.i & FL_REDUCE_SOME));
  int n_a = a->n_results, n = n_a + b->n_results;
  FlReductionAttr *all = FL_NEW_ARRAY(arena, FlReductionAttr, n);
  for (int i = 0; i < n; i++) {
    const FlOp *of = i < n_a ? a : b;
    all[i] = of->code == FL_OP_MAP ? (FlReductionAttr){.kind = FL_RED_EACH}
                                   : of->attrs.reductions[i < n_a ? i : i - n_a];
  }
  a->attrs.reductions = all;
  a->attrs.n_reductions = n;
  a->code = FL_OP_REDUCE;
  a->attrs.i = some && (want_a || want_b) ? FL_REDUCE_SOME : 0;
}

/* `b` becomes part of `a`, which stands right before it or wherever `b` may stand. */
static void join(Siblings *s, FlOp *a, FlOp *b) {
  FlArena *arena = s->func->module->arena;
  FlRegion *to = a->regions[0], *from = b->regions[0];
  int n_a = a->n_results, n_b = b->n_results;
  FlSpan *places = FL_NEW_ARRAY(arena, FlSpan, n_a + n_b);
  for (int i = 0; i < n_a; i++) places[i] = fl_ir_place(a, i);
  for (int i = 0; i < n_b; i++) places[n_a + i] = fl_ir_place(b, i);
  if (a->code == FL_OP_REDUCE || b->code == FL_OP_REDUCE) join_kinds(arena, a, b);
  for (int i = 0; i < from->n_params; i++) fl_ir_replace_in(from, from->params[i], to->params[i]);
  fl_ir_move_into(from, NULL, NULL, to);
  to->yields = (FlValue **)joined(arena, (void *const *)to->yields, to->n_yields, (void *const *)from->yields,
                                  from->n_yields);
  to->n_yields += from->n_yields;
  a->results = (FlValue **)joined(arena, (void *const *)a->results, n_a, (void *const *)b->results, n_b);
  a->n_results = n_a + n_b;
  a->places = places;
  for (int i = n_a; i < n_a + n_b; i++) {
    a->results[i]->op = a;
    a->results[i]->index = i;
  }
  fl_ir_remove(b);
}

/* ---- the walk ----------------------------------------------------------------------------------------- */

static bool try_join(Siblings *s, FlOp *a, FlOp *b) {
  if (s->mixed && a->code == b->code) return false;
  if (!same_range(a, b) || !share_array(s, a, b) || !order_stays(a, b) || !fl_opt_same_within(a, b))
    return false;
  if (can_go_up(s, a, b)) {
    for (int i = s->along.n - 1; i >= 0; i--) fl_ir_move_before(s->along.at[i], a);
    join(s, a, b);
    return true;
  }
  if (!can_go_down(s, a, b)) return false;
  FlOp *after = b->next;
  fl_ir_move_before(a, b);
  join(s, a, b);
  for (int i = 0; i < s->along.n; i++) {
    FlOp *op = s->along.at[i];
    fl_ir_unlink(op);
    fl_ir_link(a->parent, op, after);
  }
  return true;
}

/* The last of the loops joins one before it, which may then join one before that. */
static void join_back(Siblings *s) {
  int at = s->loops.n - 1;
  for (int i = at - 1; i >= 0 && i >= s->loops.n - 1 - MAX_LOOK; i--) {
    if (!try_join(s, s->loops.at[i], s->loops.at[at])) continue;
    for (int k = at; k + 1 < s->loops.n; k++) s->loops.at[k] = s->loops.at[k + 1];
    s->loops.n--;
    at = i;
  }
}

static void visit(Siblings *s, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next)
    for (int i = 0; i < op->n_regions; i++) visit(s, op->regions[i]);
  s->loops.n = 0;
  for (FlOp *op = r->first, *next; op; op = next) {
    next = op->next;
    if (!is_candidate(s, op)) continue;
    fl_vec_push(s->arena, &s->loops, op);
    join_back(s);
  }
}

static void join_all(FlModule *m, FlOpcode code, bool mixed) {
  for (FlFunc *f = m->first; f; f = f->next) {
    Siblings s = {.arena = fl_arena_new(), .func = f, .code = code, .mixed = mixed};
    s.marks = FL_NEW_ARRAY(s.arena, unsigned char, f->next_id + 1);
    visit(&s, f->body);
    fl_arena_free(s.arena);
  }
}

void fl_opt_join_horizontal(FlModule *m, FlOpcode code) { join_all(m, code, false); }

/* A MAP and a REDUCE over the same rows are one sweep, which keeps what the MAP gives. */
void fl_opt_horizontal_maps(FlModule *m) { join_all(m, FL_OP_REDUCE, true); }

void fl_opt_horizontal(FlModule *m) { fl_opt_join_horizontal(m, FL_OP_REDUCE); }
