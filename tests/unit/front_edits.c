/* front_edits.c: what an editor sends while somebody writes. Scripts of the repository are cut, pasted, half
 * typed and misspelt at random places, and checked: never a crash, messages with places in the text, the same
 * ones when it is checked again, and none that says that flow itself failed. FLOW_TEST_ROUNDS: how many edits
 * (600); says how long the slowest took, for those who ask for more. */
#include "check.h"
#include "driver.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Script {
  char *path;
  FlText1 text;
} Script;

enum { MOST = 400 };
static Script scripts[MOST];
static int n_scripts;

static void find(const char *folder) {
  char path[8192];
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    size_t n = strlen(e->d_name);
    if (n < 6 || strcmp(e->d_name + n - 5, ".flow") != 0 || n_scripts == MOST) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    Script *s = &scripts[n_scripts];
    if (!fl_read_file(path, 1 << 20, &s->text)) continue;
    s->path = strdup(path);
    n_scripts++;
  }
  if (d) closedir(d);
}

static uint64_t state = 88172645463325252u;
static size_t below(size_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return n ? (size_t)(state % n) : 0;
}

static const char *const typed[] = {
    "(",   ")",        "{",    "}",  "[",    "]",   "\"",        "|>",       " ",          "\n",
    ".",   ",",        "=",    "?",  "`",    "if ", "for x in ", "let a = ", "fn f(x) = ", "stage s(t) = ",
    "#",   "\\",       "null", "t.", "sum(", "1e",  "0x",        "é",        "\t",         "match ",
    "=> ", "type T = "};

/* One edit of `text`, at random. */
static void edit(FlText1 *text) {
  size_t at = below(text->len + 1), length = below(40);
  if (at + length > text->len) length = text->len - at;
  FlText1 out = {0};
  fl_text_add(&out, text->s, at);
  switch (below(5)) {
  case 0: at += length; break; /* cut */
  case 1: {                    /* paste from elsewhere */
    const Script *from = &scripts[below((size_t)n_scripts)];
    size_t start = below(from->text.len), n = below(120);
    if (start + n > from->text.len) n = from->text.len - start;
    fl_text_add(&out, from->text.s + start, n);
    break;
  }
  case 2: fl_text_addz(&out, typed[below(sizeof typed / sizeof *typed)]); break;
  case 3: { /* the rest of the line is not typed yet */
    const char *end = at < text->len ? memchr(text->s + at, '\n', text->len - at) : NULL;
    at = end ? (size_t)(end - text->s) : text->len;
    break;
  }
  default: /* a letter is another one */ fl_text_addc(&out, (char)('a' + below(26))); at += at < text->len;
  }
  fl_text_add(&out, text->s + at, text->len - at);
  fl_text_reset(text);
  *text = out;
}

/* What the witness is told has places in the texts. */
typedef struct Told {
  const FlSources *sources;
  int n;
  FlText1 wrong;
} Told;

static void told(Told *t, FlSpan at, const char *text) {
  const FlSource *f = fl_sources_get(t->sources, at.file);
  t->n++;
  if (!f || at.start > f->len || at.len > f->len - at.start || !text || !*text)
    fl_text_addf(&t->wrong, "told of %u + %u: `%s`\n", at.start, at.len, text ? text : "nothing");
}
static void told_value(void *env, FlSpan at, const char *type) { told(env, at, type); }
static void told_columns(void *env, FlSpan at, const char *row) { told(env, at, row); }
static void told_name(void *env, FlSpan at, const FlNamed *what) {
  told(env, at, what->name);
  if (what->declared.file) told(env, what->declared, what->name);
}

static void told_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  told(env, at, takes.columns >= 0 && gives.columns >= 0 ? "step" : NULL);
}

