/* last_run.c: what the last run of a script says of its text: rows and columns at each |>, and which stages
 * would be computed again.
 *
 * In: the record of the run (report/record.h), what the last check said of the steps of pipes. Out: hints and
 * a lens. How: the rows of a step are a value of the IR, which is followed to the operators that say how many
 * there are; those are looked up in the record by name and place. What always holds: a number is that of a
 * run, of the operator that the script means, or it is not there; nothing is written. */
#include "lsp/answers.h"

#include "exec/exec.h"
#include "exec/last_run.h"
#include "ir/ir.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { DEEPEST = 64, UNKNOWN = -1 };

typedef struct Last {
  const FlLspDocument *d;
  FlArena *arena;
  FlRecord *r;
  bool same;  /* texts and files are as they were */
  int *lines; /* of each place of the record, the line now, 0: it is no more, or in a file that is not read */
  uint16_t *file;             /* of each file of the record, its number among the sources; 0: none */
  const FlOp *calls[DEEPEST]; /* into which a value was followed, the outermost first */
  int n_calls;
  int64_t times; /* how often what was asked for ran */
} Last;

/* ---- the record
 * --------------------------------------------------------------------------------------------- */

static bool reads_same(const FlRecord *r) {
  for (int i = 0; i < r->n_reads; i++) {
    struct stat st = {0};
    int64_t time = 0;
    if (stat(r->reads[i].path, &st) == 0) time = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (time != r->reads[i].mtime || (int64_t)st.st_size != r->reads[i].bytes) return false;
  }
  return true;
}

static void find_files(Last *l) {
  const FlSources *s = l->d->c.sources;
  l->file = FL_NEW_ARRAY(l->arena, uint16_t, l->r->n_files + 1);
  for (int i = 0; i < s->files.n; i++) {
    const FlSource *f = s->files.at[i];
    char *real = realpath(f->path, NULL);
    for (int k = 0; k < l->r->n_files; k++)
      if (strcmp(l->r->files[k], real ? real : f->path) == 0) l->file[k] = f->id;
    free(real);
  }
}

static void find_lines(Last *l) {
  l->lines = FL_NEW_ARRAY(l->arena, int, l->r->n_places + 1);
  for (int k = 0; k < l->r->n_files; k++) {
    if (!l->file[k]) continue;
    const FlSource *f = fl_sources_get(l->d->c.sources, l->file[k]);
    const uint64_t *texts = fl_source_lines(l->arena, f);
    for (int i = 0; i < l->r->n_places; i++) {
      const FlRecordPlace *p = &l->r->places[i];
      if (p->file == k) l->lines[i] = fl_source_same(f, texts, p->line, p->text);
    }
  }
}

/* The record of the document's script; false: there is none. */
static bool open_last(Last *l, const FlLspDocument *d) {
  char dir[4096], source[FL_SOURCE_DIGEST];
  *l = (Last){.d = d};
  if (!d->c.sources || !fl_cache_dir(d->path, dir, sizeof dir)) return false;
  FlMemo *memo = fl_memo_open(&(FlMemoOptions){.dir = dir, .look = true});
  if (memo) l->r = fl_last_run_read(memo, d->path);
  fl_memo_close(memo);
  if (!l->r) return false;
  l->arena = fl_arena_new();
  fl_source_digest(d->c.sources, source);
  l->same = strcmp(source, l->r->runs[0].source) == 0 && reads_same(l->r);
  find_files(l);
  find_lines(l);
  return true;
}

static void close_last(Last *l) {
  fl_record_free(l->r);
  fl_arena_free(l->arena);
}

/* ---- rows
 * --------------------------------------------------------------------------------------------------- */

