/* text.c: builtins on texts that need more than their signature: regular expressions, pieces, joining.
 *
 * In: texts, scalars or arrays, with or without null. Out: IR of the text operators. What always holds: a
 * pattern, a group and a replacement that are known while compiling are checked then, and the message points
 * at the place within the pattern. */
#include "kern/regex.h"
#include "sema/builtins/builtin.h"
#include "sema/builtins/scalar_args.h"
#include "sema/call.h"
#include "sema/lift.h"
#include "sema/place.h"
#include "sema/value.h"

/* ---- places in texts ---- */

/* Byte `at` of a text as it stands in the source; the whole argument where it is not written as it is. */
static FlSpan place_in_text(FlSema *s, const FlActual *a, const char *text, int64_t at) {
  const FlSource *source = fl_sources_get(s->sink->sources, a->span.file);
  const char *written = source->text + a->span.start;
  size_t n = strlen(text), quote = strncmp(written, "r\"", 2) == 0 ? 2 : 1, from = a->span.start + quote;
  bool same = written[quote - 1] == '"' && from + n < source->len &&
              memcmp(source->text + from, text, n) == 0 && source->text[from + n] == '"';
  if (!same || n == 0) return a->span;
  if ((size_t)at >= n) at = (int64_t)n - 1; /* what is missing at the end is marked at the last character */
  while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) at--;
  uint32_t size = 1;
  while (((unsigned char)text[(size_t)at + size] & 0xc0) == 0x80) size++;
  return (FlSpan){a->span.file, (uint32_t)(from + (size_t)at), size, 0};
}

/* ---- regular expressions ---- */

/* Argument 1, a pattern: checked when it is known. false: reported. */
static bool pattern_arg(FlSema *s, FlCallSite *c, FlVal *out) {
  if (!fl_scalar_arg(s, c, 1, FL_TEXT, out)) return false;
  const char *text = fl_val_const_text(*out);
  FlRegexError error;
  if (!text || fl_regex_check(text, (int64_t)strlen(text), &error)) return true;
  if (error.memory) fl_no_memory();
  FlDiag *d = fl_sema_report(s, FL_E0660, place_in_text(s, &c->args[1], text, error.at),
                             "not a regular expression: %s", error.why);
  fl_diag_help(s->sink, d,
               "a sign that stands for itself is written with \\ before it, as in r\"\\(\"; "
               "`contains` and `replace` take texts as they are");
  return false;
}

static bool replacement_fits(FlSema *s, FlCallSite *c, FlVal pattern, FlVal by) {
  const char *p = fl_val_const_text(pattern), *text = fl_val_const_text(by);
  FlRegexError error;
  if (!p || !text) return true;
  if (fl_regex_check_replacement(p, (int64_t)strlen(p), text, (int64_t)strlen(text), &error)) return true;
  if (error.memory) fl_no_memory();
  FlDiag *d = fl_sema_report(s, FL_E0663, place_in_text(s, &c->args[2], text, error.at),
                             "the replacement does not fit: %s", error.why);
  fl_diag_help(s->sink, d, "$1 and ${name} stand for groups, $0 for the match, $$ for a dollar");
  return false;
}

FlVal fl_builtin_regex(FlSema *s, FlCallSite *c) {
  FlVal args[3];
  bool replaces = c->builtin->op == FL_OP_REPLACE_REGEX;
  if (!fl_scalar_arg(s, c, 0, FL_TEXT, &args[0]) || !pattern_arg(s, c, &args[1])) return fl_val_error(s);
  if (replaces && (!fl_scalar_arg(s, c, 2, FL_TEXT, &args[2]) || !replacement_fits(s, c, args[1], args[2])))
    return fl_val_error(s);
  FlDtype out = replaces ? FL_TEXT : c->builtin->op == FL_OP_MATCHES ? FL_BOOL : FL_I64;
  return fl_sema_lift_op(s, c->span, c->builtin->op, replaces ? 3 : 2, args, out, NULL);
}