/* said: its messages; wrong: of these, and what the witness is told, what has no place. */
static double checked(const Script *s, const FlText1 *text, FlText1 *said, FlText1 *wrong) {
  struct timespec from, to;
  FlCompilation c;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  fl_compilation_init_text(&c, s->path, text);
  Told seen = {.sources = c.sources};
  fl_front_check(&c, NULL, &(FlWitness){&seen, told_value, told_name, told_columns, told_step, NULL}, -1);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  fl_sink_print(c.sink, said, false);
  *wrong = seen.wrong;
  for (int i = 0; i < c.sink->diags.n; i++) {
    const FlDiag *d = c.sink->diags.at[i];
    const FlSource *f = d->span.file ? fl_sources_get(c.sources, d->span.file) : NULL;
    if (!f || d->span.start > f->len || d->span.len > f->len - d->span.start || !*d->message)
      fl_text_addf(wrong, "message at %u + %u: %s\n", d->span.start, d->span.len, d->message);
  }
  if ((c.sink->n_errors > 0) != (c.sema.module == NULL))
    fl_text_addf(wrong, "%d errors, and %s module\n", c.sink->n_errors, c.sema.module ? "a" : "no");
  fl_compilation_reset(&c);
  return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* What is told of columns: how often, and how often the same of one place. */
typedef struct Rows {
  struct {
    FlSpan at;
    char row[80];
  } seen[64];
  int n, again;
} Rows;

static void no_value(void *env, FlSpan at, const char *type) { (void)env, (void)at, (void)type; }
static void no_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  (void)env, (void)at, (void)takes, (void)gives;
}
static void no_name(void *env, FlSpan at, const FlNamed *what) { (void)env, (void)at, (void)what; }
static void told_row(void *env, FlSpan at, const char *row) {
  Rows *r = env;
  for (int i = 0; i < r->n; i++)
    r->again +=
        r->seen[i].at.start == at.start && r->seen[i].at.len == at.len && strcmp(r->seen[i].row, row) == 0;
  if (r->n == 64) return;
  r->seen[r->n].at = at;
  snprintf(r->seen[r->n++].row, sizeof r->seen[0].row, "%s", row);
}

/* Once a place: also of where and derive, whose arguments are elaborated with what they may name, and of
 * `each`. */
static void columns_are_told_once(void) {
  static const char script[] =
      "let t = table(a = [1, 2], g = [1, 1])\n"
      "show(t |> where(a > 1) |> derive(b = a + 1, c = a * 2) |> sort(-a) |> derive(each(numeric(), x => x * "
      "2)))\n"
      "show(t |> group_by(g) |> derive(m = a - mean(a)) |> summarize(m = mean(m)) |> top(1, by = m))\n";
  FlText1 text = {0};
  FlCompilation c;
  Rows rows = {0};
  fl_text_addz(&text, script);
  fl_compilation_init_text(&c, "rows.flow", &text);
  fl_front_check(&c, NULL, &(FlWitness){&rows, no_value, no_name, told_row, no_step, NULL}, -1);
  check(c.sink->n_errors == 0, "the script is right");
  check(rows.n >= 9 && rows.again == 0, "columns are told %d times, %d of them again", rows.n, rows.again);
  fl_compilation_reset(&c);
  fl_text_reset(&text);
}

/* `|` is read as `or`, and a quote begins a name: neither is one that has letters. */
static void names_have_letters(void) {
  static const char *const lines[] = {"to each row. |b| x\n",
                                      "f(|b, &&c)\n",
                                      "let t.|| = 3\n",
                                      "x.! = 1\n",
                                      "prin, and ait`\n",
                                      "let ` = 1\n",
                                      "fn `(x) = x\n",
                                      "stage `(` = 3\n",
                                      "for ` in 0..3 { print(`) }\n",
                                      "let (a, `) = (1, 2)\nparam `\n",
                                      "show(t |> derive(` = 1))\n",
                                      "let f = ` => 1\n",
                                      "import `\ntype ` = i64\n"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    FlText1 text = {0}, said = {0}, wrong = {0};
    fl_text_addz(&text, lines[k]);
    checked(&(Script){.path = "signs.flow"}, &text, &said, &wrong);
    check(!wrong.len && said.len, "%s: messages have places, and names have letters\n%s%s", lines[k],
          wrong.s ? wrong.s : "", said.s ? said.s : "");
    fl_text_reset(&wrong);
    fl_text_reset(&text);
    fl_text_reset(&said);
  }
}

