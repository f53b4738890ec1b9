/* value_check.h: whether parts that came from a file are a value of their type. */
#ifndef FL_VALUE_CHECK_H
#define FL_VALUE_CHECK_H

#include "data/value_type.h"

/* The parts are of the part types of `t`. False: columns of a table or parts of a list are of different
 * lengths, a bool is neither 0 nor 1, a text is not UTF-8, a value under a null is not zero. Digests that the
 * arrays brought along are forgotten. */
bool fl_value_check(const FlValueType *t, const FlSlot *parts);

#endif
