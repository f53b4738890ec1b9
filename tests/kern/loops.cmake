# The loops of kern/loops.c by clang, once for each vector width, as the code generator would compile them.
foreach(level v2 v3 v4)
  set(loops_object ${CMAKE_CURRENT_BINARY_DIR}/kern_loops_${level}.o)
  add_custom_command(
    OUTPUT ${loops_object}
    COMMAND ${CLANG19} -std=gnu17 -O2 -c -fPIC -march=x86-64-${level} -mprefer-vector-width=512 -ffp-contract=off
            -fno-math-errno -fno-strict-aliasing -D_GNU_SOURCE -DTABLE=loops_${level} -MD -MF ${loops_object}.d -MT
            ${loops_object} -I ${CMAKE_SOURCE_DIR}/runtime -I ${CMAKE_SOURCE_DIR}/runtime/include -o ${loops_object}
            ${CMAKE_CURRENT_SOURCE_DIR}/kern/loops.c
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kern/loops.c
    DEPFILE ${loops_object}.d
    VERBATIM)
  target_sources(unit_kern_bits PRIVATE ${loops_object})
endforeach()
