/* category.h: values of type category: codes with the levels that they are positions of; values cut into
 * parts. */
#ifndef FL_SEMA_CATEGORY_H
#define FL_SEMA_CATEGORY_H

#include "sema/state.h"

static inline bool fl_val_is_category(FlVal v) { return fl_type_is_category(v.type); }
FlValue *fl_val_levels(FlVal v); /* of a scalar or array of category; else NULL */
/* A scalar or array of `type` from parts with elements; when it is a category, of the levels of `like`. */
FlVal fl_val_with(FlSema *s, const FlType *type, FlValue *const *parts, FlVal like);
/* Codes as i32, with the nulls; and codes as a category of these levels. */
FlVal fl_category_codes(FlSema *s, FlVal v);
FlVal fl_category_of(FlSema *s, FlVal codes, FlValue *levels);
/* The texts of a category's values: TEXT, with the nulls. */
FlVal fl_category_texts(FlSema *s, FlVal v, FlSpan span);
/* Codes of texts by their levels, an error where one is no level. `text` is a scalar or array without null
 * that does not depend on the position within a comprehension. Reports. */
FlVal fl_category_encode(FlSema *s, FlVal text, FlValue *levels, FlSpan span);
/* Levels without any level that null stands for: they are the same as all others. */
FlValue *fl_levels_none(FlSema *s);
/* Makes sure that these levels are the same: nothing when known, E0262 when known to differ, else a CHECK.
 * NULL: reported; else the ones that are known better. */
FlValue *fl_levels_same(FlSema *s, FlValue *a, FlValue *b, FlSpan span);
/* Texts, with or without null, as a category whose levels are the texts that occur, in their order. */
FlVal fl_category_found(FlSema *s, FlVal texts, FlSpan span);
/* category_table.c: the row with text for category; the table of `row` from one of such texts, whose levels
 * are those that occur in the whole column; and a table with texts for its categories. */
const FlType *fl_category_text_row(FlSema *s, const FlType *row);
FlVal fl_category_table(FlSema *s, FlVal texts, const FlType *row, FlSpan span);
FlVal fl_category_text_table(FlSema *s, FlVal t, FlSpan span);
/* Do they stand for any levels: those of a null, or of what is never reached? */
bool fl_levels_are_none(const FlValue *levels);
/* Are they known to be the same without a check? */
bool fl_levels_equal(const FlValue *a, const FlValue *b);
/* v with the levels of `like`, a value of the same type (any: tuples and tables too), checked to be its own.
 */
FlVal fl_levels_adopt(FlSema *s, FlVal v, FlVal like, FlSpan span);

/* Values that a region makes for each element: what it yields are the parts with elements (fl_val_cut gives
 * their number; out NULL: it alone), levels being the same for all. fl_val_join: the value of `type`, of many
 * v side by side or of v's own type, from such parts (after the number of rows, when it is a table); its
 * levels are those of v. */
int fl_val_cut(FlVal v, FlValue **out);
FlVal fl_val_join(FlSema *s, const FlType *type, FlValue *rows, FlValue *const *parts, FlVal v);
/* Are all levels of v made outside of r? Levels that are constants are moved there. */
bool fl_levels_outside(FlSema *s, FlVal *v, const FlRegion *r);
/* The same, and reports E0264 when they are not. */
bool fl_levels_need_outside(FlSema *s, FlVal *v, const FlRegion *r, FlSpan span);

#endif
