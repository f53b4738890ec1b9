/* Unit test of flowc fmt and explain: exit statuses, files replaced or left alone. */
#include "check.h"
#include "cli/front_tools.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_text(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) exit(1);
  fputs(text, f);
  fclose(f);
}

static bool holds(const char *path, const char *text) {
  char buffer[256] = {0};
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  size_t n = fread(buffer, 1, sizeof buffer - 1, f);
  fclose(f);
  return n == strlen(text) && !memcmp(buffer, text, n);
}

static int run(const char *a, const char *b) {
  char *words[] = {(char *)a, (char *)b};
  return fl_tool_fmt(b ? 2 : 1, words);
}

int main(void) {
  char folder[] = "/tmp/flow-fmt-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder)) return 1;
  int out = dup(1), messages = dup(2);
  if (!freopen("out", "w", stdout) || !freopen("messages", "w", stderr)) return 1;
  write_text("a.flow", "let a=1 # one\n");
  write_text("bad.flow", "let = 1\n");
  write_text("other.txt", "let a=1\n");
  bool checked = run("--check", "a.flow") == 1 && holds("a.flow", "let a=1 # one\n");
  bool bad = run("bad.flow", NULL) == 3 && holds("bad.flow", "let = 1\n");
  bool whole =
      run(".", NULL) == 3 && holds("a.flow", "let a = 1  # one\n") && holds("other.txt", "let a=1\n");
  bool again = run("--check", "a.flow") == 0;
  bool missing = run("missing.flow", NULL) == 2, option = run("--chek", "a.flow") == 2,
       nothing = fl_tool_fmt(0, NULL) == 2;
  bool page = fl_tool_explain("e0001") == 0, list = fl_tool_explain(NULL) == 0,
       unknown = fl_tool_explain("E0000") == 2;
  fflush(stdout);
  dup2(out, 1);
  dup2(messages, 2);
  static const char *const files[] = {"a.flow", "bad.flow", "other.txt", "out", "messages"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) unlink(files[i]);
  if (chdir("/")) return 1;
  rmdir(folder);
  check(checked, "--check names what would change and changes nothing");
  check(bad, "a file with errors is left alone");
  check(whole, "a folder: its .flow files, in place");
  check(again, "a formatted file passes --check");
  check(missing && option && nothing, "exit statuses of wrong usage");
  check(page && list && unknown, "explain");
  return finish();
}
