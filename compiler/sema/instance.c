/* instance.c: IR functions of their own: stages, and functions that call themselves.
 *
 * In: a function and the values of its parameters. Out: the call of an instance, which calls with like
 * arguments share. Always: an instance depends on nothing but its parameters; what it uses of the script
 * around it becomes more of them (captures, scope.c). */
#include "sema/attributes.h"
#include "sema/call.h"
#include "sema/column_names.h"
#include "sema/expr.h"
#include "sema/scope.h"
#include "sema/type_expr.h"
#include "sema/value.h"
#include "sema/value_text.h"

enum {
  MOST_UNFINISHED = 16, /* instances of one function, each called by the one before */
  MOST_KNOWN = 64,      /* of one function that does not call itself: for constants, */
  MOST_SHARED = 128     /* and in all */
};

static bool same_closure(const FlClosure *a, const FlClosure *b) {
  if (!a || !b) return a == b;
  if (a->derived || b->derived) return a->with_value == b->with_value && same_closure(a->derived, b->derived);
  return a->lambda == b->lambda && a->named == b->named && a->builtin == b->builtin && a->scope == b->scope;
}

typedef struct Outer {
  FlScope *scope;
  bool value; /* one is named */
} Outer;

static bool find_outer(void *env, const FlExpr *e) {
  Outer *seen = env;
  if (e->kind != FL_EXPR_NAME) return true;
  const FlBinding *b = NULL;
  for (FlScope *at = seen->scope; at && !b; at = at->parent) {
    if (at->columns) seen->value = true;
    b = fl_scope_find_in(at, e->name.text);
  }
  if (b && b->kind != FL_BIND_FN && b->kind != FL_BIND_TYPE && b->kind != FL_BIND_MODULE) seen->value = true;
  return true;
}

/* Names no value of the scope that it was written in: it is the same function wherever it is made. */
static bool is_closed(const FlClosure *c) {
  Outer seen = {c->scope, false};
  FlWalker w = {&seen, find_outer, NULL};
  fl_syntax_walk_expr(&w, c->lambda->lambda.body);
  return !c->agg && !seen.value;
}

bool fl_call_same_function(const FlClosure *a, const FlClosure *b) {
  if (same_closure(a, b)) return true;
  return a && b && a->lambda && a->lambda == b->lambda && is_closed(a) && is_closed(b);
}

static const FlOp *constant(const FlValue *v) {
  return v->op && v->op->code == FL_OP_CONST && !fl_dtype_is_float(v->type.dtype) ? v->op : NULL;
}

bool fl_call_same_constants(FlVal a, FlVal b) {
  for (int i = 0; i < a.type->n_parts; i++) {
    const FlOp *x = constant(a.parts[i]), *y = constant(b.parts[i]);
    if (!x != !y) return false;
    if (!x || x == y) continue;
    if (x->attrs.i != y->attrs.i || x->attrs.s_len != y->attrs.s_len || !x->attrs.s != !y->attrs.s)
      return false;
    if (x->attrs.s && (x->attrs.s_len ? memcmp(x->attrs.s, y->attrs.s, (size_t)x->attrs.s_len)
                                      : strcmp(x->attrs.s, y->attrs.s)) != 0)
      return false;
  }
  return true;
}

/* Where `from` is a constant, the same one; else v. */
static FlValue *constant_or(FlSema *s, const FlValue *from, FlValue *v) {
  const FlOp *op = constant(from);
  if (!op) return v;
  FlOp *copy = fl_ir_op(&s->b, FL_OP_CONST, 0, NULL, 1, &from->type, 0);
  copy->attrs = op->attrs;
  return copy->results[0];
}

static bool same_sample(FlVal a, FlVal b) {
  const char *x = fl_val_sample(a, a), *y = fl_val_sample(b, b);
  return x == y || (x && y && strcmp(x, y) == 0);
}

FlSharing *fl_call_sharing(FlSema *s) {
  if (s->sharing) return s->sharing;
  s->sharing = FL_NEW(s->arena, FlSharing);
  *s->sharing = (FlSharing){fl_map_make(s->arena), fl_map_make(s->arena)};
  return s->sharing;
}

