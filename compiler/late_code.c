/* late_code.c: see late_code.h.
 *
 * In: bitcode of kernels, from any thread of a run. Out: functions. What always holds: what cannot be made or
 * does not load is a form that is not there, and the run goes on with quick code; LLVM is loaded when the
 * first form is made; forms are made side by side, and the list of them is behind a lock. */
#include "late_code.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Form {
  FlLoaded *loaded;
  struct Form *next;
} Form;

struct FlLateCode {
  const FlCodeStore *store;
  FlCodegenOptions options;
  pthread_mutex_t lock; /* of what follows */
  FlCodegenFn *generate;
  bool lacks; /* there is no code generator */
  Form *forms;
};

FlLateCode *fl_late_code_new(const FlCodeStore *store, const FlBuildOptions *options) {
  FlLateCode *late = calloc(1, sizeof *late);
  if (!late) return NULL;
  late->store = store;
  late->options = (FlCodegenOptions){.cpu = options->cpu, .cpu_name = options->cpu_name, .level = 2};
  pthread_mutex_init(&late->lock, NULL);
  return late;
}

void fl_late_code_free(FlLateCode *late) {
  if (!late) return;
  for (Form *f = late->forms, *next; f; f = next) {
    next = f->next;
    fl_loaded_free(f->loaded);
    free(f);
  }
  pthread_mutex_destroy(&late->lock);
  free(late);
}

static FlCodegenFn *generator(FlLateCode *late) {
  pthread_mutex_lock(&late->lock);
  if (!late->generate && !late->lacks) {
    char *why = NULL;
    late->generate = fl_codegen_open(&why);
    late->lacks = !late->generate;
    free(why);
  }
  FlCodegenFn *generate = late->generate;
  pthread_mutex_unlock(&late->lock);
  return generate;
}

/* Loads the form and keeps it. */
static FlKernelFn load(FlLateCode *late, const void *object, size_t size) {
  char *why = NULL;
  FlLoaded *loaded = fl_load_kernel(object, size, &why);
  Form *form = loaded ? malloc(sizeof *form) : NULL;
  free(why);
  if (!form) {
    fl_loaded_free(loaded);
    return NULL;
  }
  pthread_mutex_lock(&late->lock);
  *form = (Form){loaded, late->forms};
  late->forms = form;
  pthread_mutex_unlock(&late->lock);
  return fl_loaded_kernel(loaded);
}

/* One kernel on its way. */
typedef struct Asked {
  FlLateCode *late;
  const char *code;
  size_t n_code;
  bool make;
  FlObject made; /* of malloc's: freed also where the work is left */
  FlKernelFn fn;
} Asked;

static void make_form(void *arg) {
  Asked *a = arg;
  const FlCodeStore *store = a->late->store;
  FlText1 key = {0}, object = {0};
  fl_text_addz(&key, "flow.kernel ");
  fl_text_add(&key, a->code, a->n_code);
  if (store && store->get(store->arg, &key, &object)) a->fn = load(a->late, object.s, object.len);
  FlCodegenFn *generate = !a->fn && a->make ? generator(a->late) : NULL;
  if (generate) {
    FlCodegenOptions options = a->late->options;
    options.kernel = a->code;
    options.kernel_size = a->n_code;
    a->made = generate(NULL, NULL, &options);
    if (a->made.bytes) a->fn = load(a->late, a->made.bytes, a->made.size);
  }
  if (a->fn && a->made.bytes && store) {
    fl_text_reset(&object);
    fl_text_add(&object, a->made.bytes, a->made.size);
    store->put(store->arg, &key, &object);
  }
  fl_text_reset(&key);
  fl_text_reset(&object);
}

FlKernelFn fl_late_code_make(void *late, const char *code, int64_t n_code, bool make) {
  Asked a = {.late = late, .code = code, .n_code = (size_t)n_code, .make = make};
  (void)fl_guard(make_form, &a); /* left in the middle, it has a form or none */
  free(a.made.bytes);
  free(a.made.why);
  return a.fn;
}
