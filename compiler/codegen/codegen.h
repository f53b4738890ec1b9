/* codegen.h: from a plan to native code, in three pieces that know nothing of each other.
 *
 *   objects   fl_codegen_object: FlPlan -> relocatable x86-64 ELF object that exports `flow_program`. It
 * lives in the shared module libflow_llvm.so (the only code that sees LLVM); fl_codegen_open loads that
 * module. loading   fl_load_object: such an object -> an FlProgram in this process. No LLVM. linking fl_link:
 * such an object and libflowrt.a -> an executable file. No LLVM.
 *
 * What always holds: the object depends on the plan, the options and the processor that the options name, on
 * nothing else, so it can be remembered by content. Optimisation changes no bit of any result. */
#ifndef FL_CODEGEN_H
#define FL_CODEGEN_H

#include "flow/abi.h"
#include "base/base.h"
#include "diag/diag.h"
#include "ir/ir.h"
#include "plan/plan.h"

/* ---- objects ------------------------------------------------------------------------------------------- */

typedef enum FlCpu {
  FL_CPU_HOST,    /* this machine's processor: code for it may stop elsewhere with an illegal instruction */
  FL_CPU_PORTABLE /* x86-64-v2, and kernels also for v3 and v4, chosen when they run */
} FlCpu;

typedef enum FlEmit { FL_EMIT_OBJECT, FL_EMIT_LLVM, FL_EMIT_ASM } FlEmit;

/* A place in the source that code refers to by its number. */
typedef struct FlCodeSite {
  FlSpan span;
  FlFaultText said;
  const char *callee; /* of a call's place; else NULL */
} FlCodeSite;

/* Functions whose code is remembered by itself, and joined with that of others (units.c). It refers to the
 * tables of the program by names: its first place is number `flow.at.NAME`, a stage `flow.stage.NAME`. */
typedef struct FlCodeUnit {
  const char *name; /* of the first function */
  const FlFunc *const *funcs;
  int n_funcs;
  FlText1 sites; /* out: its places in their order, as fl_code_site_put has them; the caller's to reset */
} FlCodeUnit;

/* The tables of a program whose code is that of units. */
typedef struct FlCodeTables {
  const FlCodeSite *sites; /* of all units, one behind the other */
  int n_sites;
  const FlFunc *const *stages;
  int n_stages;
} FlCodeTables;

typedef struct FlCodegenOptions {
  FlCpu cpu;
  const char *cpu_name; /* an LLVM processor name instead of the host's (--mcpu), or NULL */
  int level;            /* 0: quick code, 2: optimised */
  bool linked_externs;  /* C functions are found by the linker, not when the program starts */
  bool late;   /* optimised forms of kernels are made when they pay (FlKernel.late): a run can make them */
  bool binary; /* for an executable, which may run elsewhere: it says what the processor must have */
  FlEmit emit; /* what the bytes are: ELF, or LLVM assembly or machine assembly as text */
  FlCodeUnit *const *units; /* only the functions of these; or NULL, */
  int n_units;
  const FlCodeTables *tables; /* only the tables; or NULL. Both NULL: the whole program */
  const char *
      kernel; /* only this optimised form (FlKernel.code), which is the function FL_KERNEL_NAME; then there */
  size_t kernel_size; /* is neither plan nor sources; or NULL */
} FlCodegenOptions;

#define FL_KERNEL_NAME "kernel"

/* Bytes on the heap (free), or NULL with `why`, a heap text (free), for people. */
typedef struct FlObject {
  char *bytes;
  size_t size;
  char *why;
  bool memory; /* there was none, and `why` is NULL */
} FlObject;

/* The one entry of libflow_llvm.so. Thread-safe: shares nothing between calls. The plan is of level 0 where
 * `options` is. */
typedef FlObject FlCodegenFn(const FlPlan *plan, const FlSources *sources, const FlCodegenOptions *options);
FlCodegenFn fl_codegen_object;

/* A name that stands for a number. */
typedef struct FlNumberName {
  const char *name;
  uint64_t number;
} FlNumberName;

/* One relocatable object from several that refer to each other's names, and to those of numbers. Bytes as
 * fl_codegen_object gives them; `why`: an object is damaged, or two define one name. */
FlObject fl_merge_objects(const FlObject *parts, int n, const FlNumberName *numbers, int n_numbers);

