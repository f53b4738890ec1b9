/* params.c: the values of a script's parameters.
 *
 * In: texts from the command line, and defaults as they would stand there. Out: the slots that the program's
 * main function takes: for T? the value, then whether there is one. What always holds: a text that does not
 * read as the parameter's type is an error that shows it, never another value. */
#include "exec/command_line.h"
#include "exec/exec_internal.h"
#include "data/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int32_t fl_param_slots(const FlProgram *p) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->n_params; i++) n += p->params[i].nullable ? 2 : 1;
  return n;
}

static FlText keep_text(FlHeap *heap, const char *s, size_t len) {
  return fl_heap_text(heap, s, (int64_t)len);
}

/* ---- one scalar ------------------------------------------------------------------------------------ */

/* Digits may be grouped as in the language: 1_000. */
static size_t without_underscores(const char *s, char *out, size_t size) {
  size_t n = 0;
  for (; *s && n + 1 < size; s++)
    if (*s != '_' || n == 0) out[n++] = *s;
  out[n] = '\0';
  return n;
}

static bool read_integer(const char *s, size_t len, int64_t *out) {
  if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
    char *end;
    errno = 0;
    *out = strtoll(s, &end, 16);
    return !*end && !errno;
  }
  return fl_parse_i64(s, (int64_t)len, out);
}

/* "2d", "36h", "90m", "1.5s", "250ms", or several of them: "1h30m". */
static bool read_duration(const char *s, int64_t *out) {
  static const struct {
    const char *unit;
    double micros;
  } units[] = {{"ms", 1e3}, {"us", 1}, {"d", 86400e6}, {"h", 3600e6}, {"m", 60e6}, {"s", 1e6}};
  double total = 0;
  if (!*s) return false;
  while (*s) {
    char *end;
    double v = strtod(s, &end);
    if (end == s) return false;
    size_t k = 0, n = sizeof units / sizeof *units;
    while (k < n && strncmp(end, units[k].unit, strlen(units[k].unit))) k++;
    if (k == n) return false;
    total += v * units[k].micros;
    s = end + strlen(units[k].unit);
  }
  *out = (int64_t)total;
  return total > -9e18 && total < 9e18;
}

static bool read_scalar(FlHeap *heap, int32_t dtype, const char *text, FlSlot *out) {
  char digits[64];
  size_t n = without_underscores(text, digits, sizeof digits);
  bool flag;
  int32_t date;
  switch ((FlDtype)dtype) {
  case FL_BOOL:
    if (!fl_parse_bool(text, (int64_t)strlen(text), &flag)) return false;
    out->i = flag;
    return true;
  case FL_I8:
  case FL_I16:
  case FL_I32:
  case FL_I64:
  case FL_U8:
  case FL_U16:
  case FL_U32: return read_integer(digits, n, &out->i) && fl_dtype_holds(dtype, out->i);
  case FL_U64: return fl_parse_u64(digits, (int64_t)n, &out->u);
  case FL_F32: return fl_parse_f32(digits, (int64_t)n, &out->f32);
  case FL_F64: return fl_parse_f64(digits, (int64_t)n, &out->f);
  case FL_DATE:
    if (!fl_parse_date(text, (int64_t)strlen(text), &date)) return false;
    out->i = date;
    return true;
  case FL_DATETIME: return fl_parse_datetime(text, (int64_t)strlen(text), &out->i);
  case FL_DURATION: return read_duration(text, &out->i);
  case FL_ANY_DECIMAL: return fl_parse_decimal(digits, (int64_t)n, fl_decimal_scale(dtype), &out->i);
  case FL_TEXT:
    if (fl_utf8_check(text, (int64_t)strlen(text)) != (int64_t)strlen(text)) return false;
    out->t = keep_text(heap, text, strlen(text));
    return true;
  case FL_FILE: out->t = keep_text(heap, text, strlen(text)); return true;
  case FL_CATEGORY:
  case FL_LIST:
  case FL_N_DTYPES: break;
  }
  return false;
}

static const char *example(int32_t dtype) {
  switch ((FlDtype)dtype) {
  case FL_BOOL: return "true or false";
  case FL_F32:
  case FL_F64: return "a number, as in 0.5 or 1e-3";
  case FL_DATE: return "a date, as in 2026-01-31";
  case FL_DATETIME: return "a date and time, as in 2026-01-31T12:00:00";
  case FL_DURATION: return "a duration, as in 36h or 1h30m";
  case FL_ANY_DECIMAL: return "a number with no more digits behind the point than its type has, as in 12.50";
  case FL_TEXT: return "text in UTF-8";
  case FL_FILE: return "the path of a file";
  default: return "a whole number that fits the type";
  }
}

