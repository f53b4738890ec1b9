/* code_cache.c: see code_cache.h. Entries are those of runtime/memo, checked by digest at every load.
 *
 *   key     := "flow.code" flowc:digest options:digest path text:digest
 *         |  "flow.unit" flowc:digest options:digest unit                    unit: the key of codegen/units.c
 *   payload := n-inputs:u64 input* length:u64 warnings zeros object         zeros: to a multiple of 64
 *   record  := text:digest ended:u8                     of a script that was tried, under its path
 *   input   := kind:u8 length:u64 path digest           of fl_world_here
 */
#include "code_cache.h"

#include "exec/exec.h"
#include "io/io.h"
#include "memo/memo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct FlCodeCache {
  FlMemo *memo; /* NULL: remembers nothing */
  FlDigest flowc;
  FlText1 options; /* what code of units depends on beside their own keys */
  FlCodeStore units;
};

static const int64_t limit_bytes = (int64_t)256 << 20;

/* ---- what an object depends on --------------------------------------------------------------------- */

static void add_digest(FlText1 *t, FlDigest d) { fl_text_add(t, (const char *)&d, sizeof d); }

static void add_u64(FlText1 *t, uint64_t v) { fl_text_add(t, (const char *)&v, sizeof v); }

static void add_options(FlText1 *o, const FlBuildOptions *options) {
  char host[128] = "";
  const char *joins = getenv("FLOW_JOINS");
  if (options->cpu == FL_CPU_HOST) fl_codegen_host_name(host, sizeof host);
  fl_text_addf(o, "%d %d %d %s %s %s", options->level, options->late, (int)options->cpu,
               options->cpu_name ? options->cpu_name : "", host, joins ? joins : "");
}

/* Reset by the caller. */
static FlText1 key_of(const FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options) {
  FlText1 key = {0}, o = {0};
  char where[PATH_MAX];
  add_options(&o, options);
  fl_text_addf(&o, " %d", options->test);
  fl_text_addz(&key, "flow.code");
  add_digest(&key, cache->flowc);
  add_digest(&key, fl_memo_digest(o.s, (int64_t)o.len));
  /* Relative paths in the script mean this folder; messages show the path as it was given. */
  fl_text_addf(&key, "%s\n%s\n", getcwd(where, sizeof where) ? where : "", c->script->path);
  add_digest(&key, fl_memo_digest(c->script->text, (int64_t)c->script->len));
  fl_text_reset(&o);
  return key;
}

/* ---- the folder ------------------------------------------------------------------------------------ */

/* Whether the folder can be trusted with code: there, ours, and nobody else's to write. */
static bool is_private(const char *dir) {
  char part[PATH_MAX];
  int n = snprintf(part, sizeof part, "%s", dir);
  if (n <= 0 || n >= PATH_MAX) return false;
  for (char *p = part + 1; *p; p++) {
    if (*p != '/') continue;
    *p = '\0';
    if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
    *p = '/';
  }
  if (mkdir(part, 0700) != 0 && errno != EEXIST) return false;
  struct stat st;
  return lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
}

FlCodeCache *fl_code_cache_open(void) {
  FlCodeCache *cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  char dir[PATH_MAX], results[PATH_MAX - 8], generator[PATH_MAX];
  const char *own = getenv("FLOW_CODE_CACHE");
  bool known = false;
  if (own) known = own[0] && snprintf(dir, sizeof dir, "%s", own) < PATH_MAX;
  else if (fl_user_cache_dir(results, sizeof results))
    known = snprintf(dir, sizeof dir, "%s/code", results) < PATH_MAX;
  FlDigest parts[2] = {fl_file_sample("/proc/self/exe"), {0, 0}};
  if (fl_codegen_find("libflow_llvm.so", generator, sizeof generator)) parts[1] = fl_file_sample(generator);
  cache->flowc = fl_memo_digest(parts, sizeof parts);
  if (known && is_private(dir))
    cache->memo = fl_memo_open(&(FlMemoOptions){.dir = dir, .foreign = true, .limit_bytes = limit_bytes});
  return cache;
}

