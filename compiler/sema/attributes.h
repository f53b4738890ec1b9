/* attributes.h: what `@name(...)` before a function or stage says. */
#ifndef FL_SEMA_ATTRIBUTES_H
#define FL_SEMA_ATTRIBUTES_H

#include "sema/state.h"

/* Are all attributes of this declaration known, written with what they take, on what they are for, and there
 * once? false: reported. (What `@derivative` names is looked up by fl_derivative_check.) */
bool fl_attributes_check(FlSema *s, const FlStmt *decl);
/* The attribute of this name, or NULL. */
const FlAttribute *fl_attributes_find(const FlStmt *decl, const char *name);
/* Of a stage: -1: its results are never remembered, 1: always, 0: as is worth it. */
int fl_attributes_memo(const FlStmt *decl);

#endif
