/* text_stack.c: texts that die together, against copies of their bytes: random programs of loops within loops
 * whose rounds make texts, append to those of any round around, and hand some of them on to what stands
 * around. After each step all texts that may still be used have the bytes that they were given. */
#include "check.h"
#include "data/data_internal.h"

#include <stdlib.h>
#include <string.h>

enum { VARS = 6, DEEPEST = 5, ALL = 64 * VARS, LARGEST = 20000 };

typedef struct Var {
  FlText text;
  char *copy; /* NULL: it has no text */
} Var;

typedef struct Run {
  uint64_t state;
  FlTextStack *stack;
  Var vars[ALL]; /* of the program's own level first, then of each round within: so many variables, so many
                    others */
  char letter;
  bool wrong;
} Run;

static unsigned below(Run *r, unsigned n) {
  r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(r->state >> 33) % n;
}

static void set(Var *v, const char *bytes, size_t n, char *copy) {
  free(v->copy);
  *v = (Var){{bytes, (int64_t)n}, copy};
}

static void look(Run *r, int n) {
  for (int i = 0; i < n && !r->wrong; i++) {
    const Var *v = &r->vars[i];
    r->wrong = v->copy && memcmp(v->text.ptr, v->copy, (size_t)v->text.len) != 0;
  }
}

static char *copy_of(const Var *v, size_t more) {
  size_t n = (size_t)v->text.len;
  char *copy = malloc(n + more);
  if (!copy) abort();
  return memcpy(copy, v->copy, n);
}

/* A new text, or one of the first n appended to; mostly short. */
static void make(Run *r, Var *to, int n) {
  char letter = ++r->letter;
  if (below(r, 2)) {
    size_t size = 1 + below(r, below(r, 8) ? 30 : 3000);
    char *text = fl_text_stack_alloc(r->stack, size), *copy = malloc(size);
    if (!copy) abort();
    memset(text, letter, size);
    memset(copy, letter, size);
    set(to, text, size, copy);
    return;
  }
  const Var *from = &r->vars[below(r, (unsigned)n)];
  size_t more = 1 + below(r, below(r, 8) ? 20 : 2000), size = (size_t)from->text.len;
  if (!from->copy || size > LARGEST) return;
  char *copy = copy_of(from, more);
  char *text = fl_text_stack_append(r->stack, from->text.ptr, size, more);
  if (text != from->text.ptr) memcpy(text, from->text.ptr, size);
  memset(text + size, letter, more);
  memset(copy + size, letter, more);
  set(to, text, size + more, copy);
}

/* A block whose variables begin at `base`; all before may be read. */
static void block(Run *r, int depth, int base);

static void loop(Run *r, int depth, int base) {
  int own = base + VARS; /* where the round's variables begin */
  FlTextMark mark;
  fl_text_stack_mark(r->stack, &mark);
  for (unsigned rounds = below(r, 4); rounds > 0 && !r->wrong; rounds--) {
    for (int k = 0; k < 5 && !r->wrong; k++) {
      make(r, &r->vars[own + (int)below(r, VARS)], own + VARS);
      look(r, own + VARS);
      const Var *from = &r->vars[own + (int)below(r, VARS)];
      Var *to = &r->vars[base + (int)below(r, VARS)];
      if (below(r, 3) == 0 && from->copy) set(to, from->text.ptr, (size_t)from->text.len, copy_of(from, 0));
    }
    if (below(r, 4) == 0) block(r, depth + 1, own + VARS);
    FlText live[VARS];
    for (int i = 0; i < VARS; i++) live[i] = r->vars[base + i].copy ? r->vars[base + i].text : (FlText){0};
    for (int i = own; i < ALL; i++) set(&r->vars[i], NULL, 0, NULL);
    fl_text_stack_leave(r->stack, &mark, live, VARS);
    for (int i = 0; i < VARS; i++)
      if (r->vars[base + i].copy) r->vars[base + i].text = live[i];
    look(r, own);
  }
}

static void block(Run *r, int depth, int base) {
  for (int k = 0; k < 4 && !r->wrong; k++) {
    make(r, &r->vars[base + (int)below(r, VARS)], base + VARS);
    look(r, base + VARS);
  }
  if (depth < DEEPEST && below(r, 3)) loop(r, depth, base);
}

int main(void) {
  for (uint64_t seed = 1; seed <= 10000; seed++) {
    Run *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->state = seed;
    r->stack = fl_text_stack_new(NULL);
    for (int i = 0; i < 6 && !r->wrong; i++) block(r, 0, 0);
    check(!r->wrong, "seed %llu: a text has other bytes than it was given", (unsigned long long)seed);
    for (int i = 0; i < ALL; i++) free(r->vars[i].copy);
    fl_text_stack_free(r->stack);
    free(r);
  }
  return finish();
}
