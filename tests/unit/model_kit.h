/* model_kit.h: a model checker for code with C11 atomics: the real source is compiled against the atomics,
 * locks and futexes defined here, and all interleavings of a few threads of it are run, with all values that
 * the memory model lets each load see.
 *
 * In: a scenario: threads, which atomics there are, what must hold. Out: how many states there are, and the
 * first that is wrong, with the steps that lead to it. How: threads are coroutines that stop before each
 * operation on an atomic, a lock or a futex; all there is (stacks, registers, memory) lies in one struct,
 * `World`, so a state is copied and put back like a value; states met before are known by their digest and
 * not gone on from. The search is exhaustive.
 *
 * Memory: as in RC11 (Lahav and others, "Repairing sequential consistency in C/C++11", PLDI 2017), run as
 * views (Kang and others, "A promising semantics for relaxed-memory concurrency", POPL 2017, without
 * promises). An atomic is the list of the values stored in it; a thread has for each atomic the oldest value
 * that it may still see; a load takes any from there on. A release store hands on what its thread knows, an
 * acquire load takes it. A seq_cst load sees no value older than the last seq_cst store, in the one order in
 * which all seq_cst operations run. Stores to one atomic by several threads are ordered as they run (here all
 * are under a lock or read what they replace), and no load sees what is stored later. An operation that is
 * weaker than the proof needs shows this way, also on a machine that would not.
 *
 * Work that takes long (mc_long) goes on only when nobody else can: then the scenario's `idle_is_right` is
 * asked whether somebody sleeps beside work that he may do. */
#ifndef MODEL_KIT_H
#define MODEL_KIT_H

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
  MC_THREADS = 3,
  MC_ATOMICS = 28,
  MC_VALUES = 8,
  MC_LOCKS = 2,
  MC_STACK = 4 << 10,
  MC_SLACK = 256,
  MC_DEPTH = 2000
};

typedef enum McKind {
  MC_LOAD,
  MC_STORE,
  MC_ADD,
  MC_SWAP,
  MC_CAS,
  MC_LOCK,
  MC_UNLOCK,
  MC_SLEEP,
  MC_ASLEEP,
  MC_WAKE,
  MC_LONG,
  MC_ENDED
} McKind;

typedef uint8_t McView[MC_ATOMICS]; /* of each atomic, the oldest value that may be seen */

typedef struct McValue {
  uint64_t value;
  McView view; /* what a thread knows that acquires it */
} McValue;

typedef struct McAtomic {
  void *at;
  int size, n;
  bool always_in_order; /* it is only loaded with seq_cst: nobody sees what is older than in_order */
  uint8_t in_order;     /* the last value that a seq_cst store gave */
  McValue values[MC_VALUES];
} McAtomic;

/* What a thread is about to do. */
typedef struct McStep {
  McKind kind;
  int atomic, lock;
  memory_order order, otherwise; /* otherwise: of a CAS that does not exchange */
  uint64_t value, expected;
  const char *function, *what;
} McStep;

typedef struct McThread {
  McStep step;
  uint64_t result;
  bool exchanged;
  McView view;
  char *low; /* of its stack that is in use */
  jmp_buf registers;
} McThread;

typedef struct McLock {
  bool held;
  McView view;
} McLock;

/* Everything there is. `data`: the scenario's own memory, where all atomics lie. */
typedef struct World {
  McThread threads[MC_THREADS];
  McAtomic atomics[MC_ATOMICS];
  McLock locks[MC_LOCKS];
  int last, switches; /* who took the last step; how often another went on though that one could */
  alignas(128) char data[3 << 10];
  alignas(16) char stacks[MC_THREADS][MC_STACK];
} World;

/* An operation that is weaker than it should be, for variants that must be found wrong. */
typedef struct McWeak {
  const char *function, *what;
  McKind kind;
  memory_order order;
} McWeak;

typedef struct McScenario {
  const char *name;
  int n_threads;
  void (*begin)(void);                /* fills world.data, names atomics and locks */
  void (*run)(int thread);            /* what a thread does */
  void (*resumed)(int thread);        /* it goes on now; may be NULL */
  const char *(*idle_is_right)(void); /* NULL, or what is wrong */
  const char *(*end_is_right)(void);  /* likewise, when all threads have ended */
  bool ends_when_idle;                /* what comes after that is left to others */
  int most_switches; /* in short, only interleavings that leave threads that could go on so often; 0: all */
} McScenario;

