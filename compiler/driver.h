/* driver.h: the way of one script from text to something that runs. See driver.c for the steps.
 *
 * FlBuildOptions say what is wanted; the functions say how far to go. Messages for people go to standard
 * error. Nothing here exits; each function that can fail gives the exit status of flowc (README). Without
 * memory that is 4, where flow finds a bug of its own 70, and the compilation says so (lacks). */
#ifndef FL_DRIVER_H
#define FL_DRIVER_H

#include "codegen/codegen.h"
#include "diag/diag.h"
#include "sema/sema.h"

typedef struct FlBuildOptions {
  int level;            /* 0: quick code; 1: everything */
  FlCpu cpu;            /* FL_CPU_HOST for what runs here and now */
  const char *cpu_name; /* --mcpu, or NULL */
  bool binary;          /* what is made runs elsewhere */
  bool linked_externs;  /* the linker finds C functions, not the program when it starts */
  bool late;            /* optimised forms of kernels are made while it runs (late_code.h) */
  int test;             /* -1: the script itself; k: its k-th test block */
  const FlWorld *world; /* NULL: the files here */
} FlBuildOptions;

/* One script being compiled. Everything it gives lives in its arena. */
typedef struct FlCompilation {
  FlArena *arena;
  FlInterner *names;
  FlSources *sources;
  FlSink *sink;
  FlSource *script;
  FlAst *ast;
  FlSemaResult sema;
  FlParsedLibrary *library; /* shared with other compilations, or NULL */
  const FlPlan *plan;       /* NULL until somebody asked for it */
  int n_tried;              /* so many texts were checked for what messages propose */
  bool silent;              /* messages stay in the sink */
  /* It was left in the middle, for lack of memory or by a bug of flow: nothing in it is to be read, and what
   * is asked of it fails. */
  bool lacks;
  char bug[FL_BUG_TEXT]; /* that one; "": memory */
} FlCompilation;

/* Reads the file, `-` is standard input; 0, or 2 after a message. `c` needs fl_compilation_reset in any case.
 */
int fl_compilation_init(FlCompilation *c, const char *path);
/* The same with a text that was read already; it is copied. */
void fl_compilation_init_text(FlCompilation *c, const char *path, const FlText1 *text);
/* The same in an arena that is the caller's: to be cleared instead of fl_compilation_reset; and with what
 * other compilations parsed of the library (or NULL), in an arena that lives longer, for messages and IR
 * alone: programs say of what texts they were made. */
void fl_compilation_init_in(FlCompilation *c, FlArena *arena, FlParsedLibrary *library, const char *path,
                            const FlText1 *text);
void fl_compilation_reset(FlCompilation *c);

/* Text to tree, messages in the sink and, where these have no errors, the IR as it was written, in
 * c->sema.module. Prints nothing, and asks `world` (NULL: the files here) for all that is not in the text;
 * says what it learns to `witness` (or NULL). test: as FlBuildOptions. */
void fl_front_check(FlCompilation *c, const FlWorld *world, const FlWitness *witness, int test);
/* The same, its messages printed, and the IR optimised; 0, or 3 after the messages, or 70, or 4 without
 * memory. */
int fl_compile_ir(FlCompilation *c, const FlBuildOptions *options);
/* Of one that lacks: prints that there is no memory, unless it is silent, and gives 4; or the bug, 70. */
int fl_compilation_lacks(const FlCompilation *c);
/* The plan of c->sema.module, for the interpreter and for objects of this level; made once. NULL: it
 * lacks. */
const FlPlan *fl_compile_plan(FlCompilation *c, const FlBuildOptions *options);
/* The plan to an object, or to text of LLVM or of the assembler; 0, or 4 where the code generator or LLVM is
 * not installed, or 70. The bytes are the caller's (free). */
int fl_compile_object(FlCompilation *c, const FlBuildOptions *options, FlEmit emit, FlObject *out);
/* The same to an object, but of functions whose code the store (or NULL) has. */
int fl_compile_object_with(FlCompilation *c, const FlBuildOptions *options, const FlCodeStore *store,
                           FlObject *out);

/* The digest of all texts of a script, in the order in which they are imported, as a program says it of
 * itself. */
enum { FL_SOURCE_DIGEST = 33 };
void fl_source_digest(const FlSources *sources, char out[FL_SOURCE_DIGEST]);
/* The digest of each line of a text, as records of runs have them (fl_record_line), in the arena; and the
 * line from 1 on that is now what line `line` of such a digest was: the nearest; 0: it is no more. */
uint64_t *fl_source_lines(FlArena *a, const FlSource *f);
int fl_source_same(const FlSource *f, const uint64_t *lines, int line, uint64_t digest);

/* Prints what the sink holds on standard error. */
void fl_compilation_say(FlCompilation *c);

#endif
