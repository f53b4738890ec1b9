/* sched_model.c: the pool's own source in a model checker (model_kit.h): the deque, sleeping and waking,
 * joins, jobs, in all interleavings of two or three threads and under weak memory.
 *
 * What is shown: each task and job runs once; nobody waits for ever; while somebody's work takes long, nobody
 * sleeps beside work that he may do. Variants with one thing wrong must be found wrong, or the checker proves
 * nothing: weaker memory orders, a joiner that counts as one who may run jobs, jobs that are not handed on.
 * README.md of runtime/sched has the proof in words. */
#undef _FORTIFY_SOURCE /* its longjmp knows of no other stacks */
#define FL_DEQUE_CAP 2 /* so that slots are used again */

#include "check.h"
#include "model_kit.h"

static bool joiner_is_idle, nobody_hands_on; /* the variants */
static bool in_short; /* FLOW_TEST_SHORT: the two largest scenarios only with few switches of threads */

#include "../../runtime/sched/sched_internal.h"
#define FL_JOINS (joiner_is_idle ? FL_IDLES : FL_JOINS)
#include "../../runtime/sched/deque.c"
#undef MASK
#include "../../runtime/sched/sleep.c"
#include "../../runtime/sched/job.c"
#include "../../runtime/sched/task.c"
static void hand_on(FlSched *s) {
  if (!nobody_hands_on) fl_jobs_hand_on(s);
}
#define fl_jobs_hand_on hand_on
#include "../../runtime/sched/pool.c"

/* ---- what the scenarios share -------------------------------------------------------------------------- */

enum { ITEMS = 3 };

typedef struct Item {
  FlTask task;
  FlJob job;
  int runs;
  bool takes_long;
} Item;

typedef struct Data {
  FlSched s;
  FlWorker w[MC_THREADS], *list[MC_THREADS];
  const FlScope *waits_in[MC_THREADS]; /* of who waits for a job */
  FlScope outer, inner;
  Item items[ITEMS];
  _Atomic int flag;
} Data;

static Data *data(void) { return (Data *)world.data; }

static void ran(Item *i) {
  i->runs++;
  if (i->takes_long) mc_long();
}
static void run_task(FlTask *t) { ran((Item *)((char *)t - offsetof(Item, task))); }
static void run_item_job(FlJob *j) { ran((Item *)((char *)j - offsetof(Item, job))); }

static void begin_with(int workers) {
  _Static_assert(sizeof(Data) <= sizeof world.data, "the room for a scenario's memory");
  Data *d = data();
  FlSched *s = &d->s;
  s->n_workers = workers;
  s->workers = d->list;
  mc_name_lock(&s->lock);
  mc_name_lock(&s->jobs_lock);
  MC_NAME(&s->idle);
  if (!mc.weak || strcmp(mc.weak->what, "&s->idle") != 0) mc_name_ordered(&s->idle);
  MC_NAME(&s->n_jobs);
  MC_NAME(&s->closing);
  MC_NAME(&d->flag);
  for (int k = 0; k < workers; k++) {
    FlWorker *w = d->list[k] = &d->w[k];
    w->sched = s;
    w->index = k;
    w->random = (uint32_t)k;
    MC_NAME(&w->deque.top);
    MC_NAME(&w->deque.bottom);
    for (int i = 0; i < FL_DEQUE_CAP; i++) MC_NAME(&w->deque.slots[i]);
    MC_NAME(&w->parked);
  }
  for (int i = 0; i < ITEMS; i++) {
    d->items[i].task.run = run_task;
    d->items[i].job.run = run_item_job;
    MC_NAME(&d->items[i].task.state);
    MC_NAME(&d->items[i].job.state);
  }
}
static void begin_2(void) { begin_with(2); }
static void begin_3(void) { begin_with(3); }

static void resumed(int k) { here = k < data()->s.n_workers ? &data()->w[k] : NULL; }

