/* command_lsp.c: flowc lsp: the language server, on standard input and output. */
#include "cli/commands.h"

#include "cli/sample.h"
#include "cli/words.h"
#include "lsp/lsp.h"

#include <stdio.h>
#include <unistd.h>

int fl_command_lsp(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_LSP, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  if (isatty(STDIN_FILENO))
    fputs(
        "flowc lsp: this is for editors, which start it and talk to it (editors/README.md); Ctrl-D ends it\n",
        stderr);
  return fl_lsp_serve(STDIN_FILENO, STDOUT_FILENO, fl_sample_show);
}
