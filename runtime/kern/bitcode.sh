#!/bin/sh
# bitcode.sh FILE: the bytes of FILE as the C array of kern/bitcode.h, on standard output.
set -eu
echo '#include "kern/bitcode.h"'
echo 'const unsigned char fl_kern_bitcode[] = {'
od -An -v -tx1 "$1" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
echo '};'
echo 'const size_t fl_kern_bitcode_size = sizeof fl_kern_bitcode;'
