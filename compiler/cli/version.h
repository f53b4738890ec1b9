/* version.h: flowc version FILE: which flow made a binary, of which source. */
#ifndef FL_TOOL_VERSION_H
#define FL_TOOL_VERSION_H

/* Prints what a binary says about itself (runtime/include/flow/abi.h). 0; 1: the file is no binary of flow,
 * or cannot be read, after a message. */
int fl_tool_version(const char *path);
/* Prints what a program says about itself, under the name of its file. */
void fl_version_print(const char *path, const char *about);

#endif