static FlInstance *find_instance(FlSema *s, FlInstance *last, int n, const FlVal *args, bool known) {
  for (FlInstance *in = last; in; in = in->next) {
    bool same = in->n_args == n && in->known == known;
    for (int k = 0; same && k < n; k++)
      same = in->args[k].type == args[k].type && fl_call_same_function(in->args[k].fn, args[k].fn) &&
             (!known || fl_call_same_constants(in->args[k], args[k])) && same_sample(in->args[k], args[k]) &&
             fl_column_names_alike(s, in->args[k], args[k]);
    /* What it captured must still be what the names stand for. */
    for (int k = 0; same && in->done && k < in->frame->captures.n; k++) {
      FlBinding *b = in->frame->captures.at[k].binding;
      FlBinding *now = fl_scope_find_in(s->files.at[0]->scope, b->name);
      same = b->frame != s->frame || !now || now == b || b->kind != FL_BIND_VALUE;
    }
    if (same) return in;
  }
  return NULL;
}

/* How many instances of it are being made, each for a call in the one before. */
static int unfinished(const FlInstance *last, const FlInstance **first) {
  int n = 0;
  for (const FlInstance *in = last; in; in = in->next) {
    if (in->done) continue;
    *first = in;
    n++;
  }
  return n;
}

/* Where a recursion brings the types of its arguments is not known before it ends: nothing that ends brings
 * so many. */
static bool ends_never(FlSema *s, const FlInstance *last, const FlStmt *decl, int n, const FlVal *args,
                       FlSpan span) {
  const FlInstance *first = NULL;
  if (unfinished(last, &first) < MOST_UNFINISHED) return false;
  FlDiag *d = fl_sema_report(s, FL_E0206, span, "`%s` calls itself with other types each time, without end",
                             decl->fn.name.text);
  int p = 0; /* the first parameter whose type grows */
  while (p < n && first->args[p].type == args[p].type) p++;
  if (p < n)
    fl_diag_note(s->sink, d, decl->fn.params.at[p].span, "`%s` was %s at first, and is %.60s%s now",
                 decl->fn.params.at[p].name.text, fl_val_text(s, first->args[p]), fl_val_text(s, args[p]),
                 strlen(fl_val_text(s, args[p])) > 60 ? "..." : "");
  fl_diag_help(s->sink, d,
               "a function is made for each type that it is called with: hand on values of the same types");
  return true;
}

const char *fl_sema_unique_name(FlSema *s, const char *name) {
  const char *key = fl_intern_z(s->names, name), *own = key;
  intptr_t before = (intptr_t)fl_map_get(s->functions_named, key), n = before;
  while (fl_map_get(s->functions_named, own)) /* `f.2` may be what the user calls another one */
    own = fl_intern_z(s->names, fl_arena_printf(s->arena, "%s.%d", name, (int)++n));
  FlNamedFunc given = {key, own, (void *)before};
  fl_vec_push(s->arena, &s->named, given);
  fl_map_set(s->functions_named, key, (void *)(n ? n : 1));
  if (own != key) fl_map_set(s->functions_named, own, (void *)1);
  return own;
}

FlSemaMark fl_sema_mark(const FlSema *s) { return (FlSemaMark){s->module->last, s->instances.n, s->named.n}; }

void fl_sema_take_back(FlSema *s, FlSemaMark mark) {
  s->module->last = mark.last;
  if (mark.last) mark.last->next = NULL;
  else s->module->first = NULL;
  while (s->instances.n > mark.n_instances) {
    const FlInstance *in = s->instances.at[--s->instances.n];
    fl_map_set(in->of, in->decl, in->next);
  }
  while (s->named.n > mark.n_named) {
    FlNamedFunc given = s->named.at[--s->named.n];
    fl_map_set(s->functions_named, given.own, NULL);
    fl_map_set(s->functions_named, given.name, given.before);
  }
}

/* How many arguments of the IR v is: its parts, then the names of the columns of its matrices. */
static int n_arguments(FlSema *s, FlVal v) { return v.type->n_parts + fl_column_names_of(s, v, NULL); }

static int put_arguments(FlSema *s, FlVal v, FlValue **out) {
  int n = v.type->n_parts;
  for (int k = 0; k < n; k++) out[k] = v.parts[k];
  return n + fl_column_names_of(s, v, out + n);
}

