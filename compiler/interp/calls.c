/* calls.c: what leaves the interpreter: runtime operators and stages. */
#include "interp/interp_internal.h"

#include "exec/exec.h"

#include <stdlib.h>

/* The runtime operators. Weak, so that a program which holds no runtime needs none of them. */
#define FL_RUNTIME_OP(NAME, text) extern FlRuntimeOp rt_##NAME __asm__("fl_rt_" #text) __attribute__((weak));
#include "ir/runtime_ops.inc"
#undef FL_RUNTIME_OP

FlRuntimeOp *const runtime_ops[FL_N_OPS] = {
#define FL_RUNTIME_OP(NAME, text) [FL_OP_##NAME] = rt_##NAME,
#include "ir/runtime_ops.inc"
#undef FL_RUNTIME_OP
};

/* The readers and writers of formats, likewise. */
#define FL_TABLE_READER(name, ...)                                                                           \
  extern const char format_read_##name[] __asm__("fl_read_" #name) __attribute__((weak));
#define FL_TABLE_WRITER(name, ...)                                                                           \
  extern const char format_write_##name[] __asm__("fl_write_" #name) __attribute__((weak));
#include "flow/formats.def"

static const struct {
  const char *name, *at;
} formats[] = {
#define FL_TABLE_READER(name, ...) {"read_" #name, format_read_##name},
#define FL_TABLE_WRITER(name, ...) {"write_" #name, format_write_##name},
#include "flow/formats.def"
};

const void *runtime_format(const FlFormatInfo *format) {
  size_t k = 0;
  while (strcmp(formats[k].name, format->name) != 0) k++;
  return formats[k].at;
}

static FlStatus finish(Frame *f, const FlOp *op, FlStatus s, FlSlot *args, FlSlot *results) {
  for (int i = 0; i < op->n_results && s == 0; i++) define(f, op->results[i], results[i]);
  free(args);
  free(results);
  return s;
}

static FlSlot *arguments(Frame *f, const FlOp *op) {
  FlSlot *args = new_slots(op->n_args);
  for (int i = 0; args != NULL && i < op->n_args; i++) args[i] = value_of(f, op->args[i]);
  return args;
}

FlStatus run_runtime(Frame *f, const FlOp *op) {
  const FlOpDesc *desc = &note_of(f, op)->desc;
  if (desc->run == NULL)
    return fl_fail_text(f->ctx, -1, FL_CODE_INTERNAL, "bug in flow: the interpreter has no operator %s",
                        fl_op_info[op->code].name);
  FlSlot *args = arguments(f, op), *results = new_slots(op->n_results);
  FlStatus s = args == NULL || results == NULL ? no_memory(f) : 0;
  if (s == 0) s = fl_run_op(f->ctx, desc, args, results);
  return finish(f, op, s, args, results);
}

/* Started and waited for at once: the result is the same, and nothing runs beside it. */
FlStatus run_stage(Frame *f, const FlOp *op) {
  FlSlot *args = arguments(f, op), *results = new_slots(op->n_results);
  int32_t stage = (int32_t)(intptr_t)fl_map_get(f->in->stage_index, op->attrs.func) - 1;
  FlStatus s = args == NULL || results == NULL ? no_memory(f) : 0;
  if (s == 0) s = fl_stage_wait(f->ctx, fl_stage_start(f->ctx, stage, args, note_of(f, op)->site), results);
  return finish(f, op, s, args, results);
}
