/* Fuzz target: the lexer, the parser, both printers and the formatter.
 *
 * Any bytes must give a tree and messages, without a crash. What parses without errors must format to a text
 * with the same tree, and formatting that text again must change nothing. */
#include "syntax/ast.h"

#include <stdlib.h>

typedef struct Parsed {
  FlArena *arena;
  FlSink *sink;
  FlAst *ast;
  FlText1 tree, layout;
} Parsed;

static Parsed parse(const char *text, size_t len) {
  Parsed p = {.arena = fl_arena_new()};
  FlSources *sources = fl_sources_make(p.arena);
  p.sink = fl_sink_make(p.arena, sources);
  FlSource *source = fl_sources_add(sources, "fuzz.flow", text, len);
  p.ast = fl_syntax_parse(p.arena, fl_interner_make(p.arena), source, p.sink);
  fl_text_addz(&p.tree, "");
  fl_text_addz(&p.layout, "");
  fl_syntax_print_ast(&p.tree, p.ast);
  if (!p.sink->n_errors) fl_fmt_print(&p.layout, p.ast);
  return p;
}

static void release(Parsed *p) {
  fl_text_reset(&p->tree);
  fl_text_reset(&p->layout);
  fl_arena_free(p->arena);
}

static void require_same(const FlText1 *a, const FlText1 *b, const char *what) {
  if (a->len == b->len && !memcmp(a->s, b->s, a->len)) return;
  fprintf(stderr, "%s\n--- first\n%s\n--- second\n%s\n", what, a->s, b->s);
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Parsed first = parse((const char *)data, size);
  FlText1 shown = {0};
  fl_sink_print(first.sink, &shown, true);
  fl_text_reset(&shown);
  if (!first.sink->n_errors) {
    Parsed second = parse(first.layout.s, first.layout.len);
    if (second.sink->n_errors) {
      fl_sink_print(second.sink, &shown, false);
      fprintf(stderr, "the formatted text does not parse\n%s\n%s\n", first.layout.s, shown.s);
      abort();
    }
    if (!fl_syntax_same(first.ast, second.ast)) {
      fprintf(stderr, "the formatted text has another tree\n%s\n%s\n", first.tree.s, second.tree.s);
      abort();
    }
    require_same(&first.layout, &second.layout, "formatting is not idempotent");
    release(&second);
  }
  release(&first);
  FlArena *a = fl_arena_new();
  FlSources *sources = fl_sources_make(a);
  fl_syntax_print_tokens(&shown, fl_sources_add(sources, "fuzz.flow", (const char *)data, size),
                         fl_sink_make(a, sources));
  fl_text_reset(&shown);
  fl_arena_free(a);
  return 0;
}