/* Calls of the instance from its own body pass its captures on. */
static void finish_own_calls(FlSema *s, FlInstance *in) {
  int more = 0;
  for (int i = 0; i < in->frame->captures.n; i++) more += n_arguments(s, in->frame->captures.at[i].inside);
  for (int c = 0; c < in->own_calls.n && more; c++) {
    FlOp *op = in->own_calls.at[c].op;
    if (in->own_calls.at[c].frame != in->frame) {
      const FlBinding *b = in->frame->captures.at[0].binding;
      const char *path = fl_binding_path(b);
      if (path)
        fl_sema_error(s, FL_E0214, op->span,
                      "functions that call each other cannot open `%s` by its name; pass it as a `file`",
                      path);
      else
        fl_sema_error(s, FL_E0214, op->span,
                      "functions that call each other cannot use `%s` of the script around them; pass it as "
                      "an argument",
                      b->name);
      return;
    }
    FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, op->n_args + more);
    memcpy(args, op->args, sizeof *args * (size_t)op->n_args);
    int at = op->n_args;
    for (int i = 0; i < in->frame->captures.n; i++)
      at += put_arguments(s, in->frame->captures.at[i].inside, args + at);
    op->args = args;
    op->n_args = at;
  }
}

/* What the source calls the parameters of the stage, for who asks why it ran. */
static void name_arguments(FlSema *s, FlInstance *in, const FlVal *inside) {
  FlVec(FlArgName) names = {0};
  for (int i = 0; i < in->n_args; i++)
    for (int k = 0; k < inside[i].type->n_parts; k++)
      fl_vec_push(s->arena, &names, ((FlArgName){inside[i].parts[k], in->decl->fn.params.at[i].name.text}));
  for (int i = 0; i < in->frame->captures.n; i++) {
    const FlCapture *c = &in->frame->captures.at[i];
    const char *path = fl_binding_path(c->binding), *name = path ? path : c->binding->name;
    for (int k = 0; k < c->inside.type->n_parts; k++)
      fl_vec_push(s->arena, &names, ((FlArgName){c->inside.parts[k], name}));
  }
  in->frame->func->arg_names = names.at;
  in->frame->func->n_arg_names = names.n;
}

/* The text of a declaration without blanks and comments, as a number that changes with it. */
static uint64_t source_digest(const FlSema *s, FlSpan span) {
  const FlSource *f = fl_sources_get(s->sources, span.file);
  uint64_t h = 0xcbf29ce484222325u;
  bool text = false, comment = false;
  for (uint32_t i = span.start; f && i < span.start + span.len; i++) {
    char c = f->text[i];
    if (c == '\n') comment = false;
    if (c == '"' && !comment && f->text[i - 1] != '\\') text = !text;
    if (c == '#' && !text) comment = true;
    if (comment || (!text && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))) continue;
    h = (h ^ (unsigned char)c) * 0x100000001b3u;
  }
  return h;
}

/* FlStage.sources. */
static const char *sources_of(FlSema *s, const FlFrame *frame) {
  FlText1 text = {0};
  for (int i = 0; i < frame->bodies.n; i++) {
    const FlStmt *decl = frame->bodies.at[i];
    const FlSource *f = fl_sources_get(s->sources, decl->span.file);
    fl_text_addf(&text, "%s (%s)=%016llx\n", decl->fn.name.text, f ? f->path : "",
                 (unsigned long long)source_digest(s, decl->span));
  }
  const char *out = text.s ? fl_arena_strndup(s->arena, text.s, text.len) : "";
  fl_text_reset(&text);
  return out;
}

/* The sizes of what an instance gives, as they are known at its end. */
static FlValue **result_sizes(FlSema *s, FlVal v) {
  FlValue **sizes = FL_NEW_ARRAY(s->arena, FlValue *, v.type->n_parts * FL_MAX_RANK + 1);
  for (int p = 0; p < v.type->n_parts; p++)
    for (int k = 0; k < v.parts[p]->type.rank && !v.parts[p]->type.depth; k++)
      sizes[p * FL_MAX_RANK + k] = fl_sema_size(s, fl_ir_dim(&s->b, v.parts[p], k));
  return sizes;
}

enum { SIZE_DEPTH = 8 }; /* of what is computed of arguments and their sizes */

