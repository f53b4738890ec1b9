/* earlier.c: parts of a file are read before what the script names earlier, for their keys to be asked there.
 *
 *   %a = read_table F                 %q = table_parts<i=1> G, its loop, %k
 *   %p = table_parts G                %a = read_table F, which asks for %k
 *   loop over %p, %k          ->      table_end %q
 *   table_end %p
 *   join %a, %k
 *
 * What always holds: files are still said to be wrong in the order of the script: TABLE_PARTS with i=1 fails
 * in nothing, and TABLE_END stays where it is. Between the places nothing acts on the world, so files are the
 * same. */
#include "opt/asks.h"

#include <string.h>

bool fl_asks_is_part_loop(const FlOp *op) {
  const FlOp *parts = op->code == FL_OP_MAP && op->n_args == 1 ? op->args[0]->op : NULL;
  return parts && parts->code == FL_OP_TABLE_PARTS && op->args[0]->index == 0;
}

bool fl_asks_is_of_parts(const FlOp *op) {
  const FlOp *loop = op->code == FL_OP_LIST_CONCAT ? op->args[0]->op : NULL;
  if (!loop || !fl_asks_is_part_loop(loop)) return false;
  const FlOp *made = loop->regions[0]->yields[op->args[0]->index]->op;
  return made && made->code != FL_OP_TABLE_PART;
}

FlValue *fl_asks_path(FlValue *file) {
  return file->op && file->op->code == FL_OP_FILE_OF ? file->op->args[0] : file;
}

/* Reads what is there, or computes. */
static bool leaves_files(const FlOp *op) {
  for (int i = 0; i < op->n_regions; i++)
    for (const FlOp *in = op->regions[i]->first; in; in = in->next)
      if (!leaves_files(in)) return false;
  bool reads = op->code == FL_OP_READ_TABLE || op->code == FL_OP_TABLE_PARTS ||
               op->code == FL_OP_TABLE_PART || op->code == FL_OP_TABLE_END || op->code == FL_OP_FILE_OF;
  FlOpFamily family = fl_op_info[op->code].family;
  bool outside = family == FL_FAMILY_READING || family == FL_FAMILY_WORLD || family == FL_FAMILY_CALLS;
  return reads || (!outside && !fl_ir_is_effect(op) && !fl_opt_has_note(op));
}

bool fl_asks_may_open(const FlOp *parts, const FlOp *place) {
  const FlValue *path = fl_asks_path(parts->args[0]);
  bool known = path == parts->args[0]
                   ? !path->op
                   : path->op && path->op->code == FL_OP_CONST && strcmp(path->op->attrs.s, "-") != 0;
  for (const FlOp *op = place; known && op && op != parts; op = op->next) known = leaves_files(op);
  return known;
}

void fl_asks_open_quietly(FlOp *parts) {
  FlOp *file = parts->args[0]->op;
  parts->attrs.i = 1;
  if (!file || file->code != FL_OP_FILE_OF) return;
  FlBuilder b = fl_opt_before(parts);
  FlOp *quiet = fl_ir_op(&b, FL_OP_FILE_OF, 1, file->args, 1, &file->results[0]->type, 0);
  quiet->attrs = file->attrs;
  quiet->attrs.i = 1;
  parts->args[0] = quiet->results[0];
}
