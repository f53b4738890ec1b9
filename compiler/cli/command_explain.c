/* command_explain.c: flowc explain: the plan of a script, or the page of a message.
 *
 * In: a script, or a code such as E0102. Out: what the script does when it runs, after optimisation; or the
 * page. */
#include "cli/commands.h"
#include "driver.h"

#include "cli/bandwidth.h"
#include "cli/front_tools.h"
#include "cli/explain_plan.h"
#include "cli/profile.h"
#include "cli/store_tools.h"
#include "cli/words.h"
#include "ranks/ranks.h"

#include <stdlib.h>

static bool is_script(const char *word) {
  size_t n = strlen(word);
  return strcmp(word, "-") == 0 || (n > 5 && strcmp(word + n - 5, ".flow") == 0);
}

static int plan(const char *script, int ranks) {
  FlCompilation c = {0};
  int status = fl_compilation_init(&c, script);
  FlBuildOptions build = {.level = 1, .cpu = FL_CPU_HOST, .test = -1};
  if (!status) status = fl_compile_ir(&c, &build);
  const FlPlan *made = status ? NULL : fl_compile_plan(&c, &build);
  if (!status && !made) status = fl_compilation_lacks(&c);
  if (!status) {
    FlText1 out = {0};
    FlRecord *last = fl_store_last_run(script);
    fl_explain_print(&out, c.arena, made, c.sources, last, ranks);
    fwrite(out.s, 1, out.len, stdout);
    fl_record_free(last);
    fl_text_reset(&out);
  }
  fl_compilation_reset(&c);
  return status;
}

/* What the last run took, of the text as it is now. */
static int profile(const char *script) {
  FlRecord *last = fl_store_last_run(script);
  if (!last) {
    fprintf(stderr, "flowc explain: no run of %s is remembered: run it first\n", script);
    return 1;
  }
  FlCompilation c = {0};
  int status = fl_compilation_init(&c, script);
  if (!status) {
    char source[FL_SOURCE_DIGEST];
    FlText1 out = {0};
    c.silent = true;
    fl_front_check(&c, NULL, NULL, -1); /* it reads what the script imports */
    fl_source_digest(c.sources, source);
    fl_explain_profile(&out, c.arena, last, c.script, strcmp(source, last->runs[0].source) == 0,
                       fl_bandwidth_measure(last->runs[0].workers));
    fwrite(out.s, 1, out.len, stdout);
    fl_text_reset(&out);
  }
  fl_compilation_reset(&c);
  fl_record_free(last);
  return status;
}

int fl_command_explain(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_EXPLAIN, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  const char *word = w.n_operands ? w.operands[0] : NULL;
  if (w.flags[FL_FLAG_PROFILE] && !(word && is_script(word))) return fl_words_usage(FL_COMMAND_EXPLAIN);
  if (w.flags[FL_FLAG_PROFILE]) return profile(word);
  const char *ranks = w.flags[FL_FLAG_OVER];
  char *end = NULL;
  long n = ranks ? strtol(ranks, &end, 10) : 1;
  if (ranks && (n < 1 || n > FL_RANKS_MAX || *end || !(word && is_script(word))))
    return fl_words_usage(FL_COMMAND_EXPLAIN);
  return word && is_script(word) ? plan(word, (int)n) : fl_tool_explain(word);
}