/* A size within the instance as it is known to a call with these arguments; NULL: it is not. */
static FlValue *size_outside(FlSema *s, const FlInstance *in, const FlValue *size, FlValue *const *args,
                             int depth) {
  int64_t n;
  const FlOp *op = size->op;
  if (fl_ir_const_value_i(size, &n)) return fl_sema_i64(s, n);
  bool dim = op && op->code == FL_OP_DIM;
  const FlValue *of = dim ? op->args[0] : size;
  if (!of->op && of->region == in->frame->func->body)
    return dim ? fl_sema_size(s, fl_ir_dim(&s->b, args[of->index], (int)op->attrs.i)) : args[of->index];
  bool plain = op && fl_op_info[op->code].op_class == FL_CLASS_SCALAR && op->n_args <= 3 && !op->n_regions &&
               op->n_results == 1 && !fl_ir_may_fault(op);
  if (!plain || depth == SIZE_DEPTH) return NULL;
  FlValue *of_size[3];
  for (int i = 0; i < op->n_args; i++)
    if (!(of_size[i] = size_outside(s, in, op->args[i], args, depth + 1))) return NULL;
  FlOp *copy = fl_ir_op(&s->b, op->code, op->n_args, of_size, 1, &size->type, 0);
  copy->attrs = op->attrs;
  return copy->results[0];
}

/* What the call gives has the sizes that its arguments say; in a loop these decide what its elements make
 * together, so that they are to be there before the call. false: they are not. */
static bool sizes_are_known(FlSema *s, const FlInstance *in, FlValue *const *args) {
  for (int i = 0; i < in->result->n_parts * FL_MAX_RANK; i++)
    if (in->sizes[i] && !size_outside(s, in, in->sizes[i], args, 0)) return false;
  return true;
}

static void give_sizes(FlSema *s, const FlInstance *in, FlValue *const *args, FlVal out) {
  FlValue *shape[FL_MAX_RANK + 1];
  for (int p = 0; p < out.type->n_parts; p++) {
    FlType1 type = out.parts[p]->type;
    if (!type.rank || type.depth) continue;
    shape[0] = out.parts[p];
    for (int k = 0; k < type.rank; k++) {
      shape[k + 1] = size_outside(s, in, in->sizes[p * FL_MAX_RANK + k], args, 0);
      if (!s->in_kernel && shape[k + 1]) fl_sema_alias(s, fl_ir_dim(&s->b, out.parts[p], k), shape[k + 1]);
    }
    if (s->in_kernel)
      out.parts[p] = fl_ir_op(&s->b, FL_OP_RESHAPE, type.rank + 1, shape, 1, &type, 0)->results[0];
  }
}

/* Elaborates the body into an IR function of its own. Its parameters are the arguments' parts, then the
 * captures. */