void fl_code_cache_close(FlCodeCache *cache) {
  if (!cache) return;
  fl_memo_close(cache->memo);
  fl_text_reset(&cache->options);
  free(cache);
}

/* ---- getting and putting --------------------------------------------------------------------------- */

typedef struct Reader {
  const char *at, *end;
} Reader;

static bool take(Reader *r, void *out, size_t n) {
  if ((size_t)(r->end - r->at) < n) return false;
  memcpy(out, r->at, n);
  r->at += n;
  return true;
}

/* Reads the inputs; true when all are as they were. r->at is then behind them. */
static bool inputs_unchanged(Reader *r) {
  uint64_t n;
  if (!take(r, &n, sizeof n)) return false;
  for (uint64_t i = 0; i < n; i++) {
    uint8_t kind;
    uint64_t len;
    char path[PATH_MAX];
    FlDigest d;
    if (!take(r, &kind, 1) || !take(r, &len, sizeof len) || len >= PATH_MAX || !take(r, path, len))
      return false;
    path[len] = '\0';
    if (!take(r, &d, sizeof d) ||
        !fl_memo_digest_same(d, fl_world_here.digest(NULL, path, (FlSemaInputKind)kind)))
      return false;
  }
  return true;
}

/* Reads the warnings and what fills up to the object. */
static bool take_warnings(Reader *r, const char *start, FlText *warnings) {
  uint64_t len;
  if (!take(r, &len, sizeof len) || (size_t)(r->end - r->at) < len) return false;
  *warnings = (FlText){r->at, (int64_t)len};
  r->at += len;
  size_t zeros = (size_t)-(r->at - start) % FL_ALIGN;
  if ((size_t)(r->end - r->at) < zeros) return false;
  r->at += zeros;
  return true;
}

FlLoaded *fl_code_cache_get(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options) {
  if (!cache || !cache->memo) return NULL;
  FlText1 key = key_of(cache, c, options);
  FlMemoEntry *e = fl_memo_get(cache->memo, (FlMemoKey){key.s, (int64_t)key.len, c->script->path});
  fl_text_reset(&key);
  FlLoaded *loaded = NULL;
  if (e) {
    Reader r = {e->payload, (const char *)e->payload + e->bytes};
    char *why = NULL;
    FlText warnings;
    if (inputs_unchanged(&r) && take_warnings(&r, e->payload, &warnings))
      loaded = fl_load_object(r.at, (size_t)(r.end - r.at), &why);
    if (loaded) fwrite(warnings.ptr, 1, (size_t)warnings.len, stderr);
    free(why); /* an object that does not load is made anew */
  }
  fl_memo_unmap(e);
  return loaded;
}

/* What was read while compiling had the digests that were taken before. */
static bool inputs_stayed(const FlCompilation *c) {
  for (int i = 0; i < c->sema.n_inputs; i++) {
    const FlSemaInput *in = &c->sema.inputs[i];
    if (!fl_memo_digest_same(in->digest, fl_world_here.digest(NULL, in->path, in->kind))) return false;
  }
  return true;
}

void fl_code_cache_put(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options,
                       const FlObject *object) {
  if (!cache || !cache->memo || !inputs_stayed(c)) return;
  FlText1 key = key_of(cache, c, options), head = {0}, warnings = {0};
  add_u64(&head, (uint64_t)c->sema.n_inputs);
  for (int i = 0; i < c->sema.n_inputs; i++) {
    const FlSemaInput *in = &c->sema.inputs[i];
    fl_text_addc(&head, (char)in->kind);
    add_u64(&head, strlen(in->path));
    fl_text_addz(&head, in->path);
    add_digest(&head, in->digest);
  }
  fl_sink_print(c->sink, &warnings, false);
  add_u64(&head, warnings.len);
  fl_text_add(&head, warnings.s ? warnings.s : "", warnings.len);
  fl_text_reset(&warnings);
  while (head.len % FL_ALIGN != 0) fl_text_addc(&head, '\0');
  struct iovec pieces[2] = {{head.s, head.len}, {object->bytes, object->size}};
  fl_memo_put(cache->memo, (FlMemoKey){key.s, (int64_t)key.len, c->script->path}, pieces, 2, NULL);
  fl_text_reset(&head);
  fl_text_reset(&key);
}

