/* start.c: where an executable that `flowc build` made begins. Not part of libflowrt: flowc has a main of its own. */
#include "flow/abi.h"

extern const FlProgram flow_program;

int main(int argc, char **argv) { return fl_main(&flow_program, argc, argv); }
