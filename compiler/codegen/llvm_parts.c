/* llvm_parts.c: the code of a larger program is made in parts, side by side.
 *
 * The module is generated once; kernels that do the same are made one. Each part reads it into an LLVM
 * context of its own, on a thread of its own; keeps its share of the functions and declares the others; then
 * optimises and emits what it kept, which is what takes time. What always holds: every part reads the same
 * module, so all agree on names, places and who keeps what; the number of parts depends on the program alone.
 *
 * A script is one long function that runs straight through, and the body of a loop may be as long. LLVM's
 * passes over live ranges take the square of that length and gain nothing there, so that what is not
 * optimised is a part of its own, the *baseline*, made where it was generated and without these passes:
 * loops that are too long for them are there and vectors all the same, with more loads and stores. Where
 * optimised forms of kernels are made when they pay (FlCodegenOptions.late), that is nearly all, and one part
 * is enough for the rest. */
#include "codegen/llvm_internal.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>

#include <pthread.h>
#include <stdlib.h>

enum {
  PARTS = 2,   /* of what is optimised */
  LARGE = 150, /* operators of a program that is made in parts */
  INLINED = 60 /* instructions of a scalar function, about */
};

/* ---- how many parts -------------------------------------------------------------------------------- */

static bool is_of_units(const FlCodegenOptions *options, const FlFunc *f) {
  for (int i = 0; i < options->n_units; i++)
    for (int k = 0; k < options->units[i]->n_funcs; k++)
      if (options->units[i]->funcs[k] == f) return true;
  return false;
}

/* Of several the first is the baseline. */
static int parts_of(const FlPlan *p, const FlCodegenOptions *options) {
  if (options->level == 0 || options->emit != FL_EMIT_OBJECT || options->tables) return 1;
  int n = 0;
  for (const FlFunc *f = p->module->first; f; f = f->next) {
    if (options->units && !is_of_units(options, f)) continue;
    if (fl_ir_n_of(f->body, FL_OP_EXTERN))
      return 1; /* its table is a variable, which belongs to one module */
    n += fl_ir_n_ops(f->body);
  }
  if (options->late) return 2;
  return n < LARGE && !p->wide ? 1 : 1 + PARTS;
}

/* ---- who keeps what -------------------------------------------------------------------------------- */

typedef struct Share {
  Val fn;
  int64_t cost;
  int order;
} Share;

static bool has_attribute(Val fn, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(fn, (unsigned)LLVMAttributeFunctionIndex, kind) != NULL;
}

static int64_t size_of(Val fn) {
  int64_t n = 10;
  for (Block b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
    for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
      n++;
      if (LLVMGetInstructionOpcode(v) != LLVMCall) continue;
      size_t len;
      const char *name = LLVMGetValueName2(LLVMGetCalledValue(v), &len);
      if (len > 5 && memcmp(name, "fl_s_", 5) == 0) n += INLINED;
    }
  }
  return n;
}

static int by_cost(const void *a, const void *b) {
  const Share *x = a, *y = b;
  if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
  return x->order - y->order;
}

/* The part of each definition, in the order of the module; NULL where all is of the first. The caller frees
 * it. Every part may call what another keeps. */
static unsigned char *keepers_of(FlGen *g, int n_parts) {
  FlVec(Share) shares = {0};
  int n = 0;
  for (Val fn = LLVMGetFirstFunction(g->mod); fn; fn = LLVMGetNextFunction(fn)) {
    if (LLVMIsDeclaration(fn)) continue;
    int64_t size = has_attribute(fn, "optnone") ? 0 : size_of(fn);
    if (size > 0 && size <= FL_CODE_WIDE) fl_vec_push(g->arena, &shares, ((Share){fn, size, n}));
    n++;
  }
  if (!shares.n) return NULL;
  unsigned char *keepers = calloc((size_t)n, 1);
  if (!keepers) fl_no_memory();
  qsort(shares.at, (size_t)shares.n, sizeof *shares.at, by_cost);
  int64_t sums[PARTS + 1] = {0};
  for (int i = 0; i < shares.n; i++) {
    int keeper = 1;
    for (int k = 2; k < n_parts; k++)
      if (sums[k] < sums[keeper]) keeper = k;
    sums[keeper] += shares.at[i].cost;
    keepers[shares.at[i].order] = (unsigned char)keeper;
  }
  for (Val fn = LLVMGetFirstFunction(g->mod); fn; fn = LLVMGetNextFunction(fn)) {
    if (LLVMIsDeclaration(fn)) continue;
    LLVMSetLinkage(fn, LLVMExternalLinkage);
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
  }
  return keepers;
}

