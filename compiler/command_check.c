/* command_check.c: flowc check: everything that can be said about scripts without running them. */
#include "commands.h"
#include "driver.h"

int fl_command_check(int n_words, char **words) {
  if (n_words == 0) {
    fputs("usage: flowc check FILE.flow ...\n", stderr);
    return 2;
  }
  int worst = 0;
  for (int i = 0; i < n_words; i++) {
    if (words[i][0] == '-') {
      fprintf(stderr, "flowc check: there is no option `%s`\n", words[i]);
      return 2;
    }
    FlCompilation c = {0};
    int status = fl_compilation_init(&c, words[i]);
    if (!status) status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_HOST, .test = -1});
    fl_compilation_reset(&c);
    if (status > worst) worst = status;
  }
  return worst;
}
