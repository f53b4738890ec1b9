# flow_lld: the linker of `flowc build`, LLVM's lld as one static program. That of the system loads libLLVM.so, which takes as
# long as to link. It is taken where archives of lld are not installed, and where the code generator has libLLVM.so, too; and where
# flow_lld.cc, which declares what it uses of lld by itself, does not link with the archives that are there.
set(FLOW_LLD ${CMAKE_BINARY_DIR}/flow_lld)
set(LLD_ARCHIVES ${LLVM_LIBDIR}/liblldELF.a ${LLVM_LIBDIR}/liblldCommon.a)
if(LLVM_ARCHIVES AND EXISTS ${LLVM_LIBDIR}/liblldELF.a AND "${ZLIB};${ZSTD}" MATCHES "[.]a;.*[.]a$")
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libfiles debuginfodwarf object option transformutils
                  OUTPUT_VARIABLE LLD_LLVM OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(LLD_LLVM)
  set(LLD_BY "")
  if(EXISTS ${LLVM_BIN}/ld.lld)
    set(LLD_BY -fuse-ld=lld -B${LLVM_BIN})
  endif()
  set(LLD_OBJECT ${CMAKE_BINARY_DIR}/gen/flow_lld)
  add_custom_command(
    OUTPUT ${FLOW_LLD}
    COMMAND ${CLANGXX19} -std=c++17 -O2 -Wall -Wextra -Werror -MD -MF ${LLD_OBJECT}.d -MT ${FLOW_LLD} -isystem ${LLVM_INCLUDE}
            -c ${CMAKE_CURRENT_SOURCE_DIR}/codegen/flow_lld.cc -o ${LLD_OBJECT}.o
    COMMAND sh -c "\"$@\" 2>\"$0.log\" || { rm -f \"$0\"; echo \"flow_lld does not link with these archives of lld ($0.log): the system's linker links built scripts\"; }"
            ${FLOW_LLD} ${CLANGXX19} -static -s -Wl,--gc-sections ${LLD_BY} -o ${FLOW_LLD} ${LLD_OBJECT}.o ${LLD_ARCHIVES} ${LLD_LLVM} ${ZLIB} ${ZSTD}
    DEPENDS codegen/flow_lld.cc ${LLD_ARCHIVES}
    DEPFILE ${LLD_OBJECT}.d
    VERBATIM)
  add_custom_target(flow_lld ALL DEPENDS ${FLOW_LLD})
  add_dependencies(flowc flow_lld)
  install(PROGRAMS ${FLOW_LLD} DESTINATION lib/flow OPTIONAL)
else()
  file(REMOVE ${FLOW_LLD})
endif()
