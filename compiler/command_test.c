/* command_test.c: flowc test: every test block of the given files, each in a process of its own.
 *
 * A test is compiled as a program whose main is the block, and interpreted without a store; it passes when
 * that ends with status 0. Its output is shown only when it fails. As many run at the same time as there are
 * processors; what is printed is in the order of the files. */
#include "commands.h"
#include "driver.h"

#include "exec/exec.h"
#include "interp/interp.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Test {
  const char *file, *name;
  int index; /* of its file; -1: the file itself does not compile */
  FILE *said;
  pid_t pid;
  int status;
} Test;

typedef FlVec(Test) Tests;

/* In the child: compiles and runs one block; the exit status. */
static int run_test(const Test *t) {
  FlCompilation c;
  int status = fl_compilation_init(&c, t->file);
  if (!status)
    status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_HOST, .test = t->index});
  if (!status) {
    FlInterp *in = fl_interp_make(c.arena, c.sema.module, c.sources);
    char *argv[] = {(char *)(uintptr_t)t->file, "--quiet", "--no-cache", "--workers", "1", NULL};
    status = fl_main_for(fl_interp_program(in, NULL), t->file, 5, argv);
  }
  fl_compilation_reset(&c);
  return status;
}

static void start(Test *t) {
  fflush(stdout);
  fflush(stderr);
  t->said = tmpfile();
  t->pid = t->said ? fork() : -1;
  if (t->pid != 0) return;
  dup2(fileno(t->said), STDOUT_FILENO);
  dup2(fileno(t->said), STDERR_FILENO);
  int status = run_test(t);
  fflush(stdout);
  _exit(status);
}

static void finish(Test *t) {
  int status = 0;
  if (t->pid < 0 || waitpid(t->pid, &status, 0) < 0) t->status = 4;
  else t->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void report(const Test *t) {
  printf("%s: test \"%s\" failed (status %d)\n", t->file, t->name, t->status);
  char buffer[4096];
  if (!t->said) return;
  rewind(t->said);
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, t->said)) > 0;) fwrite(buffer, 1, n, stdout);
}

/* The tests of one file; 0, or the status of why it does not compile, after the messages. */
static int find_tests(FlArena *arena, const char *file, Tests *tests) {
  FlCompilation c;
  int status = fl_compilation_init(&c, file);
  if (!status) status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_HOST, .test = -1});
  if (!status)
    for (int i = 0; i < c.sema.n_tests; i++) {
      const char *name = c.sema.tests[i].name;
      Test t = {.file = file, .index = i, .name = fl_arena_strndup(arena, name, strlen(name))};
      fl_vec_push(arena, tests, t);
    }
  fl_compilation_reset(&c);
  return status;
}

int fl_command_test(int n_words, char **words) {
  if (n_words < 1) {
    fputs("usage: flowc test FILE.flow ...\n", stderr);
    return 2;
  }
  FlArena *arena = fl_arena_new();
  Tests tests = {0};
  int worst = 0, passed = 0, failed = 0;
  for (int i = 0; i < n_words; i++) {
    int status = find_tests(arena, words[i], &tests);
    if (status) failed++;
    if (status > worst) worst = status;
  }
  long at_once = sysconf(_SC_NPROCESSORS_ONLN);
  for (int next = 0, done = 0; done < tests.n; done++) {
    for (; next < tests.n && next - done < at_once; next++) start(&tests.at[next]);
    Test *t = &tests.at[done];
    finish(t);
    if (t->status) report(t);
    *(t->status ? &failed : &passed) += 1;
    if (t->said) fclose(t->said);
  }
  printf("%d passed, %d failed\n", passed, failed);
  fl_arena_free(arena);
  return worst ? worst : failed ? 1 : 0;
}
