# Writes the pages docs/errors/<code>.md into one C file: cmake -DPAGES_DIR=... -DOUT=... -P embed_pages.cmake
# In: a folder of Markdown. Out: fl_diag_page_text(name), which gives a page by its code's name, or NULL.
file(GLOB pages ${PAGES_DIR}/*.md)
list(SORT pages)
set(arrays "")
set(lookups "")
foreach(page ${pages})
  get_filename_component(name ${page} NAME_WE)
  file(READ ${page} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "static const char page_${name}[] = {${bytes}0};\n")
  string(APPEND lookups "  if (!strcmp(name, \"${name}\")) return page_${name};\n")
endforeach()
file(WRITE ${OUT} "/* Generated from docs/errors. */
#include <stddef.h>
#include <string.h>
#include \"diag/diag_internal.h\"

${arrays}
const char *fl_diag_page_text(const char *name) {
${lookups}  (void)name;
  return NULL;
}
")
