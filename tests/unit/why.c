/* why.c: flowc cache and flowc why over a store that the test writes: what they print and return. */
#include "memo_kit.h"

#include "cli/store_tools.h"

#include <fcntl.h>

/* Runs a tool with its output caught. */
static int run_tool(int (*tool)(int, char **), const char *dir, int n, const char **words, char out[4096]) {
  char path[] = "/tmp/flow-why-XXXXXX";
  int file = mkstemp(path), old_out = dup(STDOUT_FILENO), old_err = dup(STDERR_FILENO);
  char *copies[6] = {strdup("--cache"), strdup(dir)}, *given[6];
  for (int i = 0; i < n; i++) copies[2 + i] = strdup(words[i]);
  memcpy(given, copies, sizeof given); /* the tool puts them into another order */
  fflush(stdout);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  int status = tool(n + 2, given);
  fflush(stdout);
  fflush(stderr);
  dup2(old_out, STDOUT_FILENO);
  dup2(old_err, STDERR_FILENO);
  close(old_out);
  close(old_err);
  ssize_t got = pread(file, out, 4095, 0);
  out[got > 0 ? got : 0] = '\0';
  close(file);
  unlink(path);
  for (int i = 0; i < n + 2; i++) free(copies[i]);
  return status;
}

#define TOOL(tool, ...)                                                                                      \
  run_tool(tool, dir, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                         \
           (const char *[]){__VA_ARGS__}, out)

static void test_cache(void) {
  char dir[64], out[4096], path[PATH_MAX];
  FlMemo *m = open_store(scratch(dir), 0);
  CHECK(put_text(m, "train", "0123456789") == FL_MEMO_OK && put_text(m, "clean", "x") == FL_MEMO_OK);
  CHECK(TOOL(fl_tool_cache, "ls") == 0 && strstr(out, "train") && strstr(out, "2 results and 0 notes"));
  CHECK(TOOL(fl_tool_cache, "verify") == 0 && strstr(out, "0 damaged\n"));
  path_of(m, "train", path);
  CHECK(truncate(path, 200) == 0);
  CHECK(TOOL(fl_tool_cache, "verify") == 1 && strstr(out, "1 damaged, removed") &&
        strstr(out, "1 result and"));
  CHECK(TOOL(fl_tool_cache, "gc", "--limit", "1G") == 0 && strstr(out, "0 removed"));
  CHECK(TOOL(fl_tool_cache, "gc", "--limit", "10B") == 0 && strstr(out, "1 removed"));
  CHECK(TOOL(fl_tool_cache, "gc", "--limit", "much") == 2 && strstr(out, "`much`"));
  CHECK(TOOL(fl_tool_cache, "clear") == 0 && strstr(out, "0 removed"));
  CHECK(TOOL(fl_tool_cache, "list") == 2 && strstr(out, "usage"));
  fl_memo_close(m);
  remove_all(dir);
}

static void test_why(void) {
  char dir[64], out[4096];
  FlMemo *m = open_store(scratch(dir), 0);
  CHECK(TOOL(fl_tool_why, "x.flow") == 1 && strstr(out, "no run of x.flow"));
  const char *record = "flow run 5\n"
                       "run 1000 ended 0 5000 1 1 - 4 2 0\n"
                       "stage load cached yes 0 5 7 -1 -1 0 0 0 3 c0 a0\n"
                       "stage fit run yes 0 5 7 -1 -1 0 0 0 3 c1 a1 b2\n"
                       "stage fit cached yes 0 5 7 -1 -1 0 0 0 3 c1 a9 b1\n"
                       "stage score run yes 0 5 7 -1 -1 0 0 0 3 c3 a1\n"
                       "stage extra run yes 0 5 7 -1 -1 0 0 0 3 c4\n"
                       "stage again run yes 0 5 7 -1 -1 0 0 0 3 c5 a1\n"
                       "stage cheap run cheap 0 5 7 -1 -1 0 0 0 3 c6\n"
                       "stage bad run yes 0 x 7 -1 -1 0 0 0 3 c7\n"
                       "stage\n"
                       "nonsense 1 2\n"
                       "run 1 ended\n"
                       "---\n"
                       "stage load run yes 0 5 7 -1 -1 0 0 0 3 c0 a0\n"
                       "stage fit run yes 0 5 7 -1 -1 0 0 0 3 c1 a9 b1\n"
                       "stage fit run yes 0 5 7 -1 -1 0 0 0 3 c1 a1 b1\n"
                       "stage score run yes 0 5 7 -1 -1 0 0 0 3 c2 a1\n"
                       "stage again cached yes 0 5 7 -1 -1 0 0 0 3 c5 a1\n"
                       "stage cheap run cheap 0 5 7 -1 -1 0 0 0 3 c6\n";
  CHECK(fl_memo_record_put(m, "run of x.flow", record, (int64_t)strlen(record)) == FL_MEMO_OK);
  CHECK(TOOL(fl_tool_why, "x.flow") == 0);
  CHECK(strstr(out, "load: cached"));
  CHECK(strstr(out, "fit: run, argument 2 changed\n"));
  CHECK(strstr(out, "score: run, its code changed, or that of what it calls\n"));
  CHECK(strstr(out, "extra: run, the run before did not call it so often\n"));
  CHECK(strstr(out, "again: run, nothing changed, but its result was not in the store\n"));
  CHECK(strstr(out, "cheap: run, it was too cheap to keep") && !strstr(out, "bad"));
  CHECK(TOOL(fl_tool_why, "score") == 0 && strstr(out, "run of x.flow") && !strstr(out, "fit"));
  CHECK(TOOL(fl_tool_why, "x.flow", "scroe") == 1 &&
        strstr(out, "it called load fit score extra again cheap)"));
  CHECK(TOOL(fl_tool_why, "x.flow", "a", "b") == 2);
  const char *foreign = "something else";
  CHECK(fl_memo_record_put(m, "run of x.flow", foreign, (int64_t)strlen(foreign)) == FL_MEMO_OK);
  CHECK(TOOL(fl_tool_why, "x.flow") == 1);
  fl_memo_close(m);
  remove_all(dir);
}

int main(void) {
  test_cache();
  test_why();
  return check_report();
}
