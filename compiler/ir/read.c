/* read.c: the text of print.c back to a module. Lines that start in column 0 begin a module, doc, param or
 * function;
 * `#` comments are skipped. Values may have any numbers, each defined once a function. The module is verified
 * before it is given out. Stops at the first error, which is in the sink with its place in the text; ops get
 * their line as span. When `text` is the text of a source of the sink, places are in that source, else in one
 * called "ir". */
#include "ir/ir_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_DEPTH = 100, MAX_VALUES = 1 << 24 };

typedef FlVec(FlValue *) Values;
typedef FlVec(const char *) Strings;
typedef FlVec(FlType1) Types;

typedef struct Reader {
  FlArena *arena;
  FlSink *sink;
  const FlSource *source;
  const char *at, *op_start;
  FlModule *module;
  FlFunc *func, *next_func;
  Values values; /* by number in the text */
  int depth;
  bool failed;
} Reader;

static bool fail(Reader *r, FlDiagCode code, const char *what, const char *from) {
  if (r->failed) return false;
  r->failed = true;
  size_t len = 0;
  while (from[len] && from[len] != '\n' && from[len] != ' ' && from[len] != ',') len++;
  FlSpan span = {r->source->id, (uint32_t)(from - r->source->text), (uint32_t)(len ? len : 1), 0};
  fl_report(r->sink, code, span, "%s", what);
  return false;
}

static bool syntax(Reader *r, const char *what) { return fail(r, FL_E0190, what, r->at); }

/* ---- tokens ---- */

static void skip_spaces(Reader *r) {
  while (*r->at == ' ' || *r->at == '\t') r->at++;
  if (*r->at == '#')
    while (*r->at && *r->at != '\n') r->at++;
}

