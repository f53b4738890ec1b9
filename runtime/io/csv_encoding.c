/* csv_encoding.c: the text of a CSV file as UTF-8, its lines ended by line feeds.
 *
 * In: the bytes of a file. Out: the same text in UTF-8. What always holds: UTF-8 stays where it is, unchecked
 * (whoever uses a text checks it); UTF-16 is known by its byte order mark or asked for, one-byte encodings
 * are only ever asked for. Sources: The Unicode Standard 3.9 (UTF-16), the WHATWG Encoding Standard's index
 * of windows-1252 without its additions to what Microsoft defines. */
#include "io/csv_internal.h"
#include "data/data.h"

#include <string.h>

/* Windows-1252 from 0x80 to 0x9f; 0: not defined. */
static const uint16_t windows_1252[32] = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                          0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
                                          0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                          0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* What stands at [begin, to) of the new text is its last line so far. */
static bool not_text(const FlCsvFile *f, const char *begin, const char *to, const char *what, unsigned code,
                     FlIoError *e) {
  int64_t line = 1;
  for (const char *s = begin; (s = memchr(s, '\n', (size_t)(to - s))); s++) line++;
  fl_io_error(e, FL_E_UTF8, "`%s` line %lld: %X is not part of %s text", f->path, (long long)line, code,
              what);
  e->line = line;
  return false;
}

static bool room_for(FlCtx *ctx, FlCsvFile *f, int64_t bytes, FlIoError *e) {
  f->keep = fl_buffer_new(ctx, bytes + 80);
  return f->keep || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
}

static void done(FlCsvFile *f, char *to) {
  f->text = f->keep->data;
  f->len = to - f->text;
  memset(to, 0, 80);
}

/* Each byte is a code point, but for those from 0x80 to 0x9f in Windows-1252. */
static bool from_bytes(FlCtx *ctx, FlCsvFile *f, bool windows, FlIoError *e) {
  const unsigned char *s = (const unsigned char *)f->input.data;
  int64_t n = f->input.size, wide = 0;
  for (int64_t k = 0; k < n; k++) wide += s[k] >> 7;
  if (!room_for(ctx, f, n + wide * 2, e)) return false;
  char *to = f->keep->data, *full = to + n + wide * 2;
  for (int64_t k = 0; k < n; k++) {
    uint32_t c = s[k];
    if (windows && c >= 0x80 && c < 0xa0) {
      c = windows_1252[c - 0x80];
      if (!c) return not_text(f, f->keep->data, to, "Windows-1252", s[k], e);
    }
    to = fl_utf8_put(to, c);
    if (to > full) return fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", f->path);
  }
  done(f, to);
  return true;
}

static bool from_utf16(FlCtx *ctx, FlCsvFile *f, bool big, FlIoError *e) {
  const unsigned char *s = (const unsigned char *)f->input.data, *end = s + f->input.size;
  if (f->input.size % 2)
    return fl_io_error(e, FL_E_UTF8, "`%s` has an odd number of bytes, so it is not UTF-16", f->path);
  if (!room_for(ctx, f, f->input.size / 2 * 3, e)) return false;
  char *to = f->keep->data;
  for (; s < end; s += 2) {
    uint32_t c = (uint32_t)s[big] | (uint32_t)s[!big] << 8; /* the low byte stands first, or second */
    if (c >= 0xd800 && c < 0xe000) {
      uint32_t d = s + 2 < end ? (uint32_t)s[2 + big] | (uint32_t)s[2 + !big] << 8 : 0;
      if (c >= 0xdc00 || d < 0xdc00 || d >= 0xe000) return not_text(f, f->keep->data, to, "UTF-16", c, e);
      c = 0x10000 + ((c - 0xd800) << 10) + (d - 0xdc00);
      s += 2;
    }
    to = fl_utf8_put(to, c);
  }
  done(f, to);
  return true;
}

/* The encoding that a byte order mark says, else the given one. */
static FlCsvEncoding encoding_of(const FlCsvFile *f, FlCsvEncoding given) {
  const char *s = f->input.data;
  if (f->input.size < 2 || given == FL_CSV_LATIN1 || given == FL_CSV_WINDOWS) return given;
  if (memcmp(s, "\xff\xfe", 2) == 0) return FL_CSV_UTF16LE;
  if (memcmp(s, "\xfe\xff", 2) == 0) return FL_CSV_UTF16BE;
  return given;
}