/* Leaves a declaration in place of a definition. */
static void declare_only(FlGen *g, Val fn) {
  size_t len;
  const char *old = LLVMGetValueName2(fn, &len), *name = fl_arena_strndup(g->arena, old, len);
  Val other = LLVMAddFunction(g->mod, "", LLVMGlobalGetValueType(fn));
  LLVMReplaceAllUsesWith(fn, other);
  LLVMDeleteFunction(fn);
  LLVMSetValueName2(other, name, len);
  LLVMSetVisibility(other, LLVMHiddenVisibility);
}

static void keep_share(FlGen *g, const unsigned char *keepers, int part) {
  Val next;
  for (Val fn = LLVMGetFirstFunction(g->mod), last = LLVMGetLastFunction(g->mod); fn; fn = next) {
    next = fn == last ? NULL : LLVMGetNextFunction(fn);
    if (!LLVMIsDeclaration(fn) && *keepers++ != part) declare_only(g, fn);
  }
  Val program = part > 0 ? LLVMGetNamedGlobal(g->mod, "flow_program") : NULL;
  if (program) LLVMDeleteGlobal(program);
}

/* ---- a part, and all of them ----------------------------------------------------------------------- */

typedef struct Work {
  const FlPlan *plan;
  const FlSources *sources;
  const FlCodegenOptions *options;
  FlArena *arena;
  FlGen *g;                    /* whose module was generated; of the other parts */
  LLVMMemoryBufferRef bitcode; /* it is read from here; NULL: there is one part */
  unsigned char *keepers;      /* by definition, as they are in bitcode */
  int part, n_parts;
  bool baseline; /* it is of what is not optimised */
  FlObject out;
  pthread_t thread;
  bool started;
} Work;

/* Backend errors would end the process without a handler. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg) {
  FlGen *g = arg;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
  char *text = LLVMGetDiagInfoDescription(info);
  fl_ll_fail(g, "%s", text);
  LLVMDisposeMessage(text);
}

static void open_context(Work *w) {
  w->arena = fl_arena_new();
  FlGen *g = w->g = FL_NEW(w->arena, FlGen);
  g->arena = w->arena;
  g->plan = w->plan;
  g->ir = w->plan ? w->plan->module : NULL;
  g->sources = w->sources;
  g->options = *w->options;
  g->baseline = w->baseline;
  g->cx = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(g->cx, on_diagnostic, g);
  /* Of what nobody reads only functions and variables need names. */
  LLVMContextSetDiscardValueNames(g->cx, g->options.emit == FL_EMIT_OBJECT);
}

static void close_context(Work *w) {
  FlGen *g = w->g;
  if (g->error) {
    free(w->out.bytes);
    w->out = (FlObject){.why = strdup(g->error)};
  }
  if (g->tm) LLVMDisposeTargetMachine(g->tm);
  if (g->layout) LLVMDisposeTargetData(g->layout);
  if (g->kern) LLVMDisposeModule(g->kern);
  if (g->mod) LLVMDisposeModule(g->mod);
  LLVMContextDispose(g->cx);
  fl_arena_free(w->arena);
}

/* Is nothing here to be optimised? The scalar functions, which are linked later, have been. */
static bool is_quick(const FlGen *g) {
  for (Val fn = LLVMGetFirstFunction(g->mod); fn; fn = LLVMGetNextFunction(fn))
    if (!LLVMIsDeclaration(fn) && !has_attribute(fn, "optnone")) return false;
  return true;
}

/* ---- work that may find no memory (fl_guard). LLVM is left in the middle then, and what it had is lost:
 * nobody knows in what state it is. */

/* Of the module that was generated, the functions of this part alone: the bodies of others are not read. */
static void read_share(Work *w) {
  FlGen *g = w->g;
  LLVMModuleRef whole = NULL;
  LLVMMemoryBufferRef code = LLVMCreateMemoryBufferWithMemoryRange(
      LLVMGetBufferStart(w->bitcode), LLVMGetBufferSize(w->bitcode), "program", false);
  if (LLVMGetBitcodeModuleInContext2(g->cx, code, &whole)) {
    fl_ll_fail(g, "the generated module does not read");
    return;
  }
  g->mod = whole;
  keep_share(g, w->keepers, w->part);
  g->mod = LLVMModuleCreateWithNameInContext("part", g->cx);
  if (!fl_ll_target_init(g)) LLVMDisposeModule(whole);
  else if (LLVMLinkModules2(g->mod, whole)) fl_ll_fail(g, "the functions of a part do not link");
  else fl_ll_kern_read(g);
}

static void finish_part(void *arg) {
  Work *w = arg;
  if (!w->g) {
    open_context(w);
    read_share(w);
  } else if (w->keepers && !w->g->error) {
    keep_share(w->g, w->keepers, w->part);
  }
  FlGen *g = w->g;
  bool quick = !g->error && is_quick(g);
  if (fl_ll_verify(g)) fl_ll_kern_link(g);
  if (!g->error && fl_ll_optimize(g, quick)) (void)fl_ll_emit(g, &w->out);
  close_context(w);
}