static void skip_lines(Reader *r) {
  for (skip_spaces(r); *r->at == '\n'; skip_spaces(r)) r->at++;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static bool take(Reader *r, const char *token) {
  skip_spaces(r);
  size_t n = strlen(token);
  if (strncmp(r->at, token, n) != 0) return false;
  if (is_word(token[n - 1]) && is_word(r->at[n])) return false;
  r->at += n;
  return true;
}

static bool expect(Reader *r, const char *token) {
  if (take(r, token)) return true;
  return syntax(r, fl_arena_printf(r->arena, "`%s` is wanted here", token));
}

static bool read_word(Reader *r, const char **word) {
  skip_spaces(r);
  const char *from = r->at;
  while (is_word(*r->at)) r->at++;
  if (r->at == from) return syntax(r, "a word is wanted here");
  *word = fl_arena_strndup(r->arena, from, (size_t)(r->at - from));
  return true;
}

static int hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static bool read_string(Reader *r, const char **out, int32_t *len) {
  if (!expect(r, "\"")) return false;
  FlVec(char) text = {0};
  while (*r->at != '"') {
    char c = *r->at++;
    if (c == '\0' || c == '\n') {
      r->at--;
      return syntax(r, "the text does not end");
    }
    if (c == '\\') {
      char e = *r->at++;
      if (e == 'n') c = '\n';
      else if (e == '"' || e == '\\') c = e;
      else if (e == 'x' && hex(r->at[0]) >= 0 && hex(r->at[1]) >= 0) {
        c = (char)(hex(r->at[0]) * 16 + hex(r->at[1]));
        r->at += 2;
      } else {
        r->at--;
        return syntax(r, "no such escape");
      }
    }
    fl_vec_push(r->arena, &text, c);
  }
  r->at++;
  *len = text.n;
  *out = fl_arena_strndup(r->arena, text.at ? text.at : "", (size_t)text.n);
  return true;
}

static bool read_int(Reader *r, int64_t *out) {
  skip_spaces(r);
  char *end;
  errno = 0;
  *out = strtoll(r->at, &end, 10);
  if (end == r->at || errno) return syntax(r, "an integer is wanted here");
  r->at = end;
  return true;
}

static bool read_float(Reader *r, double *out) {
  skip_spaces(r);
  char *end;
  *out = strtod(r->at, &end);
  if (end == r->at) return syntax(r, "a float is wanted here");
  if (*out != *out) *out = __builtin_nan("");
  r->at = end;
  return true;
}

/* An element type by its name, which may hold more than a word: decimal(18, 2). FL_N_DTYPES: none is there.
 */
static int read_dtype(Reader *r) {
  skip_spaces(r);
  for (int d = 0; d < FL_N_DTYPES; d++) {
    size_t n = strlen(fl_dtype_info[d].name);
    if (strncmp(r->at, fl_dtype_info[d].name, n) != 0 || is_word(r->at[n])) continue;
    r->at += n;
    return d;
  }
  return FL_N_DTYPES;
}

static bool read_type(Reader *r, FlType1 *out) {
  *out = (FlType1){0};
  for (; take(r, "list"); out->depth++)
    if (out->depth == MAX_DEPTH) return syntax(r, "lists are nested too deep");
  int d = read_dtype(r);
  if (d == FL_N_DTYPES) return syntax(r, "unknown type");
  out->dtype = (uint8_t)d;
  if (*r->at != '[') return true;
  r->at++;
  for (out->rank = 1; *r->at == ','; r->at++)
    if (++out->rank > FL_MAX_RANK) return syntax(r, "an array has too many axes");
  return expect(r, "]");
}

/* ---- values and functions ---- */

static bool read_number(Reader *r, int64_t *out) {
  if (!expect(r, "%") || !read_int(r, out)) return false;
  return (*out >= 0 && *out < MAX_VALUES) || syntax(r, "no such value number");
}

static bool define(Reader *r, int64_t number, FlValue *v) {
  while (r->values.n <= number) fl_vec_push(r->arena, &r->values, NULL);
  if (r->values.at[number]) return syntax(r, "this number is defined twice");
  r->values.at[number] = v;
  return true;
}

static bool read_value(Reader *r, FlValue **out) {
  const char *from = (skip_spaces(r), r->at);
  int64_t number;
  if (!read_number(r, &number)) return false;
  *out = number < r->values.n ? r->values.at[number] : NULL;
  return *out || fail(r, FL_E0192, "this value is not defined before its use", from);
}

static bool read_values(Reader *r, Values *out) {
  skip_spaces(r);
  if (*r->at != '%') return true;
  do {
    FlValue *v;
    if (!read_value(r, &v)) return false;
    fl_vec_push(r->arena, out, v);
  } while (take(r, ","));
  return true;
}

static bool read_func_name(Reader *r, const char **out) {
  int32_t len;
  if (!expect(r, "@")) return false;
  return *r->at == '"' ? read_string(r, out, &len) : read_word(r, out);
}

static bool read_digest(Reader *r, FlDigest *out) {
  skip_spaces(r);
  uint64_t part[2] = {0, 0};
  for (int i = 0; i < 32; i++, r->at++) {
    if (hex(*r->at) < 0) return syntax(r, "32 digits of a key are wanted");
    part[i / 16] = part[i / 16] << 4 | (uint64_t)hex(*r->at);
  }
  *out = (FlDigest){part[1], part[0]};
  return true;
}

static bool read_library(Reader *r, FlAttrs *a) {
  FlLibraryAttr *library = FL_NEW(r->arena, FlLibraryAttr);
  int32_t len;
  a->library = library;
  if (!read_string(r, &library->name, &len)) return false;
  library->by_path = take(r, "content");
  return !library->by_path || read_digest(r, &library->content);
}

static bool read_column(Reader *r, FlColumnAttr *c) {
  int32_t len;
  *c = (FlColumnAttr){0};
  if (!expect(r, "col")) return false;
  skip_spaces(r);
  if (*r->at == '"' && !read_string(r, &c->name, &len)) return false;
  for (int k = 0; k < FL_N_COLUMN_WORDS; k++)
    if (take(r, fl_ir_column_words[k].word)) c->flags |= fl_ir_column_words[k].flag, k = -1;
  const char *from = (skip_spaces(r), r->at);
  if (take(r, ":")) {
    c->flags |= FL_COLUMN_TYPED;
    c->dtype = read_dtype(r);
    if (c->dtype == FL_N_DTYPES) return fail(r, FL_E0192, "no such type", from);
  }
  return !take(r, "->") || read_word(r, &c->made);
}

static bool read_option(Reader *r, FlOptionAttr *o) {
  int32_t len;
  *o = (FlOptionAttr){0};
  if (!read_word(r, &o->name)) return false;
  o->found = take(r, "found");
  skip_spaces(r);
  return *r->at == '"' ? read_string(r, &o->text, &len) : read_int(r, &o->number);
}

static bool read_options(Reader *r, FlAttrs *a) {
  FlVec(FlOptionAttr) options = {0};
  FlOptionAttr o;
  if (!expect(r, "[")) return false;
  do {
    if (!read_option(r, &o)) return false;
    fl_vec_push(r->arena, &options, o);
  } while (take(r, ","));
  a->options = options.at;
  a->n_options = options.n;
  return expect(r, "]");
}

static bool read_format(Reader *r, FlAttrs *a) {
  const char *from = (skip_spaces(r), r->at), *name;
  if (!read_word(r, &name)) return false;
  a->format = fl_format_find(name);
  return a->format || fail(r, FL_E0192, "no such format", from);
}

static bool read_columns(Reader *r, FlAttrs *a) {
  FlVec(FlColumnAttr) columns = {0};
  FlColumnAttr c;
  if (!expect(r, "[")) return false;
  do {
    if (!read_column(r, &c)) return false;
    fl_vec_push(r->arena, &columns, c);
  } while (take(r, ","));
  a->columns = columns.at;
  a->n_columns = columns.n;
  return expect(r, "]");
}

static bool read_reductions(Reader *r, FlAttrs *a) {
  FlVec(FlReductionAttr) all = {0};
  if (!expect(r, "[")) return false;
  do {
    FlReductionAttr one = {0};
    const char *from = (skip_spaces(r), r->at), *name;
    if (!read_word(r, &name)) return false;
    if (!fl_reduce_find(name, &one.kind)) return fail(r, FL_E0192, "no such reduction", from);
    one.filtered = take(r, "filtered");
    fl_vec_push(r->arena, &all, one);
  } while (take(r, ","));
  a->reductions = all.at;
  a->n_reductions = all.n;
  return expect(r, "]");
}

static bool read_attr(Reader *r, FlAttrs *a) {
  skip_spaces(r);
  int32_t len;
  if (*r->at == '@') {
    const char *from = r->at, *name;
    if (!read_func_name(r, &name)) return false;
    for (FlFunc *f = r->module->first; f && !a->func; f = f->next)
      if (strcmp(f->name, name) == 0) a->func = f;
    return a->func || fail(r, FL_E0192, "no such function", from);
  }
  if (take(r, "i")) return expect(r, "=") && read_int(r, &a->i);
  if (take(r, "format")) return expect(r, "=") && read_format(r, a);
  if (take(r, "options")) return expect(r, "=") && read_options(r, a);
  if (take(r, "f")) return expect(r, "=") && read_float(r, &a->f);
  if (take(r, "s")) return expect(r, "=") && read_string(r, &a->s, &len);
  if (take(r, "library")) return expect(r, "=") && read_library(r, a);
  if (take(r, "kinds")) return expect(r, "=") && read_reductions(r, a);
  if (take(r, "columns")) return expect(r, "=") && read_columns(r, a);
  if (!take(r, "list"))
    return syntax(r, "an attribute is wanted here: @function, i=, f=, s=, list=, kinds=, columns=, format=, "
                     "options= or library=");
  if (!expect(r, "=") || !expect(r, "[")) return false;
  Strings list = {0};
  if (!take(r, "]")) {
    do {
      const char *s;
      if (!read_string(r, &s, &len)) return false;
      fl_vec_push(r->arena, &list, s);
    } while (take(r, ","));
    if (!expect(r, "]")) return false;
  }
  a->list = list.at;
  a->n_list = list.n;
  return true;
}

static bool read_attrs(Reader *r, FlAttrs *a) {
  if (!take(r, "<")) return true;
  do {
    if (!read_attr(r, a)) return false;
  } while (take(r, ","));
  return expect(r, ">");
}

/* A literal before its type is known: all readings that it has. */
typedef struct Literal {
  bool is_string, is_int;
  FlAttrs a;
} Literal;

static bool read_literal(Reader *r, Literal *out) {
  *out = (Literal){0};
  skip_spaces(r);
  if (*r->at == '"') {
    out->is_string = true;
    return read_string(r, &out->a.s, &out->a.s_len);
  }
  if (take(r, "true") || take(r, "false")) {
    out->is_int = true;
    out->a.i = r->at[-2] == 'u';
    return true;
  }
  char *end;
  errno = 0;
  out->a.i = strtoll(r->at, &end, 10);
  out->is_int = end != r->at && errno == 0;
  return read_float(r, &out->a.f);
}

static bool constant_attrs(Reader *r, FlType1 t, const Literal *literal, FlAttrs *out) {
  FlKind kind = fl_dtype_info[t.dtype].kind;
  *out = (FlAttrs){0};
  if (kind == FL_KIND_TEXT || t.dtype == FL_FILE) {
    if (!literal->is_string) return syntax(r, "a text constant is written in quotes");
    *out = literal->a;
  } else if (literal->is_string) return syntax(r, "a text constant has type text or file");
  else if (kind == FL_KIND_FLOAT) out->f = t.dtype == FL_F32 ? (double)(float)literal->a.f : literal->a.f;
  else if (!literal->is_int) return syntax(r, "an integer constant is wanted");
  else out->i = literal->a.i;
  return true;
}

/* ---- ops and regions ---- */

static bool read_body(Reader *r, FlRegion *region);

static bool read_params(Reader *r, FlRegion *region) {
  if (!expect(r, "(")) return false;
  if (take(r, ")")) return true;
  do {
    int64_t number;
    FlType1 t;
    if (!read_number(r, &number) || !expect(r, ":") || !read_type(r, &t)) return false;
    if (!define(r, number, fl_ir_param(region, t))) return false;
  } while (take(r, ","));
  return expect(r, ")");
}

static bool read_region(Reader *r, FlBuilder *b, FlOp *op, int index) {
  if (++r->depth > MAX_DEPTH) return syntax(r, "regions are nested too deep");
  FlRegion *region = fl_ir_region(b, op, index, 0, NULL);
  skip_lines(r);
  if (*r->at == '(' && !read_params(r, region)) return false;
  bool whole = read_body(r, region) && expect(r, "}");
  r->depth--;
  return whole;
}

static bool read_opcode(Reader *r, FlOpcode *code) {
  const char *from = (skip_spaces(r), r->at), *word;
  if (!read_word(r, &word)) return false;
  for (int i = 0; i < FL_N_OPS; i++)
    if (strcmp(fl_op_info[i].name, word) == 0) return *code = (FlOpcode)i, true;
  return fail(r, FL_E0191, "unknown operator", from);
}

static bool read_op(Reader *r, FlRegion *region) {
  skip_spaces(r);
  const char *from = r->at;
  FlVec(int64_t) numbers = {0};
  if (*r->at == '%') {
    do {
      int64_t number;
      if (!read_number(r, &number)) return false;
      fl_vec_push(r->arena, &numbers, number);
    } while (take(r, ","));
    if (!expect(r, "=")) return false;
  }
  FlOpcode code;
  FlAttrs attrs = {0};
  Literal literal = {0};
  Values args = {0};
  Types types = {0};
  if (!read_opcode(r, &code) || !(code == FL_OP_CONST ? read_literal(r, &literal) : read_attrs(r, &attrs)))
    return false;
  if (!read_values(r, &args)) return false;
  if (take(r, ":")) {
    do {
      FlType1 t;
      if (!read_type(r, &t)) return false;
      fl_vec_push(r->arena, &types, t);
    } while (take(r, ","));
  }
  if (types.n != numbers.n) return syntax(r, "as many result types as results are wanted");
  if (code == FL_OP_CONST && (types.n != 1 || !constant_attrs(r, types.at[0], &literal, &attrs)))
    return syntax(r, "a constant has one result");
  int n_regions = code == FL_OP_IF ? 2 : 0;
  skip_spaces(r);
  if (*r->at == '{' && n_regions == 0) n_regions = 1;
  FlSpan span = {r->source->id, (uint32_t)(from - r->source->text), (uint32_t)(r->at - from), 0};
  FlBuilder b = {.module = r->module, .func = r->func, .region = region, .span = span};
  FlOp *op = fl_ir_op(&b, code, args.n, args.at, types.n, types.at, n_regions);
  op->attrs = attrs;
  for (int i = 0; i < n_regions; i++)
    if (!expect(r, "{") || !read_region(r, &b, op, i)) return false;
  for (int i = 0; i < types.n; i++)
    if (!define(r, numbers.at[i], op->results[i])) return false;
  skip_spaces(r);
  return *r->at == '\n' || *r->at == '\0' || syntax(r, "the line should end here");
}

static bool read_body(Reader *r, FlRegion *region) {
  for (skip_lines(r); !take(r, "yield"); skip_lines(r)) {
    if (*r->at == '\0' || *r->at == '}') return syntax(r, "a region ends with `yield`");
    if (!read_op(r, region)) return false;
  }
  Values yields = {0};
  if (!read_values(r, &yields)) return false;
  fl_ir_yield(region, r->module, yields.n, yields.at);
  skip_lines(r);
  return true;
}

/* ---- declarations ---- */

static const struct {
  const char *word;
  FlFuncKind kind;
} func_words[] = {
    {"fn", FL_FUNC_PLAIN}, {"stage", FL_FUNC_STAGE}, {"main", FL_FUNC_MAIN}, {"test", FL_FUNC_TEST}};

static bool take_func_word(Reader *r, FlFuncKind *kind) {
  for (int i = 0; i < 4; i++)
    if (take(r, func_words[i].word)) return *kind = func_words[i].kind, true;
  return false;
}

/* Functions may be called before they are defined: make them all first, by the lines that begin them. */
static bool declare_functions(Reader *r) {
  for (;; r->at++) {
    FlFuncKind kind;
    const char *line = r->at, *name;
    if (*line != ' ' && take_func_word(r, &kind)) {
      FlSpan span = {r->source->id, (uint32_t)(line - r->source->text), (uint32_t)(r->at - line), 0};
      if (!read_func_name(r, &name)) return false;
      fl_ir_func_make(r->module, name, kind, span);
    }
    while (*r->at && *r->at != '\n') r->at++;
    if (!*r->at) return true;
  }
}

static bool read_func(Reader *r) {
  const char *name;
  FlFunc *f = r->func = r->next_func;
  r->next_func = f->next;
  r->values = (Values){0};
  r->depth = 0;
  if (!read_func_name(r, &name) || !read_params(r, f->body) || !expect(r, "->") || !expect(r, "("))
    return false;
  Types types = {0};
  if (!take(r, ")")) {
    do {
      FlType1 t;
      if (!read_type(r, &t)) return false;
      fl_vec_push(r->arena, &types, t);
    } while (take(r, ","));
    if (!expect(r, ")")) return false;
  }
  int64_t memo = 0;
  if (take(r, "memo") && !read_int(r, &memo)) return false;
  f->memo = (int)memo;
  f->recursive = take(r, "recursive");
  if (take(r, "key") && !read_digest(r, &f->key)) return false;
  if (!expect(r, "{") || !read_body(r, f->body)) return false;
  if (f->body->n_yields != types.n) return syntax(r, "the yields are not as many as the results declared");
  for (int i = 0; i < types.n; i++)
    if (!fl_t_same(types.at[i], f->body->yields[i]->type))
      return syntax(r, "a yield is not of the type declared");
  return expect(r, "}");
}

static bool read_param_row(Reader *r, FlIrParam *p) {
  int32_t len;
  p->help = "";
  p->span = (FlSpan){r->source->id, (uint32_t)(r->at - r->source->text), 1, 0};
  if (!read_string(r, &p->name, &len) || !read_string(r, &p->type, &len) || !read_type(r, &p->t))
    return false;
  p->nullable = take(r, "nullable");
  if (take(r, "default") && !read_string(r, &p->default_text, &len)) return false;
  return !take(r, "help") || read_string(r, &p->help, &len);
}

static bool read_module(Reader *r) {
  const char *name;
  int32_t len;
  FlVec(FlIrParam) params = {0};
  skip_lines(r);
  if (!expect(r, "module") || !read_string(r, &name, &len)) return false;
  r->module = fl_ir_module_make(r->arena, name);
  const char *start = r->at;
  if (!declare_functions(r)) return false;
  r->at = start;
  r->next_func = r->module->first;
  for (skip_lines(r); *r->at; skip_lines(r)) {
    FlFuncKind kind;
    FlIrParam p = {0};
    if (take(r, "doc")) {
      if (!read_string(r, &r->module->doc, &len)) return false;
    } else if (take(r, "param")) {
      if (!read_param_row(r, &p)) return false;
      fl_vec_push(r->arena, &params, p);
    } else if (r->next_func && take_func_word(r, &kind)) {
      if (!read_func(r)) return false;
    } else return syntax(r, "a doc, param or function is wanted here, from column 1");
  }
  r->module->params = params.at;
  r->module->n_params = params.n;
  return true;
}

FlModule *fl_ir_read(FlArena *arena, const char *text, FlSink *sink) {
  Reader r = {.arena = arena, .sink = sink};
  for (int i = 0; i < sink->sources->files.n; i++)
    if (sink->sources->files.at[i]->text == text) r.source = sink->sources->files.at[i];
  if (!r.source) r.source = fl_sources_add(sink->sources, "ir", text, strlen(text));
  r.at = r.source->text;
  if (!read_module(&r)) return NULL;
  FlText1 why = {0};
  if (!fl_ir_verify(r.module, &why)) fail(&r, FL_E0193, fl_arena_printf(arena, "%s", why.s), r.source->text);
  fl_text_reset(&why);
  return r.failed ? NULL : r.module;
}