typedef struct McFrame {
  World world;
  int thread, choice; /* the next to try */
  int done_thread, done_choice;
} McFrame;

/* The search. `users` and `writers`: the threads that were seen to use and to write each atomic. A step that
 * no other thread can notice, by what was seen so far, is no place to switch; when more is seen the search
 * starts again. */
typedef struct Mc {
  const McScenario *scenario;
  const McWeak *weak;
  pthread_mutex_t *locks[MC_LOCKS];
  int n_atomics, n_locks, current;
  jmp_buf back;
  ucontext_t first, explorer;
  McFrame *frames;
  int depth;
  uint64_t *seen;
  size_t n_seen, room, n_steps, n_ends;
  unsigned users[MC_ATOMICS], writers[MC_ATOMICS];
  bool again;
  int most_switches;
  const char *wrong;
} Mc;

static World world;
static Mc mc;

/* ---- what the checked code calls ----------------------------------------------------------------------- */

static void mc_stop(const char *what) {
  if (!mc.wrong) mc.wrong = what;
}

/* Leaves the thread before a step; the search takes it and comes back. */
static __attribute__((noinline)) void mc_park(McStep step) {
  McThread *t = &world.threads[mc.current];
  t->step = step;
  t->low = (char *)__builtin_frame_address(0) - MC_SLACK;
  if (_setjmp(t->registers) == 0) _longjmp(mc.back, 1);
}

static int mc_find(const volatile void *at) {
  for (int k = 0; k < mc.n_atomics; k++)
    if (world.atomics[k].at == at) return k;
  fprintf(stderr, "an atomic that the scenario does not name\n");
  abort();
}

static memory_order mc_order(McKind kind, memory_order order, const char *function, const char *what) {
  const McWeak *w = mc.weak;
  return w && w->kind == kind && strcmp(w->function, function) == 0 && strcmp(w->what, what) == 0 ? w->order
                                                                                                  : order;
}

static uint64_t mc_atomic(McKind kind, const volatile void *at, uint64_t value, memory_order order,
                          const char *function, const char *what) {
  mc_park((McStep){.kind = kind,
                   .atomic = mc_find(at),
                   .value = value,
                   .order = mc_order(kind, order, function, what),
                   .function = function,
                   .what = what});
  return world.threads[mc.current].result;
}

static bool mc_cas(const volatile void *at, uint64_t *expected, uint64_t value, memory_order order,
                   memory_order otherwise, const char *function, const char *what) {
  mc_park((McStep){.kind = MC_CAS,
                   .atomic = mc_find(at),
                   .value = value,
                   .expected = *expected,
                   .order = mc_order(MC_CAS, order, function, what),
                   .otherwise = otherwise,
                   .function = function,
                   .what = what});
  *expected = world.threads[mc.current].result;
  return world.threads[mc.current].exchanged;
}

static void mc_mutex(McKind kind, const pthread_mutex_t *m, const char *function) {
  int k = 0;
  while (k < mc.n_locks && mc.locks[k] != m) k++;
  mc_park((McStep){.kind = kind, .lock = k, .function = function, .what = "lock"});
}

static long mc_futex(_Atomic uint32_t *at, bool wait, uint32_t value, const char *function) {
  mc_park((McStep){.kind = wait ? MC_SLEEP : MC_WAKE,
                   .atomic = mc_find(at),
                   .value = value,
                   .function = function,
                   .what = "futex"});
  return 0;
}

/* Work that takes as long as anything else. */
static void mc_long(void) { mc_park((McStep){.kind = MC_LONG, .function = "work", .what = "work"}); }

