/* command_test.c: flowc test: every test block of the given files, each in a process of its own.
 *
 * A test is a program whose main is the block, run as `flowc run` would without a store; it passes when
 * that ends with status 0. Its output is shown only when it fails. As many run at the same time as there are
 * processors; what is printed is in the order of the files. */
#include "cli/commands.h"
#include "driver.h"

#include "sched/sched.h"
#include "cli/program.h"
#include "cli/scripts.h"
#include "cli/verdicts.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Test {
  const char *file, *name;
  const FlText1 *text; /* of the file */
  int index, line;     /* which block of the file, and where it stands */
  FILE *said;
  pid_t pid;
} Test;

typedef FlVec(Test) Tests;

/* In the child: runs one block; the exit status. */
static int run_test(const Test *t, bool interp) {
  FlCompilation c;
  fl_compilation_init_text(&c, t->file, t->text);
  FlBuildOptions build = {.level = 1, .cpu = FL_CPU_HOST, .test = t->index};
  char *argv[] = {(char *)(uintptr_t)t->file, "--quiet", "--no-cache", "--workers", "1", NULL};
  int status = (interp ? fl_program_interpret : fl_program_run)(&c, &build, 5, argv, NULL);
  fl_compilation_reset(&c);
  return status;
}

static void start(Test *t, bool interp) {
  fflush(stdout);
  fflush(stderr);
  t->said = tmpfile();
  t->pid = t->said ? fork() : -1;
  if (t->pid != 0) return;
  dup2(fileno(t->said), STDOUT_FILENO);
  dup2(fileno(t->said), STDERR_FILENO);
  int status = run_test(t, interp);
  fflush(stdout);
  _exit(status);
}

/* What the process printed, in the arena. */
static const char *said_by(FlArena *arena, FILE *said) {
  FlText1 text = {0};
  rewind(said);
  fl_read_stream(said, SIZE_MAX - 1, &text);
  const char *kept = fl_arena_strndup(arena, text.s ? text.s : "", text.len);
  fl_text_reset(&text);
  fclose(said);
  return kept;
}

static FlVerdict finish(FlArena *arena, Test *t) {
  FlVerdict v = {.file = t->file, .name = t->name, .line = t->line, .said = ""};
  int status = 0;
  struct rusage used = {0};
  if (t->pid < 0 || wait4(t->pid, &status, 0, &used) < 0) v.status = 4;
  else v.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  v.seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
              (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  if (t->said) v.said = said_by(arena, t->said);
  return v;
}

/* The tests of one file; where it does not compile, the verdict on it. */
static int find_tests(FlVerdicts *v, const char *file, bool silent, Tests *tests) {
  FlText1 *text = FL_NEW(v->arena, FlText1), read = {0}, said = {0};
  FlVerdict whole = {.file = file, .said = ""};
  whole.status = fl_script_read(file, &read, &said);
  if (read.s) *text = (FlText1){.s = fl_arena_strndup(v->arena, read.s, read.len), .len = read.len};
  fl_text_reset(&read);
  if (whole.status) {
    if (!silent) fprintf(stderr, "error: %s\n", said.s);
  } else {
    FlCompilation c;
    fl_compilation_init_text(&c, file, text);
    c.silent = silent;
    whole.status = fl_compile_ir(&c, &(FlBuildOptions){.level = 0, .cpu = FL_CPU_HOST, .test = -1});
    for (int i = 0; !whole.status && i < c.sema.n_tests; i++) {
      const char *name = c.sema.tests[i].name;
      Test t = {
          .file = file, .text = text, .index = i, .name = fl_arena_strndup(v->arena, name, strlen(name))};
      int column;
      fl_source_position(c.script, c.sema.tests[i].span.start, &t.line, &column);
      fl_vec_push(v->arena, tests, t);
    }
    if (!c.lacks) fl_sink_print(c.sink, &said, false);
    if (!c.lacks && whole.status) whole.messages = fl_verdict_messages(c.sink);
    fl_compilation_reset(&c);
  }
  if (said.len) whole.said = fl_arena_strndup(v->arena, said.s, said.len);
  if (whole.status) fl_vec_push(v->arena, &v->at, whole);
  fl_text_reset(&said);
  return whole.status;
}

int fl_command_test(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_TEST, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  FlVerdicts v = {.arena = fl_arena_new(), .command = FL_COMMAND_TEST};
  bool json = w.flags[FL_FLAG_JSON] != NULL, interp = w.flags[FL_FLAG_INTERP] != NULL;
  FlScriptList files = {0};
  Tests tests = {0};
  int worst = fl_scripts_find(v.arena, "test", w.n_operands, w.operands, &files), failed = 0;
  for (int i = 0; i < files.n; i++) {
    status = find_tests(&v, files.at[i], json, &tests);
    if (status > worst) worst = status;
  }
  failed = v.at.n;
  int at_once = fl_sched_cpus();
  for (int next = 0, done = 0; done < tests.n; done++) {
    for (; next < tests.n && next - done < at_once; next++) start(&tests.at[next], interp);
    FlVerdict one = finish(v.arena, &tests.at[done]);
    failed += one.status != 0;
    if (one.status && !json)
      printf("%s: test \"%s\" failed (status %d)\n%s", one.file, one.name, one.status, one.said);
    fl_vec_push(v.arena, &v.at, one);
  }
  if (!json) printf("%d passed, %d failed\n", v.at.n - failed, failed);
  status = fl_verdicts_write(&v, &w);
  fl_arena_free(v.arena);
  return status ? status : worst ? worst : failed ? 1 : 0;
}