/* What messages propose is tried on the whole script: each text once, and few of them, also where a line of
 * 1,700 characters is damaged, or what stands in its place. */
static void few_texts_are_tried(void) {
  enum { LINE = 23, FEW = 40 };
  static const char whole[] = "e3 = sum(for e in x[y < 100]: e^2)",
                    damaged[] = "e3 = sum(for er e in x[y < 100]: -e)";
  char path[4096];
  snprintf(path, sizeof path, "%s/groups/f64_2.flow", FLOW_TESTS);
  for (int k = 0; k < 2; k++) {
    FlText1 script = {0}, text = {0};
    check(fl_read_file(path, 1 << 20, &script), "%s is there", path);
    const char *line = script.s;
    for (int n = 1; n < LINE; n++) line = strchr(line, '\n') + 1;
    const char *from = k ? strstr(line, whole) : line, *to = k ? from + strlen(whole) : strchr(line, '\n');
    fl_text_add(&text, script.s, (size_t)(from - script.s));
    fl_text_addf(&text, "%s%s%s", k ? "" : "    ", damaged, to);
    FlCompilation c;
    fl_compilation_init_text(&c, path, &text);
    fl_front_check(&c, NULL, NULL, -1);
    check(c.sink->n_errors && c.n_tried <= FEW, "%d texts are tried of way %d", c.n_tried, k);
    fl_compilation_reset(&c);
    fl_text_reset(&script);
    fl_text_reset(&text);
  }
}

int main(void) {
  columns_are_told_once();
  names_have_letters();
  few_texts_are_tried();
  const char *wanted = getenv("FLOW_TEST_ROUNDS"), *seed = getenv("FLOW_TEST_SEED");
  int rounds = wanted ? atoi(wanted) : 600;
  if (seed) state += strtoull(seed, NULL, 10) * 2654435761u;
  static const char *const folders[] = {"../examples", "../stdlib", "run/library",
                                        "run/tables",  "groups",    "verbs"};
  char folder[4096];
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    snprintf(folder, sizeof folder, "%s/%s", FLOW_TESTS, folders[k]);
    find(folder);
  }
  check(n_scripts > 100, "%d scripts", n_scripts);
  double *times = calloc((size_t)rounds + 1, sizeof *times);
  for (int k = 0; k < rounds && times; k++) {
    const Script *s = &scripts[below((size_t)n_scripts)];
    FlText1 text = {0}, first = {0}, second = {0}, wrong = {0};
    fl_text_add(&text, s->text.s, s->text.len);
    for (size_t n = 1 + below(3); n > 0; n--) edit(&text);
    times[k] = checked(s, &text, &first, &wrong);
    if (k % 8 == 0) {
      FlText1 again = {0};
      checked(s, &text, &second, &again);
      fl_text_reset(&again);
      check(first.len == second.len && (!first.len || memcmp(first.s, second.s, first.len) == 0),
            "%s, edit %d: the same messages when it is checked again", s->path, k);
    }
    check(!wrong.len, "%s, edit %d: messages have places, and there is a module if there is no error\n%s%s",
          s->path, k, wrong.s ? wrong.s : "", text.s);
    fl_text_reset(&wrong);
    check(!first.s || !strstr(first.s, "flow itself"), "%s, edit %d: flow itself does not fail\n%s", s->path,
          k, first.s);
    fl_text_reset(&text);
    fl_text_reset(&first);
    fl_text_reset(&second);
  }
  if (times) qsort(times, (size_t)rounds, sizeof *times, by_size);
  if (times && wanted)
    printf("of %d edits: median %.1f ms, 95%% %.1f ms, slowest %.1f ms of the processor\n", rounds,
           times[rounds / 2], times[(size_t)rounds * 95 / 100], times[rounds - 1]);
  free(times);
  for (int k = 0; k < n_scripts; k++) {
    free(scripts[k].path);
    fl_text_reset(&scripts[k].text);
  }
  return finish();
}