/* ---- files ----------------------------------------------------------------------------------------- */

/* A file in the same folder with a name close to the one that is not there. On the heap, or NULL. */
static char *closest_file(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("."), *found = NULL;
  DIR *d = folder ? opendir(folder) : NULL;
  enum { MOST = 2000 };
  char **names = d ? calloc(MOST, sizeof *names) : NULL;
  int n = 0;
  for (struct dirent *e; names && n < MOST && (e = readdir(d));)
    if (e->d_name[0] != '.' && (names[n] = strdup(e->d_name))) n++;
  const char *near = names ? fl_closest_name(name, (const char *const *)names, n) : NULL;
  if (near && asprintf(&found, "%s%s", slash ? folder : "", near) < 0) found = NULL;
  for (int i = 0; i < n; i++) free(names[i]);
  free(names);
  if (d) closedir(d);
  free(folder);
  return found;
}

static int check_file(const char *program, const FlParam *p, const char *path) {
  struct stat st;
  int error = stat(path, &st) ? errno : S_ISDIR(st.st_mode) ? EISDIR : access(path, R_OK) ? errno : 0;
  if (!error) return 0;
  char *near = error == ENOENT ? closest_file(path) : NULL, help[512];
  if (near) snprintf(help, sizeof help, "did you mean `%s`?", near);
  int status = fl_usage_error(program, near ? help : NULL, "`--%s`: cannot read the file `%s`: %s", p->name,
                              path, strerror(error));
  free(near);
  return status;
}

/* A pattern such as data/x*.csv: the files that match, by path. */
static int read_files(FlRun *run, const char *program, const FlParam *p, const char *pattern, FlSlot *out) {
  FlIoGlob g;
  FlIoError e = {0};
  if (!fl_io_glob(pattern, &g, &e)) return fl_usage_error(program, NULL, "`--%s`: %s", p->name, e.message);
  out->a = fl_io_paths(&run->main, &g, FL_FILE);
  int status = out->a ? 0 : 4;
  for (int64_t k = 0; !status && k < g.n; k++)
    if (fl_ctx_claim_input(&run->main, -1, g.paths[k], (int64_t)strlen(g.paths[k]))) status = 4;
  fl_io_glob_reset(&g);
  return status;
}

/* ---- lists ----------------------------------------------------------------------------------------- */

/* Takes the element that `*at` begins with off a list with commas between, as in a line of CSV: one in quotes
 * may have commas, and quotes doubled. Of what is no text, blanks around it are no part. On `*at` is then
 * what follows its comma, NULL behind the last. false: a quote without its end, or what follows that is no
 * comma. */
static bool take_element(const char **at, bool is_text, char *out) {
  const char *s = *at;
  char *end = out;
  while (!is_text && *s == ' ') s++;
  if (*s == '"') {
    for (s++; *s && (*s != '"' || s[1] == '"'); s++) s += *s == '"', *end++ = *s;
    if (*s++ != '"') return false;
    while (!is_text && *s == ' ') s++;
    if (*s && *s != ',') return false;
  } else {
    while (*s && *s != ',') *end++ = *s++;
    while (!is_text && end > out && end[-1] == ' ') end--;
  }
  *end = '\0';
  *at = *s ? s + 1 : NULL;
  return true;
}

/* How many elements it has at most; an empty text is an empty list. */
static int64_t commas(const char *s) {
  int64_t n = 0;
  for (const char *c = s; *c; c++) n += *c == ',';
  return n;
}

static int wrong_element(const char *program, const FlParam *p, int64_t k, const char *element) {
  char help[200];
  snprintf(help, sizeof help, "give %s, with commas between: `--%s` is a list", example(p->t.dtype), p->name);
  return fl_usage_error(program, help, "`--%s` takes values of type %s, and the element %lld, `%s`, is none",
                        p->name, fl_dtype_info[p->t.dtype].name, (long long)k, element);
}

/* The elements of a list, on the heap, one after the other, each with its 0; *n of them. 0, or a status. */
static int split_list(const char *program, const FlParam *p, const char *text, char *out, int64_t *n) {
  for (const char *at = *text ? text : NULL; at; (*n)++) {
    const char *begin = at;
    if (!take_element(&at, p->t.dtype == FL_TEXT, out))
      return fl_usage_error(
          program, "an element with commas stands in quotes, and a quote within them is written twice",
          "`--%s`: the quotes of the element %lld do not end before a comma: `%s`", p->name,
          (long long)*n + 1, begin);
    out += strlen(out) + 1;
  }
  return 0;
}

