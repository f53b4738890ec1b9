/* high.c: the most that was held while something ran: of random beginnings, ends and bytes as a plain model
 * counts it, which looks at every moment; with threads within what must have been; and by the pool. */
#include "check.h"

#include "base/high.h"
#include "data/data.h"
#include "data/data_internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { THREADS = 3, DEPTH = 12 };

/* Of each thread what runs now, the innermost last, and the most that was held since each of it began. */
typedef struct Model {
  int64_t now, begun[THREADS][DEPTH], most[THREADS][DEPTH];
  int depth[THREADS];
} Model;

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (*state >> 33) % below;
}

static void hold(Model *m, FlHighs *h, int64_t bytes) {
  fl_highs_add(h, bytes);
  m->now += bytes;
  for (int k = 0; k < THREADS; k++)
    for (int d = 0; d < m->depth[k]; d++)
      if (m->now > m->most[k][d]) m->most[k][d] = m->now;
}

static void step(Model *m, FlHighs *h, uint64_t *state) {
  int k = (int)draw(state, THREADS), *d = &m->depth[k];
  switch (draw(state, 4)) {
  case 0:
    if (*d == DEPTH) break;
    m->begun[k][*d] = fl_highs_begin(h, k);
    m->most[k][(*d)++] = m->now;
    break;
  case 1: {
    if (*d == 0) break;
    int64_t got = fl_highs_end(h, k, m->begun[k][*d - 1]), want = m->most[k][--*d];
    if (got != want)
      check(false, "thread %d at %d: %lld instead of %lld", k, *d, (long long)got, (long long)want);
    break;
  }
  case 2: hold(m, h, (int64_t)draw(state, 50)); break;
  default: hold(m, h, -(int64_t)draw(state, m->now < 50 ? (uint64_t)m->now + 1 : 50)); break;
  }
}

static void test_model(void) {
  uint64_t state = 19;
  for (int round = 0; round < 200; round++) {
    Model m = {0};
    FlHighs *h = fl_highs_new(THREADS);
    for (int i = 0; i < 2000; i++) step(&m, h, &state);
    fl_highs_unref(h);
  }
  check(true, "the model agrees");
}

/* What a thread of its own takes and gives back while another one runs small things: the one that runs around
 * all has seen the most, and each at least what the thread holds all the time and at most what it ever has.
 */
enum { ALWAYS = 1000, LARGE = 5000, ROUNDS = 200000 };
typedef struct Other {
  FlHighs *h;
  _Atomic bool over;
  int64_t taken;
} Other;

static void *take_and_give(void *arg) {
  Other *o = arg;
  while (!atomic_load(&o->over) || !o->taken) {
    fl_highs_add(o->h, LARGE);
    fl_highs_add(o->h, -LARGE);
    o->taken++;
  }
  return NULL;
}

static void test_threads(void) {
  Other o = {.h = fl_highs_new(2)};
  atomic_init(&o.over, false);
  fl_highs_add(o.h, ALWAYS);
  int64_t all = fl_highs_begin(o.h, 0), wrong = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, take_and_give, &o);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t outer = fl_highs_begin(o.h, 0), inner = fl_highs_begin(o.h, 0);
    int64_t most = fl_highs_end(o.h, 0, inner), around = fl_highs_end(o.h, 0, outer);
    wrong += most < ALWAYS || most > ALWAYS + LARGE || around < most;
  }
  atomic_store(&o.over, true);
  pthread_join(thread, NULL);
  int64_t most = fl_highs_end(o.h, 0, all), after = fl_highs_begin(o.h, 0);
  check(wrong == 0, "%lld wrong", (long long)wrong);
  check(most == ALWAYS + LARGE, "%lld", (long long)most);
  check(fl_highs_end(o.h, 0, after) == ALWAYS, "what was given back is held no more");
  fl_highs_unref(o.h);
}

/* Blocks that are taken, given back, taken again from the free ones, and counted by themselves. */
static void test_pool(void) {
  FlPool *p = fl_pool_new((int64_t)4 << 30);
  FlHighs *h = fl_highs_new(1);
  fl_pool_highs(p, h);
  const int64_t a = 1 << 20, b = 5 << 20, c = 3 << 20;
  FlBlock block[2];
  int64_t all = fl_highs_begin(h, 0);
  bool took = fl_pool_take(p, (size_t)a, FL_BLOCK_SWEPT, &block[0]);
  int64_t one = fl_highs_begin(h, 0);
  took = took && fl_pool_take(p, (size_t)b, FL_BLOCK_SWEPT, &block[1]);
  fl_pool_give(p, block[1]);
  check(took && fl_highs_end(h, 0, one) == a + b, "two blocks");
  one = fl_highs_begin(h, 0);
  check(fl_highs_end(h, 0, one) == a, "a free block is not held");
  one = fl_highs_begin(h, 0);
  took = fl_pool_take(p, (size_t)b, FL_BLOCK_SWEPT, &block[1]) && fl_pool_count(p, (size_t)c, false);
  fl_pool_count(p, (size_t)c, true);
  fl_pool_give(p, block[1]);
  check(took && fl_highs_end(h, 0, one) == a + b + c, "one that was free, and bytes that are counted");
  fl_pool_give(p, block[0]);
  check(fl_highs_end(h, 0, all) == a + b + c, "around all of it");
  all = fl_highs_begin(h, 0);
  check(fl_highs_end(h, 0, all) == 0, "at last nothing");
  fl_highs_unref(h);
  fl_pool_free(p);
}

int main(void) {
  test_model();
  test_threads();
  test_pool();
  return finish();
}
