/* command_version.c: flowc version: which flow this is; of a binary, what made it; of a script, what a binary
 * of it would say, so that both can be compared. */
#include "cli/commands.h"
#include "driver.h"

#include "flow/version.h"
#include "cli/version.h"
#include "cli/words.h"

static int version_of(const char *path) {
  size_t n = strlen(path);
  if (strcmp(path, "-") != 0 && (n <= 5 || strcmp(path + n - 5, ".flow") != 0)) return fl_tool_version(path);
  FlCompilation c = {0};
  int status = fl_compilation_init(&c, path);
  if (!status) status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_PORTABLE, .test = -1});
  if (!status) fl_version_print(path, c.sema.module->about);
  fl_compilation_reset(&c);
  return status;
}

int fl_command_version(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_VERSION, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  if (!w.n_operands) return printf("flow %s\n", FL_FLOW_VERSION), 0;
  status = 0;
  for (int i = 0; i < w.n_operands; i++) {
    int one = version_of(w.operands[i]);
    if (one > status) status = one;
  }
  return status;
}
