/* codegen_load.c: the object loader on whole, cut and damaged objects, and the linker driver.
 *
 * A damaged object must give an error or load; it must never be read out of bounds (built with
 * -fsanitize=address) or crash. What was loaded from damaged bytes is not run. */
#include "codegen_kit.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program[] =
    "module \"small\"\n"
    "main @main() -> () {\n"
    "  %0 = const 5000 : i64\n  %1 = const 1.0 : f64\n"
    "  %2 = map %0 : f64[] {\n    (%3: i64)\n    %4 = convert %3 : f64\n"
    "    %5 = exp %4 : f64\n    %6 = div %1, %5 : f64\n    yield %6\n  }\n"
    "  %7 = reduce<kinds=[sum]> %0 : f64 {\n    (%8: i64)\n    %9 = load %2, %8 : f64\n"
    "    yield %9\n  }\n"
    "  %10 = to_text<s=\".6f\"> %7 : text\n  print %10\n  yield\n}\n";

static void expect(bool ok, const char *what) {
  if (ok) {
    passed++;
  } else {
    failed++;
    printf("not so: %s\n", what);
  }
}

/* Loads a copy, so that reading past the end is seen. true: it loaded. */
static bool loads(const char *bytes, size_t size) {
  char *copy = malloc(size ? size : 1), *why = NULL;
  memcpy(copy, bytes, size);
  FlLoaded *l = fl_load_object(copy, size, &why);
  bool ok = l != NULL;
  expect(ok == (why == NULL), "an error has a reason");
  fl_loaded_free(l);
  free(why);
  free(copy);
  return ok;
}

static void test_damage(const FlObject *object) {
  expect(loads(object->bytes, object->size), "the whole object loads");
  for (size_t n = 0; n < object->size; n += n < 256 ? 1 : 97)
    expect(!loads(object->bytes, n), "a cut object is refused");
  uint64_t state = 12345;
  char *copy = malloc(object->size);
  for (int round = 0; round < 3000; round++) {
    memcpy(copy, object->bytes, object->size);
    for (int flips = 1 + round % 4; flips > 0; flips--) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      /* Half of them in the tables at the end of the file. */
      size_t from = round % 2 ? object->size - object->size / 3 : 0;
      copy[from + (size_t)(state >> 33) % (object->size - from)] ^= (char)(1 << (state >> 20 & 7));
    }
    (void)loads(copy, object->size);
  }
  memset(copy, 0xff, object->size);
  expect(!loads(copy, object->size), "noise is refused");
  free(copy);
}

static void test_link(const FlObject *object) {
  char folder[] = "/tmp/flow_link_XXXXXX", path[64], command[128], line[64] = "", *why = NULL;
  if (!mkdtemp(folder)) exit(1);
  (void)snprintf(path, sizeof path, "%s/model", folder);
  bool linked = fl_link(object, path, &(FlLinkOptions){0}, NULL, &why);
  if (!linked) printf("%s\n", why);
  expect(linked, "the object links");
  free(why);
  (void)snprintf(command, sizeof command, "cd %s && ./model --quiet 2>&1", folder);
  FILE *f = popen(command, "r");
  expect(f && fgets(line, sizeof line, f) && strcmp(line, "1.581977\n") == 0,
         "the executable prints the sum");
  if (f) expect(pclose(f) == 0, "the executable ends well");
  FlObject broken = {.bytes = object->bytes, .size = object->size / 2};
  expect(!fl_link(&broken, path, &(FlLinkOptions){0}, NULL, &why) && why, "half an object does not link");
  free(why);
  (void)unlink(path);
  expect(rmdir(folder) == 0, "nothing is left behind");
}

int main(void) {
  FlCodegenFn *codegen = kit_codegen();
  FlArena *arena = fl_arena_new();
  FlSources *sources = fl_sources_make(arena);
  FlSource *source = fl_sources_add(sources, "small.flow", program, strlen(program));
  FlModule *m = fl_ir_read(arena, source->text, fl_sink_make(arena, sources));
  FlCodegenOptions options = {.level = 2, .cpu = FL_CPU_PORTABLE};
  FlObject object = m ? codegen(fl_plan_make(arena, m, 1), sources, &options) : (FlObject){0};
  if (!object.bytes) {
    printf("%s\n0 passed, 1 failed\n", m ? object.why : "the program does not read");
    return 1;
  }
  FlObject again = codegen(fl_plan_make(arena, m, 1), sources, &options);
  expect(again.size == object.size && memcmp(again.bytes, object.bytes, object.size) == 0,
         "the same module gives the same bytes");
  test_damage(&object);
  test_link(&object);
  free(again.bytes);
  free(object.bytes);
  fl_arena_free(arena);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