static void *make_part(void *arg) {
  Work *w = arg;
  FlArena *before = w->g ? w->arena : NULL;
  if (fl_guard(finish_part, w)) return NULL;
  fl_arena_free(before);
  w->out = (FlObject){.memory = true};
  return NULL;
}

/* In the context of the first part, which goes on with it. */
static void generate(void *arg) {
  Work *first = arg;
  open_context(first);
  fl_ll_generate(first->g);
  if (first->options->level > 0 && !first->g->error) (void)fl_ll_run_passes(first->g, "mergefunc");
  if (!first->g->error && first->n_parts > 1) first->keepers = keepers_of(first->g, first->n_parts);
  if (first->keepers) first->bitcode = LLVMWriteBitcodeToMemoryBuffer(first->g->mod);
}

/* ---- an optimised form of a kernel, when it pays ---------------------------------------------------- */

static void make_kernel(void *arg) {
  Work *w = arg;
  const FlCodegenOptions *options = w->options;
  open_context(w);
  FlGen *g = w->g;
  LLVMMemoryBufferRef code =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(options->kernel, options->kernel_size, FL_KERNEL_NAME);
  if (LLVMParseBitcodeInContext2(g->cx, code, &g->mod)) fl_ll_fail(g, "the kernel does not read");
  LLVMDisposeMemoryBuffer(code);
  Val fn = g->error ? NULL : LLVMGetNamedFunction(g->mod, FL_KERNEL_NAME);
  if (!g->error && !fn) fl_ll_fail(g, "there is no kernel");
  if (!g->error && fl_ll_target_init(g)) {
    fl_ll_target_attrs(g, fn, 0);
    fl_ll_kern_read(g);
    if (fl_ll_verify(g)) fl_ll_kern_link(g);
    if (!g->error && fl_ll_optimize(g, false)) (void)fl_ll_emit(g, &w->out);
  }
  close_context(w);
}

static FlObject left(const FlCodegenOptions *options) {
  for (int i = 0; i < options->n_units; i++)
    options->units[i]->sites = (FlText1){0}; /* freed with the work */
  return (FlObject){.memory = true};
}

typedef struct Merging {
  const FlObject *parts;
  int n;
  FlObject out;
} Merging;

static void merge(void *arg) {
  Merging *m = arg;
  m->out = fl_merge_objects(m->parts, m->n, NULL, 0);
}

__attribute__((visibility("default"))) FlObject fl_codegen_object(const FlPlan *plan,
                                                                  const FlSources *sources,
                                                                  const FlCodegenOptions *options) {
  fl_ll_register();
  if (options->kernel) {
    Work kernel = {.options = options, .n_parts = 1};
    return fl_guard(make_kernel, &kernel) ? kernel.out : (FlObject){.memory = true};
  }
  if ((plan->level > 0) != (options->level > 0)) {
    static const char why[] = "the plan is of another level than the code that is wanted";
    char *said = malloc(sizeof why);
    if (said) memcpy(said, why, sizeof why);
    return (FlObject){.why = said};
  }
  int n = parts_of(plan, options);
  Work work[PARTS + 1];
  for (int i = 0; i < n; i++)
    work[i] = (Work){.plan = plan, .sources = sources, .options = options, .part = i, .n_parts = n};
  work[0].baseline = n > 1 || options->tables; /* tables are data: nothing of them is optimised */
  if (!fl_guard(generate, &work[0])) return left(options);
  LLVMMemoryBufferRef bitcode = work[0].bitcode;
  if (!bitcode) n = 1;
  for (int i = 1; i < n; i++) work[i].bitcode = bitcode, work[i].keepers = work[0].keepers;
  /* A thread takes much address space that it does not use; where that is scarce (ulimit -v), one after
   * another. */
  for (int i = 1; i < n && !fl_ll_memory_limited(); i++)
    work[i].started = pthread_create(&work[i].thread, NULL, make_part, &work[i]) == 0;
  for (int i = 0; i < n; i++)
    if (!work[i].started) make_part(&work[i]);
  for (int i = 1; i < n; i++)
    if (work[i].started) pthread_join(work[i].thread, NULL);
  if (bitcode) LLVMDisposeMemoryBuffer(bitcode);
  free(work[0].keepers);
  if (n == 1) return work[0].out;
  FlObject objects[PARTS + 1];
  Merging m = {.parts = objects, .n = n};
  for (int i = 0; i < n; i++) {
    objects[i] = work[i].out;
    m.out.memory |= objects[i].memory;
    if (!objects[i].bytes && !m.out.why) m.out.why = objects[i].why, objects[i].why = NULL;
  }
  if (!m.out.why && !m.out.memory && !fl_guard(merge, &m)) m.out = (FlObject){.memory = true};
  for (int i = 0; i < n; i++) free(objects[i].bytes), free(objects[i].why);
  return m.out;
}
