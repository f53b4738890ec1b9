/* value_check.h: whether parts that came from a file are a value of their type. */
#ifndef FL_VALUE_CHECK_H
#define FL_VALUE_CHECK_H

#include "data/value_type.h"

/* The parts are of the part types of `t`. False: columns of a table or parts of a list are of different
 * lengths, a bool is neither 0 nor 1, a text is not UTF-8, a value under a null is not zero, a NaN is not the
 * one. Digests that the arrays brought along are forgotten. */
bool fl_value_check(const FlValueType *t, const FlSlot *parts);

/* The same of parts of these types, which begin with a value of the type that the text says. False also when
 * it says none. */
bool fl_value_check_parts(const char *text, const FlType1 *types, int32_t n, const FlSlot *parts);

#endif