/* The number of a group, which may be said by name. false: reported. */
static bool group_arg(FlSema *s, FlCallSite *c, FlVal pattern, FlVal *out) {
  FlActual *a = &c->args[2];
  if (!fl_actual_given(a)) {
    *out = fl_val_i64(s, FL_REGEX_FIRST);
    return true;
  }
  const char *p = fl_val_const_text(pattern);
  int64_t n = p ? (int64_t)strlen(p) : 0, k = -1;
  FlVal v = fl_actual_value(s, a, NULL);
  if (fl_val_bad(v)) return false;
  const char *name = fl_val_const_text(v);
  if (name) {
    if (!p) {
      fl_sema_error(s, FL_E0324, c->args[1].span,
                    "a group is taken by name from a pattern that is known when "
                    "compiling");
      return false;
    }
    k = fl_regex_group_named(p, n, name);
    if (k == -2) fl_no_memory();
    if (k < 0) fl_sema_error(s, FL_E0662, a->span, "the pattern has no group called `%s`", name);
    *out = fl_val_i64(s, k);
    return k >= 0;
  }
  if (!fl_scalar_arg(s, c, 2, FL_I64, out)) return false;
  if (!p || !fl_val_const_i(*out, &k)) return true;
  int64_t groups = fl_regex_groups(p, n);
  if (groups == -2) fl_no_memory();
  if (k >= 0 && k <= groups) return true;
  FlDiag *d = fl_sema_report(s, FL_E0662, a->span, "the pattern has %lld group%s, and this is %lld",
                             (long long)groups, groups == 1 ? "" : "s", (long long)k);
  fl_diag_help(s->sink, d, "groups are counted from 1 by their opening brackets; 0 is the whole match");
  return false;
}

/* The text and whether there is one. */
static void emit_extract(FlSema *s, const FlVal *args, FlValue *out[2]) {
  FlValue *values[3] = {args[0].parts[0], args[1].parts[0], args[2].parts[0]};
  FlType1 types[2] = {fl_t_scalar(FL_TEXT), fl_t_scalar(FL_BOOL)};
  FlOp *op = fl_ir_op(&s->b, FL_OP_EXTRACT, 3, values, 2, types, 0);
  out[0] = op->results[0];
  out[1] = op->results[1];
}

static FlVal extract_element(FlSema *s, void *env, FlVal *args, int n, FlSpan span) {
  (void)env;
  (void)span;
  FlValue *valid = NULL, *parts[2];
  for (int i = 0; i < n; i++) {
    FlValue *v = fl_val_valid(s, args[i]);
    if (v) valid = valid ? fl_sema_op2(s, FL_OP_AND, valid, v) : v;
  }
  const FlType *type = fl_type_scalar(s->types, FL_TEXT, true);
  if (!valid) {
    emit_extract(s, args, parts);
    return fl_val_make(s, type, parts);
  }
  /* It can fault, so it does not see what stands under a null. */
  FlType1 types[2] = {fl_t_scalar(FL_TEXT), fl_t_scalar(FL_BOOL)};
  FlOp *branch = fl_ir_op(&s->b, FL_OP_IF, 1, &valid, 2, types, 2);
  FlRegion *yes = fl_ir_region(&s->b, branch, 0, 0, NULL), *no = fl_ir_region(&s->b, branch, 1, 0, NULL);
  FlSavedPlace saved = fl_sema_enter(s, yes);
  emit_extract(s, args, parts);
  fl_ir_yield(yes, s->module, 2, parts);
  fl_sema_leave(s, saved);
  saved = fl_sema_enter(s, no);
  parts[0] = fl_val_zero(s, FL_TEXT);
  parts[1] = fl_val_zero(s, FL_BOOL);
  fl_ir_yield(no, s->module, 2, parts);
  fl_sema_leave(s, saved);
  return fl_val_make(s, type, branch->results);
}

FlVal fl_builtin_extract(FlSema *s, FlCallSite *c) {
  FlVal args[3];
  if (!fl_scalar_arg(s, c, 0, FL_TEXT, &args[0]) || !pattern_arg(s, c, &args[1]) ||
      !group_arg(s, c, args[1], &args[2]))
    return fl_val_error(s);
  return fl_sema_lift(s, c->span, 3, args, extract_element, NULL);
}

/* ---- pieces ---- */

/* A bound of `slice`: a negative one that is written so counts from the end, a computed one is at least 0. */
static bool slice_bound(FlSema *s, FlCallSite *c, int k, FlVal *out) {
  FlVal written = fl_actual_value(s, &c->args[k], NULL);
  if (fl_val_bad(written) || !fl_scalar_arg(s, c, k, FL_I64, out)) return false;
  if (written.literal == FL_LIT_INT) return true;
  FlVal pair[2] = {*out, fl_val_i64(s, 0)};
  *out = fl_sema_lift_op(s, c->span, FL_OP_MAX, 2, pair, FL_I64, NULL);
  return !fl_val_bad(*out);
}