/* Whether "line:column" is next in the callers of a place, which are left behind it. */
static bool next_caller(const Last *l, FlSpan call, const char **callers) {
  const FlSource *f = fl_sources_get(l->d->c.sources, call.file);
  int line, column, its_line, its_column, n = 0;
  if (!f || sscanf(*callers, "%d:%d%n", &its_line, &its_column, &n) != 2) return false;
  fl_source_position(f, call.start, &line, &column);
  *callers += n + ((*callers)[n] == ',');
  return line == its_line && column == its_column;
}

/* The same of the calls that brought an operation of this span to where it stands. */
static bool brought(const Last *l, FlSpan span, const char **callers) {
  const FlSources *s = l->d->c.sources;
  for (const FlCall *c = span.call ? fl_sources_call_at(s, span.call) : NULL; c;
       c = c->place.call ? fl_sources_call_at(s, c->place.call) : NULL)
    if (!next_caller(l, c->place, callers)) return false;
  return true;
}

/* Whether a place of the record is an operation of this span in the functions that were followed: the calls
 * that brought it there and those that were followed are the inner ones of its callers. */
static bool by_calls(const Last *l, const FlRecordPlace *p, FlSpan span) {
  const char *callers = p->callers;
  if (!brought(l, span, &callers)) return false;
  for (int k = l->n_calls - 1; k >= 0; k--) {
    const FlSpan call = l->calls[k]->span;
    if (!next_caller(l, call, &callers) || !brought(l, call, &callers)) return false;
  }
  return true;
}

typedef struct Found {
  int64_t rows, calls;
  int places, silent; /* silent: that say no rows */
} Found;

/* What the record has of an operator at a place; `exact`: that those calls reached. */
static Found find_places(const Last *l, const char *name, FlSpan span, bool exact) {
  const FlSource *f = fl_sources_get(l->d->c.sources, span.file);
  Found found = {0};
  int line, column;
  if (!f) return found;
  fl_source_position(f, span.start, &line, &column);
  for (int i = 0; i < l->r->n_places; i++) {
    const FlRecordPlace *p = &l->r->places[i];
    if (l->lines[i] != line || p->column != column || strcmp(p->op, name) != 0 ||
        l->file[p->file] != span.file)
      continue;
    if (exact ? !by_calls(l, p, span) : strcmp(p->callers, "-") != 0) continue;
    found.places++;
    found.calls += p->calls;
    if (p->rows_out < 0) found.silent++;
    else found.rows += p->rows_out;
  }
  return found;
}

/* Rows that an operator gave in the last run. */
static int64_t rows_of_op(Last *l, const FlOp *op) {
  const char *name = fl_op_info[op->code].name;
  Found found = find_places(l, name, op->span, true);
  if (!found.places && (l->n_calls || op->span.call)) { /* what it is in was not made part of what calls it */
    found = find_places(l, name, op->span, false);
    if (found.calls != 1) return UNKNOWN;
  }
  if (op->code == FL_OP_GROUP) { /* which may have been done with its aggregates at once */
    Found at_once = find_places(l, fl_op_info[FL_OP_GROUP_ROWS].name, op->span, true);
    found.places += at_once.places;
    found.silent += at_once.silent;
    found.rows += at_once.rows;
    if (at_once.calls > found.calls) found.calls = at_once.calls;
  }
  bool both = op->code == FL_OP_GROUP && found.silent < found.places; /* one of them says it */
  if (!found.places || (found.silent && !both)) return UNKNOWN;
  if (found.calls > l->times) l->times = found.calls;
  return found.rows;
}

/* Of a stage that was called once. */
static int64_t rows_of_stage(const Last *l, const FlOp *op) {
  int64_t rows = UNKNOWN;
  int n = 0;
  for (int i = 0; i < l->r->now.n_stages; i++) {
    if (strcmp(l->r->now.stages[i].name, op->attrs.func->name) != 0) continue;
    rows = l->r->now.stages[i].rows_out;
    n++;
  }
  return n == 1 ? rows : UNKNOWN;
}

static int64_t number(Last *l, const FlValue *v, int depth);

