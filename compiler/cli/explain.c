/* explain.c: flowc explain. In: a code such as E0102, 102, or a name. Out: its page, what the name means, or
 * the list of all codes. */
#include "cli/describe.h"
#include "cli/front_tools.h"
#include "diag/diag.h"

#include <ctype.h>

/* As it is written in messages, or its digits alone. */
static bool find_code(const char *word, FlDiagCode *code) {
  if (fl_diag_find(word, code)) return true;
  char name[16];
  size_t n = strlen(word);
  for (size_t k = 0; k < n; k++)
    if (n > 4 || !isdigit((unsigned char)word[k])) return false;
  for (const char *kind = "EW"; n && *kind; kind++) {
    snprintf(name, sizeof name, "%c%.*s%s", *kind, (int)(4 - n), "0000", word);
    if (fl_diag_find(name, code)) return true;
  }
  return false;
}

static const char *closest_code(const char *word) {
  const char *names[FL_N_DIAGS];
  for (int i = 0; i < FL_N_DIAGS; i++) names[i] = fl_diag_name((FlDiagCode)i);
  return fl_closest(word, names, FL_N_DIAGS);
}

int fl_tool_explain(const char *name) {
  if (!name) {
    for (int i = 0; i < FL_N_DIAGS; i++)
      printf("%s  %s\n", fl_diag_name((FlDiagCode)i), fl_diag_title((FlDiagCode)i));
    return 0;
  }
  FlDiagCode code;
  if (!find_code(name, &code)) {
    FlArena *arena = fl_arena_new();
    const char *near;
    bool known = fl_describe_name(arena, name, &near);
    if (!known)
      fprintf(stderr, "error: no message has the code %s, and nothing of flow or its library has that name\n",
              name);
    if (!known && !near) near = closest_code(name);
    if (!known && near) fprintf(stderr, "  help: did you mean %s?\n", near);
    fl_arena_free(arena);
    return known ? 0 : 2;
  }
  const char *page = fl_diag_page(code);
  if (page) fputs(page, stdout);
  else printf("# %s: %s\n", fl_diag_name(code), fl_diag_title(code));
  return 0;
}
