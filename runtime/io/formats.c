/* formats.c: the rows of flow/formats.def as data, for who asks about files and their names; and options as
 * people write them. */
#include "io/tables.h"
#include "data/number.h"

#include <string.h>
#include <strings.h>

typedef enum OptionType { TYPE_TEXT, TYPE_TEXTS, TYPE_BOOL, TYPE_LINES } OptionType;
typedef struct OptionRow {
  const char *name; /* NULL: behind the last */
  OptionType type;
} OptionRow;

#define FL_OPTION(name, TYPE) {#name, TYPE_##TYPE},
#define FL_TABLE_READER(name, title, extensions, version, holds, options, doc)                               \
  static const OptionRow options_of_##name[] = {options{NULL, TYPE_TEXT}};
#include "flow/formats.def"
#undef FL_OPTION

typedef struct ReaderRow {
  const char *name, *extensions;
  const FlTableReader *table; /* or else */
  FlIoArraysFn *arrays;
  const OptionRow *options;
} ReaderRow;

static const ReaderRow readers[] = {
#define FL_TABLE_READER(name, title, extensions, version, holds, options, doc)                               \
  {"read_" #name, extensions, &fl_read_##name, NULL, options_of_##name},
#define FL_ARRAYS_READER(name, extensions) {"read_" #name, extensions, NULL, fl_io_##name##_arrays, NULL},
#include "flow/formats.def"
};

static const struct {
  const char *name;
  const FlTableWriter *table;
} writers[] = {
#define FL_TABLE_WRITER(name, ...) {"write_" #name, &fl_write_##name},
#include "flow/formats.def"
};

static const ReaderRow *reader_named(const char *name) {
  for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
    if (strcmp(readers[k].name, name) == 0) return &readers[k];
  return NULL;
}

const FlTableReader *fl_io_table_reader(const char *name) {
  const ReaderRow *row = reader_named(name);
  return row ? row->table : NULL;
}

FlIoSchemaFn *fl_io_schema_of(const char *name) {
  const FlTableReader *reader = fl_io_table_reader(name);
  return reader ? reader->schema : NULL;
}

FlIoArraysFn *fl_io_arrays_of(const char *name) {
  const ReaderRow *row = reader_named(name);
  return row ? row->arrays : NULL;
}

FlIoCheckFn *fl_io_check_of(const char *name) {
  const FlTableReader *reader = fl_io_table_reader(name);
  if (reader) return reader->check;
  for (size_t k = 0; k < sizeof writers / sizeof *writers; k++)
    if (strcmp(writers[k].name, name) == 0) return writers[k].table->check;
  return NULL;
}

const char *fl_io_reader_of(const char *path) {
  const char *slash = strrchr(path, '/'), *point = strrchr(slash ? slash : path, '.');
  for (size_t k = 0; point && k < sizeof readers / sizeof *readers; k++) {
    for (const char *at = readers[k].extensions; *at;) {
      size_t n = strcspn(at, " ");
      if (n == strlen(point) && strncasecmp(at, point, n) == 0) return readers[k].name;
      at += n + (at[n] == ' ');
    }
  }
  return NULL;
}

/* ---- options ------------------------------------------------------------------------------------------ */

const char *fl_option_text(FlOptions options, const char *name) {
  for (int32_t k = 0; k < options.n; k++)
    if (strcmp(options.at[k].name, name) == 0) return options.at[k].text;
  return NULL;
}

static bool impossible(const FlOptionAttr *o, const char *value, const char *want, FlIoError *e) {
  return fl_io_error(e, FL_E_OPTION, "option %s = \"%s\" is not possible: %s", o->name, value, want);
}

static bool read_value(OptionType type, const char *value, FlOptionAttr *o, FlIoError *e) {
  int64_t len = (int64_t)strlen(value);
  bool yes = false;
  switch (type) {
  case TYPE_TEXT:
  case TYPE_TEXTS: o->text = value; break;
  case TYPE_BOOL:
    if (!fl_parse_bool(value, len, &yes)) return impossible(o, value, "it is true or false", e);
    o->number = yes;
    break;
  case TYPE_LINES:
    if (!fl_parse_i64(value, len, &o->number)) return impossible(o, value, "it is a number of lines", e);
    break;
  }
  return true;
}

int fl_io_option_read(const char *reader, const char *word, FlOptionAttr *out, char name[FL_IO_OPTION_NAME],
                      FlIoError *e) {
  const ReaderRow *row = reader_named(reader);
  bool found = *word == '?';
  word += found;
  const char *equals = strchr(word, '=');
  size_t len = equals ? (size_t)(equals - word) : 0;
  if (!len || len >= FL_IO_OPTION_NAME || !row || !row->options) return 0;
  memcpy(name, word, len);
  name[len] = '\0';
  for (const OptionRow *o = row->options; o->name; o++) {
    if (strcmp(o->name, name) != 0) continue;
    *out = (FlOptionAttr){.name = name, .found = found};
    return read_value(o->type, equals + 1, out, e) &&
                   (!row->table->check || row->table->check((FlOptions){out, 1}, e))
               ? 1
               : -1;
  }
  return 0;
}