/* The value that a parameter of the function that was followed last has there; NULL: it is not known. */
static const FlValue *passed(const Last *l, const FlValue *v) {
  const FlOp *call = l->n_calls ? l->calls[l->n_calls - 1] : NULL;
  return call && call->attrs.func->body == v->region && v->index < call->n_args ? call->args[v->index] : NULL;
}

static int64_t size(Last *l, const FlValue *a, int axis, int depth);

/* What `ask` says of a value, seen from where it is passed (inside: from within the function called). */
static int64_t outside(Last *l, const FlValue *v, int axis, int depth) {
  const FlValue *out = passed(l, v);
  if (!out) return UNKNOWN;
  const FlOp *call = l->calls[--l->n_calls];
  int64_t n = axis < 0 ? number(l, out, depth) : size(l, out, axis, depth);
  l->calls[l->n_calls++] = call;
  return n;
}

static int64_t inside(Last *l, const FlValue *v, int axis, int depth) {
  const FlRegion *body = v->op->attrs.func->body;
  if (!body || v->index >= body->n_yields || l->n_calls == DEEPEST) return UNKNOWN;
  l->calls[l->n_calls++] = v->op;
  int64_t n =
      axis < 0 ? number(l, body->yields[v->index], depth) : size(l, body->yields[v->index], axis, depth);
  l->n_calls--;
  return n;
}

/* How large an array is along an axis. */
static int64_t size(Last *l, const FlValue *a, int axis, int depth) {
  if (++depth > DEEPEST) return UNKNOWN;
  if (!a->op) return outside(l, a, axis, depth);
  if (a->op->code == FL_OP_CALL) return inside(l, a, axis, depth);
  if (a->op->code == FL_OP_STAGE) return axis == 0 ? rows_of_stage(l, a->op) : UNKNOWN;
  FlExtent e = fl_ir_extent(a, axis);
  switch (e.kind) {
  case FL_EXTENT_CONSTANT: return e.n;
  case FL_EXTENT_VALUE: return number(l, e.value, depth);
  case FL_EXTENT_OF: return size(l, e.value, (int)e.n, depth);
  case FL_EXTENT_SPAN: {
    int64_t from = number(l, a->op->args[1], depth), to = number(l, a->op->args[2], depth);
    return from < 0 || to < from ? UNKNOWN : to - from;
  }
  case FL_EXTENT_OWN:
    return axis == 0 && a->index == 0 && fl_op_info[a->op->code].op_class == FL_CLASS_RUNTIME
               ? rows_of_op(l, a->op)
               : UNKNOWN;
  case FL_EXTENT_LEAST: break;
  }
  return UNKNOWN;
}

/* A number of rows. */
static int64_t number(Last *l, const FlValue *v, int depth) {
  int64_t n, a, b;
  if (++depth > DEEPEST) return UNKNOWN;
  if (!v->op) return outside(l, v, -1, depth);
  if (fl_ir_const_value_i(v, &n)) return n;
  const FlOp *op = v->op;
  if (op->code == FL_OP_CALL) return inside(l, v, -1, depth);
  if (op->code == FL_OP_STAGE) return v->index == 0 ? rows_of_stage(l, op) : UNKNOWN;
  if (op->code == FL_OP_DIM) return size(l, op->args[0], (int)op->attrs.i, depth);
  if (fl_op_info[op->code].flags & FL_OPF_COUNTS) return v->index == 0 ? rows_of_op(l, op) : UNKNOWN;
  bool pair =
      op->code == FL_OP_MIN || op->code == FL_OP_MAX || op->code == FL_OP_ADD || op->code == FL_OP_SUB;
  if (!pair) return UNKNOWN;
  a = number(l, op->args[0], depth);
  b = number(l, op->args[1], depth);
  if (a < 0 || b < 0) return UNKNOWN;
  return op->code == FL_OP_MIN   ? (a < b ? a : b)
         : op->code == FL_OP_MAX ? (a > b ? a : b)
         : op->code == FL_OP_ADD ? a + b
                                 : a - b;
}