/* ---- scripts that were tried ------------------------------------------------------------------------ */

enum { TRIED_BYTES = sizeof(FlDigest) + 1 };

/* Reset by the caller. */
static FlText1 tried_name(const FlCompilation *c) {
  FlText1 name = {0};
  char where[PATH_MAX];
  fl_text_addf(&name, "flow.tried %s\n%s", getcwd(where, sizeof where) ? where : "", c->script->path);
  return name;
}

static FlDigest tried_text(const FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options) {
  FlText1 key = key_of(cache, c, options);
  FlDigest d = fl_memo_digest(key.s, (int64_t)key.len);
  fl_text_reset(&key);
  return d;
}

bool fl_code_cache_tries(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options) {
  if (!cache || !cache->memo) return true;
  FlText1 name = tried_name(c);
  FlMemoEntry *e = fl_memo_record_get(cache->memo, name.s);
  fl_text_reset(&name);
  FlDigest text = {0};
  bool known = e && e->bytes == TRIED_BYTES, ended = false;
  if (known) {
    memcpy(&text, e->payload, sizeof text);
    ended = ((const char *)e->payload)[sizeof text] != 0;
  }
  fl_memo_unmap(e);
  return !known || (ended && !fl_memo_digest_same(text, tried_text(cache, c, options)));
}

void fl_code_cache_tried(FlCodeCache *cache, const FlCompilation *c, const FlBuildOptions *options,
                         bool ended) {
  if (!cache || !cache->memo) return;
  FlText1 name = tried_name(c), record = {0};
  add_digest(&record, tried_text(cache, c, options));
  fl_text_addc(&record, (char)ended);
  (void)fl_memo_record_put(cache->memo, name.s, record.s, (int64_t)record.len);
  fl_text_reset(&record);
  fl_text_reset(&name);
}

/* ---- functions ------------------------------------------------------------------------------------- */

static FlText1 unit_key(const FlCodeCache *cache, const FlText1 *unit) {
  FlText1 key = {0};
  fl_text_addz(&key, "flow.unit");
  add_digest(&key, cache->flowc);
  add_digest(&key, fl_memo_digest(cache->options.s, (int64_t)cache->options.len));
  fl_text_add(&key, unit->s, unit->len);
  return key;
}

typedef struct Got {
  const FlMemoEntry *entry;
  FlText1 *out;
} Got;

static void copy_entry(void *arg) {
  const Got *got = arg;
  fl_text_add(got->out, got->entry->payload, (size_t)got->entry->bytes);
}

static bool get_unit(void *arg, const FlText1 *unit, FlText1 *out) {
  const FlCodeCache *cache = arg;
  FlText1 key = unit_key(cache, unit);
  FlMemoEntry *e = fl_memo_get(cache->memo, (FlMemoKey){key.s, (int64_t)key.len, "a function"});
  fl_text_reset(&key);
  if (!e) return false;
  bool copied = fl_guard(copy_entry, &(Got){e, out});
  fl_memo_unmap(e);
  if (!copied) fl_no_memory();
  return true;
}

static void put_unit(void *arg, const FlText1 *unit, const FlText1 *bytes) {
  const FlCodeCache *cache = arg;
  FlText1 key = unit_key(cache, unit);
  struct iovec piece = {bytes->s, bytes->len};
  fl_memo_put(cache->memo, (FlMemoKey){key.s, (int64_t)key.len, "a function"}, &piece, 1, NULL);
  fl_text_reset(&key);
}

const FlCodeStore *fl_code_cache_units(FlCodeCache *cache, const FlBuildOptions *options) {
  if (!cache || !cache->memo || options->level == 0) return NULL;
  fl_text_reset(&cache->options);
  add_options(&cache->options, options);
  cache->units = (FlCodeStore){cache, get_unit, put_unit};
  return &cache->units;
}
