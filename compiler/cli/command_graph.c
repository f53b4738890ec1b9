/* command_graph.c: flowc graph. In: a script. Out: what in it is made of what, on standard output. */
#include "cli/commands.h"
#include "driver.h"

#include "cli/graph.h"
#include "cli/store_tools.h"
#include "cli/words.h"

static int draw(const char *script, const char *form) {
  FlCompilation c = {0};
  FlText1 out = {0};
  int status = fl_compilation_init(&c, script);
  FlRecord *last = status ? NULL : fl_store_last_run(script);
  FlGraph graph;
  if (!status && !fl_graph_make(&c, last, &graph)) {
    fl_compilation_say(&c);
    status = c.lacks ? fl_compilation_lacks(&c) : 3;
  } else if (!status && !fl_graph_draw(&out, &graph, form)) {
    fprintf(stderr, "flowc graph: `%s` is not a form: %s\n", form, fl_graph_forms);
    status = 2;
  }
  if (out.len) fwrite(out.s, 1, out.len, stdout);
  fl_record_free(last);
  fl_text_reset(&out);
  fl_compilation_reset(&c);
  return status;
}

int fl_command_graph(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_GRAPH, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  return draw(w.operands[0], w.flags[FL_FLAG_FORM] ? w.flags[FL_FLAG_FORM] : "text");
}
