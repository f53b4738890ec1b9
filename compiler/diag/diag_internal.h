/* diag_internal.h: what the generated file of pages offers to the rest of the room. */
#ifndef FL_DIAG_INTERNAL_H
#define FL_DIAG_INTERNAL_H

/* The text of docs/errors/<name>.md as it was when the compiler was built, or NULL. */
const char *fl_diag_page_text(const char *name);

#endif
