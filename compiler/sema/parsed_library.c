/* parsed_library.c: trees of the standard library that compilations share, one after another.
 *
 * In: texts of files of the library. Out: their trees, each parsed once. What always holds: a tree that is
 * kept gave no message, so that whoever takes it misses none. */
#include "sema/builtins/builtin.h"
#include "sema/sema.h"

#include <stdlib.h>

FlParsedLibrary *fl_parsed_library_make(FlArena *a) {
  FlParsedLibrary *l = FL_NEW(a, FlParsedLibrary);
  FlInterner *names = fl_interner_make(a);
  *l = (FlParsedLibrary){a, names, fl_sources_make_shared(a), fl_builtins_make(a, names), fl_map_make(a)};
  return l;
}

const FlAst *fl_parsed_library_get(const FlParsedLibrary *l, const char *real) {
  return fl_map_get(l->trees, fl_intern_z(l->names, real));
}

const FlAst *fl_parsed_library_add(FlParsedLibrary *l, const char *path, const char *real,
                                   const FlText1 *text, FlSink *sink) {
  FlSource *source = fl_sources_add(l->sources, path, text->s, text->len);
  source->is_library = true;
  int before = sink->n_raised + sink->diags.n;
  const FlAst *ast = fl_syntax_parse(l->arena, l->names, source, sink);
  bool quiet = sink->n_raised + sink->diags.n == before;
  if (quiet && ast->has_meaning) fl_map_set(l->trees, fl_intern_z(l->names, real), (void *)ast);
  return ast;
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *fl_parsed_library_path(FlArena *a, const char *path) {
  return fl_arena_printf(a, "stdlib/%s", file_name(path));
}

/* The path without links of a script that is a file of the library, or NULL. */
static const char *real_of(FlArena *a, const FlWorld *world, const char *stdlib_dir, const char *path) {
  const char *real = fl_arena_take(a, world->real(world->env, path));
  const char *there = fl_arena_printf(a, "%s/%s", stdlib_dir, file_name(path));
  const char *other = real ? fl_arena_take(a, world->real(world->env, there)) : NULL;
  return other && strcmp(real, other) == 0 ? real : NULL;
}

FlAst *fl_parsed_library_script(FlParsedLibrary *l, const FlWorld *world, const char *stdlib_dir,
                                const FlSource *script, FlSink *sink) {
  const char *real = real_of(sink->arena, world, stdlib_dir, script->path);
  if (!real) return NULL;
  const FlAst *ast = fl_parsed_library_get(l, real);
  if (ast && (ast->source->len != script->len || memcmp(ast->source->text, script->text, script->len) != 0))
    return NULL; /* changed since */
  FlText1 text = {.s = (char *)(uintptr_t)script->text, .len = script->len};
  if (!ast) ast = fl_parsed_library_add(l, fl_parsed_library_path(l->arena, script->path), real, &text, sink);
  FlAst *own = fl_arena_copy(sink->arena, ast, sizeof *ast);
  own->source = fl_sources_take(sink->sources, ast->source, script->path);
  return own;
}
