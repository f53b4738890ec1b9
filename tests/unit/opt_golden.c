/* opt_golden: passes and plans as text in, text out. tests/opt/<name>.ir begins with `# passes: a,b` (or `#
 * level: 1`), then lines `# count FUNCTION OPERATOR NUMBER` that must hold afterwards; tests/opt/<name>.out
 * is the module after the passes. tests/plan/<name>.ir begins with `# plan: 1`, the level;
 * tests/plan/<name>.out is its plan. `unit_opt_golden --bless` rewrites the .out files. */
#include "opt/opt.h"
#include "plan/plan.h"

#include <dirent.h>
#include <stdlib.h>

static int passed, failed;

static char *read_whole(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, f);
  text[n] = '\0';
  fclose(f);
  return text;
}

static bool write_whole(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) return false;
  bool fine = fputs(text, f) >= 0;
  return fclose(f) == 0 && fine;
}

static bool options_of(const char *text, char *passes, FlOptOptions *o) {
  o->verify = true;
  if (sscanf(text, "# passes: %999[^\n]", passes) == 1) {
    o->only = passes;
    return true;
  }
  return sscanf(text, "# level: %d", &o->level) == 1;
}

static int opcode_of(const char *name) {
  for (int i = 0; i < FL_N_OPS; i++)
    if (strcmp(fl_op_info[i].name, name) == 0) return i;
  return FL_N_OPS;
}

/* The `# count` lines of `text`, against the module printed as `out`. */
static bool counts_hold(const char *name, const char *text, const char *out) {
  bool fine = true;
  FlArena *arena = fl_arena_new();
  FlModule *m = fl_ir_read(arena, out, fl_sink_make(arena, fl_sources_make(arena)));
  if (!m) {
    printf("%s: the output does not read back\n", name);
    fl_arena_free(arena);
    return false;
  }
  for (const char *at = text; (at = strstr(at, "# count ")); at++) {
    char func[100], op[100];
    int want;
    if (sscanf(at, "# count %99s %99s %d", func, op, &want) != 3) continue;
    FlFunc *f = m->first;
    while (f && strcmp(f->name, func) != 0) f = f->next;
    int have = f && opcode_of(op) < FL_N_OPS ? fl_opt_count(f, (FlOpcode)opcode_of(op)) : -1;
    if (have != want) printf("%s: %s in %s: %d wanted, %d found\n", name, op, func, want, have);
    fine = fine && have == want;
  }
  fl_arena_free(arena);
  return fine;
}

/* Operations of one line of a script have one place, which those of a text of the IR have not. */
static void forget_places(FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    op->span = (FlSpan){0};
    for (int i = 0; i < op->n_regions; i++) forget_places(op->regions[i]);
  }
}

/* The text of what the first line of `text` asks for. */
static bool make(FlArena *arena, const char *text, FlSink *sink, FlText1 *out) {
  FlOptOptions o = {0};
  char passes[1000];
  int level;
  if (sscanf(text, "# plan: %d", &level) != 1)
    return options_of(text, passes, &o) && fl_opt_text(arena, text, &o, sink, out);
  FlModule *m = fl_ir_read(arena, text, sink);
  if (!m || !fl_ir_verify(m, out)) return false;
  for (FlFunc *f = m->first; f; f = f->next) forget_places(f->body);
  fl_plan_print(out, fl_plan_make(arena, m, level));
  return true;
}

static bool run_one(const char *name, const char *in_path, bool bless) {
  char out_path[1300];
  snprintf(out_path, sizeof out_path, "%.*sout", (int)strlen(in_path) - 2, in_path);
  char *text = read_whole(in_path), *want = read_whole(out_path);
  FlArena *arena = fl_arena_new();
  FlSink *sink = fl_sink_make(arena, fl_sources_make(arena));
  FlText1 out = {0};
  bool fine = text && make(arena, text, sink, &out);
  if (sink->n_errors) fl_sink_print(sink, &out, false);
  if (fine && bless) fine = write_whole(out_path, out.s);
  else if (fine) {
    fine = want && strcmp(want, out.s) == 0;
    if (!fine) printf("%s: the output differs:\n", name);
  }
  if (!fine) printf("%s: %s\n", name, out.s ? out.s : "cannot be run");
  if (fine && strstr(text, "# count ")) fine = counts_hold(name, text, out.s);
  fl_text_reset(&out);
  fl_arena_free(arena);
  free(text);
  free(want);
  return fine;
}

static void run_folder(const char *folder, bool bless) {
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    size_t len = strlen(e->d_name);
    if (len < 4 || strcmp(e->d_name + len - 3, ".ir") != 0) continue;
    char path[1300];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (run_one(e->d_name, path, bless)) passed++;
    else failed++;
  }
  if (dir) closedir(dir);
  else failed++;
}

int main(int argc, char **argv) {
  bool bless = argc > 1 && strcmp(argv[1], "--bless") == 0;
  run_folder(FLOW_TESTS "/opt", bless);
  run_folder(FLOW_TESTS "/plan", bless);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
