/* llvm_target.c: processors, optimisation and emission.
 *
 * Host code of a portable program is x86-64-v2; its kernels come three times (v2, v3, v4) behind a dispatcher
 * that asks the processor each time it is called: a few nanoseconds for a partition. All levels give the same
 * bits: no contraction, no reassociation, and fma is exact with and without the instruction. */
#include "codegen/llvm_internal.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <pthread.h>
#include <stdlib.h>

static void register_once(void) {
  fl_ll_memory_register();
  /* Loop strength reduction takes a fifth of the time of making code; the loops of kernels walk arrays with
   * one index, which the processor's addresses do by themselves. Domain reassignment (of values between
   * general and mask registers) takes another quarter where functions are long, more than linear time, and
   * leaves the code of all our examples and benchmarks as it is. */
  static const char *const options[] = {"flowc", "-disable-lsr", "-disable-x86-domain-reassignment"};
  LLVMParseCommandLineOptions((int)(sizeof options / sizeof *options), options, "");
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
}

void fl_ll_register(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_once);
}

bool fl_ll_target_init(FlGen *g) {
  static const char triple[] = "x86_64-unknown-linux-gnu";
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    fl_ll_fail(g, "%s", message);
    LLVMDisposeMessage(message);
    return false;
  }
  if (g->options.cpu_name) {
    g->cpu = g->options.cpu_name;
    g->features = "";
  } else if (g->options.cpu == FL_CPU_PORTABLE) {
    g->cpu = "x86-64-v2";
    g->features = "";
  } else {
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    g->cpu = fl_arena_strndup(g->arena, cpu, strlen(cpu));
    g->features = fl_arena_strndup(g->arena, features, strlen(features));
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
  }
  LLVMCodeGenOptLevel level =
      g->options.level == 0 || g->baseline ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault;
  g->tm =
      LLVMCreateTargetMachine(target, triple, g->cpu, g->features, level, LLVMRelocPIC, LLVMCodeModelSmall);
  if (!g->tm) {
    fl_ll_fail(g, "no code generator for the processor %s", g->cpu);
    return false;
  }
  g->layout = LLVMCreateTargetDataLayout(g->tm);
  LLVMSetModuleDataLayout(g->mod, g->layout);
  LLVMSetTarget(g->mod, triple);
  return true;
}

void fl_ll_quick_attrs(FlGen *g, Val fn) {
  fl_ll_attr(g, fn, "optnone", NULL);
  fl_ll_attr(g, fn, "noinline", NULL);
}

void fl_ll_target_attrs(FlGen *g, Val fn, int level) {
  fl_ll_attr(g, fn, "nounwind", NULL);
  if (level == 0) {
    fl_ll_attr(g, fn, "target-cpu", g->cpu);
    if (*g->features) fl_ll_attr(g, fn, "target-features", g->features);
  } else {
    fl_ll_attr(g, fn, "target-cpu", level == 4 ? "x86-64-v4" : "x86-64-v3");
  }
  fl_ll_attr(g, fn, "prefer-vector-width", level == 3 ? "256" : "512");
}

Val fl_ll_dispatcher(FlGen *g, const char *name, Val v2, Val v3, Val v4) {
  Val fn = LLVMAddFunction(g->mod, name, g->kernel_fn);
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  LLVMSetUnnamedAddress(fn, LLVMGlobalUnnamedAddr);
  fl_ll_target_attrs(g, fn, 0);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(g->cx);
  Block entry = LLVMAppendBasicBlockInContext(g->cx, fn, "entry");
  LLVMPositionBuilderAtEnd(b, entry);
  Ty level_type = LLVMFunctionType(g->i32, NULL, 0, false);
  Val level = LLVMBuildCall2(b, level_type, fl_ll_extern(g, "fl_cpu_level", g->i32, NULL, 0), NULL, 0, "");
  Val forms[] = {v2, v3, v4};
  Block blocks[3];
  for (int i = 0; i < 3; i++) {
    blocks[i] = LLVMAppendBasicBlockInContext(g->cx, fn, "level");
    LLVMPositionBuilderAtEnd(b, blocks[i]);
    Val args[4];
    LLVMGetParams(fn, args);
    Val r = LLVMBuildCall2(b, g->kernel_fn, forms[i], args, 4, "");
    LLVMSetTailCall(r, true);
    LLVMBuildRet(b, r);
  }
  LLVMPositionBuilderAtEnd(b, entry);
  Val sw = LLVMBuildSwitch(b, level, blocks[0], 2);
  LLVMAddCase(sw, fl_ll_i32(g, 3), blocks[1]);
  LLVMAddCase(sw, fl_ll_i32(g, 4), blocks[2]);
  LLVMDisposeBuilder(b);
  return fn;
}

