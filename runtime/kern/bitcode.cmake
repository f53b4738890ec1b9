# flowkernbc: the scalar functions as LLVM bitcode in a C array (kern/bitcode.h), for the code generator.
find_program(CLANG19 NAMES clang-19 HINTS /usr/lib/llvm-19/bin REQUIRED)
set(KERN_GEN ${CMAKE_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${KERN_GEN})
add_custom_command(
  OUTPUT ${KERN_GEN}/kern.bc ${KERN_GEN}/kern_bitcode.c
  COMMAND ${CLANG19} -std=gnu17 -O1 -S -emit-llvm -o ${KERN_GEN}/kern.clang.ll -D_GNU_SOURCE -ffp-contract=off
          -fno-math-errno -fno-strict-aliasing -fno-stack-protector -fno-asynchronous-unwind-tables -fno-vectorize
          -fno-slp-vectorize -fno-unroll-loops -fomit-frame-pointer -MD -MF ${KERN_GEN}/kern.d -MT ${KERN_GEN}/kern.bc
          -I ${CMAKE_CURRENT_SOURCE_DIR} -I ${CMAKE_CURRENT_SOURCE_DIR}/include
          ${CMAKE_CURRENT_SOURCE_DIR}/kern/bitcode.c
  COMMAND sed -f ${CMAKE_CURRENT_SOURCE_DIR}/kern/bitcode.sed ${KERN_GEN}/kern.clang.ll > ${KERN_GEN}/kern.ll
  COMMAND ${CLANG19} -O0 -Xclang -disable-llvm-passes -Wno-override-module -x ir -c -emit-llvm -o ${KERN_GEN}/kern.bc
          ${KERN_GEN}/kern.ll
  COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/kern/bitcode.sh ${KERN_GEN}/kern.bc > ${KERN_GEN}/kern_bitcode.c
  DEPENDS kern/bitcode.c kern/bitcode.sed kern/bitcode.sh
  DEPFILE ${KERN_GEN}/kern.d
  VERBATIM)
add_library(flowkernbc STATIC ${KERN_GEN}/kern_bitcode.c)
