/* name_text.c: see name_text.h. In: names and texts of anybody. Out: the other one. What always holds:
 * reading what was written gives the same bytes. */
#include "data/name_text.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool fl_name_is_plain(const char *name) {
  if (*name == '\0' || is_digit(*name)) return false;
  for (const char *c = name; *c; c++)
    if (!(*c == '_' || is_digit(*c) || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
          (unsigned char)*c >= 0x80))
      return false;
  return true;
}

int fl_name_escape(char c, char out[FL_NAME_ESCAPE]) {
  static const char digits[] = "0123456789abcdef";
  unsigned char byte = (unsigned char)c;
  if (c == '`' || c == '\\' || c == '\n') {
    out[0] = '\\';
    out[1] = c == '\n' ? 'n' : c;
    return 2;
  }
  if (byte >= 32 && byte != 127) {
    out[0] = c;
    return 1;
  }
  memcpy(out, "\\x", 2);
  out[2] = digits[byte >> 4];
  out[3] = digits[byte & 15];
  return 4;
}

void fl_name_write(FlBytes *out, const char *name) {
  char bytes[FL_NAME_ESCAPE];
  if (fl_name_is_plain(name)) {
    fl_bytes_addz(out, name);
    return;
  }
  fl_bytes_addz(out, "`");
  for (; *name; name++) fl_bytes_add(out, bytes, (size_t)fl_name_escape(*name, bytes));
  fl_bytes_addz(out, "`");
}

static int hex(char c) { return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

char fl_name_unescape(const char **at, const char *end) {
  const char *s = (*at)++;
  if (*s != '\\' || end - s < 2) return *s;
  if (s[1] == '`' || s[1] == '\\' || s[1] == 'n') {
    *at = s + 2;
    return s[1] == 'n' ? '\n' : s[1];
  }
  int byte = s[1] == 'x' && end - s >= 4 && hex(s[2]) >= 0 && hex(s[3]) >= 0 ? hex(s[2]) * 16 + hex(s[3]) : 0;
  if (byte) *at = s + 4;
  return byte ? (char)byte : '\\';
}

char *fl_name_read(const char **at, const char *end) {
  char *name = malloc((size_t)(end - *at) + 1), *to = name;
  while (name && *at < end && **at != '`') *to++ = fl_name_unescape(at, end);
  if (!name || *at == end) {
    free(name);
    return NULL;
  }
  *to = '\0';
  ++*at;
  return name;
}
