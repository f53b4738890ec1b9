/* forms.h: functions of one name that differ by the declared type of their first parameter. */
#ifndef FL_SEMA_FORMS_H
#define FL_SEMA_FORMS_H

#include "sema/call.h"

/* Makes `more` a form of `first`, a function of the same name and file; false: they do not differ so. */
bool fl_forms_add(FlBinding *first, FlBinding *more);

/* The form that a call with these arguments means, `fn` itself when it is the only one. Elaborates the
 * arguments up to the one that decides. NULL: reported. */
FlBinding *fl_form_of(FlSema *s, FlBinding *fn, int n, FlActual *args);

#endif