static void close_pool(void) {
  atomic_store_explicit(&data()->s.closing, 1, memory_order_seq_cst);
  fl_wake_all(&data()->s, false);
}

static bool is_runnable(const FlWorker *w, const FlJob *job) {
  if (w->may == (FL_IDLES)) return true;
  return w->may == FL_WAITS && is_within(job->scope, data()->waits_in[w->index]);
}

/* Nobody sleeps beside work that he may do. */
static const char *nobody_is_left(void) {
  const Data *d = data();
  for (const FlWorker *w = d->s.sleepers; w; w = w->next) {
    for (int k = 0; k < d->s.n_workers; k++)
      if (*(const int64_t *)&d->w[k].deque.top < *(const int64_t *)&d->w[k].deque.bottom)
        return "a task lies while somebody sleeps";
    for (const FlJob *job = d->s.first_job; job; job = job->next)
      if (is_runnable(w, job)) return "a job lies while somebody sleeps who may run it";
  }
  return NULL;
}

static const char *each_once(int n) {
  for (int i = 0; i < ITEMS; i++)
    if (data()->items[i].runs != (i < n))
      return data()->items[i].runs > 1 ? "something runs twice" : "something does not run";
  return NULL;
}
static const char *none_ran(void) { return each_once(0); }
static const char *one_ran(void) { return each_once(1); }
static const char *two_ran(void) { return each_once(2); }
static const char *three_ran(void) { return each_once(3); }

/* ---- the deque ----------------------------------------------------------------------------------------- */

static void take(FlTask *t) {
  if (t) run_task(t);
}

/* The owner pushes two and pops until nothing is left; thieves take one each. */
static void run_deque(int k) {
  Data *d = data();
  FlDeque *q = &d->w[0].deque;
  if (k) {
    take(fl_deque_steal(q));
    return;
  }
  for (int i = 0; i < 2; i++) fl_deque_push(q, &d->items[i].task);
  take(fl_deque_pop(q));
  take(fl_deque_pop(q));
}

/* The third push finds a slot that a thief has emptied, or none. */
static void run_again(int k) {
  Data *d = data();
  FlDeque *q = &d->w[0].deque;
  if (k) {
    for (int i = 0; i < 2; i++) take(fl_deque_steal(q));
    return;
  }
  for (int i = 0; i < 3; i++)
    if (!fl_deque_push(q, &d->items[i].task)) run_task(&d->items[i].task);
  for (int i = 0; i < 3; i++) take(fl_deque_pop(q));
}

static const McScenario deque_race = {.name = "deque: owner and two thieves",
                                      .n_threads = 3,
                                      .begin = begin_2,
                                      .run = run_deque,
                                      .resumed = resumed,
                                      .idle_is_right = NULL,
                                      .end_is_right = two_ran};
static const McScenario deque_again = {.name = "deque: slots that are used again",
                                       .n_threads = 2,
                                       .begin = begin_2,
                                       .run = run_again,
                                       .resumed = resumed,
                                       .idle_is_right = NULL,
                                       .end_is_right = three_ran};

/* ---- tasks --------------------------------------------------------------------------------------------- */

/* Worker 0 spawns two tasks, and joins them; others take what they find. While a task takes long the other is
 * run. */
static void run_tasks(int k) {
  Data *d = data();
  if (k) {
    fl_worker_loop(&d->w[k]);
    return;
  }
  int n = d->s.n_workers == 2 ? 1 : 2;
  for (int i = 0; i < n; i++) fl_task_spawn(&d->s, &d->items[i].task);
  mc_long();
  for (int i = n; i-- > 0;) fl_task_join(&d->s, &d->items[i].task);
  close_pool();
}
static void begin_long_2(void) {
  begin_2();
  data()->items[0].takes_long = true;
}
static void begin_long_3(void) {
  begin_3();
  data()->items[0].takes_long = data()->items[1].takes_long = true;
}
static const McScenario tasks_two = {.name = "a task, its joiner, a thief",
                                     .n_threads = 2,
                                     .begin = begin_long_2,
                                     .run = run_tasks,
                                     .resumed = resumed,
                                     .idle_is_right = nobody_is_left,
                                     .end_is_right = one_ran};
