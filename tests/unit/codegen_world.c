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
  fl_front_check(&c, &world, NULL, -1);
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

/* ---- what a witness is told: of the last thing at a place, the text of the place and what was said ---- */

typedef struct Told {
  const FlCompilation *c;
  char lines[64][160];
  int n;
} Told;

static void tell(Told *t, FlSpan at, const char *kind, const char *said) {
  const FlSource *f = fl_sources_get(t->c->sources, at.file);
  if (f != t->c->script || t->n == 64) return;
  snprintf(t->lines[t->n++], sizeof t->lines[0], "%s %.*s: %s", kind, (int)at.len, f->text + at.start, said);
}
static void tell_value(void *env, FlSpan at, const char *type) { tell(env, at, "value", type); }
static void tell_columns(void *env, FlSpan at, const char *row) { tell(env, at, "columns", row); }
static void tell_name(void *env, FlSpan at, const FlNamed *what) {
  Told *t = env;
  char said[120];
  const FlSource *f = what->declared.file ? fl_sources_get(t->c->sources, what->declared.file) : NULL;
  int line = 0, column = 0;
  if (f) fl_source_position(f, what->declared.start, &line, &column);
  snprintf(said, sizeof said, "%s %d %s", f ? f == t->c->script ? "here" : f->path : what->signature, line,
           what->doc && f ? what->doc : "-");
  tell(t, at, "name", said);
}

static int times(const Told *t, const char *line) {
  int n = 0;
  for (int i = 0; i < t->n; i++) n += strcmp(t->lines[i], line) == 0;
  return n;
}

static void tell_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  tell(env, at, "step",
       takes.rows && gives.rows ? takes.columns == 2 && gives.columns == 2 ? "2 columns" : "others"
                                : "no table");
}

static void witnesses(void) {
  FlText1 text = {0};
  FlCompilation c;
  fl_text_addz(&text,
               "import distributions\n## How many.\nfn many(t: (a: i64, b: text)[_]) -> i64 = len(t)\n"
               "fn later(x: f64) = x * 2.0\nlet t = table(a = [1, 2], b = [\"x\", \"y\"])\n"
               "let u = t |> where(a > 1)\nprint(many(t), distributions.t_ppf(0.5, 3.0))\nlet broken = (\n");
  fl_compilation_init_text(&c, "/nowhere/main.flow", &text);
  Told t = {.c = &c};
  fl_front_check(&c, NULL, &(FlWitness){&t, tell_value, tell_name, tell_columns, tell_step, NULL}, -1);
  check(c.sink->n_errors == 1, "the last statement does not parse");
  static const char *const wanted[] = {"value x * 2.0: f64",
                                       "columns a > 1: (a: i64, b: text)",
                                       "value a: i64[_]",
                                       "value a > 1: bool[_]",
                                       "name many: here 3 How many.",
                                       "name t: here 5 -",
                                       "value t: (a: i64, b: text)[_]",
                                       "step where(a > 1): 2 columns",
                                       "name u: here 6 -"};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    check(times(&t, wanted[i]) > 0, "told: %s", wanted[i]);
  bool library = false, own = false;
  for (int i = 0; i < t.n; i++) {
    library = library || strncmp(t.lines[i], "name t_ppf: stdlib/distributions.flow ", 38) == 0;
    own = own || strncmp(t.lines[i], "name where: ", 12) == 0;
  }
  check(library && own, "where functions of the library are, and what flow's own ones take");
  for (int i = 0; failed && i < t.n; i++) printf("%s\n", t.lines[i]);
  fl_compilation_reset(&c);
  fl_text_reset(&text);
}

/* What is written where no elaboration comes by: with parameters that may be anything, in a lambda. */
static void witnesses_of_open(void) {
  FlText1 text = {0};
  FlCompilation c;
  fl_text_addz(
      &text,
      "## One more.\nfn more(x: f64) -> f64 = x + 1.0\n"
      "fn open(t, f) {\n  let k = 2 * 3\n  f([for r in t: more(r.price) + k], (a) => a + len(t) + lost)\n}\n"
      "fn sized(x: _[rows]) = rows + colums\n");
  fl_compilation_init_text(&c, "/nowhere/main.flow", &text);
  Told t = {.c = &c};
  fl_front_check(&c, NULL, &(FlWitness){&t, tell_value, tell_name, tell_columns, tell_step, NULL}, -1);
  check(c.sink->n_errors == 2 && says(&c, "5:58: error E0201: there is no `lost`") &&
            says(&c, "7:31: error E0201: there is no `colums`"),
        "names that stand for nothing are found");
  static const char *const once[] = {"value 2 * 3: i64",   "name r: here 5 -", "name more: here 2 One more.",
                                     "name k: here 4 -",   "name a: here 5 -", "name len: x 0 -",
                                     "name rows: here 7 -"};
  for (size_t i = 0; i < sizeof once / sizeof *once; i++)
    check(times(&t, once[i]) > 0 && times(&t, once[i]) <= 2,
          "told, where it is bound and where it is used: %s", once[i]);
  for (int i = 0; failed && i < t.n; i++) printf("%s\n", t.lines[i]);
  fl_compilation_reset(&c);
  fl_text_reset(&text);
}

int main(void) {
  witnesses();
  witnesses_of_open();
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
