/* key.c: the digest of each stage's code, FlFunc.key (LANGUAGE 13): XXH3-128 over versions, the canonical
 * encoding of the function, which holds the version of each operator's meaning, and the digests of what it
 * calls. Names, spans and the order of declarations do not enter. What sema and derivatives make of a script
 * is in the function as it is then, so these need no versions of their own.
 *
 * Functions that call each other in a cycle have no digest of each other to use. There each member of the
 * cycle is named by its place in a depth-first walk that starts at the function whose key is made, and the
 * encodings of all members enter in that order: the same for any names and any order of declaration. */
#define XXH_INLINE_ALL
#include "opt/opt_internal.h"

#include <xxhash.h>

/* KEY goes up when the encoding changes. PASSES goes up with the mending of any pass behind this one, of code
 * generation or of the interpreter that has given wrong results: they are to change no bit, but what they
 * stored before would stay.
 */
enum { KEY_VERSION = 2, PASSES_VERSION = 1 };

typedef struct Keys {
  FlArena *arena;
  FlMap *reach; /* function -> map of the functions that it reaches by calls */
  FlMap *done;  /* functions whose key is set */
} Keys;

static void reach_from(Keys *k, FlMap *into, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    FlFunc *f = op->attrs.func;
    if (f && !fl_map_get(into, f)) {
      fl_map_set(into, f, f);
      reach_from(k, into, f->body);
    }
    for (int i = 0; i < op->n_regions; i++) reach_from(k, into, op->regions[i]);
  }
}

static FlMap *reach_of(Keys *k, const FlFunc *f) {
  FlMap *reach = fl_map_get(k->reach, f);
  if (reach) return reach;
  reach = fl_map_make(k->arena);
  reach_from(k, reach, f->body);
  fl_map_set(k->reach, f, reach);
  return reach;
}

/* One cycle being encoded: its members in order of discovery. */
typedef struct Cycle {
  Keys *keys;
  const FlFunc *start;
  FlVec(const FlFunc *) members;
} Cycle;

static bool in_cycle(Cycle *c, const FlFunc *f) {
  return fl_map_get(reach_of(c->keys, c->start), f) && fl_map_get(reach_of(c->keys, f), c->start);
}

static int member_index(Cycle *c, const FlFunc *f) {
  for (int i = 0; i < c->members.n; i++)
    if (c->members.at[i] == f) return i;
  fl_vec_push(c->keys->arena, &c->members, f);
  return c->members.n - 1;
}

static void encode_callee(FlText1 *out, const FlFunc *callee, void *user) {
  Cycle *c = user;
  if (callee == c->start || in_cycle(c, callee)) {
    fl_text_addf(out, "cycle %d;", member_index(c, callee));
    return;
  }
  fl_text_addz(out, "digest ");
  fl_text_add(out, (const char *)&callee->key, sizeof callee->key);
}

static void make_key(Keys *k, FlFunc *f);

static void keys_of_callees(Keys *k, Cycle *c, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    FlFunc *f = op->attrs.func;
    if (f && f != c->start && !in_cycle(c, f)) make_key(k, f);
    for (int i = 0; i < op->n_regions; i++) keys_of_callees(k, c, op->regions[i]);
  }
}

static void make_key(Keys *k, FlFunc *f) {
  if (fl_map_get(k->done, f)) return;
  fl_map_set(k->done, f, f);
  Cycle c = {k, f, {0}};
  FlText1 text = {0};
  fl_text_addf(&text, "flow key %d %d;", KEY_VERSION, PASSES_VERSION);
  member_index(&c, f);
  for (int i = 0; i < c.members.n; i++) { /* encoding a member may discover more */
    keys_of_callees(k, &c, c.members.at[i]->body);
    fl_ir_encode_with(&text, c.members.at[i], encode_callee, &c);
  }
  XXH128_hash_t h = XXH3_128bits(text.s, text.len);
  f->key = (FlDigest){h.low64, h.high64};
  fl_text_reset(&text);
}

static bool has_blas(const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (fl_op_info[op->code].flags & FL_OPF_BLAS) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (has_blas(op->regions[i])) return true;
  }
  return false;
}

static bool reaches_blas(Keys *k, const FlModule *m, const FlFunc *f) {
  bool found = has_blas(f->body);
  FlMap *reach = reach_of(k, f);
  for (const FlFunc *g = m->first; g && !found; g = g->next)
    found = fl_map_get(reach, g) && has_blas(g->body);
  return found;
}

void fl_opt_key(FlModule *m) {
  Keys k = {m->arena, fl_map_make(m->arena), fl_map_make(m->arena)};
  for (FlFunc *f = m->first; f; f = f->next)
    if (f->kind == FL_FUNC_STAGE) {
      make_key(&k, f);
      f->uses_blas = reaches_blas(&k, m, f);
    }
}
