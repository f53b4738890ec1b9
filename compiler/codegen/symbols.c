/* symbols.c: the runtime functions that loaded objects may call, by name.
 *
 * Rows: symbols.def; ir/runtime_ops.inc, which the build makes of the RUNTIME rows of ops.def;
 * flow/formats.def. Weak: a program that loads objects links all of libflowrt (--whole-archive); one that
 * only mentions this file needs none of it. */
#include "codegen/codegen.h"

#define FL_RUNTIME_OP(NAME, text) FL_SYMBOL(fl_rt_##text)
#define FL_SYMBOL(name) extern const char fl_address_##name[] __asm__(#name) __attribute__((weak));
#include "codegen/symbols.def"
#include "ir/runtime_ops.inc"
#define FL_TABLE_READER(name, ...) FL_SYMBOL(fl_read_##name)
#define FL_TABLE_WRITER(name, ...) FL_SYMBOL(fl_write_##name)
#include "flow/formats.def"
#undef FL_SYMBOL

static const struct {
  const char *name;
  const char *address;
} symbols[] = {
#define FL_SYMBOL(name) {#name, fl_address_##name},
#include "codegen/symbols.def"
#include "ir/runtime_ops.inc"
#define FL_TABLE_READER(name, ...) FL_SYMBOL(fl_read_##name)
#define FL_TABLE_WRITER(name, ...) FL_SYMBOL(fl_write_##name)
#include "flow/formats.def"
#undef FL_SYMBOL
};

void *fl_runtime_symbol(const char *name) {
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (strcmp(symbols[i].name, name) == 0) return (void *)(uintptr_t)symbols[i].address;
  return NULL;
}