FlVal fl_builtin_slice(FlSema *s, FlCallSite *c) {
  FlVal args[3];
  if (!fl_scalar_arg(s, c, 0, FL_TEXT, &args[0]) || !slice_bound(s, c, 1, &args[1])) return fl_val_error(s);
  if (!fl_actual_given(&c->args[2])) args[2] = fl_val_i64(s, INT64_MAX);
  else if (!slice_bound(s, c, 2, &args[2])) return fl_val_error(s);
  return fl_sema_lift_op(s, c->span, FL_OP_TEXT_SLICE, 3, args, FL_TEXT, NULL);
}

FlVal fl_builtin_split_text(FlSema *s, FlCallSite *c) {
  FlVal args[2];
  bool regex = c->builtin->op == FL_OP_EXTRACT_ALL;
  const FlType *text = fl_type_scalar(s->types, FL_TEXT, false);
  if (!fl_scalar_arg(s, c, 0, FL_TEXT, &args[0])) return fl_val_error(s);
  if (args[0].type->kind == FL_TY_ARRAY) {
    FlDiag *d = fl_sema_report(s, FL_E0325, c->args[0].span, "`%s` takes one text, and this is %s",
                               c->builtin->name, fl_val_text(s, args[0]));
    fl_diag_help(s->sink, d, "go over them, `[for x in xs: %s(x, ...)]`, or take one piece of each by `%s`",
                 c->builtin->name, regex ? "extract(xs, ...)" : "split_part(xs, separator, i)");
    return fl_val_error(s);
  }
  if (regex ? !pattern_arg(s, c, &args[1]) : !fl_scalar_arg(s, c, 1, FL_TEXT, &args[1]))
    return fl_val_error(s);
  FlValue *values[2];
  for (int i = 0; i < 2; i++) {
    args[i] = fl_val_coerce(s, args[i], text, c->args[i].span, "this argument");
    if (fl_val_bad(args[i])) return args[i];
    values[i] = args[i].parts[0];
  }
  FlType1 out = fl_t_array(FL_TEXT, 1);
  return fl_val_array(s, FL_TEXT, 1, fl_ir_op(&s->b, c->builtin->op, 2, values, 1, &out, 0)->results[0]);
}

FlValue *fl_text_pieces_counted(FlSema *s, FlVal v) {
  FlOp *op = v.type->kind == FL_TY_ARRAY && v.type->n_parts == 1 ? v.parts[0]->op : NULL;
  if (!op || (op->code != FL_OP_SPLIT_TEXT && op->code != FL_OP_EXTRACT_ALL)) return NULL;
  FlType1 i64 = fl_t_scalar(FL_I64);
  FlSpan outer = s->b.span;
  s->b.span = op->span;
  FlOp *count = fl_ir_op(&s->b, op->code == FL_OP_SPLIT_TEXT ? FL_OP_COUNT_PIECES : FL_OP_COUNT_MATCHES, 2,
                         op->args, 1, &i64, 0);
  s->b.span = outer;
  return count->results[0];
}

/* ---- joining ---- */

static FlVal join_all(FlSema *s, const FlVal *args) {
  FlValue *values[3] = {args[0].parts[0], args[1].parts[0], fl_val_valid(s, args[0])};
  FlType1 text = fl_t_scalar(FL_TEXT);
  FlOp *op = fl_ir_op(&s->b, FL_OP_JOIN_TEXT, values[2] ? 3 : 2, values, 1, &text, 0);
  return fl_val_scalar(s, FL_TEXT, op->results[0]);
}

FlVal fl_builtin_join_text(FlSema *s, FlCallSite *c) {
  FlVal args[2] = {{0}, fl_val_textz(s, "")};
  if (!fl_scalar_arg(s, c, 0, FL_TEXT, &args[0])) return fl_val_error(s);
  if (args[0].type->kind != FL_TY_ARRAY || args[0].type->rank != 1)
    return fl_scalar_arg_wrong(s, c, &c->args[0], args[0], "an array of texts");
  if (fl_actual_given(&c->args[1])) {
    FlVal v = fl_actual_value(s, &c->args[1], NULL);
    if (fl_val_bad(v)) return v;
    args[1] = fl_val_coerce(s, v, fl_type_scalar(s->types, FL_TEXT, false), c->args[1].span, "the separator");
    if (fl_val_bad(args[1])) return args[1];
  }
  return join_all(s, args);
}
