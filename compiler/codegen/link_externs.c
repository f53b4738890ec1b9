/* link_externs.c: how the C functions of a module get into an executable.
 *
 * In: the EXTERN ops of a module, and those that open a library. Out: the archives to link, or that the
 * program must open shared libraries when it starts. A static executable is what people expect of `flowc
 * build`, so archives come first; a library given by path or by file name has none that is known to be the
 * same. */
#include "codegen/codegen.h"

#include <unistd.h>

typedef struct Externs {
  FlVec(const FlOp *) ops; /* one a function */
  bool opens;              /* an operator opens a library when it is called */
  FlVec(const char *) libraries;
} Externs;

static bool has_archive(const char *library) {
  static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/local/lib", "/usr/lib"};
  char path[512];
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    int n = snprintf(path, sizeof path, "%s/lib%s.a", folders[i], library);
    if (n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0) return true;
  }
  return false;
}

static void add_call(FlArena *arena, Externs *x, const FlOp *op) {
  for (int i = 0; i < x->ops.n; i++) {
    const FlAttrs *a = &x->ops.at[i]->attrs;
    if (strcmp(a->s, op->attrs.s) == 0 && fl_ir_same_library(a->library, op->attrs.library)) return;
  }
  fl_vec_push(arena, &x->ops, op);
}

static void find_calls(FlArena *arena, const FlRegion *r, Externs *x) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_EXTERN) add_call(arena, x, op);
    const FlFormatInfo *format = op->attrs.format;
    x->opens = x->opens || (fl_op_info[op->code].flags & FL_OPF_LIBRARY) ||
               (format && (format->flags & FL_FORMAT_LIBRARY));
    for (int i = 0; i < op->n_regions; i++) find_calls(arena, op->regions[i], x);
  }
}

/* Adds the library of the k-th function. false: it cannot be linked in. */
static bool add_library(FlArena *arena, Externs *x, int k) {
  const FlAttrs *a = &x->ops.at[k]->attrs;
  const char *library = a->library->name;
  if (a->library->by_path || strstr(library, ".so") || !has_archive(library)) return false;
  for (int i = 0; i < k; i++)
    if (strcmp(x->ops.at[i]->attrs.s, a->s) == 0) return false; /* the same symbol of two libraries */
  for (int i = 0; i < x->libraries.n; i++)
    if (strcmp(x->libraries.at[i], library) == 0) return true;
  fl_vec_push(arena, &x->libraries, library);
  return true;
}

bool fl_link_externs(FlArena *arena, const FlModule *m, FlLinkOptions *out) {
  Externs x = {0};
  for (const FlFunc *f = m->first; f; f = f->next) find_calls(arena, f->body, &x);
  bool linked = !x.opens;
  for (int k = 0; k < x.ops.n && linked; k++) linked = add_library(arena, &x, k);
  *out = (FlLinkOptions){.dynamic = !linked};
  if (linked) *out = (FlLinkOptions){.libraries = x.libraries.at, .n_libraries = x.libraries.n};
  return linked;
}
