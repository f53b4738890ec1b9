/* merge_elf.c: objects that refer to each other become one; damaged ones and clashing names are refused. */
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
  (void)snprintf(command, sizeof command, "cc -O1 -fPIC -fno-asynchronous-unwind-tables -c %s -o %s", from,
                 to);
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
  FlObject whole = fl_merge_objects(parts, n);
  CHECK(!whole.bytes && whole.why);
  free(whole.bytes);
  free(whole.why);
}

int main(void) {
  /* flow_program begins with the version of the ABI and the size that find_program checks. */
  FlObject parts[3];
  char text[512];
  (void)snprintf(
      text, sizeof text,
      "#pragma GCC visibility push(hidden)\nextern const char flow_name[];\nint "
      "add(int);\n__attribute__((visibility(\"default\")))\n"
      "const struct { int version; const char *name; int (*fn)(int); char rest[%d]; } flow_program = "
      "{%d, flow_name, add, {0}};\n",
      (int)sizeof(FlProgram), FL_PROGRAM_VERSION);
  parts[0] = compiled(text);
  parts[1] = compiled("#pragma GCC visibility push(hidden)\nstatic int three = 3; extern const int four; "
                      "static int local(int x) { return x + three++; }\n"
                      "int add(int x) { return local(x) + four; }\nconst char flow_name[] = \"merged\";\n");
  parts[2] =
      compiled("const int four = 4;\nstatic int local(int x) { return x; }\nint (*unused)(int) = local;\n");
  CHECK(parts[0].bytes && parts[1].bytes && parts[2].bytes);
  FlObject whole = fl_merge_objects(parts, 3);
  CHECK(whole.bytes && !whole.why);
  char *why = NULL;
  FlLoaded *l = whole.bytes ? fl_load_object(whole.bytes, whole.size, &why) : NULL;
  CHECK(l != NULL);
  if (l) {
    const struct {
      int version;
      const char *name;
      int (*fn)(int);
    } *p = (const void *)fl_loaded_program(l);
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
  free(whole.bytes);
  for (int i = 0; i < 3; i++) free(parts[i].bytes);
  return finish();
}
