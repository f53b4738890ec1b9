# sort_vectors.o: sorting by vectors, compiled by clang for processors with AVX-512 (the header's target asks for
# the instructions of AES, too, which it does not use here). The rest of the runtime asks whether they are there.
find_program(CLANGXX19 NAMES clang++-19 HINTS /usr/lib/llvm-19/bin REQUIRED)
set(SORT_VECTORS ${CMAKE_BINARY_DIR}/gen/sort_vectors)
add_custom_command(
  OUTPUT ${SORT_VECTORS}.o
  COMMAND ${CLANGXX19} -std=c++17 -O2 -g -march=x86-64-v4 -maes -mpclmul -DHWY_COMPILE_ONLY_STATIC -fPIC -fno-exceptions
          -fno-rtti -fvisibility=hidden -MD -MF ${SORT_VECTORS}.d -MT ${SORT_VECTORS}.o
          -I ${CMAKE_CURRENT_SOURCE_DIR} -c ${CMAKE_CURRENT_SOURCE_DIR}/part/sort_vectors.cc -o ${SORT_VECTORS}.o
  DEPENDS part/sort_vectors.cc
  DEPFILE ${SORT_VECTORS}.d
  VERBATIM)
