/* process.c: tests of programs run by the shell: both directions at once, ends of all kinds, no signal, no
 * zombie. */
#include "check.h"
#include "io/process.h"
#include "exec/exec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static FlProcess run(FlRun *r, const char *command, const char *input, size_t n) {
  FlProcess p = {.command = command, .input = {input, (int64_t)n}};
  check(fl_process_run(fl_run_ctx(r), -1, &p) == 0, "%s", command);
  return p;
}

static bool gave(FlProcess *p, const char *text) {
  bool same =
      p->output.len == strlen(text) && memcmp(p->output.at ? p->output.at : "", text, p->output.len) == 0;
  fl_bytes_reset(&p->output);
  return same;
}

int main(void) {
  static const FlProgram program = {.version = FL_PROGRAM_VERSION, .name = "t"};
  signal(SIGPIPE, SIG_IGN); /* as fl_main does */
  FlRun *r = fl_run_new(&program, &(FlRunOptions){.workers = 1, .quiet = true});
  size_t n = 5 << 20;
  char *big = malloc(n);
  if (!r || !big) return 4;
  for (size_t i = 0; i < n; i++) big[i] = (char)('a' + i % 23);

  FlProcess p = run(r, "cat", big, n);
  check(p.output.len == n && memcmp(p.output.at, big, n) == 0, "5 MB through cat, more than any pipe holds");
  fl_bytes_reset(&p.output);
  p = run(r, "tee /dev/stderr | wc -c", big, n);
  check(gave(&p, "5242880\n"), "three pipes at once");
  check(strlen(p.said) == FL_PROCESS_SAID && memcmp(p.said, big + n - FL_PROCESS_SAID, FL_PROCESS_SAID) == 0,
        "the end of what it said is kept");
  p = run(r, "true", big, n);
  check(gave(&p, "") && p.status == 0, "a program that reads nothing");
  p = run(r, "head -c 3", big, n);
  check(gave(&p, "abc") && p.status == 0, "a program that reads only the beginning");
  p = run(r, "cat; echo end", NULL, 0);
  check(gave(&p, "end\n"), "no input is an end of input");
  p = run(r, "exec 0<&- 1>&-; sleep 0.05; echo late >&2; exit 7", big, n);
  check(gave(&p, "") && WIFEXITED(p.status) && WEXITSTATUS(p.status) == 7 && strcmp(p.said, "late\n") == 0,
        "pipes closed long before the end");
  p = run(r, "kill -TERM $$", NULL, 0);
  check(gave(&p, "") && WIFSIGNALED(p.status) && WTERMSIG(p.status) == 15, "ended by a signal");
  p = run(r, "sleep 60 >/dev/null & echo $!; kill -9 $! 2>/dev/null", NULL, 0);
  check(p.status == 0 && p.output.len > 1, "a child in the background");
  fl_bytes_reset(&p.output);
  p = run(r, "sleep 3 >/dev/null & echo here", NULL, 0);
  check(gave(&p, "here\n"), "what holds only the messages open is not waited for");
  p = run(r, "trap 'echo caught' PIPE; kill -PIPE $$; echo on", NULL, 0);
  check(gave(&p, "caught\non\n"), "signals are as usual in the program");
  check(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no zombies");

  fl_run_free(r);
  free(big);
  return finish();
}
