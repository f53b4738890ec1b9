/* choose.c: conditions. A scalar condition becomes an IF; an array of them is taken element by element, each
 * branch evaluated only for the elements that take it. Variables that a branch assigns are results of the IF.
 */
#include "sema/habits.h"
#include "sema/category.h"
#include "sema/choose.h"
#include "sema/expr.h"
#include "sema/guard.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/scope.h"
#include "sema/value.h"
#include "sema/verbs/groups.h"

#include "sema/column_names.h"

/* ---- variables that code assigns (assigned.c) ---- */

int fl_vars_get(const FlVarList *vars, FlValue **out) {
  int at = 0;
  for (int i = 0; i < vars->n; i++) at += fl_val_cut(vars->at[i]->val, out ? out + at : NULL);
  return at;
}

void fl_vars_set(FlSema *s, const FlVarList *vars, FlValue *const *parts) {
  for (int i = 0; i < vars->n; i++) {
    FlVal old = vars->at[i]->val;
    vars->at[i]->val = fl_val_join(s, old.type, NULL, parts, old);
    parts += fl_val_cut(old, NULL);
  }
}

/* ---- scalar conditions ---- */

typedef struct Side {
  FlRegion *region;
  FlVal value;
  FlValue **vars;
  FlValue *sizes[FL_MAX_RANK]; /* of an array, as they are known at the end of the side */
  bool never;                  /* its end is not reached */
} Side;

static void run_side(FlSema *s, Side *side, const FlThunk *thunk, const FlVarList *vars) {
  FlSavedPlace saved = fl_sema_enter(s, side->region);
  side->value = thunk->run ? thunk->run(s, thunk->env) : fl_val_none(s);
  side->never = side->value.type->kind == FL_TY_NEVER;
  if (side->value.type->kind == FL_TY_ARRAY)
    for (int k = 0; k < side->value.type->rank; k++) side->sizes[k] = fl_sema_dim(s, side->value, k);
  side->vars = FL_NEW_ARRAY(s->arena, FlValue *, fl_vars_get(vars, NULL) + 1);
  fl_vars_get(vars, side->vars);
  fl_sema_leave(s, saved);
}

static bool coerce_side(FlSema *s, Side *side, const FlType *t, const FlThunk *thunk) {
  FlSavedPlace saved = fl_sema_enter(s, side->region);
  side->value = fl_val_coerce(s, side->value, t, thunk->span, "this branch");
  fl_sema_leave(s, saved);
  return !fl_val_bad(side->value);
}

/* Is v known before the condition is asked? */
static bool is_around(const FlValue *v, const Side *sides) {
  return !fl_ir_made_inside(v, sides[0].region) && !fl_ir_made_inside(v, sides[1].region);
}

/* The levels that part p has whichever side is taken, or NULL: each side yields its own. */
static FlValue *shared_levels(const Side *sides, int p) {
  FlValue *a = sides[0].value.parts[p], *b = sides[1].value.parts[p];
  if (!fl_levels_equal(a, b)) return NULL;
  FlValue *v = fl_levels_are_none(a) ? b : a;
  return is_around(v, sides) ? v : NULL;
}

/* One side gives an array and the other a scalar: that one is an array, too, where the sizes are known around
 * both. The sizes that both then have: in `sizes`, whose first is NULL where nothing is known of them. false:
 * reported. */
