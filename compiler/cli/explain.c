/* explain.c: flowc explain. In: a code such as E0102. Out: its page, or the list of all codes. */
#include "cli/front_tools.h"
#include "diag/diag.h"

int fl_tool_explain(const char *name) {
  if (!name) {
    for (int i = 0; i < FL_N_DIAGS; i++)
      printf("%s  %s\n", fl_diag_name((FlDiagCode)i), fl_diag_title((FlDiagCode)i));
    return 0;
  }
  FlDiagCode code;
  if (!fl_diag_find(name, &code)) {
    const char *names[FL_N_DIAGS];
    for (int i = 0; i < FL_N_DIAGS; i++) names[i] = fl_diag_name((FlDiagCode)i);
    const char *near = fl_closest(name, names, FL_N_DIAGS);
    fprintf(stderr, "error: no message has the code %s\n", name);
    if (near)
      fprintf(stderr, "  help: did you mean %s (%s)?\n", near,
              fl_diag_find(near, &code) ? fl_diag_title(code) : "");
    return 2;
  }
  const char *page = fl_diag_page(code);
  if (page) fputs(page, stdout);
  else printf("# %s: %s\n", fl_diag_name(code), fl_diag_title(code));
  return 0;
}
