/* make_scalar_calls.c: run while flow is built: prints the C source that calls the function of every SCALAR
 * operator, as its row in ops.def says (flow/dtypes.def: of every element type that its letter stands for).
 * The interpreter calls operators by the table that it makes, so that an operator without a function does not
 * compile.
 *
 * Arguments in C, as in code generation (codegen/llvm_op.c): the heap of texts, the operands (a text is two),
 * the format of `to_text`, places of further results, the place of faults. CONVERT has two types and is
 * written by hand. */
#include "flow/abi.h"
#include "ir/ir_internal.h"
#include "ir/op_words.h"

#include <stdio.h>
#include <string.h>

typedef struct Row {
  const char *code, *name, *signature;
  FlOpClass op_class;
  int flags;
} Row;

static const Row rows[] = {
#define FL_OP(NAME, text, FAMILY, sig, flags, size, dist, cost, version)                                     \
  {#NAME, text, sig, FL_CLASS_OF(FAMILY), flags},
#include "ir/ops.def"
#undef FL_OP
};

typedef struct Dtype {
  const char *code, *name, *ctype;
  FlKind kind;
} Dtype;

static const Dtype dtypes[] = {
#define FL_DTYPE(NAME, text, ctype, bytes, kind) {#NAME, text, #ctype, FL_KIND_##kind},
#include "flow/dtypes.def"
#undef FL_DTYPE
};

static const Dtype *named(const char *name) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (strcmp(dtypes[i].name, name) == 0) return &dtypes[i];
  return NULL;
}

/* Of what type a letter of a signature is, when the operator's own letter stands for d. */
static const Dtype *type_of(char letter, const Dtype *d) {
  switch (letter) {
  case 'b': return named("bool");
  case 'i': return named("i64");
  case 'u': return named("u64");
  case 'f': return named("f64");
  case 't': return named("text");
  case 'd': return named("date");
  case 'D': return named("datetime");
  case 'w': return named("duration");
  case 'E':
  case '?': return named("decimal(18, 0)");
  }
  return d;
}

static bool stands_for(char letter, const Dtype *d) {
  bool integer = d->kind == FL_KIND_SIGNED || d->kind == FL_KIND_UNSIGNED, real = d->kind == FL_KIND_FLOAT;
  switch (letter) {
  case 'F': return real;
  case 'I': return integer;
  case 'N': return integer || real || d->kind == FL_KIND_DECIMAL || strcmp(d->name, "duration") == 0;
  case 'T': return d->kind != FL_KIND_REF;
  }
  return false;
}

/* The member of FlSlot that holds it. */
static const char *member(const Dtype *d) {
  if (strcmp(d->name, "text") == 0) return "t";
  if (strcmp(d->name, "f64") == 0) return "f";
  if (strcmp(d->name, "f32") == 0) return "f32";
  return d->kind == FL_KIND_UNSIGNED ? "u" : "i";
}

static void argument(const char **comma, const char *text) {
  printf("%s%s", *comma, text);
  *comma = ", ";
}

/* How the functions of a type are called: those of decimals are the integers' but where they print. */
static void name_of(const Row *row, const Dtype *d, char name[32]) {
  if (d->kind != FL_KIND_DECIMAL) snprintf(name, 32, "%s", d->name);
  else if (strcmp(row->code, "TO_TEXT") != 0) snprintf(name, 32, "i64");
  else snprintf(name, 32, "decimal%s", d->code + strlen("DECIMAL"));
}

static void call(const Row *row, const Dtype *d) {
  const char *results = strchr(row->signature, ':') + 1, *comma = "";
  char text[64], of_type[32] = "";
  if (d) name_of(row, d, of_type);
  if (results[1]) printf("{ uint8_t more = 0; ");
  printf("r[0] = (FlSlot){.%s = fl_s_%s%s%s(", member(type_of(results[0], d)), row->name, d ? "_" : "",
         of_type);
  if (row->flags & FL_OPF_HEAP) argument(&comma, "heap");
  for (int i = 0; row->signature[i] != ':'; i++) {
    const Dtype *of = type_of(row->signature[i], d);
    if (strcmp(of->name, "text") == 0) snprintf(text, sizeof text, "a[%d].t.ptr, a[%d].t.len", i, i);
    else snprintf(text, sizeof text, "(%s)a[%d].%s", of->ctype, i, member(of));
    argument(&comma, text);
  }
  if (strcmp(row->code, "TO_TEXT") == 0) argument(&comma, "format");
  if (results[1]) argument(&comma, "&more");
  if (row->flags & FL_OPF_FAULT) argument(&comma, "fault");
  printf(")}; ");
  if (results[1]) printf("r[1] = (FlSlot){.i = more}; } ");
}

int main(void) {
  printf("/* Made by make_scalar_calls.c of ops.def and dtypes.def. */\n#include "
         "\"interp/interp_internal.h\"\n\n#include \"kern/kern.h\"\n\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Row *row = &rows[i];
    if (row->op_class != FL_CLASS_SCALAR || strcmp(row->code, "CONVERT") == 0) continue;
    printf("static void do_%s(FlDtype d, FlHeap *heap, const char *format, const FlSlot *a, FlSlot *r, "
           "int32_t *fault) {\n"
           "  (void)d, (void)heap, (void)format, (void)fault;\n",
           row->name);
    size_t letter = strcspn(row->signature, "TNFI");
    if (!row->signature[letter]) {
      printf("  ");
      call(row, NULL);
      printf("\n}\n\n");
      continue;
    }
    printf("  switch (d) {\n");
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
      printf("  case FL_%s: ", dtypes[k].code);
      if (stands_for(row->signature[letter], &dtypes[k])) call(row, &dtypes[k]);
      printf("break;\n");
    }
    printf("  case FL_N_DTYPES: break;\n  }\n}\n\n");
  }
  printf("ScalarCall *const scalar_calls[FL_N_OPS] = {\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].op_class == FL_CLASS_SCALAR && strcmp(rows[i].code, "CONVERT") != 0)
      printf("  [FL_OP_%s] = do_%s,\n", rows[i].code, rows[i].name);
  printf("};\n");
  return 0;
}