static bool spread_scalar(FlSema *s, Side *sides, const FlSpan *spans, FlValue **sizes) {
  int many = sides[0].value.type->kind == FL_TY_ARRAY ? 0 : 1;
  FlVal array = sides[many].value, *one = &sides[1 - many].value;
  FlTyKind kind = one->type->kind;
  if (array.type->kind != FL_TY_ARRAY) return true;
  if (kind != FL_TY_SCALAR && kind != FL_TY_NULL && kind != FL_TY_ARRAY) return true;
  int rank = array.type->rank;
  FlValue *own[FL_MAX_RANK] = {0};
  for (int k = 0; k < rank; k++) {
    FlValue *mine = sides[many].sizes[k], *other = mine;
    if (kind == FL_TY_ARRAY && one->type->rank == rank) other = sides[1 - many].sizes[k];
    if (!fl_sema_sizes_equal(s, mine, other)) return true;
    own[k] = is_around(mine, sides) ? mine : other;
    if (!is_around(own[k], sides)) return true;
  }
  for (int k = 0; k < rank; k++) sizes[k] = own[k];
  if (kind == FL_TY_ARRAY) return true;
  FlVal kinds[2] = {sides[0].value, sides[1].value};
  kinds[many].type = fl_type_scalar(s->types, array.type->dtype, array.type->nullable);
  kinds[many].literal = FL_LIT_NONE, kinds[many].exact = NULL;
  const FlType *t;
  if (!fl_val_unify(s, kinds, 2, spans, "the two branches", &t)) return false;
  FlSavedPlace saved = fl_sema_enter(s, sides[1 - many].region);
  FlVal v = fl_val_coerce(s, *one, t, spans[1 - many], "this branch");
  FlValue *parts[2] = {0};
  for (int p = 0; !fl_val_bad(v) && p < fl_type_element_parts(t); p++) {
    FlSemaMap map = fl_sema_map(s, rank, sizes, (FlDtype)v.parts[p]->type.dtype);
    parts[p] = fl_sema_map_end(s, &map, v.parts[p]);
  }
  if (!fl_val_bad(v)) *one = fl_val_with(s, fl_type_array(s->types, t->dtype, t->nullable, rank), parts, v);
  fl_sema_leave(s, saved);
  return !fl_val_bad(v);
}

/* What a side yields: the parts of its value but those to skip, then the variables. Returns their number. */
static int yields_of(const Side *side, int n, const bool *skip, int n_vars, FlValue **out) {
  int at = 0;
  for (int i = 0; i < n; i++)
    if (!skip[i]) out[at++] = side->value.parts[i];
  for (int i = 0; i < n_vars; i++) out[at++] = side->vars[i];
  return at;
}

/* The names of columns of result i, where both sides know them, or the one that gives a value: names[i], a
 * value from before that both have, or own[i]: a result more, those of the side that is taken. Returns how
 * many are results. */
static int names_of(FlSema *s, const Side *sides, FlValue *const *const *yields, int n, FlValue **names,
                    bool *own) {
  int n_own = 0;
  for (int i = 0; i < n; i++) {
    FlValue *a = fl_column_names(s, yields[0][i]), *b = fl_column_names(s, yields[1][i]);
    bool outside = a == b && a && !fl_ir_made_inside(a, sides[0].region);
    own[i] = !outside && (a || sides[0].never) && (b || sides[1].never) && (a || b);
    names[i] = outside ? a : NULL;
    n_own += own[i];
  }
  return n_own;
}

static void finish_side(FlSema *s, const Side *side, int n, FlValue *const *yields, const bool *own,
                        int n_own) {
  FlSavedPlace saved = fl_sema_enter(s, side->region);
  FlValue **all = FL_NEW_ARRAY(s->arena, FlValue *, n + n_own + 1);
  int at = n;
  for (int i = 0; i < n; i++) {
    all[i] = yields[i];
    if (own[i]) all[at++] = fl_column_names_or_none(s, yields[i]);
  }
  fl_ir_yield(side->region, s->module, at, all);
  fl_sema_leave(s, saved);
}