/* ---- hints
 * -------------------------------------------------------------------------------------------------- */

/* What is known of a step, in all functions that were made of the one where it stands. */
typedef struct Step {
  uint32_t end;
  int columns;
  int64_t from, to, times; /* rows; times: how often it ran */
} Step;
typedef FlVec(Step) Steps;

static void add_step(Last *l, const FlLspStep *told, Steps *steps) {
  l->times = 1;
  int64_t from = told->takes.rows ? number(l, told->takes.rows, 0) : UNKNOWN,
          to = number(l, told->gives.rows, 0);
  Step is = {told->at.start + told->at.len, told->gives.columns, from, to, l->times};
  for (int i = 0; i < steps->n; i++) {
    Step *s = &steps->at[i];
    if (s->end != is.end) continue;
    s->from = s->from < 0 || from < 0 ? UNKNOWN : s->from + from;
    s->to = s->to < 0 || to < 0 ? UNKNOWN : s->to + to;
    s->times += is.times;
    return;
  }
  fl_vec_push(l->arena, steps, is);
}

/* "27,004 -> 1,004 x 14" */
static json_t *say_step(const Last *l, FlLspDocuments *all, const Step *s) {
  FlText1 text = {0};
  if (s->from >= 0 && s->to >= 0 && s->from != s->to) {
    fl_lsp_add_number(&text, s->from);
    fl_text_addz(&text, " -> ");
  }
  if (s->to >= 0) fl_lsp_add_number(&text, s->to);
  else fl_text_addz(&text, "?");
  fl_text_addf(&text, " x %d", s->columns);
  if (s->to >= 0 && s->times > 1) fl_text_addf(&text, " in %lld goes", (long long)s->times);
  if (!l->same) fl_text_addz(&text, " (stale)");
  const char *why = l->same ? "rows and columns of the last run"
                            : "rows of the last run: the script or its data has changed since";
  json_t *hint = json_pack("{s:o, s:s, s:b, s:s}", "position", fl_lsp_position(all, l->d->c.script, s->end),
                           "label", text.s, "paddingLeft", 1, "tooltip", why);
  fl_text_reset(&text);
  return hint;
}

json_t *fl_lsp_hints(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  json_t *out = json_array();
  Last l;
  if (all->no_hints || !open_last(&l, d)) return out;
  const json_t *range = json_object_get(params, "range");
  uint32_t from = fl_lsp_offset(all, &d->text, json_object_get(range, "start")),
           to = fl_lsp_offset(all, &d->text, json_object_get(range, "end"));
  Steps steps = {0};
  for (int i = 0; i < d->facts.steps.n; i++) {
    const FlLspStep *step = &d->facts.steps.at[i];
    uint32_t end = step->at.start + step->at.len;
    if (step->at.file == d->c.script->id && end >= from && end <= to && step->gives.rows)
      add_step(&l, step, &steps);
  }
  for (int i = 0; i < steps.n; i++) json_array_append_new(out, say_step(&l, all, &steps.at[i]));
  close_last(&l);
  return out;
}

/* ---- rows that a step gave ----------------------------------------------------------------------------- */

bool fl_lsp_last_rows(const FlLspDocuments *all, const FlLspDocument *d, FlSpan at, bool let, FlText1 *out) {
  enum { MOST = 3 }; /* of calls of a stage, or of functions that stand there */
  Last l;
  int line, column, n = 0;
  if (all->no_hints || !open_last(&l, d)) return false;
  const FlRecordRows *found[MOST];
  fl_source_position(d->c.script, at.start, &line, &column);
  for (int i = 0; i < l.r->n_rows && l.same; i++) {
    const FlRecordRows *r = &l.r->rows[i];
    if (r->let != let || !r->n_columns || r->file >= l.r->n_files || l.file[r->file] != at.file) continue;
    if (r->line != line || r->column != column) continue;
    if (n < MOST) found[n] = r;
    n++;
  }
  for (int i = 0; i < n && i < MOST; i++) {
    if (i) fl_text_addz(out, "\n\n");
    fl_lsp_say_rows(l.r, found[i], n > 1, out);
  }
  if (n > MOST) fl_text_addf(out, "\n\nand of %d more", n - MOST);
  close_last(&l);
  return n && out->len;
}