/* ---- lines that end with a carriage return only ------------------------------------------------------ */

/* Before separators and the header are known. */
static FlCsvWay way_of(const FlCsvOptions *o) {
  FlCsvWay way = fl_csv_way(o, 0);
  if (o->open & FL_CSV_SEP) way.sep = 0;
  way.returns = true;
  return way;
}

/* Whether the first line ends so: then all do. */
static bool lone_returns(const FlCsvFile *f, const FlCsvOptions *o) {
  return f->text[fl_csv_row_at(f->text, f->len, way_of(o), 0, NULL).end] == '\r';
}

bool fl_csv_own_text(FlCtx *ctx, FlCsvFile *f, FlIoError *e) {
  if (f->keep != f->input.buffer) return true;
  FlBuffer *own = fl_buffer_new(ctx, f->len + 80);
  if (!own) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", f->path);
  memcpy(own->data, f->text, (size_t)f->len);
  memset((char *)own->data + f->len, 0, 80);
  fl_buffer_unref(f->keep);
  f->keep = own;
  f->text = own->data;
  return true;
}

/* In place: the text is ours. */
static void end_with_feeds(FlCsvFile *f, const FlCsvOptions *o) {
  char *s = (char *)(uintptr_t)f->text;
  for (int64_t at = 0; at < f->len; at++) {
    at = fl_csv_row_at(s, f->len, way_of(o), at, NULL).end;
    s[at] = '\n';
  }
}

bool fl_csv_decode(FlCtx *ctx, FlCsvFile *f, const FlCsvOptions *o, FlIoError *e) {
  bool ok = true;
  switch (encoding_of(f, o->encoding)) {
  case FL_CSV_UTF8:
    f->text = f->input.data;
    f->len = f->input.size;
    f->keep = fl_buffer_ref(f->input.buffer);
    break;
  case FL_CSV_LATIN1: ok = from_bytes(ctx, f, false, e); break;
  case FL_CSV_WINDOWS: ok = from_bytes(ctx, f, true, e); break;
  case FL_CSV_UTF16LE: ok = from_utf16(ctx, f, false, e); break;
  case FL_CSV_UTF16BE: ok = from_utf16(ctx, f, true, e); break;
  }
  if (!ok) return false;
  if (f->len > 0 && f->text[f->len - 1] != '\n') ((char *)(uintptr_t)f->text)[f->len++] = '\n';
  if (f->len > 0 && lone_returns(f, o)) {
    if (!fl_csv_own_text(ctx, f, e)) return false;
    end_with_feeds(f, o);
  }
  return true;
}

bool fl_csv_not_utf8(const FlCsvFile *f, const char *column, int64_t at, int64_t len, FlIoError *e) {
  int64_t bad = at + fl_utf8_check(f->text + at, len), begin = bad;
  while (begin > 0 && f->text[begin - 1] != '\n') begin--;
  long long line = (long long)fl_csv_line_at(f, bad);
  fl_io_error(e, FL_E_UTF8, "`%s` line %lld: column `%s` is not UTF-8 text: byte %lld of the line is %02X",
              f->path, line, column, (long long)(bad - begin + 1), (unsigned char)f->text[bad]);
  fl_io_help(e, "if the file is from an older program, say encoding = \"windows-1252\" or \"latin-1\"");
  e->line = line;
  return false;
}

bool fl_csv_cut(FlInput *in, const FlCsvOptions *o) {
  FlCsvFile f = {.input = *in};
  FlCsvEncoding encoding = encoding_of(&f, o->encoding);
  bool wide = encoding == FL_CSV_UTF16LE || encoding == FL_CSV_UTF16BE;
  int step = wide ? 2 : 1, low = encoding == FL_CSV_UTF16BE;
  for (int64_t k = in->size / step * step - step; k >= 0; k -= step) {
    if ((in->data[k + low] != '\n' && in->data[k + low] != '\r') || (wide && in->data[k + !low])) continue;
    in->size = k + step;
    memset(in->data + in->size, 0, 64);
    return true;
  }
  return false;
}
