/* library.c: which module of the library has a function that a script calls without its import.
 *
 * In: a name that stands for nothing. Out: a module, or NULL. How: declarations of the library begin their
 * lines. */
#include "sema/builtins/builtin.h"

#include <string.h>

static const char *const modules[] = {
#define FL_MODULE(name) name,
#include "sema/library.def"
#undef FL_MODULE
};

enum { N_MODULES = sizeof modules / sizeof *modules };

/* The text of each module, read once; "" for one that is not there. */
static const char *const *texts_of(FlSema *s) {
  if (s->library_texts) return s->library_texts;
  const char **texts = FL_NEW_ARRAY(s->arena, const char *, N_MODULES);
  for (int i = 0; i < N_MODULES; i++) {
    FlText1 text = {0};
    const char *path = fl_arena_printf(s->arena, "%s/%s.flow", s->options->stdlib_dir, modules[i]);
    bool read = s->world->read(s->world->env, path, FL_LARGEST_SCRIPT, &text);
    texts[i] = read && text.len ? fl_arena_strndup(s->arena, text.s, text.len) : "";
    fl_text_reset(&text);
  }
  return s->library_texts = texts;
}

const char *fl_sema_module_with(FlSema *s, const char *function) {
  static const char *const heads[] = {"\nfn ", "\nstage ", "\nextern fn "};
  if (function[0] == '_') return NULL;
  const char *const *texts = texts_of(s);
  for (int i = 0; i < N_MODULES; i++)
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++)
      if (strstr(texts[i], fl_arena_printf(s->arena, "%s%s(", heads[k], function))) return modules[i];
  return NULL;
}
