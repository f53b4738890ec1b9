/* code_cache.h: compiled scripts, remembered, so that an unchanged one runs without any phase of the
 * compiler, and their functions, so that of a changed one only what changed is compiled.
 *
 * Objects are code, so they live in a folder of their own (FLOW_CODE_CACHE, else code/ beside the remembered
 * results), which must belong to the user and be writable by nobody else; otherwise nothing is remembered. An
 * object is used when flowc and its code generator, the options, the processor, the script's path and text,
 * every imported file and every data file whose head decided a type have the content that they had (of large
 * ones: as far as samples and the system's time of change tell). */
#ifndef FL_CODE_CACHE_H
#define FL_CODE_CACHE_H

#include "driver.h"

typedef struct FlCodeCache FlCodeCache;

/* Never NULL but for memory; one that cannot remember always misses. */
FlCodeCache *fl_code_cache_open(void);
void fl_code_cache_close(FlCodeCache *cache);

/* The remembered object of a script, loaded, or NULL. What was warned about when it was made is on standard
 * error. */
FlLoaded *fl_code_cache_get(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options);
/* Remembers what was compiled; c->sema.inputs says from what. */
void fl_code_cache_put(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options,
                       const FlObject *object);

/* Whether the script is worth being tried (cli/program.c): its text was not, and none of this path was given
 * up. */
bool fl_code_cache_tries(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options);
/* Remembers that it was: it came to its end, or was given up. */
void fl_code_cache_tried(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options,
                         bool ended);

/* The code of single functions, for fl_code_of_units; `arg` is the cache. NULL: it remembers nothing. */
const FlCodeStore *fl_code_cache_units(FlCodeCache *cache, const FlBuildOptions *options);

#endif