static FlVal branch(FlSema *s, FlValue *cond, const FlVarList *vars, FlThunk yes, FlThunk no) {
  int n_vars = fl_vars_get(vars, NULL);
  FlValue **before = FL_NEW_ARRAY(s->arena, FlValue *, n_vars + 1);
  fl_vars_get(vars, before);
  FlOp *op = fl_ir_op(&s->b, FL_OP_IF, 1, &cond, 0, NULL, 2);
  Side sides[2] = {{.region = fl_ir_region(&s->b, op, 0, 0, NULL)},
                   {.region = fl_ir_region(&s->b, op, 1, 0, NULL)}};
  run_side(s, &sides[0], &yes, vars);
  fl_vars_set(s, vars, before);
  run_side(s, &sides[1], &no, vars);
  fl_vars_set(s, vars, before);
  if (fl_val_bad(sides[0].value) || fl_val_bad(sides[1].value)) return fl_val_error(s);
  const FlType *t = NULL;
  bool none = sides[0].value.type->kind == FL_TY_NONE || sides[1].value.type->kind == FL_TY_NONE;
  FlValue *sizes[FL_MAX_RANK] = {0};
  if (!none) {
    FlSpan spans[2] = {yes.span, no.span};
    if (!spread_scalar(s, sides, spans, sizes)) return fl_val_error(s);
    FlVal values[2] = {sides[0].value, sides[1].value};
    if (!fl_val_unify(s, values, 2, spans, "the two branches", &t)) return fl_val_error(s);
    if (t->kind == FL_TY_FUNC)
      return fl_sema_error(s, FL_E0310, yes.span, "which function this is must be known when compiling");
  }
  if (t && (!coerce_side(s, &sides[0], t, &yes) || !coerce_side(s, &sides[1], t, &no)))
    return fl_val_error(s);
  int n = t ? t->n_parts : 0, n_types = 0;
  FlValue **parts = FL_NEW_ARRAY(s->arena, FlValue *, n + 1);
  bool *skip = FL_NEW_ARRAY(s->arena, bool, n + 1);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, 2 * (n + n_vars) + 1),
          *all = FL_NEW_ARRAY(s->arena, FlType1, n + 1);
  if (t) fl_type_parts(t, all);
  for (int p = 0; p < n; p++) {
    parts[p] = t->levels[p] ? shared_levels(sides, p) : NULL;
    skip[p] = parts[p] != NULL;
    if (!skip[p]) types[n_types++] = all[p];
  }
  for (int i = 0; i < n_vars; i++) types[n_types + i] = before[i]->type;
  int n_all = n_types + n_vars;
  FlValue **yields[2], **names = FL_NEW_ARRAY(s->arena, FlValue *, n_all + 1);
  bool *own = FL_NEW_ARRAY(s->arena, bool, n_all + 1);
  for (int i = 0; i < 2; i++) {
    yields[i] = FL_NEW_ARRAY(s->arena, FlValue *, n_all + 1);
    yields_of(&sides[i], n, skip, n_vars, yields[i]);
  }
  int n_own = names_of(s, sides, (FlValue *const *const *)yields, n_all, names, own);
  for (int i = 0; i < 2; i++) finish_side(s, &sides[i], n_all, yields[i], own, n_own);
  for (int i = 0; i < n_own; i++) types[n_all + i] = fl_t_array(FL_TEXT, 1);
  fl_ir_add_results(&s->b, op, n_all + n_own, types);
  for (int i = 0, at = n_all; i < n_all; i++)
    fl_column_names_set(s, op->results[i], own[i] ? op->results[at++] : names[i]);
  fl_vars_set(s, vars, op->results + n_types);
  if (none) return fl_val_none(s);
  if (t->kind == FL_TY_NEVER || t->kind == FL_TY_NULL) return (FlVal){.type = t, .fail = op};
  for (int p = 0, at = 0; p < n; p++)
    if (!skip[p]) parts[p] = op->results[at++];
  for (int k = 0; t->kind == FL_TY_ARRAY && sizes[0] && k < t->rank; k++)
    fl_sema_alias(s, fl_ir_dim(&s->b, parts[0], k), sizes[k]);
  return fl_val_make(s, t, parts);
}

/* ---- conditions by element ---- */

/* A branch: its value, and the last op before those that made it. */
typedef struct FlChoice {
  FlVal value;
  FlLazyMark mark;
  FlSpan span;
} FlChoice;

/* Arrays that branches built: by MAPs of region `here` after `mark`, or by IFs whose sides have such MAPs;
 * and their elements that are made already.
 */
typedef struct Made {
  FlValue *array, *const *index, *element;
} Made;
typedef struct Building {
  FlMap *ops; /* as a set */
  FlVec(Made) made;
} Building;

