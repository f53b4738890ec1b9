/* formats.c: what the compiler knows of file formats: the rows of flow/formats.def as data. */
#include "ir/ir.h"

/* The words of HOLDS. */
enum {
  DURATION = FL_FORMAT_DURATION,
  ARRAYS = FL_FORMAT_ARRAYS,
  LEVELS = FL_FORMAT_LEVELS,
  LIBRARY = FL_FORMAT_LIBRARY,
  PARTS = FL_FORMAT_PARTS,
  PROGRAMS = FL_FORMAT_PROGRAMS,
  LAID = FL_FORMAT_LAID,
  AGAIN = FL_FORMAT_AGAIN,
  BY_LINES = FL_FORMAT_BY_LINES,
  COUNTED = FL_FORMAT_COUNTED
};

#define FL_OPTION(name, TYPE) {#name, FL_OPTION_##TYPE},
#define FL_TABLE_READER(name, title, extensions, version, holds, options, doc)                               \
  static const FlFormatOption options_of_read_##name[] = {options{NULL, FL_OPTION_TEXT}};
#define FL_TABLE_WRITER(name, title, version, holds, options, doc)                                           \
  static const FlFormatOption options_of_write_##name[] = {options{NULL, FL_OPTION_TEXT}};
#include "flow/formats.def"
#undef FL_OPTION

static const FlFormatInfo formats[] = {
#define FL_TABLE_READER(name, title, extensions, version, holds, options, doc)                               \
  {"read_" #name, title, version, holds, options_of_read_##name},
#define FL_TABLE_WRITER(name, title, version, holds, options, doc)                                           \
  {"write_" #name, title, version, holds, options_of_write_##name},
#include "flow/formats.def"
};

const FlFormatInfo *fl_format_find(const char *name) {
  for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
    if (strcmp(formats[k].name, name) == 0) return &formats[k];
  return NULL;
}

const FlFormatInfo *fl_format_at(int k) {
  return k < (int)(sizeof formats / sizeof *formats) ? &formats[k] : NULL;
}
