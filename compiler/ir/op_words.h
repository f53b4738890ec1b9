/* op_words.h: the words of the flags of ops.def and the classes of its families, for the files that read its
 * rows.
 */
#ifndef FL_IR_OP_WORDS_H
#define FL_IR_OP_WORDS_H

#include "ir/ir.h"

enum {
  FAULT = FL_OPF_FAULT,
  EFFECT = FL_OPF_EFFECT,
  COMMUTE = FL_OPF_COMMUTE,
  HEAP = FL_OPF_HEAP,
  NOTE = FL_OPF_NOTE,
  BLAS = FL_OPF_BLAS,
  MATHS = FL_OPF_MATHS,
  LIMIT = FL_OPF_LIMIT,
  TOTAL = FL_OPF_TOTAL,
  COUNTS = FL_OPF_COUNTS,
  LIBRARY = FL_OPF_LIBRARY,
  GROUPS = FL_OPF_GROUPS,
  WHOLE = FL_OPF_WHOLE,
  PICKS = FL_OPF_PICKS,
  CODES = FL_OPF_CODES,
  SELECTED = FL_OPF_SELECTED
};

#define FL_CLASS_OF(FAMILY) ((FlOpClass)FL_CLASS_OF_##FAMILY)
enum {
#define FL_FAMILY(NAME, CLASS) FL_CLASS_OF_##NAME = FL_CLASS_##CLASS,
#include "ir/families.def"
#undef FL_FAMILY
};

#endif