static Building building_after(FlSema *s, const FlOp *mark, const FlRegion *here) {
  Building b = {.ops = fl_map_make(s->arena)};
  for (const FlOp *at = mark ? mark->next : here->first; at; at = at->next) {
    bool guard = s->guards && fl_map_get(s->guards, at);
    if (at->code == FL_OP_MAP || (at->code == FL_OP_IF && !guard)) fl_map_set(b.ops, at, b.ops);
  }
  return b;
}

static bool is_built(const Building *b, const FlValue *v) {
  return v->op && v->op->code == FL_OP_MAP && fl_map_get(b->ops, v->op);
}

/* May elements of an array that one condition chooses fail, also where a side is such an array? */
static bool may_fail(const FlValue *v) {
  for (int i = 0; i < 2; i++) {
    const FlValue *side = v->op->regions[i]->yields[v->index];
    const FlOp *op = side->op;
    if (!op || op->parent != v->op->regions[i]) continue;
    if (op->code == FL_OP_MAP ? fl_ir_may_fault(op) : op->code == FL_OP_IF && may_fail(side)) return true;
  }
  return false;
}

/* An array that one condition chooses, and whose elements may fail. */
static bool is_chosen(const Building *b, const FlValue *v) {
  return v->op && v->op->code == FL_OP_IF && !v->type.depth && fl_map_get(b->ops, v->op) && may_fail(v);
}

/* The element that the load op gives, if what comes before it made that. */
static FlValue *made_before(const Building *b, const FlOp *op) {
  for (int i = 0; i < b->made.n; i++) {
    const Made *m = &b->made.at[i];
    bool same = m->array == op->args[0] && fl_ir_inside(op->parent, m->element->region);
    for (int k = 1; k < op->n_args; k++) same = same && m->index[k - 1] == op->args[k];
    if (same) return m->element;
  }
  return NULL;
}

static FlValue *chosen_element(FlSema *s, FlValue *v, int n, FlValue *const *idx);

/* r is a side of an IF of the condition of iff, which is asked no more. */
static bool is_decided(const FlOp *iff, const FlRegion *r) {
  for (; r->owner; r = r->owner->parent)
    if (r->owner->code == FL_OP_IF && r->owner->args[0] == iff->args[0]) return true;
  return false;
}

/* In the ops of r behind `before`, and in the branches among them, elements of arrays that were built come
 * from the regions that make them. Returns what is `out` then. */
static FlValue *inline_loads(FlSema *s, Building *b, FlRegion *r, FlOp *before, FlValue *out) {
  for (FlOp *op = before ? before->next : r->first; op;) {
    FlOp *next = op->next;
    for (int i = 0; op->code == FL_OP_IF && i < op->n_regions; i++)
      inline_loads(s, b, op->regions[i], NULL, NULL);
    bool chosen = op->code == FL_OP_LOAD && is_chosen(b, op->args[0]) && !is_decided(op->args[0]->op, r);
    if (chosen || (op->code == FL_OP_LOAD && is_built(b, op->args[0]))) {
      FlOp *prev = op->prev;
      FlValue *with = made_before(b, op);
      if (!with) {
        FlBuilder outer = s->b;
        s->b.region = r;
        s->b.before = op;
        if (chosen) {
          with = chosen_element(s, op->args[0], op->n_args - 1, op->args + 1);
        } else {
          FlRegion *inner = op->args[0]->op->regions[0];
          FlValue **more = FL_NEW_ARRAY(s->arena, FlValue *, inner->n_yields + 1);
          fl_ir_inline_region(&s->b, inner, op->args + 1, more);
          with = more[op->args[0]->index];
        }
        s->b = outer;
        if (!with) {
          op = next;
          continue;
        }
        next = prev ? prev->next : r->first; /* what came in may hold such loads again */
      }
      fl_vec_push(s->arena, &b->made, ((Made){op->args[0], op->args + 1, with}));
      for (int i = 0; i < b->made.n; i++)
        if (b->made.at[i].element == op->results[0]) b->made.at[i].element = with;
      if (out == op->results[0]) out = with;
      fl_ir_replace_in(r, op->results[0], with); /* the ops around are not finished */
      if (next == op) next = op->next;
      fl_ir_remove(op);
    }
    op = next;
  }
  return out;
}

