# Makes clang's module fit to be linked into any other: see bitcode.c.
s/^define dso_local /define linkonce_odr /
s/ local_unnamed_addr / /
/^attributes /s/ "[^"]*"="[^"]*"//g
/^!llvm\.module\.flags/d
/^!llvm\.ident/d
/^source_filename/d
