/* value_text.h: types of the language as the texts of data/value_type.h, and back. */
#ifndef FL_VALUE_TEXT_H
#define FL_VALUE_TEXT_H

#include "sema/state.h"

/* NULL: no value of this type can be in a file; *part then says what cannot. */
const char *fl_value_text(FlSema *s, const FlType *t, const FlType **part);
/* NULL: no such type. */
const FlType *fl_value_text_type(FlSema *s, const char *text);

#endif
