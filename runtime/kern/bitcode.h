/* bitcode.h: the scalar functions of kern.h as LLVM 19 bitcode, for the code generator (library flowkernbc).
 *
 * Every header function of kern.h is defined as linkonce_odr and alwaysinline under its C name; what they
 * call beyond LLVM intrinsics is fmod, fmodf and memcmp. Set triple and data layout of the parsed module
 * before linking. */
#ifndef FL_KERN_BITCODE_H
#define FL_KERN_BITCODE_H

#include <stddef.h>

extern const unsigned char fl_kern_bitcode[];
extern const size_t fl_kern_bitcode_size;

#endif