static FlInstance *make_instance(FlSema *s, const FlBinding *fn, FlMap *instances_of, int n,
                                 const FlVal *args, const FlSpan *spans, FlSpan span, bool known) {
  const FlStmt *decl = fn->decl;
  bool stage = decl->kind == FL_STMT_STAGE, shared = instances_of != s->instances_of;
  FlInstance *in = FL_NEW(s->arena, FlInstance);
  in->decl = decl;
  in->n_args = n;
  in->known = known;
  const FlInstance *before = fl_map_get(instances_of, decl);
  in->of = instances_of;
  in->nth = before ? before->nth + 1 : 1;
  in->args = fl_arena_copy(s->arena, args, sizeof *args * (size_t)n);
  in->frame = FL_NEW(s->arena, FlFrame);
  in->frame->outer = s->frame;
  in->frame->call = fl_sources_call(s->sources, fl_sema_place(s, span), decl->fn.name.text);
  in->frame->func = fl_ir_func_make(s->module, fl_sema_unique_name(s, decl->fn.name.text),
                                    stage ? FL_FUNC_STAGE : FL_FUNC_PLAIN, decl->fn.name.span);
  in->frame->func->callee = decl->fn.name.text;
  in->frame->func->memo = fl_attributes_memo(decl);
  in->frame->func->recursive = !stage; /* or shared: not to be inlined */
  in->frame->shared = shared;
  fl_vec_push(s->arena, &s->instances, in);
  in->next = fl_map_get(instances_of, decl);
  fl_map_set(instances_of, decl, in);

  FlActive active = {decl, span, s->active};
  FlCallPlace place = fl_call_go_into(s, fn->file, stage ? "a stage" : "a function");
  FlBuilder outer_builder = s->b;
  FlFrame *outer_frame = s->frame;
  int n_aliases = s->aliases.n, in_kernel = s->in_kernel;
  int deriving = s->deriving;
  FlSharing *sharing = s->sharing;
  if (!shared) s->sharing = NULL;
  s->deriving = 0;                       /* it is made once, for all calls */
  if (stage || shared) s->in_kernel = 0; /* its notes are kept with its result; it stands for all calls */
  s->active = &active;
  s->frame = in->frame;
  s->b = (FlBuilder){.module = s->module,
                     .func = in->frame->func,
                     .region = in->frame->func->body,
                     .span = decl->fn.body->span};
  s->scope = fl_scope_push(s, fn->file->scope, FL_SCOPE_PLAIN);

  FlVal *inside = FL_NEW_ARRAY(s->arena, FlVal, n + 1);
  for (int i = 0; i < n; i++) {
    const FlType *t = args[i].type;
    FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, t->n_parts + 1);
    fl_type_parts(t, types);
    inside[i] =
        (FlVal){.type = t, .fn = args[i].fn, .parts = FL_NEW_ARRAY(s->arena, FlValue *, t->n_parts + 1)};
    inside[i].spelling = fl_val_sample(args[i], args[i]); /* what its files hold is known in there too */
    for (int k = 0; k < t->n_parts; k++) inside[i].parts[k] = fl_ir_param(in->frame->func->body, types[k]);
    for (int k = 0; k < t->n_parts && known; k++)
      inside[i].parts[k] = constant_or(s, args[i].parts[k], inside[i].parts[k]);
    fl_column_names_inside(s, args[i], inside[i], in->frame->func->body);
    if (t->kind == FL_TY_TABLE) fl_sema_alias_rows(s, inside[i]);
  }
  bool declared = decl->fn.result != NULL;
  in->result = !stage && declared ? fl_type_of_expr(s, decl->fn.result) : NULL;
  fl_call_note_body(s, in->frame, decl);
  FlVal v = fl_call_bind_params(s, decl, inside, spans) ? fl_call_run_body(s, decl) : fl_val_error(s);
  if (!fl_val_bad(v)) {
    FlValue **yields = FL_NEW_ARRAY(s->arena, FlValue *, 2 * v.type->n_parts + 1);
    int n_yields = stage ? put_arguments(s, v, yields) : v.type->n_parts;
    in->value = v;
    if (shared && v.type->kind != FL_TY_FUNC) in->sizes = result_sizes(s, v);
    fl_ir_yield(in->frame->func->body, s->module, n_yields, stage ? yields : v.parts);
    const FlType *untold;
    if (stage) in->frame->func->result_type = fl_value_text(s, v.type, &untold);
  }
  if (!fl_val_bad(v) && v.type->kind == FL_TY_FUNC)
    v = fl_sema_error(s, FL_E0310, decl->fn.name.span, "a %s cannot give a function",
                      stage ? "stage" : "recursive function");
  in->result = v.type;
  in->done = true;
  if (stage) name_arguments(s, in, inside);
  if (stage) in->frame->func->sources = sources_of(s, in->frame);
  finish_own_calls(s, in);

  s->frame = outer_frame;
  s->b = outer_builder;
  fl_sema_cut_aliases(s, n_aliases);
  s->deriving = deriving;
  s->sharing = sharing;
  s->in_kernel = in_kernel;
  s->active = active.up;
  fl_call_come_back(s, place);
  return in;
}

FlVal fl_call_instance(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span) {
  return fl_call_shared(s, fn, values, spans, span, false);
}

