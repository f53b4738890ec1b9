/* fmt_block.c: what stands between braces, formatted: blocks, if, match.
 *
 * In: trees. Out: on one line if it was written so and fits, else one statement or arm a line. */
#include "syntax/fmt_internal.h"

static uint32_t brace_of(const FlFmt *f, const FlExpr *block) {
  uint32_t at = block->span.start;
  while (f->ast->source->text[at] != '{' && at < fl_fmt_end(block)) at++;
  return at;
}

bool fl_fmt_block_breaks(const FlFmt *f, const FlExpr *block) {
  if (f->flat && !f->measuring) return false;
  if (!block->block.n) return fl_fmt_has_comment(f, block->span.start, fl_fmt_end(block));
  if (block->block.n > 1 || fl_fmt_has_comment(f, block->span.start, fl_fmt_end(block))) return true;
  const FlStmt *one = block->block.at[0];
  bool may_stand_in_line = one->kind == FL_STMT_EXPR || one->kind == FL_STMT_ASSIGN ||
                           one->kind == FL_STMT_BREAK || one->kind == FL_STMT_CONTINUE;
  return !may_stand_in_line || fl_fmt_source_breaks(f, brace_of(f, block), one->span.start);
}

void fl_fmt_block(FlFmt *f, const FlExpr *block, bool broken) {
  const FlStmtList *stmts = &block->block;
  if (f->measuring && fl_fmt_block_breaks(f, block)) f->overflow = true;
  broken = broken && !f->flat && (stmts->n || fl_fmt_block_breaks(f, block));
  fl_fmt_put(f, "{");
  if (broken) {
    f->indent += FL_FMT_STEP;
    f->pos = brace_of(f, block) + 1;
    fl_fmt_stmts(f, stmts, fl_fmt_end(block) - 1);
    f->indent -= FL_FMT_STEP;
  } else {
    for (int i = 0; i < stmts->n && !f->overflow; i++) {
      fl_fmt_put(f, i ? "; " : " ");
      fl_fmt_stmt(f, stmts->at[i]);
    }
    if (stmts->n) fl_fmt_put(f, " ");
  }
  fl_fmt_put(f, "}");
}

void fl_fmt_if(FlFmt *f, const FlExpr *e) {
  bool broken = !f->flat && !fl_fmt_fits(f, e, fl_fmt_room(f));
  for (;;) {
    fl_fmt_put(f, "if ");
    fl_fmt_operand(f, e->if_else.condition, FL_BINDS_PIPE);
    fl_fmt_put(f, " ");
    fl_fmt_block(f, e->if_else.then, broken);
    const FlExpr *next = e->if_else.otherwise;
    if (!next) return;
    fl_fmt_put(f, " else ");
    if (next->kind == FL_EXPR_BLOCK) {
      fl_fmt_block(f, next, broken);
      return;
    }
    e = next;
  }
}

void fl_fmt_match(FlFmt *f, const FlExpr *e) {
  const FlArmList *arms = &e->match.arms;
  uint32_t subject_end = fl_fmt_end(e->match.subject);
  bool lines = fl_fmt_source_breaks(f, subject_end, arms->at[0].span.start);
  if (f->measuring && lines) f->overflow = true;
  bool broken = !f->flat && (lines || !fl_fmt_fits(f, e, fl_fmt_room(f)));
  fl_fmt_put(f, "match ");
  fl_fmt_operand(f, e->match.subject, FL_BINDS_PIPE);
  fl_fmt_put(f, " {");
  f->indent += broken ? FL_FMT_STEP : 0;
  for (int i = 0; i < arms->n && !f->overflow; i++) {
    const FlArm *arm = &arms->at[i];
    if (broken) fl_fmt_line(f, arm->span.start, false);
    else fl_fmt_put(f, i ? ", " : " ");
    fl_fmt_pattern(f, arm->pattern);
    if (arm->guard) {
      fl_fmt_put(f, " if ");
      fl_fmt_operand(f, arm->guard, FL_BINDS_PIPE);
    }
    fl_fmt_put(f, " =>");
    fl_fmt_assigned(f, arm->body);
  }
  if (broken) fl_fmt_line(f, fl_fmt_end(e) - 1, false);
  else fl_fmt_put(f, " ");
  f->indent -= broken ? FL_FMT_STEP : 0;
  fl_fmt_put(f, "}");
}
