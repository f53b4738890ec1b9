/* table.c: columns as the attributes of operators name them: "name:type", "name:type?" (a value and a
 * validity), "name:type[]" (an array of one size in each row). */
#include "io/io_internal.h"
#include "data/data.h"

#include <string.h>

bool fl_table_wanted(const char *text, FlTableWanted *w) {
  const char *colon = strrchr(text, ':');
  size_t len = colon ? strlen(colon + 1) : 0;
  bool nullable = len > 0 && colon[len] == '?', arrays = len > 1 && strcmp(colon + len - 1, "[]") == 0;
  FlDtype dtype = FL_N_DTYPES;
  if (!colon || !fl_dtype_named(colon + 1, len - nullable - (arrays ? 2 : 0), &dtype)) return false;
  *w = (FlTableWanted){.name = text,
                       .name_len = (int32_t)(colon - text),
                       .dtype = dtype,
                       .nullable = nullable,
                       .arrays = arrays};
  return true;
}

const FlSlot *fl_table_column(const char *text, const FlSlot *args, FlTableColumn *c) {
  const char *colon = strrchr(text, ':');
  size_t len = strlen(text);
  *c = (FlTableColumn){text, (int32_t)(colon ? (size_t)(colon - text) : len), (args++)->a, NULL};
  if (colon && text[len - 1] == '?') c->valid = (args++)->a;
  return args;
}
