/* describe.c: flowc explain NAME. In: the name of a builtin, of a module of the library or of something in
 * it, alone or behind its module; or a name that people bring along. Out: what it takes and what it is for.
 */
#include "cli/describe.h"
#include "cli/scripts.h"
#include "codegen/codegen.h"
#include "diag/diag.h"
#include "lsp/answers.h"
#include "sema/habits.h"
#include "sema/sema.h"

typedef struct Asked {
  FlArena *arena;
  const char *name;
  int n_found;
  FlVec(const char *) near; /* all names, for one that is spelt like it */
} Asked;

static void say(Asked *a, const char *head, const char *doc, const char *more) {
  printf("%s%s\n", a->n_found++ ? "\n" : "", head);
  for (const char *line = doc ? doc : "", *end; *line; line = *end ? end + 1 : end) {
    end = line + strcspn(line, "\n");
    printf("  %.*s\n", (int)(end - line), line);
  }
  if (more) printf("  %s\n", more);
}

static void tell_builtin(void *env, const FlNamed *what, unsigned kinds) {
  Asked *a = env;
  (void)kinds;
  fl_vec_push(a->arena, &a->near, what->name);
  if (strcmp(what->name, a->name) == 0)
    say(a, fl_arena_printf(a->arena, "%s(%s)", what->name, what->signature), what->doc, NULL);
}

static bool is_public(const FlLspDeclared *d) {
  bool declares = d->kind == FL_STMT_FN || d->kind == FL_STMT_STAGE || d->kind == FL_STMT_EXTERN ||
                  d->kind == FL_STMT_TYPE;
  return declares && d->name[0] != '_';
}

/* Of a module, or the functions and types in it that have the name. */
static void tell_module(Asked *a, const char *path) {
  FlText1 text = {0}, why = {0};
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
  const char *module = fl_arena_strndup(a->arena, file, strcspn(file, "."));
  fl_vec_push(a->arena, &a->near, module);
  if (fl_script_read(path, &text, &why) == 0) {
    FlSources *sources = fl_sources_make(a->arena);
    FlLspDeclaredList all = {0};
    fl_lsp_declared_in(a->arena, fl_sources_add(sources, path, text.s, text.len), &all);
    bool whole = strcmp(module, a->name) == 0;
    if (whole) say(a, fl_arena_printf(a->arena, "import %s", module), NULL, NULL);
    for (int i = 0; i < all.n; i++) {
      const FlLspDeclared *d = &all.at[i];
      const char *long_name = fl_arena_printf(a->arena, "%s.%s", module, d->name);
      if (!is_public(d)) continue;
      fl_vec_push(a->arena, &a->near, long_name);
      if (whole) printf("  %s\n", d->head);
      else if (strcmp(d->name, a->name) == 0 || strcmp(long_name, a->name) == 0)
        say(a, d->head, d->doc, fl_arena_printf(a->arena, "import %s, then %s", module, long_name));
    }
  }
  fl_text_reset(&text);
  fl_text_reset(&why);
}

bool fl_describe_name(FlArena *arena, const char *name, const char **near) {
  Asked a = {.arena = arena, .name = name};
  char path[4096];
  FlScriptList modules = {0};
  const char *habit = fl_habit_says(a.arena, name);
  if (habit) say(&a, name, habit, NULL);
  fl_sema_builtins(&a, tell_builtin);
  if (fl_codegen_find("stdlib/linear.flow", path, sizeof path)) {
    *strrchr(path, '/') = '\0';
    (void)fl_scripts_find(a.arena, "explain", 1, (char *[]){path}, &modules);
  }
  for (int i = 0; i < modules.n; i++) tell_module(&a, modules.at[i]);
  *near = fl_closest(name, a.near.at, a.near.n);
  return a.n_found > 0;
}
