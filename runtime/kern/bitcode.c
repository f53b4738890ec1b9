/* bitcode.c: the scalar functions for the code generator: each external, and inlined into whatever calls it.
 *
 * Compiled by clang to LLVM's text form, without target features, and then made into the bytes
 * fl_kern_bitcode (CMakeLists.txt): definitions become linkonce_odr, so that linking takes only what is used,
 * and attributes that name a target or carry settings of this compilation are removed, so that inlining into
 * a function for any CPU is allowed and cannot change it. Not part of any library. */
#define FL_KERN __attribute__((always_inline))
#define FL_KERN_SHARED __attribute__((always_inline))
#include "kern/kern.h"