/* The element of array v at `idx`: from the region of the MAP that makes it, when that was built after mark.
 */
static FlValue *element(FlSema *s, FlValue *v, int n, FlValue *const *idx, FlOp *mark, FlRegion *here) {
  Building b = building_after(s, mark, here);
  FlOp *before = s->b.region->last;
  if (is_chosen(&b, v)) {
    FlValue *out = chosen_element(s, v, n, idx);
    if (out) return inline_loads(s, &b, s->b.region, before, out);
  }
  if (!is_built(&b, v) || !fl_ir_is_kernel(v->op->regions[0])) return fl_ir_load(&s->b, v, n, idx, true);
  FlRegion *body = v->op->regions[0];
  FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, body->n_yields + 1);
  fl_ir_inline_region(&s->b, body, idx, yields);
  return inline_loads(s, &b, s->b.region, before, yields[v->index]);
}

/* The element of an array that one condition chooses: an IF of that condition here, which makes the element
 * of the side that is taken. NULL: a side has a list, which no IF can do without. */
static FlValue *chosen_element(FlSema *s, FlValue *v, int n, FlValue *const *idx) {
  FlOp *iff = v->op;
  FlType1 type = fl_t_scalar((FlDtype)v->type.dtype);
  FlOp *mine = fl_ir_op(&s->b, FL_OP_IF, 1, iff->args, 1, &type, 2);
  for (int i = 0; i < 2; i++) {
    FlRegion *r = fl_ir_region(&s->b, mine, i, 0, NULL);
    FlSavedPlace saved = fl_sema_enter(s, r);
    FlValue *out = element(s, iff->regions[i]->yields[v->index], n, idx, NULL, iff->regions[i]);
    fl_ir_yield(r, s->module, 1, &out);
    fl_sema_leave(s, saved);
  }
  if (fl_guard_export(s, iff, mine)) return mine->results[0];
  fl_ir_remove(mine);
  return NULL;
}

/* A scalar that may fail and is cheap, or never comes, is evaluated in the branch that takes it: its ops are
 * moved there. For what else a branch needs: guard.c. */
static bool is_lazy(const FlVal *v, FlOp *first, const FlOp *until) {
  if (v->type->kind == FL_TY_ARRAY || v->messages) return false;
  const FlValue *levels = fl_val_levels(*v); /* which all elements share */
  bool faults = false, never = v->type->kind == FL_TY_NEVER;
  for (FlOp *op = first; op && op != until; op = op->next) {
    if ((levels && levels->op == op) || !(never || fl_guard_is_cheap(op))) return false;
    faults = faults || fl_ir_may_fault(op);
  }
  return faults;
}

/* Sizes of the result: those of the condition; where `new` made its dimension, of a branch that has its own.
 */
static bool result_sizes(FlSema *s, FlVal cond, FlChoice *sides, FlValue **sizes, unsigned *stretch) {
  int rank = cond.type->rank;
  *stretch = cond.stretch;
  for (int k = 0; k < rank; k++) sizes[k] = fl_sema_dim(s, cond, k);
  for (int i = 0; i < 2; i++) {
    FlVal v = sides[i].value.messages ? sides[i].value.messages->texts : sides[i].value;
    if (v.type->kind != FL_TY_ARRAY) continue;
    int lead = rank - v.type->rank;
    if (lead < 0) {
      fl_sema_error(s, FL_E0403, sides[i].span, "this has more dimensions than the condition");
      return false;
    }
    for (int k = lead; k < rank; k++) {
      if (v.stretch >> (k - lead) & 1) continue;
      FlValue *mine = fl_sema_dim(s, v, k - lead);
      if (*stretch >> k & 1) {
        *stretch &= ~(1u << k);
        sizes[k] = mine;
      } else if (!fl_sema_same_size(s, sizes[k], mine, sides[i].span,
                                    "the condition has {a} elements, this branch {b}")) {
        return false;
      }
    }
  }
  return true;
}

