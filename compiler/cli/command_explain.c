/* command_explain.c: flowc explain: the plan of a script, or the page of a message.
 *
 * In: a script, or a code such as E0102. Out: what the script does when it runs, after optimisation; or the
 * page. */
#include "cli/commands.h"
#include "driver.h"

#include "exec/exec.h"
#include "exec/history.h"
#include "memo/memo.h"
#include "cli/front_tools.h"
#include "cli/explain_plan.h"
#include "cli/words.h"

#include <stdlib.h>

static bool is_script(const char *word) {
  size_t n = strlen(word);
  return strcmp(word, "-") == 0 || (n > 5 && strcmp(word + n - 5, ".flow") == 0);
}

/* The record of the script's last run; NULL: none. On the heap. */
static char *last_run(const char *script) {
  char dir[4096];
  FlMemo *memo = fl_cache_dir(script, dir, sizeof dir) ? fl_memo_open(&(FlMemoOptions){.dir = dir}) : NULL;
  char *name = memo ? fl_history_name(script) : NULL, *text = NULL;
  FlMemoEntry *record = name ? fl_memo_record_get(memo, name) : NULL;
  size_t head = strlen(FL_HISTORY_HEAD);
  if (record && record->bytes >= (int64_t)head && memcmp(record->payload, FL_HISTORY_HEAD, head) == 0)
    text = strndup((const char *)record->payload + head, (size_t)record->bytes - head);
  fl_memo_unmap(record);
  free(name);
  if (memo) fl_memo_close(memo);
  return text;
}

static int plan(const char *script) {
  FlCompilation c = {0};
  int status = fl_compilation_init(&c, script);
  FlBuildOptions build = {.level = 1, .cpu = FL_CPU_HOST, .test = -1};
  if (!status) status = fl_compile_ir(&c, &build);
  const FlPlan *made = status ? NULL : fl_compile_plan(&c, &build);
  if (!status && !made) status = fl_compilation_lacks(&c);
  if (!status) {
    FlText1 out = {0};
    char *history = last_run(script);
    fl_explain_print(&out, c.arena, made, c.sources, history);
    fwrite(out.s, 1, out.len, stdout);
    free(history);
    fl_text_reset(&out);
  }
  fl_compilation_reset(&c);
  return status;
}

int fl_command_explain(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_EXPLAIN, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  const char *word = w.n_operands ? w.operands[0] : NULL;
  return word && is_script(word) ? plan(word) : fl_tool_explain(word);
}