/* ---- the lens
 * ----------------------------------------------------------------------------------------------- */

/* The functions of a stage are as in the record, by name and text. */
static bool made_same(const FlRecordMade *m, const char *sources) {
  int n = 0;
  for (const char *at = sources, *end; *at; at = *end ? end + 1 : end, n++) {
    end = at + strcspn(at, "\n");
    const char *digest = memchr(at, '=', (size_t)(end - at)), *its = n < m->n ? m->functions[n].value : "";
    size_t name = strcspn(at, " ");
    if (!digest || n >= m->n || strncmp(at, m->functions[n].name, name) != 0 ||
        m->functions[n].name[name] != ' ' || strlen(its) != (size_t)(end - digest - 1) ||
        strncmp(digest + 1, its, strlen(its)) != 0)
      return false;
  }
  return n == m->n;
}

typedef struct Stale {
  int stages, stale, unknown;
  int64_t saved; /* nanoseconds of calls that need not be computed again */
  bool least;    /* what is computed again took no time in the last run: it was remembered */
} Stale;

static void count_stage(const Last *l, const FlFunc *f, Stale *out) {
  const FlRecordCalls *calls = &l->r->now;
  bool same = false;
  for (int i = 0; i < calls->n_made; i++)
    same = same || (strcmp(calls->made[i].stage, f->name) == 0 && f->sources &&
                    made_same(&calls->made[i], f->sources));
  out->stages++;
  out->stale += !same;
  out->unknown += same && !l->same;
  for (int i = 0; i < calls->n_stages; i++) {
    const FlRecordStage *s = &calls->stages[i];
    if (strcmp(s->name, f->name) != 0) continue;
    bool cached = strcmp(s->how, "cached") == 0;
    if (same && !cached && strcmp(s->kept, "yes") == 0) out->saved += s->ns;
    out->least = out->least || (!same && cached);
  }
}

static json_t *lens(FlLspDocuments *all, const FlLspDocument *d, const char *title) {
  return json_pack("{s:o, s:{s:s, s:s, s:[s]}}", "range", fl_lsp_range(all, d->c.script, 0, 0), "command",
                   "title", title, "command", "flow.run", "arguments", d->uri);
}

/* Over the script: what running it would do. */
json_t *fl_lsp_lenses(FlLspDocuments *all, FlLspDocument *d, const json_t *params) {
  (void)params;
  json_t *out = json_array();
  const FlModule *m = d->c.lacks ? NULL : d->c.sema.module;
  if (!m || all->no_lens) return out;
  FlText1 text = {0};
  Last l;
  fl_text_addz(&text, "run");
  if (open_last(&l, d)) {
    Stale s = {0};
    for (const FlFunc *f = m->first; f; f = f->next)
      if (f->kind == FL_FUNC_STAGE) count_stage(&l, f, &s);
    if (s.stages)
      fl_text_addf(&text, " \u00b7 %d of %d stage%s stale", s.stale, s.stages, s.stages == 1 ? "" : "s");
    if (s.unknown) fl_text_addf(&text, ", %d unknown until it has run", s.unknown);
    double about = (double)(l.r->runs[0].ns - s.saved) * 1e-9;
    fl_text_addf(&text, " \u00b7 %s %.2g s", s.least ? "at least" : "about", about > 0 ? about : 0.0);
    close_last(&l);
  }
  json_array_append_new(out, lens(all, d, text.s));
  fl_text_reset(&text);
  return out;
}