/* The type of an element of the result; kinds: the branches as elements. NULL: reported. */
static const FlType *element_type(FlSema *s, const FlChoice *sides, FlVal kinds[2]) {
  for (int i = 0; i < 2; i++) {
    kinds[i] = sides[i].value;
    const FlType *t = kinds[i].type;
    if (t->kind == FL_TY_ARRAY) {
      kinds[i].type = fl_type_scalar(s->types, t->dtype, t->nullable);
    } else if (t->kind != FL_TY_SCALAR && t->kind != FL_TY_NULL && t->kind != FL_TY_NEVER) {
      fl_sema_error(
          s, FL_E0301, sides[i].span,
          "the condition has a value for each element, so this must be a scalar or an array, not %s",
          fl_val_text(s, kinds[i]));
      return NULL;
    }
  }
  FlSpan spans[2] = {sides[0].span, sides[1].span};
  const FlType *t;
  if (!fl_val_unify(s, kinds, 2, spans, "the two branches", &t)) return NULL;
  if (t->kind == FL_TY_NEVER)
    fl_sema_error(s, FL_E0301, spans[0], "neither branch gives a value for an element");
  else if (t->kind != FL_TY_SCALAR)
    fl_sema_error(s, FL_E0503, spans[0], "nothing says which type this null has");
  return t->kind == FL_TY_SCALAR ? t : NULL;
}

/* The levels of both branches, or NULL: they have none. false: reported. */
static bool common_levels(FlSema *s, const FlChoice *sides, FlValue **levels) {
  *levels = NULL;
  for (int i = 0; i < 2; i++) {
    FlValue *mine = fl_val_levels(sides[i].value);
    if (!mine) continue;
    *levels = *levels ? fl_levels_same(s, *levels, mine, sides[i].span) : mine;
    if (!*levels) return false;
  }
  return true;
}

/* The position in v of the element that belongs to a position of the result, which has `rank` dimensions. */
static void place(FlSema *s, FlVal v, int rank, unsigned stretch, FlValue *const *position, FlValue **at) {
  int lead = rank - v.type->rank;
  for (int k = 0; k < v.type->rank; k++)
    at[k] = (v.stretch >> k & 1) && !(stretch >> (lead + k) & 1) ? fl_sema_i64(s, 0) : position[lead + k];
}

