/* llvm_features.c: which features of processors code for a processor may use.
 *
 * In: the processor that a generator makes code for. Out: a mask of runtime/base/features.h. LLVM's C
 * interface does not list features, but its inliner knows them: a function that needs one goes only into a
 * function of a processor that has it. So there is one small function for each feature, and where its call is
 * gone, the processor has it. */
#include "codegen/llvm_internal.h"

#include "base/features.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdio.h>

static const char *const names[] = {
#define FL_FEATURE(id, name, word, bit, state) name,
#include "base/features.def"
#undef FL_FEATURE
};

static void attribute(FlGen *g, Val fn, const char *name, const char *value) {
  LLVMAddAttributeAtIndex(
      fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(g->cx, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

/* A function that needs the feature, and one of the processor that calls it. */
static Val add_pair(FlGen *g, LLVMModuleRef mod, LLVMBuilderRef b, const char *feature) {
  char text[64];
  Ty type = LLVMFunctionType(g->i32, &g->i32, 1, false);
  Val needs = LLVMAddFunction(mod, "needs", type), asks = LLVMAddFunction(mod, "asks", type);
  LLVMSetLinkage(needs, LLVMInternalLinkage);
  attribute(g, needs, "target-cpu", "x86-64");
  snprintf(text, sizeof text, "+%s", feature);
  attribute(g, needs, "target-features", text);
  attribute(g, asks, "target-cpu", g->cpu);
  if (*g->features) attribute(g, asks, "target-features", g->features);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(g->cx, needs, ""));
  LLVMBuildRet(b, LLVMGetParam(needs, 0));
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(g->cx, asks, ""));
  Val x = LLVMGetParam(asks, 0);
  LLVMBuildRet(b, LLVMBuildCall2(b, type, needs, &x, 1, ""));
  return asks;
}

uint64_t fl_ll_features(FlGen *g) {
  /* LLVM describes a processor anew for each set of features, which takes longer than the rest of a short
   * program. */
  if (!g->options.cpu_name && g->options.cpu == FL_CPU_PORTABLE) return FL_FEATURES_LEAST;
  LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("features", g->cx);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(g->cx);
  Val asks[FL_N_FEATURES];
  LLVMSetModuleDataLayout(mod, g->layout);
  for (int i = 0; i < FL_N_FEATURES; i++) asks[i] = add_pair(g, mod, b, names[i]);
  LLVMDisposeBuilder(b);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(mod, "cgscc(inline)", g->tm, options);
  LLVMDisposePassBuilderOptions(options);
  uint64_t mask = 0;
  if (error) {
    char *text = LLVMGetErrorMessage(error);
    fl_ll_fail(g, "%s", text);
    LLVMDisposeErrorMessage(text);
  }
  for (int i = 0; !error && i < FL_N_FEATURES; i++) {
    Val first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(asks[i]));
    if (!LLVMIsACallInst(first)) mask |= UINT64_C(1) << i;
  }
  LLVMDisposeModule(mod);
  return mask;
}
