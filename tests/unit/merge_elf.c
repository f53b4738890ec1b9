/* merge_elf.c: objects that refer to each other, and to names of numbers, become one; functions are cut out
 * of one; damaged ones, clashing names and functions that reach what they do not call are refused. */
#include "check.h"
#include "codegen/codegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FlObject compiled(const char *source) {
  char folder[] = "/tmp/merge_elf.XXXXXX", from[64], to[64], command[256];
  FlObject out = {0};
  if (!mkdtemp(folder)) return out;
  (void)snprintf(from, sizeof from, "%s/part.c", folder);
  (void)snprintf(to, sizeof to, "%s/part.o", folder);
  (void)snprintf(command, sizeof command,
                 "cc -O1 -fPIC -fno-inline -ffunction-sections -fno-asynchronous-unwind-tables -c %s -o %s",
                 from, to);
  FILE *f = fopen(from, "w");
  if (f) fputs(source, f), fclose(f);
  if (system(command) == 0 && (f = fopen(to, "rb"))) {
    out.bytes = malloc(1 << 20);
    out.size = fread(out.bytes, 1, 1 << 20, f);
    fclose(f);
  }
  remove(to);
  remove(from);
  rmdir(folder);
  return out;
}

static void refused(const FlObject *parts, int n) {
  FlObject whole = fl_merge_objects(parts, n, NULL, 0);
  CHECK(!whole.bytes && whole.why);
  free(whole.bytes);
  free(whole.why);
}

/* flow_program begins with the version of the ABI and the size that find_program checks. */
static const char program[] =
    "#pragma GCC visibility push(hidden)\nextern const char flow_name[];\nint add(int)%s;\n"
    "__attribute__((visibility(\"default\")))\n"
    "const struct { int version; const char *name; int (*fn)(int); char rest[%d]; } flow_program = "
    "{%d, flow_name, add, {0}};\n";

typedef struct Program {
  int version;
  const char *name;
  int (*fn)(int);
} Program;

static void cut_and_join(void) {
  const char *both[] = {"flow.a", "flow.b", "flow.at.a"};
  char text[512];
  (void)snprintf(text, sizeof text, program, " __asm__(\"flow.a\")", (int)sizeof(FlProgram),
                 FL_PROGRAM_VERSION);
  FlObject tables = compiled(text);
  FlObject all = compiled(
      "extern const char at __asm__(\"flow.at.a\");\n#pragma GCC visibility push(hidden)\n"
      "int a(int) __asm__(\"flow.a\"); int b(int) __asm__(\"flow.b\"); int c(int) __asm__(\"flow.c\");\n"
      "static int own(int x) { return x + 1; }\nint shared(int x) { return x * 3; }\n"
      "int a(int x) { return own(b(x)) + shared(1) + (int)(unsigned long)&at; }\n"
      "int b(int x) { return shared(x) * 2; }\nint c(int x) { return a(x); }\nconst char flow_name[] = "
      "\"joined\";\n");
  FlObject name = compiled("#pragma GCC visibility push(hidden)\nconst char flow_name[] = \"joined\";\n");
  FlObject a = fl_cut_object(&all, both, 1, both + 1, 2), b = fl_cut_object(&all, both + 1, 1, NULL, 0);
  CHECK(a.bytes && b.bytes && a.size < all.size);
  const char *c[] = {"flow.c"};
  FlObject none = fl_cut_object(&all, c, 1, both + 1, 2);       /* it calls a */
  FlObject unnamed = fl_cut_object(&all, both, 1, both + 1, 1); /* a has the number flow.at.a */
  CHECK(!none.bytes && none.why && !unnamed.bytes && unnamed.why);
  FlObject parts[] = {tables, a, b, name};
  FlNumberName numbers[] = {{"flow.at.z", 7}, {"flow.at.a", 40}};
  FlObject whole = fl_merge_objects(parts, 4, numbers, 2);
  CHECK(whole.bytes != NULL);
  char *why = NULL;
  FlLoaded *l = whole.bytes ? fl_load_object(whole.bytes, whole.size, &why) : NULL;
  CHECK(l != NULL);
  if (l) CHECK(((const Program *)(const void *)fl_loaded_program(l))->fn(5) == 5 * 3 * 2 + 1 + 3 + 40);
  if (l) fl_loaded_free(l);
  for (size_t cut = 0; cut < all.size; cut += 97) {
    FlObject less = {.bytes = malloc(cut + 1), .size = cut};
    memcpy(less.bytes, all.bytes, cut);
    FlObject out = fl_cut_object(&less, both, 1, both + 1, 2);
    CHECK(!out.bytes && out.why);
    free(out.why), free(less.bytes);
  }
  FlObject made[] = {tables, all, name, a, b, none, unnamed, whole};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) free(made[i].bytes), free(made[i].why);
  free(why);
}

int main(void) {
  FlObject parts[3];
  char text[512];
  (void)snprintf(text, sizeof text, program, "", (int)sizeof(FlProgram), FL_PROGRAM_VERSION);
  parts[0] = compiled(text);
  parts[1] = compiled("#pragma GCC visibility push(hidden)\nstatic int three = 3; extern const int four; "
                      "static int local(int x) { return x + three++; }\n"
                      "int add(int x) { return local(x) + four; }\nconst char flow_name[] = \"merged\";\n");
  parts[2] =
      compiled("const int four = 4;\nstatic int local(int x) { return x; }\nint (*unused)(int) = local;\n");
  CHECK(parts[0].bytes && parts[1].bytes && parts[2].bytes);
  FlObject whole = fl_merge_objects(parts, 3, NULL, 0);
  CHECK(whole.bytes && !whole.why);
  char *why = NULL;
  FlLoaded *l = whole.bytes ? fl_load_object(whole.bytes, whole.size, &why) : NULL;
  CHECK(l != NULL);
  if (l) {
    const Program *p = (const void *)fl_loaded_program(l);
    CHECK(strcmp(p->name, "merged") == 0 && p->fn(10) == 17 && p->fn(10) == 18);
    fl_loaded_free(l);
  } else {
    printf("%s\n", why ? why : "");
  }
  refused((FlObject[]){parts[0], parts[1], parts[1]}, 3);
  for (size_t cut = 0; cut < parts[1].size; cut += 97) {
    FlObject less = {.bytes = malloc(cut + 1), .size = cut};
    memcpy(less.bytes, parts[1].bytes, cut);
    refused((FlObject[]){parts[0], less}, 2);
    free(less.bytes);
  }
  free(why);
  cut_and_join();
  free(whole.bytes);
  for (int i = 0; i < 3; i++) free(parts[i].bytes);
  return finish();
}
