/* wire.c: see wire.h. What always holds: a frame is read whole or not at all, and written whole. */
#include "lsp/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { LONGEST_HEADER = 4096, LARGEST = 256 << 20 };

/* More bytes; false: there are none. */
static bool more(FlWire *w) {
  char bytes[1 << 16];
  ssize_t n;
  do n = read(w->in, bytes, sizeof bytes);
  while (n < 0 && errno == EINTR);
  if (n > 0) fl_text_add(&w->got, bytes, (size_t)n);
  return n > 0;
}

static void drop(FlWire *w, size_t n) {
  w->got.len -= n;
  memmove(w->got.s, w->got.s + n, w->got.len + 1);
}

/* Takes a line of the header: its length without what ends it, or -1: the input ends. What is too long for a
 * header is a line. */
static long line(FlWire *w, char out[LONGEST_HEADER]) {
  for (;;) {
    const char *end = w->got.len ? memchr(w->got.s, '\n', w->got.len) : NULL;
    size_t n = end ? (size_t)(end - w->got.s) : w->got.len;
    if (end || n >= LONGEST_HEADER) {
      size_t kept = n < LONGEST_HEADER ? n : LONGEST_HEADER - 1;
      memcpy(out, w->got.s, kept);
      drop(w, n + (end != NULL));
      if (kept && out[kept - 1] == '\r') kept--;
      out[kept] = '\0';
      return (long)kept;
    }
    if (!more(w)) return -1;
  }
}

FlWireGot fl_wire_read(FlWire *w, json_t **message, char why[JSON_ERROR_TEXT_LENGTH]) {
  static const char name[] = "Content-Length:";
  char header[LONGEST_HEADER];
  long n, length = -1;
  *message = NULL;
  while ((n = line(w, header)) >= 0 && !(n == 0 && length >= 0)) {
    if (strncasecmp(header, name, sizeof name - 1) != 0) continue;
    char *end;
    length = strtol(header + sizeof name - 1, &end, 10);
    if (*end || length > LARGEST) length = -1;
  }
  if (n < 0) return FL_WIRE_END;
  while (w->got.len < (size_t)length)
    if (!more(w)) return FL_WIRE_END;
  json_error_t e;
  *message = json_loadb(w->got.s ? w->got.s : "", (size_t)length, 0, &e);
  if (length) drop(w, (size_t)length);
  if (*message) return FL_WIRE_MESSAGE;
  memcpy(why, e.text, sizeof e.text);
  return FL_WIRE_NO_JSON;
}

bool fl_wire_waits(const FlWire *w) {
  struct pollfd p = {.fd = w->in, .events = POLLIN};
  return w->got.len > 0 || (poll(&p, 1, 0) > 0 && (p.revents & POLLIN));
}

static void put(FlWire *w, const char *bytes, size_t n) {
  while (n && !w->lost) {
    ssize_t done = write(w->out, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    w->lost = done <= 0;
    if (w->lost) break;
    bytes += done;
    n -= (size_t)done;
  }
}

void fl_wire_write(FlWire *w, json_t *message) {
  char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
  json_decref(message);
  if (!text) fl_no_memory();
  char header[64];
  size_t length = strlen(text);
  put(w, header, (size_t)snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", length));
  put(w, text, length);
  free(text);
}

void fl_wire_reset(FlWire *w) { fl_text_reset(&w->got); }
