/* explain_parts.c: files that are read part by part in a plan (opt/parts.c, opt/folds.c): their loops, what
 * parts are joined to, which states of aggregates they keep. */
#include "cli/explain_internal.h"

bool fl_explain_is_parts(const FlOp *loop) {
  if (loop->code != FL_OP_MAP) return false;
  const FlOp *of = loop->args[0]->op;
  if (of && of->code == FL_OP_SELECT) of = of->args[2]->op; /* one part, or all */
  return (of && of->code == FL_OP_TABLE_PARTS) || fl_plan_has_row_parts(loop);
}

bool fl_explain_asks_part(const FlOp *branch) {
  const FlOp *first = branch->code == FL_OP_IF ? branch->regions[0]->first : NULL;
  while (first && first->code != FL_OP_TABLE_PART) first = first->next;
  return first != NULL;
}

bool fl_explain_stands_for_states(const FlOp *branch) {
  return branch->code == FL_OP_IF && branch->args[0]->op && fl_explain_asks_part(branch->args[0]->op);
}

bool fl_explain_is_grouped(const FlOp *branch) {
  return branch->code == FL_OP_IF && branch->args[0]->op && branch->args[0]->op->code == FL_OP_GROUP_ROWS;
}

const FlValue *fl_explain_joined(const FlOp *op) {
  const FlOp *loop = op->code == FL_OP_LIST_CONCAT ? op->args[0]->op : NULL;
  return loop && fl_explain_is_parts(loop) ? loop->regions[0]->yields[op->args[0]->index] : NULL;
}

void fl_explain_partial(FlExplain *p, const FlOp *op) {
  FlText1 keys = {0}, states = {0};
  int at = 2, result = 1;
  for (int i = 0; i < op->attrs.n_columns; i++) {
    const FlColumnAttr *c = &op->attrs.columns[i];
    bool column = !(c->flags & FL_COLUMN_NONE), nulls = c->flags & FL_COLUMN_NULLS;
    const char *name = column ? fl_explain_name(p, op->args[at]) : NULL;
    if (!c->made) fl_text_addf(&keys, "%s%s", keys.len ? ", " : "", name ? name : "a key");
    else
      fl_text_addf(&states, "%s%s%s%s", states.len ? ", " : "", c->made, column ? " of " : "",
                   column ? name ? name : "a column" : "");
    fl_explain_set_name(p, op->results[result], c->made ? c->made : name);
    result += 1 + (c->made ? (c->flags & FL_COLUMN_SAYS) != 0 : nulls);
    if (column) at += 1 + nulls;
  }
  fl_explain_step(p, fl_explain_line(p, op->span), "partial", "%s%s%s%s", keys.len ? "by " : "",
                  keys.len ? keys.s : "all rows", states.len ? ": " : "", states.len ? states.s : "");
  fl_text_reset(&keys);
  fl_text_reset(&states);
}