static FlVal choose_elements(FlSema *s, FlVal cond, FlChoice *sides) {
  FlRegion *here = s->b.region;
  FlOp *mark = sides[0].mark.op;
  FlVal kinds[2];
  const FlType *t = element_type(s, sides, kinds);
  if (!t) return fl_val_error(s);
  /* The first and the last op of each side (NULL: it has none), before sizes are put behind older arrays. */
  FlOp *first[2], *end[2] = {sides[1].mark.op, here->last};
  for (int i = 0; i < 2; i++) {
    FlOp *before = sides[i].mark.op;
    first[i] = end[i] == before ? NULL : before ? before->next : here->first;
  }
  int rank = cond.type->rank;
  FlValue *sizes[FL_MAX_RANK] = {0}, *at[FL_MAX_RANK], *levels;
  FlType1 i64s[FL_MAX_RANK], types[3], outs[2];
  unsigned stretch;
  if (!result_sizes(s, cond, sides, sizes, &stretch)) return fl_val_error(s);
  for (int k = 0; k < rank; k++) i64s[k] = fl_t_scalar(FL_I64);
  if (!common_levels(s, sides, &levels)) return fl_val_error(s);
  int n = fl_type_element_parts(t);
  fl_type_parts(t, types);
  for (int p = 0; p < n; p++) outs[p] = fl_t_array((FlDtype)types[p].dtype, rank);
  FlOp *map = fl_ir_op(&s->b, FL_OP_MAP, rank, sizes, n, outs, 1);
  FlRegion *r = fl_ir_region(&s->b, map, 0, rank, i64s);
  fl_by_group_say_loop(s, map, r);
  FlSavedPlace saved = fl_sema_enter(s, r);
  place(s, cond, rank, stretch, r->params, at);
  FlValue *c = fl_ir_load(&s->b, cond.parts[0], rank, at, true);
  FlOp *iff = fl_ir_op(&s->b, FL_OP_IF, 1, &c, n, types, 2);
  FlRegion *regions[2] = {fl_ir_region(&s->b, iff, 0, 0, NULL), fl_ir_region(&s->b, iff, 1, 0, NULL)};
  for (int i = 1; i >= 0; i--) {
    FlSavedPlace inner = fl_sema_enter(s, regions[i]);
    FlVal v = sides[i].value;
    if (first[i] && is_lazy(&v, first[i], end[i]->next)) {
      fl_ir_move_into(here, first[i]->prev, end[i]->next, regions[i]);
      first[i] = NULL;
    }
    if (v.type->kind == FL_TY_ARRAY) {
      FlValue *parts[2];
      place(s, v, rank, stretch, r->params, at);
      for (int p = 0; p < fl_type_element_parts(v.type); p++)
        parts[p] = element(s, v.parts[p], v.type->rank, at, mark, here);
      v = fl_val_with(s, kinds[i].type, parts, v);
    }
    if (v.messages) {
      FlMessages m = *v.messages;
      place(s, m.texts, rank, stretch, r->params, at);
      FlSpan span = s->b.span;
      s->b.span = m.span;
      v = fl_val_raise(s, element(s, m.texts.parts[0], m.texts.type->rank, at, mark, here));
      s->b.span = span;
    }
    v = fl_val_coerce(s, v, t, sides[i].span, "this branch");
    if (!fl_val_bad(v)) fl_ir_yield(regions[i], s->module, n, v.parts);
    fl_sema_leave(s, inner);
  }
  fl_ir_yield(r, s->module, n, iff->results);
  fl_sema_leave(s, saved);
  FlValue *parts[3] = {map->results[0], n > 1 ? map->results[1] : levels, levels};
  FlVal out = fl_val_make(s, fl_type_array(s->types, t->dtype, t->nullable, rank), parts);
  out.stretch = stretch;
  FlVal branches[2] = {sides[0].value, sides[1].value};
  if (rank == 2) fl_column_names_common(s, 2, branches, out);
  FlBranch parts_of[2] = {{regions[0], first[0], end[0]}, {regions[1], first[1], end[1]}};
  FlValue *outside[2] = {levels, fl_column_names(s, parts[0])};
  int n_outside = 0;
  for (int i = 0; i < 2; i++)
    if (outside[i]) outside[n_outside++] = outside[i];
  if (fl_guard_branches(s, map, parts_of, n_outside, outside))
    fl_sema_cut_aliases(s, sides[0].mark.n_aliases); /* what is known of sizes where they are evaluated */
  return out;
}

FlLazyMark fl_lazy_mark(FlSema *s) {
  FlOp *last = s->b.region->last;
  bool array = false;
  for (int i = 0; last && i < last->n_results; i++) array = array || !fl_t_is_scalar(last->results[i]->type);
  return (FlLazyMark){array ? fl_ir_const_i(&s->b, FL_BOOL, 0)->op : last, s->aliases.n};
}

/* A scalar as an array of elements that are all the same: its dimensions stretch. */
static FlVal stretched(FlSema *s, FlVal v, int rank) {
  if (v.type->kind == FL_TY_ARRAY) return v;
  FlValue *sizes[FL_MAX_RANK], *parts[2];
  for (int k = 0; k < rank; k++) sizes[k] = fl_sema_i64(s, 1);
  for (int p = 0; p < fl_type_element_parts(v.type); p++) {
    FlSemaMap map = fl_sema_map(s, rank, sizes, (FlDtype)v.parts[p]->type.dtype);
    parts[p] = fl_sema_map_end(s, &map, v.parts[p]);
  }
  FlVal out = fl_val_with(s, fl_type_array(s->types, v.type->dtype, v.type->nullable, rank), parts, v);
  out.stretch = (1u << rank) - 1;
  return out;
}