/* ---- optimisation ---------------------------------------------------------------------------------- */

/* The front end gives clean SSA with rotated loops. What is left is inlining the scalar functions, finding
 * what they have in common (two random numbers of one Philox block), forming vectors, and cleaning after
 * that. Full unrolling after the
 * vectors were made lets the 32 lanes of a reduction live in registers. */
static const char pipeline_full[] =
    "always-inline,function(sroa,instcombine<no-verify-fixpoint>,early-cse,simplifycfg,loop-vectorize,"
    "loop(loop-unroll-full),sroa,early-cse,instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),"
    "simplifycfg),globaldce";
/* Of functions too long for what takes more than linear time: combining instructions looks at all edges into
 * a block whenever one of its values changes. */
static const char pipeline_baseline[] =
    "always-inline,function(sroa,early-cse,instsimplify,simplifycfg,loop-vectorize,loop(loop-unroll-full),"
    "sroa,"
    "early-cse,instsimplify,loop-mssa(licm<allowspeculation>),simplifycfg),globaldce";
static const char pipeline_quick[] = "always-inline,globaldce";

bool fl_ll_run_passes(FlGen *g, const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(options, true);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, true);
  LLVMErrorRef error = LLVMRunPasses(g->mod, passes, g->tm, options);
  LLVMDisposePassBuilderOptions(options);
  if (error) {
    char *text = LLVMGetErrorMessage(error);
    fl_ll_fail(g, "%s", text);
    LLVMDisposeErrorMessage(text);
  }
  return !g->error;
}

bool fl_ll_verify(FlGen *g) {
  char *message = NULL;
  if (!g->error && LLVMVerifyModule(g->mod, LLVMReturnStatusAction, &message))
    fl_ll_fail(g, "generated code does not verify: %s", message);
  LLVMDisposeMessage(message);
  return !g->error;
}

bool fl_ll_optimize(FlGen *g, bool quick) {
  if (g->options.tables) return true; /* data alone */
  return fl_ll_run_passes(g, quick || g->options.level == 0 ? pipeline_quick
                             : g->baseline                  ? pipeline_baseline
                                                            : pipeline_full);
}

/* ---- emission -------------------------------------------------------------------------------------- */

/* Each function, constant and variable in a section of its own, so that units can be cut out of the object.
 */
static void own_sections(FlGen *g) {
  int n = 0;
  for (Val fn = LLVMGetFirstFunction(g->mod); fn; fn = LLVMGetNextFunction(fn))
    if (!LLVMIsDeclaration(fn)) LLVMSetSection(fn, fl_arena_printf(g->arena, ".text.%d", n++));
  for (Val v = LLVMGetFirstGlobal(g->mod); v; v = LLVMGetNextGlobal(v)) {
    const char *kind = LLVMIsGlobalConstant(v) ? ".data.rel.ro" : ".data";
    if (!LLVMIsDeclaration(v)) LLVMSetSection(v, fl_arena_printf(g->arena, "%s.%d", kind, n++));
  }
}

bool fl_ll_emit(FlGen *g, FlObject *out) {
  if (g->options.units) own_sections(g);
  if (g->options.emit == FL_EMIT_LLVM) {
    char *text = LLVMPrintModuleToString(g->mod);
    out->bytes = strdup(text);
    out->size = strlen(text);
    LLVMDisposeMessage(text);
    return out->bytes != NULL;
  }
  LLVMCodeGenFileType type = g->options.emit == FL_EMIT_ASM ? LLVMAssemblyFile : LLVMObjectFile;
  char *message = NULL;
  LLVMMemoryBufferRef buffer = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(g->tm, g->mod, type, &message, &buffer)) {
    fl_ll_fail(g, "%s", message);
    LLVMDisposeMessage(message);
    return false;
  }
  out->size = LLVMGetBufferSize(buffer);
  out->bytes = malloc(out->size + 1);
  if (!out->bytes) fl_no_memory();
  memcpy(out->bytes, LLVMGetBufferStart(buffer), out->size);
  out->bytes[out->size] = 0;
  LLVMDisposeMemoryBuffer(buffer);
  return true;
}
