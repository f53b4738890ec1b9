/* Unit test of sema/world.h: a script whose modules, data files and patterns are nowhere but in memory is
 * checked as any other; what it asked for is what is remembered; an error in an unsaved module has its place
 * there. Nothing of it is opened: no such file exists. */
#include "check.h"
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct Text {
  const char *path, *text;
} Text;

typedef struct Editor {
  const Text *texts;
  int n;
} Editor;

static const char *find(const Editor *e, const char *path) {
  for (int i = 0; i < e->n; i++)
    if (strcmp(e->texts[i].path, path) == 0) return e->texts[i].text;
  return NULL;
}

static bool read(void *env, const char *path, size_t most, FlText1 *out) {
  const char *text = find(env, path);
  if (!text) return fl_world_here.read(NULL, path, most, out);
  fl_text_addz(out, text);
  return true;
}

static char *real(void *env, const char *path) {
  return find(env, path) ? strdup(path) : fl_world_here.real(NULL, path);
}

static char *first(void *env, const char *pattern) {
  (void)env;
  return strcmp(pattern, "/nowhere/part_*.csv") == 0 ? strdup("/nowhere/d.csv") : NULL;
}

static bool comes_once(void *env, const char *path) {
  (void)env, (void)path;
  return false;
}

static FlDigest digest(void *env, const char *path, FlSemaInputKind kind) {
  (void)env;
  return (FlDigest){.hi = strlen(path), .lo = (uint64_t)kind};
}

/* One table: id, and a name that may be missing. */
static bool schema(void *env, const char *reader, const char *path, FlOptions options, FlIoSchema *out,
                   FlIoError *e) {
  (void)env, (void)options;
  *out = (FlIoSchema){0};
  if (strcmp(path, "/nowhere/d.csv") != 0) {
    e->code = 930;
    snprintf(e->message, sizeof e->message, "%s: there is no such file", reader);
    return false;
  }
  FlIoColumn *columns = malloc(2 * sizeof *columns);
  if (!columns) return false;
  columns[0] = (FlIoColumn){.name = "id", .dtype = FL_I64};
  columns[1] = (FlIoColumn){.name = "name", .dtype = FL_TEXT, .nullable = true};
  *out = (FlIoSchema){.columns = columns, .n_columns = 2, .n_rows = 3, .whole = true, .own = columns};
  return true;
}

static FlCompilation checked(Editor *e, const char *script) {
  FlWorld world = fl_world_here;
  world.env = e;
  world.read = read;
  world.real = real;
  world.first = first;
  world.comes_once = comes_once;
  world.digest = digest;
  world.schema = schema;
  FlCompilation c;
  FlText1 text = {0};
  fl_text_addz(&text, script);
  fl_compilation_init_text(&c, "/nowhere/main.flow", &text);
  fl_text_reset(&text);
  fl_front_check(&c, &world, -1);
  return c;
}

static bool remembers(const FlCompilation *c, const char *path, FlSemaInputKind kind) {
  int n = 0;
  for (int i = 0; i < c->sema.n_inputs; i++)
    n += strcmp(c->sema.inputs[i].path, path) == 0 && c->sema.inputs[i].kind == kind &&
         c->sema.inputs[i].digest.lo == (uint64_t)kind;
  return n == 1;
}

static bool says(const FlCompilation *c, const char *wanted) {
  FlText1 out = {0};
  fl_sink_print(c->sink, &out, false);
  bool found = out.s && strstr(out.s, wanted);
  if (!found) printf("%s\n", out.s ? out.s : "nothing is said");
  fl_text_reset(&out);
  return found;
}

int main(void) {
  Text texts[] = {{"/nowhere/lib.flow", "import \"deep.flow\"\nfn twice(x: i64) -> i64 = deep.one(x) + x\n"},
                  {"/nowhere/deep.flow", "fn one(x: i64) -> i64 = x\n"}};
  Editor e = {texts, 2};
  FlCompilation c = checked(&e, "import \"lib.flow\"\nimport linear\n"
                                "let t = read_csv(\"/nowhere/d.csv\")\n"
                                "let n = n_chars(t.name[0] ?? \"none\")\nprint(lib.twice(t.id[0]), n)\n");
  check(c.sink->n_errors == 0 && c.sema.module, "modules and a table in memory");
  check(remembers(&c, "/nowhere/lib.flow", FL_INPUT_SOURCE) &&
            remembers(&c, "/nowhere/deep.flow", FL_INPUT_SOURCE) &&
            remembers(&c, "/nowhere/d.csv", FL_INPUT_DATA),
        "each is remembered once, with the digest that the world gave");
  fl_compilation_reset(&c);

  c = checked(&e, "let t = read_csv(\"/nowhere/d.csv\")\nprint(t.idd, t.name + 1)\n");
  check(says(&c, "main.flow:2:9: error E0601: there is no column `idd`") && says(&c, "did you mean `id`?"),
        "columns are those that the world says");
  check(!c.sema.module, "with errors there is no module");
  fl_compilation_reset(&c);

  texts[1].text = "fn one(x: i64) -> i64 = x +\n";
  c = checked(&e, "import \"lib.flow\"\nprint(lib.twice(\"a\"))\nprint(read_csv(\"/nowhere/e.csv\"))\n");
  check(says(&c, "/nowhere/deep.flow:2:1: error E0101"), "an error in a text that nobody has saved");
  check(says(&c, "read_csv: there is no such file"), "a file that is not there in this world");
  fl_compilation_reset(&c);

  c = checked(&e, "import \"none.flow\"\n");
  check(says(&c, "the file `/nowhere/none.flow` cannot be read"), "a module that is nowhere");
  fl_compilation_reset(&c);

  c = checked(&e, "param parts: file[_] = \"/nowhere/part_*.csv\"\nprint(read_csv(parts).id[0])\n");
  check(c.sink->n_errors == 0 && remembers(&c, "/nowhere/part_*.csv", FL_INPUT_PATTERN) &&
            remembers(&c, "/nowhere/d.csv", FL_INPUT_DATA),
        "what a pattern matches first says the types");
  fl_compilation_reset(&c);
  return finish();
}