FlVal fl_sema_choose_default(FlSema *s, FlVal x, FlSpan left, FlVal e, FlLazyMark mark, FlSpan right) {
  x = stretched(s, x, e.type->rank);
  FlVal valid = fl_val_array(s, FL_BOOL, x.type->rank, x.parts[1]);
  valid.stretch = x.stretch;
  FlVal known = fl_val_plain(s, x);
  known.stretch = x.stretch;
  FlChoice sides[2] = {{known, mark, left}, {e, mark, right}};
  return choose_elements(s, valid, sides);
}

static FlVal not_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)env, (void)n, (void)span;
  return fl_val_scalar(s, FL_BOOL, fl_ir_unary(&s->b, FL_OP_NOT, args[0].parts[0]));
}

static FlVal not_all(FlSema *s, FlVal v, FlSpan span) {
  return fl_sema_lift(s, span, 1, &v, not_element, NULL);
}

FlVal fl_sema_choose_logic(FlSema *s, FlBinaryOp op, FlVal a, FlSpan left, FlVal b, FlLazyMark mark,
                           FlSpan right) {
  bool is_and = op == FL_BIN_AND, maybe = a.type->nullable;
  FlLazyMark behind = fl_lazy_mark(s); /* what decides is made behind the right side, whose ops may move */
  a = stretched(s, a, b.type->rank);
  FlVal known = fl_val_plain(s, a); /* a null is false underneath */
  known.stretch = a.stretch;
  FlVal decides = is_and ? known : not_all(s, known, left);
  if (is_and && maybe) {
    FlVal valid = fl_val_array(s, FL_BOOL, a.type->rank, a.parts[1]);
    valid.stretch = a.stretch;
    decides = fl_sema_binary(s, FL_BIN_OR, known, not_all(s, valid, left), left, left, left);
  }
  FlChoice sides[2] = {{b, mark, right}, {fl_val_bool(s, maybe ? is_and : !is_and), behind, left}};
  FlVal out = choose_elements(s, decides, sides);
  return maybe && !fl_val_bad(out) ? fl_sema_binary(s, op, a, out, left, left, right) : out;
}

FlVal fl_sema_choose(FlSema *s, FlVal cond, FlSpan span, const FlVarList *vars, FlThunk yes, FlThunk no) {
  if (fl_val_bad(cond)) return cond;
  bool fits =
      (cond.type->kind == FL_TY_SCALAR || cond.type->kind == FL_TY_ARRAY) && cond.type->dtype == FL_BOOL;
  if (!fits) {
    FlDiag *d =
        fl_sema_report(s, FL_E0315, span, "a condition must be bool, and this is %s", fl_val_text(s, cond));
    fl_habit_truth(s, d, cond, span);
    return fl_val_error(s);
  }
  if (cond.type->nullable) {
    FlDiag *d = fl_sema_report(s, FL_E0501, span, "this condition may be null, and `if` needs true or false");
    fl_diag_help(s->sink, d, "say what null means with `?? false` or `?? true`");
    return fl_val_error(s);
  }
  if (cond.type->kind == FL_TY_SCALAR) return branch(s, cond.parts[0], vars, yes, no);
  if (!no.run)
    return fl_sema_error(s, FL_E0315, span, "a condition with a value for each element needs an `else`");
  if (vars->n)
    return fl_sema_error(s, FL_E0316, span, "a branch taken element by element cannot assign `%s`",
                         vars->at[0]->name);
  FlChoice sides[2] = {{.span = yes.span}, {.span = no.span}};
  for (int i = 0; i < 2; i++) {
    sides[i].mark = fl_lazy_mark(s);
    s->by_element++;
    sides[i].value = i ? no.run(s, no.env) : yes.run(s, yes.env);
    s->by_element--;
    if (fl_val_bad(sides[i].value)) return sides[i].value;
  }
  return choose_elements(s, cond, sides);
}