static int make_list(FlRun *run, const char *program, const FlParam *p, const char *elements, int64_t n,
                     FlSlot *out) {
  size_t bytes = (size_t)fl_dtype_info[p->t.dtype].bytes;
  FlArray *a = fl_array_new(&run->main, p->t.dtype, 1, &n);
  FlHeap *heap = fl_heap_new(&run->main);
  int status = a && heap && fl_array_keep(&run->main, a, heap, NULL, 0) == 0 ? 0 : 4;
  for (int64_t k = 0; !status && k < n; k++) {
    FlSlot v;
    if (!read_scalar(heap, p->t.dtype, elements, &v)) status = wrong_element(program, p, k + 1, elements);
    else memcpy((char *)a->data + (size_t)k * bytes, &v, bytes);
    elements += strlen(elements) + 1;
  }
  fl_heap_unref(heap);
  if (status) fl_array_unref(a);
  else out->a = a;
  return status;
}

static int read_list(FlRun *run, const char *program, const FlParam *p, const char *text, FlSlot *out) {
  char *elements = malloc(strlen(text) + (size_t)commas(text) + 2);
  int64_t n = 0;
  int status = elements ? split_list(program, p, text, elements, &n) : 4;
  if (!status) status = make_list(run, program, p, elements, n, out);
  free(elements);
  return status;
}

/* ---- parameters ------------------------------------------------------------------------------------ */

/* `-`: what comes on standard input. */
static int read_standard_input(FlRun *run, const char *program, const FlParam *p, FlSlot *out) {
  FlIoError e = {0};
  if (!fl_io_standard_input(&run->main, &e))
    return fl_usage_error(program, e.help[0] ? e.help : NULL, "`--%s`: %s", p->name, e.message);
  FlText path = fl_io_standard_input_path();
  if (p->t.rank) {
    char *one = (char *)(uintptr_t)path.ptr;
    out->a = fl_io_paths(&run->main, &(FlIoGlob){.paths = &one, .n = 1}, FL_FILE);
    if (!out->a) return 4;
  } else {
    out->t = path;
  }
  return fl_ctx_claim_input(&run->main, -1, path.ptr, path.len) ? 4 : 0;
}

static int read_param(FlRun *run, const char *program, const FlParam *p, const char *text, bool given,
                      FlSlot *slots) {
  bool is_null = p->nullable && !strcmp(text, "null");
  if (p->nullable) slots[1].i = !is_null;
  if (is_null) return 0;
  if (p->t.dtype == FL_FILE && fl_io_is_standard_input(text, (int64_t)strlen(text)))
    return read_standard_input(run, program, p, slots);
  if (p->t.rank == 1 && p->t.dtype == FL_FILE) return read_files(run, program, p, text, slots);
  if (p->t.rank) return read_list(run, program, p, text, slots);
  if (!read_scalar(run->heap, p->t.dtype, text, slots)) {
    char help[160];
    snprintf(help, sizeof help, "give %s%s", example(p->t.dtype), p->nullable ? ", or null" : "");
    return fl_usage_error(program, help, "`--%s` takes a value of type %s, and `%s` is none", p->name,
                          p->type, text);
  }
  if (p->t.dtype != FL_FILE) return 0;
  int status = given ? check_file(program, p, text) : 0;
  if (!status && fl_ctx_claim_input(&run->main, -1, text, (int64_t)strlen(text))) status = 4;
  return status;
}

int fl_params_read(FlRun *run, const char *program, const char *const *values, FlSlot *slots) {
  const FlProgram *p = run->program;
  int32_t at = 0;
  for (int32_t i = 0; i < p->n_params; i++) {
    const FlParam *q = &p->params[i];
    const char *text = values[i] ? values[i] : q->default_text;
    int status;
    if (text) {
      status = read_param(run, program, q, text, values[i] != NULL, slots + at);
    } else {
      char help[256];
      snprintf(help, sizeof help, "--%s %s: %s", q->name, q->type, *q->help ? q->help : "see --help");
      status = fl_usage_error(program, help, "the parameter `--%s` is required", q->name);
    }
    if (status) return status;
    at += q->nullable ? 2 : 1;
  }
  return 0;
}

void fl_params_release(const FlProgram *p, FlSlot *slots) {
  int32_t at = 0;
  for (int32_t i = 0; i < p->n_params; i++) {
    if (p->params[i].t.rank) fl_array_unref(slots[at].a);
    at += p->params[i].nullable ? 2 : 1;
  }
}