static const McScenario tasks_three = {.name = "two tasks and two thieves",
                                       .n_threads = 3,
                                       .begin = begin_long_3,
                                       .run = run_tasks,
                                       .resumed = resumed,
                                       .idle_is_right = nobody_is_left,
                                       .end_is_right = NULL,
                                       .ends_when_idle = true,
                                       .most_switches = 3};

/* ---- jobs ---------------------------------------------------------------------------------------------- */

/* Worker 0 sleeps for a task that worker 1 has taken; worker 1 starts a job, and then takes long. Worker 2 is
 * idle. */
static void run_joiner(int k) {
  Data *d = data();
  if (k == 0) {
    await(&d->w[0], &d->items[0].task);
    fl_job_wait(&d->s, &d->items[1].job, NULL);
    close_pool();
  } else if (k == 1) {
    fl_job_start(&d->s, &d->items[1].job);
    mc_long();
    fl_task_execute(&d->items[0].task);
  } else {
    fl_worker_loop(&d->w[2]);
  }
}
static const McScenario joiner = {.name = "a job beside a sleeping joiner",
                                  .n_threads = 3,
                                  .begin = begin_long_3,
                                  .run = run_joiner,
                                  .resumed = resumed,
                                  .idle_is_right = nobody_is_left,
                                  .end_is_right = two_ran};

/* A job and a task at once, both long, and two idle workers: one takes the job, one the task. */
static void run_both(int k) {
  Data *d = data();
  if (k) {
    fl_worker_loop(&d->w[k]);
    return;
  }
  fl_job_start(&d->s, &d->items[1].job);
  fl_task_spawn(&d->s, &d->items[0].task);
  mc_long();
  fl_task_join(&d->s, &d->items[0].task);
  fl_job_wait(&d->s, &d->items[1].job, NULL);
  close_pool();
}
static const McScenario both = {.name = "a job and a task at once",
                                .n_threads = 3,
                                .begin = begin_long_3,
                                .run = run_both,
                                .resumed = resumed,
                                .idle_is_right = nobody_is_left,
                                .end_is_right = NULL,
                                .ends_when_idle = true,
                                .most_switches = 3};

/* Worker 1 runs a stage for which worker 0 waits, and starts a job of that stage and one of another: worker 0
 * may take the former only. */
static void run_scopes(int k) {
  Data *d = data();
  if (k == 0) {
    d->waits_in[0] = &d->outer;
    fl_job_wait(&d->s, &d->items[0].job, &d->outer);
    fl_job_wait(&d->s, &d->items[1].job, &d->outer);
  } else {
    d->items[1].job.scope = &d->inner;
    fl_job_start(&d->s, &d->items[1].job);
    mc_long();
    run_job(&d->s, &d->items[0].job);
  }
}
static void begin_scopes(void) {
  begin_2();
  Data *d = data();
  d->inner.parent = &d->outer;
  d->items[1].takes_long = true;
  mc_set(&d->items[0].job.state, FL_JOB_RUNNING); /* worker 1 has begun it */
}
static const McScenario scopes = {.name = "jobs of a scope",
                                  .n_threads = 2,
                                  .begin = begin_scopes,
                                  .run = run_scopes,
                                  .resumed = resumed,
                                  .idle_is_right = nobody_is_left,
                                  .end_is_right = two_ran};

