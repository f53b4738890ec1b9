/* csv_options.c: the options of CSV files (io.h says what they are) and their values. */
#include "io/csv_internal.h"
#include "kern/kern.h"
#include "data/number.h"

#include <string.h>
#include <strings.h>

static bool wrong(FlIoError *e, const char *name, const char *value, const char *want) {
  return fl_io_error(e, FL_E_OPTION, "option %s = \"%s\" is not possible: %s", name, value, want);
}

static bool one_byte(FlIoError *e, const char *name, const char *v, char *out) {
  if (strlen(v) != 1 || *v == '\n' || *v == '\r' || (unsigned char)*v > 127)
    return wrong(e, name, v, "it must be one ASCII character and no line end");
  *out = *v;
  return true;
}

static bool set_null(FlCsvOptions *o, const char *v, FlIoError *e) {
  if (o->n_nulls == FL_CSV_NULLS) return fl_io_error(e, FL_E_OPTION, "more than %d null texts", FL_CSV_NULLS);
  o->own_nulls = true;
  o->nulls[o->n_nulls++] = (FlText){v, (int64_t)strlen(v)};
  return true;
}

static bool set_dates(FlCsvOptions *o, const char *v, FlIoError *e) {
  const char *why;
  if (!fl_date_format_check(v, (int64_t)strlen(v), true, &why)) return wrong(e, "dates", v, why);
  o->dates = *v ? v : NULL;
  return true;
}

static bool set_encoding(FlCsvOptions *o, const char *v, FlIoError *e) {
  static const struct {
    const char *name;
    FlCsvEncoding encoding;
  } known[] = {{"utf-8", FL_CSV_UTF8},           {"utf-16", FL_CSV_UTF16LE}, {"utf-16le", FL_CSV_UTF16LE},
               {"utf-16be", FL_CSV_UTF16BE},     {"latin-1", FL_CSV_LATIN1}, {"iso-8859-1", FL_CSV_LATIN1},
               {"windows-1252", FL_CSV_WINDOWS}, {"cp1252", FL_CSV_WINDOWS}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcasecmp(v, known[k].name) != 0) continue;
    o->encoding = known[k].encoding;
    return true;
  }
  return wrong(e, "encoding", v, "it is utf-8, utf-16, utf-16le, utf-16be, latin-1 or windows-1252");
}

static bool set_skip(FlCsvOptions *o, int64_t lines, FlIoError *e) {
  char text[FL_NUMBER_ROOM + 1];
  o->skip = lines;
  if (lines >= 0) return true;
  text[fl_print_i64(text, lines)] = '\0';
  return wrong(e, "skip", text, "it is a number of lines");
}

static bool set(FlCsvOptions *o, const FlOptionAttr *option, FlIoError *e) {
  const char *name = option->name, *v = option->text;
  if (strcmp(name, "header") == 0) {
    o->header = option->number != 0;
    return true;
  }
  if (strcmp(name, "skip") == 0) return set_skip(o, option->number, e);
  if (strcmp(name, "sep") == 0) return one_byte(e, name, v, &o->sep);
  if (strcmp(name, "null") == 0) return set_null(o, v, e);
  if (strcmp(name, "dates") == 0) return set_dates(o, v, e);
  if (strcmp(name, "quote") == 0) {
    o->quoting = *v != 0;
    return !*v || one_byte(e, name, v, &o->quote);
  }
  if (strcmp(name, "decimal") == 0) {
    o->decimal = *v;
    return strcmp(v, ".") == 0 || strcmp(v, ",") == 0 || wrong(e, name, v, "it is . or ,");
  }
  if (strcmp(name, "encoding") == 0) return set_encoding(o, v, e);
  if (strcmp(name, "comment") == 0) {
    o->comment = 0;
    return !*v || one_byte(e, name, v, &o->comment);
  }
  if (strcmp(name, "duplicates") == 0) {
    o->number_names = strcmp(v, "number") == 0;
    return o->number_names || strcmp(v, "stop") == 0 || wrong(e, name, v, "it is stop or number");
  }
  o->bad_is_null = strcmp(v, "null") == 0; /* on_error, the last */
  o->collect = strcmp(v, "collect") == 0;
  return o->bad_is_null || o->collect || strcmp(v, "stop") == 0 ||
         wrong(e, name, v, "it is stop, null or collect");
}

static unsigned bit_of(const char *name) {
  static const char *const names[] = {"sep", "quote", "header", "decimal", "comment", "skip"};
  for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
    if (strcmp(name, names[k]) == 0) return 1u << k;
  return 0;
}

static bool take_all(FlOptions options, unsigned open, FlCsvOptions *o, FlIoError *e) {
  memset(o, 0, sizeof *o);
  o->sep = ',';
  o->quote = '"';
  o->decimal = '.';
  o->quoting = o->header = true;
  o->open = open;
  for (int32_t k = 0; k < options.n; k++) {
    unsigned bit = bit_of(options.at[k].name);
    o->open &= ~bit;
    if (options.at[k].found) o->compiled |= bit;
    if (!set(o, &options.at[k], e)) return false;
  }
  if (!(o->open & (FL_CSV_SEP | FL_CSV_QUOTE)) && o->quoting && o->sep == o->quote)
    return fl_io_error(e, FL_E_OPTION, "sep and quote are the same character `%c`", o->sep);
  if (!(o->open & (FL_CSV_SEP | FL_CSV_DECIMAL)) && o->decimal == o->sep) {
    fl_io_error(e, FL_E_OPTION, "sep and decimal are the same character `%c`", o->sep);
    fl_io_help(e, "files with decimal commas usually have sep = \";\"");
    return false;
  }
  if (o->comment && (o->comment == o->sep || o->comment == o->quote))
    return fl_io_error(e, FL_E_OPTION, "comment is the same character `%c` as sep or quote", o->comment);
  return true;
}

bool fl_csv_options(FlOptions options, FlCsvOptions *o, FlIoError *e) {
  return take_all(options, FL_CSV_DIALECT, o, e);
}

bool fl_csv_options_fixed(FlOptions options, FlCsvOptions *o, FlIoError *e) {
  return take_all(options, 0, o, e);
}

bool fl_csv_check(FlOptions options, FlIoError *e) {
  FlCsvOptions o = {0};
  return set(&o, &options.at[options.n - 1], e);
}

bool fl_csv_is_null(const FlCsvOptions *o, const char *s, int64_t len, bool is_text) {
  if (o->own_nulls) {
    for (int32_t k = 0; k < o->n_nulls; k++) {
      if (o->nulls[k].len == len && memcmp(o->nulls[k].ptr, s, (size_t)len) == 0) return true;
    }
    return false;
  }
  if (len == 0) return true;
  if (is_text || len > 4) return false;
  return (len == 2 && !memcmp(s, "NA", 2)) || (len == 3 && !memcmp(s, "N/A", 3)) ||
         (len == 4 && (!memcmp(s, "NULL", 4) || !memcmp(s, "null", 4)));
}
