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
enum { KEY_VERSION = 2, PASSES_VERSION = 3 };

/* A function in the walk that finds cycles (Tarjan: "Depth-first search and linear graph algorithms", 1972).
 */
typedef struct Node {
  const FlFunc *func;
  int order, lowest; /* in which it was met, from 1; of those that it comes back to */
  int cycle;         /* the same number for the members of one cycle, from 1; 0: not known yet */
  bool blas;         /* it, or what it calls, has an operator with the flag BLAS; known with `cycle` */
} Node;

typedef struct Keys {
  FlArena *arena;
  FlMap *nodes; /* function -> Node */
  FlMap *done;  /* functions whose key is set */
  FlVec(Node *) open;
  int n_met, n_cycles;
} Keys;

static Node *node_of(Keys *k, const FlFunc *f);

static void follow_calls(Keys *k, Node *from, const FlRegion *r) {
  for (const FlOp *op = r->first; op; op = op->next) {
    from->blas |= (fl_op_info[op->code].flags & FL_OPF_BLAS) != 0;
    if (op->attrs.func) {
      const Node *to = node_of(k, op->attrs.func);
      int back = to->cycle ? from->lowest : to->lowest;
      if (back < from->lowest) from->lowest = back;
      from->blas |= to->blas;
    }
    for (int i = 0; i < op->n_regions; i++) follow_calls(k, from, op->regions[i]);
  }
}

static Node *node_of(Keys *k, const FlFunc *f) {
  Node *n = fl_map_get(k->nodes, f);
  if (n) return n;
  n = FL_NEW(k->arena, Node);
  n->func = f;
  n->order = n->lowest = ++k->n_met;
  fl_map_set(k->nodes, f, n);
  fl_vec_push(k->arena, &k->open, n);
  follow_calls(k, n, f->body);
  if (n->lowest < n->order) return n;
  int first = k->open.n - 1;
  while (k->open.at[first] != n) first--;
  bool blas = false;
  for (int i = first; i < k->open.n; i++) blas |= k->open.at[i]->blas;
  k->n_cycles++;
  for (int i = first; i < k->open.n; i++) {
    k->open.at[i]->cycle = k->n_cycles;
    k->open.at[i]->blas = blas;
  }
  k->open.n = first;
  return n;
}

/* One cycle being encoded: its members in order of discovery. */
typedef struct Cycle {
  Keys *keys;
  const FlFunc *start;
  FlVec(const FlFunc *) members;
} Cycle;

static bool in_cycle(Cycle *c, const FlFunc *f) {
  return node_of(c->keys, f)->cycle == node_of(c->keys, c->start)->cycle;
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

void fl_opt_key(FlModule *m) {
  Keys k = {.arena = fl_arena_new()};
  k.nodes = fl_map_make(k.arena);
  k.done = fl_map_make(k.arena);
  for (FlFunc *f = m->first; f; f = f->next)
    if (f->kind == FL_FUNC_STAGE) {
      make_key(&k, f);
      f->uses_blas = node_of(&k, f)->blas;
    }
  fl_arena_free(k.arena);
}
