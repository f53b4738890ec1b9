/* make_op_groups.c: run while flow is built: what the preprocessor cannot make of ops.def and families.def.
 *
 *   make_op_groups cases    ir/op_groups.h: case labels. `case FL_OPS_ORDER:` stands for all operators of the
 * family,
 *                           FL_OPS_SCALAR for those of the class, FL_OPS_NOT_ORDER and FL_OPS_NOT_SCALAR for all
 *                           others
 *   make_op_groups runtime  runtime_ops.inc: FL_RUNTIME_OP(NAME, text), a row for each operator of that class
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *text, *family;
} ops[] = {
#define FL_OP(NAME, text, FAMILY, sig, flags, size, dist, cost, version) {#NAME, text, #FAMILY},
#include "ir/ops.def"
#undef FL_OP
};

static const struct {
  const char *name, *op_class;
} families[] = {
#define FL_FAMILY(NAME, CLASS) {#NAME, #CLASS},
#include "ir/families.def"
#undef FL_FAMILY
};

enum { N_OPS = sizeof ops / sizeof *ops, N_FAMILIES = sizeof families / sizeof *families };

static const char *class_of(int op) {
  for (int i = 0; i < N_FAMILIES; i++)
    if (strcmp(families[i].name, ops[op].family) == 0) return families[i].op_class;
  return "";
}

/* The operators whose family, or with `by_class` whose class, is `name`; those of all others when `not`. */
static void print_group(const char *name, bool by_class, bool not) {
  const char *before = "";
  printf("#define FL_OPS_%s%s", not? "NOT_" : "", name);
  for (int i = 0; i < N_OPS; i++) {
    if ((strcmp(by_class ? class_of(i) : ops[i].family, name) == 0) == not) continue;
    printf("%s FL_OP_%s", before, ops[i].name);
    before = ": case";
  }
  printf("\n");
}

static void print_cases(void) {
  printf("/* op_groups.h: made by make_op_groups.c. */\n#ifndef FL_IR_OP_GROUPS_H\n#define "
         "FL_IR_OP_GROUPS_H\n\n");
  for (int i = 0; i < N_FAMILIES; i++) {
    print_group(families[i].name, false, false);
    print_group(families[i].name, false, true);
  }
  static const char *const classes[] = {"SCALAR", "STRUCT", "RUNTIME"};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
    print_group(classes[i], true, false);
    print_group(classes[i], true, true);
  }
  printf("\n#endif\n");
}

static void print_runtime(void) {
  for (int i = 0; i < N_OPS; i++)
    if (strcmp(class_of(i), "RUNTIME") == 0) printf("FL_RUNTIME_OP(%s, %s)\n", ops[i].name, ops[i].text);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "cases") == 0) print_cases();
  else if (argc == 2 && strcmp(argv[1], "runtime") == 0) print_runtime();
  else return 2;
  return 0;
}
