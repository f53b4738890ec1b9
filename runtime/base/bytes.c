/* bytes.c: a growable run of bytes: it doubles. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *fl_bytes_room(FlBytes *b, size_t n) {
  if (b->failed) return NULL;
  if (b->cap - b->len < n) {
    size_t cap = b->cap < 64 ? 64 : b->cap;
    while (cap - b->len < n && cap <= SIZE_MAX / 2) cap *= 2;
    char *grown = cap - b->len < n ? NULL : b->memory ? b->memory->grow(b, cap) : realloc(b->at, cap);
    if (!grown) {
      b->failed = true;
      return NULL;
    }
    b->at = grown;
    b->cap = cap;
  }
  return b->at + b->len;
}

void fl_bytes_add(FlBytes *b, const char *s, size_t n) {
  char *to = n ? fl_bytes_room(b, n) : NULL;
  if (!to) return;
  memcpy(to, s, n);
  b->len += n;
}

void fl_bytes_addz(FlBytes *b, const char *s) { fl_bytes_add(b, s, strlen(s)); }

void fl_bytes_fill(FlBytes *b, char c, size_t n) {
  char *to = fl_bytes_room(b, n);
  if (!to) return;
  memset(to, c, n);
  b->len += n;
}

void fl_bytes_addf(FlBytes *b, const char *fmt, ...) {
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, fmt, args);
  char *to = n < 0 ? NULL : fl_bytes_room(b, (size_t)n + 1);
  if (to) {
    vsnprintf(to, (size_t)n + 1, fmt, again);
    b->len += (size_t)n;
  }
  va_end(again);
  va_end(args);
}

void fl_bytes_join(FlBytes *to, const FlBytes *from) {
  to->failed |= from->failed;
  fl_bytes_add(to, from->at, from->len);
}

void fl_bytes_reset(FlBytes *b) {
  if (b->memory) b->memory->free(b);
  else free(b->at);
  *b = (FlBytes){.memory = b->memory, .owner = b->owner};
}