/* A condition that another thread makes true. */
static bool is_set(void *flag) {
  return atomic_load_explicit((_Atomic int *)flag, memory_order_seq_cst) != 0;
}
static void run_condition(int k) {
  Data *d = data();
  if (k == 0) {
    fl_sched_wait(&d->s, NULL, is_set, &d->flag);
  } else {
    atomic_store_explicit(&d->flag, 1, memory_order_seq_cst);
    fl_sched_signal(&d->s);
  }
}
static const McScenario condition = {.name = "a condition",
                                     .n_threads = 2,
                                     .begin = begin_2,
                                     .run = run_condition,
                                     .resumed = resumed,
                                     .idle_is_right = nobody_is_left,
                                     .end_is_right = none_ran};

/* A job that another worker runs and ends while one waits for it. */
static void run_wait(int k) {
  Data *d = data();
  if (k == 0) fl_job_wait(&d->s, &d->items[0].job, NULL);
  else run_job(&d->s, &d->items[0].job);
}
static void begin_wait(void) {
  begin_2();
  mc_set(&data()->items[0].job.state, FL_JOB_RUNNING);
}
static const McScenario wait_job = {.name = "the end of a job",
                                    .n_threads = 2,
                                    .begin = begin_wait,
                                    .run = run_wait,
                                    .resumed = resumed,
                                    .idle_is_right = nobody_is_left,
                                    .end_is_right = one_ran};

/* ---- what must hold, and what must be found ------------------------------------------------------------ */

static void holds(const McScenario *s) {
  const char *wrong = mc_check(s, NULL, in_short, true);
  check(!wrong, "%s: %s", s->name, wrong ? wrong : "");
  printf("%s: %zu states, %zu steps, %zu ends\n", s->name, mc.n_seen, mc.n_steps, mc.n_ends);
}

static void is_found(const McScenario *s, const char *variant, const McWeak *weak) {
  const char *wrong = mc_check(s, weak, true, false);
  check(wrong != NULL, "%s, %s: nothing wrong is found", s->name, variant);
  printf("%s, %s: %s, after %zu steps\n", s->name, variant, wrong ? wrong : "-", mc.n_steps);
}

int main(void) {
  const char *word = getenv("FLOW_TEST_SHORT");
  in_short = word && strcmp(word, "0") != 0;
  holds(&deque_race);
  holds(&deque_again);
  holds(&tasks_two);
  holds(&tasks_three);
  holds(&joiner);
  holds(&both);
  holds(&scopes);
  holds(&condition);
  holds(&wait_job);

  static const McWeak weak[] = {{"fl_deque_pop", "&d->bottom", MC_STORE, memory_order_release},
                                {"fl_deque_pop", "&d->top", MC_LOAD, memory_order_acquire},
                                {"fl_deque_steal", "&d->bottom", MC_LOAD, memory_order_acquire},
                                {"fl_deque_push", "&d->bottom", MC_STORE, memory_order_relaxed},
                                {"fl_job_is_done", "&job->state", MC_LOAD, memory_order_acquire},
                                {"is_set", "(_Atomic int *)flag", MC_LOAD, memory_order_acquire},
                                {"spawn", "&s->idle", MC_LOAD, memory_order_acquire},
                                {"fl_deque_push", "&d->bottom", MC_STORE, memory_order_release}};
  is_found(&deque_race, "pop stores bottom with release", &weak[0]);
  is_found(&deque_race, "pop loads top with acquire", &weak[1]);
  is_found(&deque_race, "steal loads bottom with acquire", &weak[2]);
  is_found(&deque_race, "push stores bottom relaxed", &weak[3]);
  is_found(&wait_job, "its state is loaded with acquire", &weak[4]);
  is_found(&condition, "it is loaded with acquire", &weak[5]);
  is_found(&tasks_two, "spawn loads idle with acquire", &weak[6]);
  is_found(&tasks_two, "push stores bottom with release", &weak[7]);
  joiner_is_idle = true;
  is_found(&joiner, "it counts as one who may run jobs", NULL);
  joiner_is_idle = false;
  nobody_hands_on = true;
  is_found(&both, "who takes the task does not hand on the job", NULL);
  return finish();
}
