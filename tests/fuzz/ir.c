/* Fuzz target: reading the text of the IR.
 *
 * Any bytes give a module that verifies, or a message, without a crash. What reads prints as a text that
 * reads again and prints the same. */
#include "ir/ir.h"

#include <stdlib.h>

static FlModule *read_text(FlArena *arena, const char *text, FlText1 *why) {
  FlSink *sink = fl_sink_make(arena, fl_sources_make(arena));
  FlModule *m = fl_ir_read(arena, text, sink);
  if (!m) fl_sink_print(sink, why, false);
  if (!m && !sink->n_errors) abort(); /* refused without a message */
  return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FlArena *arena = fl_arena_new();
  FlText1 once = {0}, again = {0}, why = {0};
  FlModule *first = read_text(arena, fl_arena_strndup(arena, (const char *)data, size), &why);
  if (first) {
    fl_ir_print(&once, first);
    FlModule *second = read_text(arena, once.s, &why);
    if (second) fl_ir_print(&again, second);
    if (!second || once.len != again.len || memcmp(once.s, again.s, once.len)) {
      fprintf(stderr, "%s\n--- printed\n%s\n--- read and printed again\n%s\n", why.s ? why.s : "", once.s,
              second ? again.s : "");
      abort();
    }
  }
  fl_text_reset(&once);
  fl_text_reset(&again);
  fl_text_reset(&why);
  fl_arena_free(arena);
  return 0;
}