/* Of an object: its functions `own`, with what they reach; `called`, functions and numbers, stay outside.
 * NULL bytes and `why` where they reach another function or number of the program, or the object is damaged.
 */
FlObject fl_cut_object(const FlObject *object, const char *const *own, int n_own, const char *const *called,
                       int n_called);

/* Places as bytes: adds one; reads the next one and steps behind it, false: there is none, or they are
 * damaged. */
void fl_code_site_put(FlText1 *out, const FlCodeSite *site);
bool fl_code_site_take(FlArena *arena, const char **at, const char *end, FlCodeSite *out);

/* Where code of units is remembered. A key and what it stands for are bytes. */
typedef struct FlCodeStore {
  void *arg;
  bool (*get)(void *arg, const FlText1 *key, FlText1 *out); /* adds to `out`; false: it is not there */
  void (*put)(void *arg, const FlText1 *key, const FlText1 *bytes);
} FlCodeStore;

/* What `generate` makes of the plan as a whole, but of functions that the store has as they are, and what it
 * lacks is put there. */
FlObject fl_code_of_units(FlCodegenFn *generate, const FlPlan *plan, const FlSources *sources,
                          const FlCodegenOptions *options, const FlCodeStore *store);

/* Finds libflow_llvm.so beside the running program or in ../lib/flow, loads it once and gives its entry, or
 * NULL and in `why` (heap) the reason. */
FlCodegenFn *fl_codegen_open(char **why);

/* Finds a file of this installation (libflow_llvm.so, flow_lld, libflowrt.a) beside the running program, in
 * its build folder or in ../lib/flow; its path goes to `out`. */
bool fl_codegen_find(const char *file, char *out, size_t size);

/* The names that FlCodegenOptions.cpu_name may be. */
const char *const *fl_codegen_processors(int *n);

/* A name for the processor that FL_CPU_HOST means, for the key of remembered objects: features as reported by
 * cpuid, as text in `out` (at least 64 bytes). */
void fl_codegen_host_name(char *out, size_t size);

/* ---- loading ------------------------------------------------------------------------------------------- */

/* An object in memory, ready to run. Code pages are never writable while they are executable. */
typedef struct FlLoaded FlLoaded;

/* Loads a relocatable object. `bytes` need not outlive the call. NULL: it is damaged, foreign or wants a
 * symbol that the runtime does not offer, or there is no memory; `why` gets a heap text, or none for want of
 * memory. */
FlLoaded *fl_load_object(const void *bytes, size_t size, char **why);
/* The same of the object of a kernel, which is no program. */
FlLoaded *fl_load_kernel(const void *bytes, size_t size, char **why);
FlKernelFn fl_loaded_kernel(const FlLoaded *l);
const FlProgram *fl_loaded_program(const FlLoaded *l);
/* Nothing of the program may be running or be referred to by arrays (constant texts live in it). */
void fl_loaded_free(FlLoaded *l);

/* The runtime function of that name, or NULL: what loaded objects may call. */
void *fl_runtime_symbol(const char *name);

/* ---- linking ------------------------------------------------------------------------------------------- */

/* The C functions of a program, for the linker. */
typedef struct FlLinkOptions {
  const char *const *libraries; /* whose archives are linked, by short name */
  int n_libraries;
  bool dynamic; /* the program opens shared libraries itself: it is linked with the C library of the system */
} FlLinkOptions;

/* What `flowc build` does about the C functions that a module calls. When each library is a short name that
 * has an archive, no symbol is of two of them, and nothing needs DuckDB: their archives, linked_externs for
 * the object, and true. Else false. */
bool fl_link_externs(FlArena *arena, const FlModule *m, FlLinkOptions *out);

/* A linker that starts while the object is being made: to read all else is two fifths of its time. */
typedef struct FlLinker FlLinker;
/* For an object of the module. NULL: none can be started so. */
FlLinker *fl_linker_start(const FlModule *m, const FlLinkOptions *options);
void fl_linker_free(FlLinker *linker); /* ends it; NULL is allowed */

/* Links an executable that needs nothing but the kernel: static, with the parts of the runtime that are used;
 * or one that needs the C library. Written to a temporary name beside `out_path` and renamed when whole; not
 * waited for until it is on disk. `started`: for these options, or NULL; stays the caller's, and serves once.
 * false: `why` (heap) says what failed. */
bool fl_link(const FlObject *object, const char *out_path, const FlLinkOptions *options, FlLinker *started,
             char **why);

#endif
