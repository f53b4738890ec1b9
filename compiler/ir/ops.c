/* ops.c: the table of operators as data, and the type rules that the signature strings state.
 */
#include "ir/ir_internal.h"
#include "ir/op_words.h"

const FlOpInfo fl_op_info[FL_N_OPS] = {
#define FL_OP(NAME, text, FAMILY, sig, flags, size, dist, cost, version)                                     \
  {text, FL_FAMILY_##FAMILY, FL_CLASS_OF(FAMILY), sig, flags, FL_DIST_##dist, cost, version},
#include "ir/ops.def"
#undef FL_OP
};

bool fl_ir_int_fits(FlDtype dtype, int64_t v) {
  int bits = fl_dtype_info[dtype].bytes * 8;
  if (bits == 64) return true;
  if (fl_dtype_info[dtype].kind == FL_KIND_UNSIGNED) return v >= 0 && v < (int64_t)1 << bits;
  return v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1);
}

/* The types bound to the letters T N F I, FL_N_DTYPES while unbound. */
typedef struct Bound {
  int t, n, f, i;
} Bound;

static const char *match_letter(char letter, FlType1 type, Bound *bound) {
  int d = type.dtype;
  FlKind kind = fl_dtype_info[d].kind;
  if (letter == '?') return NULL;
  if (letter == 'A') return fl_t_is_scalar(type) ? "an array is wanted" : NULL;
  if (!fl_t_is_scalar(type)) return "a scalar is wanted";
  int *slot = NULL, want = -1;
  switch (letter) {
  case 'T':
    if (d == FL_LIST) return "a scalar is wanted";
    slot = &bound->t;
    break;
  case 'N':
    if (!fl_dtype_is_int(d) && kind != FL_KIND_FLOAT && d != FL_DURATION && kind != FL_KIND_DECIMAL)
      return "a number is wanted";
    slot = &bound->n;
    break;
  case 'F':
    if (kind != FL_KIND_FLOAT) return "a float is wanted";
    slot = &bound->f;
    break;
  case 'I':
    if (!fl_dtype_is_int(d)) return "an integer is wanted";
    slot = &bound->i;
    break;
  case 'E': return kind == FL_KIND_DECIMAL ? NULL : "a decimal is wanted";
  case 'b': want = FL_BOOL; break;
  case 'i': want = FL_I64; break;
  case 'u': want = FL_U64; break;
  case 'f': want = FL_F64; break;
  case 't': want = FL_TEXT; break;
  case 'd': want = FL_DATE; break;
  case 'D': want = FL_DATETIME; break;
  case 'w': want = FL_DURATION; break;
  }
  if (slot) {
    if (*slot != FL_N_DTYPES && *slot != d) return "types of operands differ";
    *slot = d;
    return NULL;
  }
  return want == d ? NULL : "wrong scalar type";
}

/* The type that a result letter stands for once the arguments are bound; dtype FL_N_DTYPES: does not follow.
 */
static FlType1 letter_type(char letter, const Bound *bound) {
  int d = FL_N_DTYPES;
  switch (letter) {
  case 'T': d = bound->t; break;
  case 'N': d = bound->n; break;
  case 'F': d = bound->f; break;
  case 'I': d = bound->i; break;
  case 'b': d = FL_BOOL; break;
  case 'i': d = FL_I64; break;
  case 'u': d = FL_U64; break;
  case 'f': d = FL_F64; break;
  case 't': d = FL_TEXT; break;
  case 'd': d = FL_DATE; break;
  case 'D': d = FL_DATETIME; break;
  case 'w': d = FL_DURATION; break;
  }
  return fl_t_scalar((FlDtype)d);
}

static const char *match_side(const char **sig, char end, int n, FlValue *const *values, Bound *bound) {
  int at = 0;
  for (; **sig != end; (*sig)++) {
    if (**sig == '*') {
      at = n;
      continue;
    }
    if (at >= n) return end == ':' ? "too few arguments" : "too few results";
    const char *why = match_letter(**sig, values[at++]->type, bound);
    if (why) return why;
  }
  return at == n ? NULL : end == ':' ? "too many arguments" : "too many results";
}

const char *fl_ir_match(FlOpcode code, int n_args, FlValue *const *args, int n_results,
                        FlValue *const *results, FlType1 *derived, int *n_derived) {
  Bound bound = {FL_N_DTYPES, FL_N_DTYPES, FL_N_DTYPES, FL_N_DTYPES};
  const char *sig = fl_op_info[code].signature;
  const char *why = match_side(&sig, ':', n_args, args, &bound);
  if (why) return why;
  sig++;
  if (n_results >= 0) return match_side(&sig, '\0', n_results, results, &bound);
  for (*n_derived = 0; *sig; sig++) derived[(*n_derived)++] = letter_type(*sig, &bound);
  return NULL;
}