#define MC_TYPE(p) __typeof__((void)0, *(p))
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong_explicit
#define atomic_load_explicit(p, o) ((MC_TYPE(p))mc_atomic(MC_LOAD, (p), 0, (o), __func__, #p))
#define atomic_store_explicit(p, v, o) ((void)mc_atomic(MC_STORE, (p), (uint64_t)(v), (o), __func__, #p))
#define atomic_fetch_add_explicit(p, v, o)                                                                   \
  ((MC_TYPE(p))mc_atomic(MC_ADD, (p), (uint64_t)(v), (o), __func__, #p))
#define atomic_fetch_sub_explicit(p, v, o)                                                                   \
  ((MC_TYPE(p))mc_atomic(MC_ADD, (p), -(uint64_t)(v), (o), __func__, #p))
#define atomic_exchange_explicit(p, v, o)                                                                    \
  ((MC_TYPE(p))mc_atomic(MC_SWAP, (p), (uint64_t)(v), (o), __func__, #p))
#define atomic_compare_exchange_strong_explicit(p, e, v, o, f)                                               \
  ({                                                                                                         \
    uint64_t mc_expected = (uint64_t)*(e);                                                                   \
    bool mc_did = mc_cas((p), &mc_expected, (uint64_t)(v), (o), (f), __func__, #p);                          \
    *(e) = (MC_TYPE(e))mc_expected;                                                                          \
    mc_did;                                                                                                  \
  })
#define pthread_mutex_lock(m) mc_mutex(MC_LOCK, (m), __func__)
#define pthread_mutex_unlock(m) mc_mutex(MC_UNLOCK, (m), __func__)
#define syscall(call, word, op, value, ...) mc_futex((word), (op) == FUTEX_WAIT_PRIVATE, (value), __func__)
#define sched_yield() ((void)0)
#define __builtin_ia32_rdtsc() 0ull

/* ---- what scenarios call in begin ---------------------------------------------------------------------- */

#define MC_NAME(p) mc_name((p), sizeof *(p))
static void mc_name(const volatile void *at, size_t size) {
  if (mc.n_atomics == MC_ATOMICS) abort();
  McAtomic *a = &world.atomics[mc.n_atomics++];
  *a = (McAtomic){.at = (void *)(uintptr_t)at, .size = (int)size, .n = 1};
  memcpy(&a->values[0].value, (const void *)(uintptr_t)at, size);
}

/* It is only loaded with seq_cst. */
static void mc_name_ordered(const volatile void *at) { world.atomics[mc_find(at)].always_in_order = true; }

static void mc_set(const volatile void *at, uint64_t value) {
  McAtomic *a = &world.atomics[mc_find(at)];
  a->values[0].value = value;
  memcpy(a->at, &value, (size_t)a->size);
}

static void mc_name_lock(pthread_mutex_t *m) {
  if (mc.n_locks == MC_LOCKS) abort();
  mc.locks[mc.n_locks++] = m;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void mc_join(McView to, const McView from) {
  for (int k = 0; k < mc.n_atomics; k++)
    if (from[k] > to[k]) to[k] = from[k];
}

static bool mc_acquires(memory_order o) {
  return o == memory_order_acquire || o == memory_order_acq_rel || o == memory_order_seq_cst;
}
static bool mc_releases(memory_order o) {
  return o == memory_order_release || o == memory_order_acq_rel || o == memory_order_seq_cst;
}

/* Forgets values that no thread can see any more. */
static void mc_forget(McAtomic *a, int which) {
  int oldest = a->n - 1;
  for (int t = 0; t < mc.scenario->n_threads; t++)
    if (world.threads[t].step.kind != MC_ENDED && world.threads[t].view[which] < oldest)
      oldest = world.threads[t].view[which];
  if (a->always_in_order && a->in_order > oldest) oldest = a->in_order;
  if (oldest == 0) return;
  memmove(a->values, a->values + oldest, (size_t)(a->n - oldest) * sizeof *a->values);
  a->n -= oldest;
  memset(a->values + a->n, 0, (size_t)oldest * sizeof *a->values);
  uint8_t gone = (uint8_t)oldest;
#define MC_LESS(x) ((x) = (uint8_t)((x) > gone ? (x) - gone : 0))
  MC_LESS(a->in_order);
  for (int t = 0; t < MC_THREADS; t++) MC_LESS(world.threads[t].view[which]);
  for (int k = 0; k < MC_LOCKS; k++) MC_LESS(world.locks[k].view[which]);
  for (int k = 0; k < mc.n_atomics; k++)
    for (int v = 0; v < world.atomics[k].n; v++) MC_LESS(world.atomics[k].values[v].view[which]);
#undef MC_LESS
}

static uint64_t mc_cut(uint64_t value, int size) {
  return size == 8 ? value : value & (((uint64_t)1 << 8 * size) - 1);
}

/* continues: what a value that is replaced by reading it hands on (a release sequence). */
static void mc_put(McThread *t, int which, uint64_t value, memory_order order, bool continues) {
  McAtomic *a = &world.atomics[which];
  if (a->n == MC_VALUES) {
    mc_stop("the model's room for values is too small");
    return;
  }
  McValue *v = &a->values[a->n++];
  *v = (McValue){.value = mc_cut(value, a->size)};
  t->view[which] = (uint8_t)(a->n - 1);
  if (continues) mc_join(v->view, v[-1].view);
  if (mc_releases(order)) mc_join(v->view, t->view);
  v->view[which] = t->view[which];
  if (order == memory_order_seq_cst) a->in_order = (uint8_t)(a->n - 1);
  memcpy(a->at, &v->value, (size_t)a->size);
  mc_forget(a, which);
}

static void mc_get(McThread *t, int which, int value, memory_order order) {
  McAtomic *a = &world.atomics[which];
  if (a->always_in_order && order != memory_order_seq_cst)
    mc_stop("a load that the scenario says there is not");
  t->result = a->values[value].value;
  t->view[which] = (uint8_t)value;
  if (mc_acquires(order)) mc_join(t->view, a->values[value].view);
  mc_forget(a, which);
}

/* In how many ways thread k may go on now. */
static int mc_choices(int k) {
  const McThread *t = &world.threads[k];
  const McAtomic *a = &world.atomics[t->step.atomic];
  switch (t->step.kind) {
  case MC_LOAD: {
    int from = t->view[t->step.atomic];
    if (t->step.order == memory_order_seq_cst && a->in_order > from) from = a->in_order;
    return a->n - from;
  }
  case MC_LOCK: return !world.locks[t->step.lock].held;
  case MC_ASLEEP:
  case MC_LONG:
  case MC_ENDED: return 0;
  case MC_STORE:
  case MC_ADD:
  case MC_SWAP:
  case MC_CAS:
  case MC_UNLOCK:
  case MC_SLEEP:
  case MC_WAKE: break;
  }
  return 1;
}

/* The effect of a thread's step, the choice-th way. */
static void mc_do(int k, int choice) {
  McThread *t = &world.threads[k];
  const McStep *s = &t->step;
  McAtomic *a = &world.atomics[s->atomic];
  McLock *lock = &world.locks[s->lock];
  switch (s->kind) {
  case MC_LOAD: mc_get(t, s->atomic, a->n - 1 - choice, s->order); break; /* the newest first */
  case MC_STORE: mc_put(t, s->atomic, s->value, s->order, false); break;
  case MC_ADD:
  case MC_SWAP:
    mc_get(t, s->atomic, a->n - 1, s->order);
    mc_put(t, s->atomic, s->kind == MC_ADD ? t->result + s->value : s->value, s->order, true);
    break;
  case MC_CAS:
    t->exchanged = a->values[a->n - 1].value == mc_cut(s->expected, a->size);
    mc_get(t, s->atomic, a->n - 1, t->exchanged ? s->order : s->otherwise);
    if (t->exchanged) mc_put(t, s->atomic, s->value, s->order, true);
    break;
  case MC_LOCK:
    lock->held = true;
    mc_join(t->view, lock->view);
    break;
  case MC_UNLOCK:
    lock->held = false;
    memcpy(lock->view, t->view, sizeof lock->view);
    break;
  case MC_SLEEP: /* the system looks at the newest value */
    if (a->values[a->n - 1].value == mc_cut(s->value, a->size)) t->step.kind = MC_ASLEEP;
    break;
  case MC_WAKE:
    for (int o = 0; o < mc.scenario->n_threads; o++)
      if (world.threads[o].step.kind == MC_ASLEEP && world.threads[o].step.atomic == s->atomic)
        world.threads[o].step.kind = MC_SLEEP; /* it looks at the value again, as its loop would */
    break;
  case MC_ASLEEP:
  case MC_LONG:
  case MC_ENDED: break;
  }
}

/* ---- threads ------------------------------------------------------------------------------------------- */

static void mc_thread(void) {
  mc.scenario->run(mc.current);
  mc_park((McStep){.kind = MC_ENDED});
}

/* Lets a thread run to its next step. */
static void mc_resume(int k) {
  mc.current = k;
  if (mc.scenario->resumed) mc.scenario->resumed(k);
  if (_setjmp(mc.back) == 0) _longjmp(world.threads[k].registers, 1);
}

static void mc_start(int k) {
  mc.current = k;
  if (mc.scenario->resumed) mc.scenario->resumed(k);
  getcontext(&mc.first);
  mc.first.uc_stack.ss_sp = world.stacks[k];
  mc.first.uc_stack.ss_size = MC_STACK;
  mc.first.uc_link = NULL;
  makecontext(&mc.first, mc_thread, 0);
  if (_setjmp(mc.back) == 0) setcontext(&mc.first);
}

/* ---- the search ---------------------------------------------------------------------------------------- */

static uint64_t mc_mix(uint64_t h, const void *bytes, size_t n) {
  const char *at = bytes;
  for (; n >= 8; at += 8, n -= 8) {
    uint64_t x;
    memcpy(&x, at, 8);
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  for (; n; at++, n--) h = (h ^ (unsigned char)*at) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 32;
}

static uint64_t mc_digest(void) {
  uint64_t h = mc_mix(1, world.data, sizeof world.data);
  h = mc_mix(h, world.locks, sizeof world.locks);
  for (int k = 0; k < mc.n_atomics; k++) {
    const McAtomic *a = &world.atomics[k];
    h = mc_mix(h, &(uint64_t){(uint64_t)a->n << 8 | a->in_order}, 8);
    for (int v = 0; v < a->n; v++)
      h = mc_mix(h, &a->values[v].value, 8), h = mc_mix(h, a->values[v].view, (size_t)mc.n_atomics);
  }
  if (mc.most_switches) h = mc_mix(h, &world.last, 2 * sizeof(int));
  for (int k = 0; k < mc.scenario->n_threads; k++) {
    McThread *t = &world.threads[k];
    if (t->step.kind == MC_ENDED) {
      h = mc_mix(h, "ended", 5);
      continue;
    }
    h = mc_mix(h, &t->step, sizeof t->step);
    h = mc_mix(h, t->view, (size_t)mc.n_atomics);
    h = mc_mix(h, t->registers[0].__jmpbuf, sizeof t->registers[0].__jmpbuf);
    h = mc_mix(h, t->low, (size_t)(world.stacks[k] + MC_STACK - t->low));
  }
  return h ? h : 1;
}

/* Whether this state is met for the first time. */
static bool mc_is_new(void) {
  uint64_t h = mc_digest();
  if (mc.n_seen * 2 >= mc.room) {
    size_t old = mc.room;
    uint64_t *from = mc.seen;
    mc.room = old ? old * 4 : 1 << 16;
    mc.seen = calloc(mc.room, sizeof *mc.seen);
    if (!mc.seen) abort();
    for (size_t k = 0; k < old; k++) {
      size_t at = from[k] % mc.room;
      while (from[k] && mc.seen[at]) at = (at + 1) % mc.room;
      if (from[k]) mc.seen[at] = from[k];
    }
    free(from);
  }
  size_t at = h % mc.room;
  for (; mc.seen[at]; at = (at + 1) % mc.room)
    if (mc.seen[at] == h) return false;
  mc.seen[at] = h;
  mc.n_seen++;
  return true;
}

static bool mc_writes(McKind k) { return k == MC_STORE || k == MC_ADD || k == MC_SWAP || k == MC_CAS; }

static void mc_note(int thread) {
  const McStep *s = &world.threads[thread].step;
  unsigned self = 1u << thread, writes = mc_writes(s->kind) ? self : 0;
  if (!writes && s->kind != MC_LOAD && s->kind != MC_SLEEP) return;
  if ((mc.users[s->atomic] & self) && (mc.writers[s->atomic] & writes) == writes) return;
  mc.users[s->atomic] |= self;
  mc.writers[s->atomic] |= writes;
  mc.again = true;
}

/* Whether nobody else notices the step, nor can change what it does. Unlocking only lets others do more, so
 * it may stand directly behind the step before it. */
static bool mc_is_own(int thread) {
  const McStep *s = &world.threads[thread].step;
  unsigned others = ~(1u << thread);
  if (s->kind == MC_LOAD) return !(mc.writers[s->atomic] & others);
  if (mc_writes(s->kind)) return !(mc.users[s->atomic] & others);
  return s->kind == MC_UNLOCK;
}

static void mc_go_on(int thread) {
  mc_resume(thread);
  for (mc_note(thread); mc_is_own(thread) && !mc.again && !mc.wrong; mc_note(thread)) {
    mc_do(thread, 0);
    mc_resume(thread);
  }
}

static void mc_take(int thread, int choice) {
  mc.n_steps++;
  if (thread != world.last) world.switches += mc_choices(world.last) > 0;
  world.last = thread;
  mc_do(thread, choice);
  if (world.threads[thread].step.kind != MC_ASLEEP) mc_go_on(thread);
}

/* The next way to go on from a frame; false: all were tried. Where nobody else can, those go on whose work
 * takes long; where nobody can at all, all must have ended. */
static bool mc_next(McFrame *f) {
  int n = mc.scenario->n_threads, able = 0, busy = 0, ended = 0;
  for (int k = 0; k < n; k++) {
    able += mc_choices(k) > 0;
    busy += world.threads[k].step.kind == MC_LONG;
    ended += world.threads[k].step.kind == MC_ENDED;
  }
  if (!able && f->thread == 0 && f->choice == 0) {
    const char *wrong = ended == n ? mc.scenario->end_is_right ? mc.scenario->end_is_right() : NULL
                        : mc.scenario->idle_is_right ? mc.scenario->idle_is_right()
                                                     : NULL;
    if (wrong) mc_stop(wrong);
    else if (!busy && ended < n) mc_stop("all wait for each other");
    bool end = ended == n || mc.scenario->ends_when_idle;
    mc.n_ends += end;
    if (mc.wrong || end) return false;
  }
  for (; f->thread < n; f->thread++, f->choice = 0) {
    int choices = able ? mc_choices(f->thread) : world.threads[f->thread].step.kind == MC_LONG;
    if (f->choice >= choices) continue;
    if (mc.most_switches && world.switches == mc.most_switches && f->thread != world.last &&
        mc_choices(world.last))
      continue;
    f->done_thread = f->thread;
    f->done_choice = f->choice++;
    return true;
  }
  return false;
}

static void mc_show(void) {
  for (int d = 0; d <= mc.depth; d++) {
    const McFrame *f = &mc.frames[d];
    const McStep *s = &f->world.threads[f->done_thread].step;
    static const char *const names[] = {"loads",     "stores", "adds to",       "exchanges",
                                        "compares",  "locks",  "unlocks",       "sleeps on",
                                        "sleeps on", "wakes",  "ends its work", "ends"};
    if (d < mc.depth || !mc.wrong)
      printf("    %d: %s %s %s%s\n", f->done_thread, s->function ? s->function : "", names[s->kind],
             s->what ? s->what : "", f->done_choice ? " (an old value)" : "");
  }
}

static size_t mc_size(void) { return offsetof(World, stacks) + (size_t)mc.scenario->n_threads * MC_STACK; }

static void mc_push(void) {
  mc.frames[mc.depth].thread = mc.frames[mc.depth].choice = 0;
  memcpy(&mc.frames[mc.depth].world, &world, mc_size());
}

static void mc_search(void) {
  mc.depth = 0;
  mc.again = false;
  mc.n_atomics = mc.n_locks = 0;
  mc.n_seen = mc.n_ends = mc.n_steps = 0;
  if (mc.room) memset(mc.seen, 0, mc.room * sizeof *mc.seen);
  memset(&world, 0, sizeof world);
  mc.scenario->begin();
  for (int k = 0; k < mc.scenario->n_threads; k++) {
    mc_start(k);
    mc_note(k);
  }
  mc_is_new();
  mc_push();
  while (mc.depth >= 0 && !mc.wrong && !mc.again) {
    McFrame *f = &mc.frames[mc.depth];
    memcpy(&world, &f->world, mc_size());
    if (!mc_next(f)) {
      mc.depth -= !mc.wrong;
      continue;
    }
    mc_take(f->done_thread, f->done_choice);
    if (mc.wrong || mc.again || !mc_is_new()) continue;
    if (++mc.depth < MC_DEPTH) {
      mc_push();
    } else {
      mc_stop("the model's room for steps is too small");
      mc.depth--;
    }
  }
}

/* Runs the scenario in all ways (in_short: in those that it says). What is wrong, or NULL. show: the steps
 * that lead there. */
static const char *mc_check(const McScenario *s, const McWeak *weak, bool in_short, bool show) {
  mc = (Mc){.scenario = s,
            .weak = weak,
            .frames = calloc(MC_DEPTH, sizeof *mc.frames),
            .most_switches = in_short ? s->most_switches : 0};
  if (!mc.frames) abort();
  do mc_search();
  while (mc.again && !mc.wrong);
  if (!mc.wrong && !mc.n_ends) mc.wrong = "it never ends";
  if (mc.wrong && show) mc_show();
  free(mc.frames);
  free(mc.seen);
  return mc.wrong;
}

#endif