FlVal fl_call_shared(FlSema *s, const FlBinding *fn, FlVal *values, const FlSpan *spans, FlSpan span,
                     bool known) {
  const FlStmt *decl = fn->decl;
  int n = decl->fn.params.n;
  bool stage = decl->kind == FL_STMT_STAGE;
  /* Convert here, so that calls which differ only by implicit conversions share an instance, and check sizes
   * here. */
  FlCallPlace place = fl_call_go_into(s, fn->file, s->pure);
  s->scope = fl_scope_push(s, fn->file->scope, FL_SCOPE_PLAIN);
  bool ok = fl_call_bind_params(s, decl, values, spans);
  for (int i = 0; i < n && ok; i++) {
    FlBinding *b = fl_scope_find_in(s->scope, decl->fn.params.at[i].name.text);
    values[i] = b->val;
    values[i].literal = FL_LIT_NONE, values[i].exact = NULL;
  }
  fl_call_come_back(s, place);
  for (int i = 0; i < n && ok; i++) ok = !fl_val_bad(values[i]);
  if (!ok) return fl_val_error(s);

  bool shared = !stage && !fl_call_is_recursive(s, fn);
  FlMap *instances_of = shared ? fl_call_sharing(s)->instances_of : s->instances_of;
  FlInstance *last = fl_map_get(instances_of, decl), *in = find_instance(s, last, n, values, known);
  if (!in && known && last && last->nth >= MOST_KNOWN) {
    known = false;
    in = find_instance(s, last, n, values, known);
  }
  if (!in && shared && last && last->nth >= MOST_SHARED) return fl_val_error(s);
  if (!in && ends_never(s, last, decl, n, values, span)) return fl_val_error(s);
  if (!in) in = make_instance(s, fn, instances_of, n, values, spans, span, known);
  for (int i = 0; i < in->frame->bodies.n && in->frame != s->frame; i++)
    fl_call_note_body(s, s->frame, in->frame->bodies.at[i]);
  if (!in->result) {
    FlDiag *d = fl_sema_report(s, FL_E0213, decl->fn.name.span,
                               "`%s` calls itself, so its result type must be written", decl->fn.name.text);
    fl_diag_help(s->sink, d, "add `-> type` after the parameters");
    in->result = s->types->error;
  }
  if (in->result->kind == FL_TY_ERROR) return fl_val_error(s);
  int n_captures = in->done ? in->frame->captures.n : 0;
  int n_args = 0;
  for (int i = 0; i < n; i++) n_args += n_arguments(s, values[i]);
  for (int i = 0; i < n_captures; i++) n_args += n_arguments(s, in->frame->captures.at[i].inside);
  FlValue **args = FL_NEW_ARRAY(s->arena, FlValue *, n_args + 1);
  int at = 0;
  for (int i = 0; i < n; i++) at += put_arguments(s, values[i], args + at);
  for (int i = 0; i < n_captures; i++)
    at += put_arguments(s, fl_binding_value(s, in->frame->captures.at[i].binding), args + at);
  if (shared && s->in_kernel && (!in->done || !sizes_are_known(s, in, args))) return fl_val_error(s);
  FlType1 *types = FL_NEW_ARRAY(s->arena, FlType1, 2 * in->result->n_parts + 1);
  fl_type_parts(in->result, types);
  int n_results = in->result->n_parts;
  int n_names = stage ? fl_column_names_of(s, in->value, NULL) : 0;
  for (int k = 0; k < n_names; k++) types[n_results++] = fl_t_array(FL_TEXT, 1);
  FlOp *op;
  if (stage) {
    op = fl_ir_op(&s->b, FL_OP_STAGE, n_args, args, n_results, types, 0);
    op->attrs.func = in->frame->func;
  } else {
    op = fl_ir_call(&s->b, in->frame->func, n_args, args, in->result->n_parts, types);
  }
  op->span = fl_sema_place(s, span);
  if (!in->done) fl_vec_push(s->arena, &in->own_calls, ((FlOwnCall){op, s->frame}));
  FlVal out = fl_val_make(s, in->result, op->results);
  for (int k = 0; known && in->done && k < in->result->n_parts; k++)
    out.parts[k] = constant_or(s, in->value.parts[k], out.parts[k]);
  for (int k = 0, names = in->result->n_parts; names < n_results; k++)
    if (fl_column_names(s, in->value.parts[k])) fl_column_names_set(s, out.parts[k], op->results[names++]);
  if (out.type->kind == FL_TY_TABLE) fl_sema_alias_rows(s, out);
  if (shared && in->done) give_sizes(s, in, args, out);
  if (decl->fn
          .result) { /* declared sizes of the result are those of the arguments that carry the same name */
    place = fl_call_go_into(s, fn->file, s->pure);
    s->scope = fl_scope_push(s, fn->file->scope, FL_SCOPE_PLAIN);
    fl_call_bind_params(s, decl, values, spans);
    fl_sema_trust_sizes(s, decl->fn.result, out);
    fl_call_come_back(s, place);
  }
  return out;
}
