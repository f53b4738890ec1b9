/* mpi.c: ranks as processes that a launcher of MPI has started: the engine that gets bytes from one machine
 * to another.
 *
 * In: the launcher's variables of the environment, and the library of the MPI that it belongs to, which is
 * opened when the program runs. Out: an engine. What always holds: without such a launcher nothing of MPI is
 * touched. Two families of libraries are known, by what their handles are: Open MPI's are addresses of
 * symbols, MPICH's (and those of its descendants) numbers of 32 bits. All is bytes, no status is read, and
 * one thread calls. */
#include "ranks/mpi_internal.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct Family {
  const char *name, *libraries[3], *package;
} Family;

static const Family families[] = {
    [FL_MPI_OPEN] = {"Open MPI", {"libmpi.so.40", "libmpi.so"}, "libopenmpi3"},
    [FL_MPI_MPICH] = {"MPICH", {"libmpich.so.12", "libmpi.so.12"}, "libmpich12"},
};
enum { FUNNELED = 1, SERIALIZED = 2, CHUNK = 64 << 20, AT_ONCE = 16, TRADE = 20, BEHIND = 21 /* tags */ };

static bool find_functions(FlMpi *m, void *library, char why[FL_MPI_WHY]) {
  char symbol[64];
#define FL_MPI(name, parameters)                                                                             \
  snprintf(symbol, sizeof symbol, "MPI_" #name);                                                             \
  if (!(m->name = (int(*) parameters)dlsym(library, symbol)))                                                \
    return snprintf(why, FL_MPI_WHY, "the library of MPI has no function %s", symbol), false;
#include "ranks/mpi.def"
#undef FL_MPI
  m->world = dlsym(library, "ompi_mpi_comm_world");
  m->byte = dlsym(library, "ompi_mpi_byte");
  m->returns = dlsym(library, "ompi_mpi_errors_return");
  m->ignore = NULL;
  m->open = m->world && m->byte;
  if (m->open) return true;
  m->world = (void *)(uintptr_t)0x44000000; /* as the ABI of MPICH says */
  m->byte = (void *)(uintptr_t)0x4c00010d;
  m->returns = (void *)(uintptr_t)0x54000001;
  m->ignore = (void *)(uintptr_t)1;
  return true;
}

static void *open_library(const Family *f, char why[FL_MPI_WHY]) {
  void *library = NULL;
  for (int k = 0; f->libraries[k] && !library; k++) library = dlopen(f->libraries[k], RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    snprintf(why, FL_MPI_WHY,
             "%s started this program, and its library %s is not there (Debian: apt install %s)", f->name,
             f->libraries[0], f->package);
  return library;
}

/* ---- one thread at a time ------------------------------------------------------------------------------ */

void fl_mpi_lock(FlMpi *m) {
  pthread_mutex_lock(&m->calls);
  atomic_store(&m->caller, pthread_self());
}

bool fl_mpi_lock_until(FlMpi *m, const struct timespec *until) {
  if (pthread_mutex_clocklock(&m->calls, CLOCK_MONOTONIC, until)) return false;
  atomic_store(&m->caller, pthread_self());
  return true;
}

void fl_mpi_unlock(FlMpi *m) {
  atomic_store(&m->caller, 0);
  pthread_mutex_unlock(&m->calls);
}

bool fl_mpi_is_calling(const FlRanks *r) {
  const FlMpi *m = r->arg;
  return m && pthread_equal(atomic_load(&m->caller), pthread_self());
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A call of MPI has failed: the others cannot be reached. */
static int fail(FlMpi *m) {
  pthread_mutex_lock(&m->beats.lock);
  fl_beats_lose(m, -1, "cannot be reached by MPI");
  pthread_mutex_unlock(&m->beats.lock);
  return atomic_load(&m->lost);
}

static int begun(FlMpi *m, int failed) {
  fl_mpi_unlock(m);
  return failed ? fail(m) : 0;
}

/* A processor is given to others, ever longer, while nothing comes: workers of this machine need it. But MPI
 * moves bytes only when it is asked, some at a time, so that it is asked as long as so many may take; but
 * behind the program (`awaited`; else NULL), which has the processor, now and then, unless that waits. */
static int wait_for(FlMpi *m, void *request, int64_t bytes, const _Atomic bool *awaited) {
  enum { YIELDS = 200, LONGEST_US = 500, BYTE_NS = 4, BEHIND_US = 100 };
  int64_t until = bytes > 0 ? now_ns() + bytes * BYTE_NS : 0;
  for (int64_t round = 0, us = 10;; round++) {
    int done = 0, lost = atomic_load_explicit(&m->lost, memory_order_relaxed);
    if (lost) return lost;
    fl_mpi_lock(m);
    int failed = m->Test(&request, &done, m->ignore);
    fl_mpi_unlock(m);
    if (failed) return fail(m);
    if (done) return 0;
    if (awaited && !atomic_load_explicit(awaited, memory_order_relaxed)) {
      nanosleep(&(struct timespec){.tv_nsec = BEHIND_US * 1000}, NULL);
      continue;
    }
    if (round < YIELDS || (until && now_ns() < until)) {
      sched_yield();
      continue;
    }
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    if (us < LONGEST_US) us += us / 4 + 1;
  }
}

/* `n` bytes of each rank, to all. */
static int gather(FlMpi *m, const void *mine, void *all, int n) {
  void *request = NULL;
  fl_mpi_lock(m);
  int lost = begun(m, m->Iallgather(mine, n, m->byte, all, n, m->byte, m->world, &request));
  return lost ? lost : wait_for(m, request, 0, NULL);
}

static int exchange(void *arg, FlRankSlot *slots) {
  FlMpi *m = arg;
  FlRankSlot mine = slots[m->here];
  int lost = atomic_load(&m->lost);
  return lost ? lost : gather(m, &mine, slots, FL_RANK_SLOT);
}

static int send_bytes(void *arg, int32_t from, void *bytes, int64_t n) {
  FlMpi *m = arg;
  int lost = 0;
  void *room =
      bytes ? NULL
            : mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return fail(m);
  for (int64_t at = 0; at < n && !lost; at += CHUNK) {
    void *request = NULL;
    int some = (int)(n - at < CHUNK ? n - at : CHUNK);
    fl_mpi_lock(m);
    lost = begun(m, m->Ibcast(room ? room : (char *)bytes + at, some, m->byte, from, m->world, &request));
    if (!lost) lost = wait_for(m, request, some, NULL);
  }
  if (room) munmap(room, CHUNK);
  return lost;
}

static int64_t chunk_at(int64_t bytes, int64_t at) { return bytes - at < CHUNK ? bytes - at : CHUNK; }

/* With the rank `away` behind this one, and with that as far before it: n trades at once. */
static int trade_with(FlMpi *m, const FlRankTrade *with, int32_t n, int away, const _Atomic bool *awaited) {
  int to = (m->here + away) % m->size, from = (m->here - away + m->size) % m->size, lost = 0;
  int tag = awaited ? BEHIND : TRADE;
  int64_t most = 0;
  for (int32_t i = 0; i < n; i++) {
    const FlRankTrade *all = with + i * m->size;
    if (all[to].gives > most) most = all[to].gives;
    if (all[from].takes > most) most = all[from].takes;
  }
  for (int64_t at = 0; at < most && !lost; at += CHUNK) {
    void *requests[2 * AT_ONCE] = {NULL};
    int64_t bytes[2 * AT_ONCE];
    int some = 0, failed = 0;
    fl_mpi_lock(m);
    for (int32_t i = 0; i < n && !failed; i++) {
      const FlRankTrade *t = &with[i * m->size + from];
      int64_t in = bytes[some] = chunk_at(t->takes, at);
      if (in > 0)
        failed = m->Irecv((char *)t->in + at, (int)in, m->byte, from, tag, m->world, &requests[some++]);
    }
    for (int32_t i = 0; i < n && !failed; i++) {
      const FlRankTrade *t = &with[i * m->size + to];
      int64_t out = bytes[some] = chunk_at(t->gives, at);
      if (out > 0)
        failed = m->Isend((const char *)t->out + at, (int)out, m->byte, to, tag, m->world, &requests[some++]);
    }
    lost = begun(m, failed);
    for (int i = 0; i < some && !lost; i++) lost = wait_for(m, requests[i], bytes[i], awaited);
  }
  return lost;
}

static int trade_by(FlMpi *m, const FlRankTrade *with, int32_t n, const _Atomic bool *awaited) {
  int lost = 0;
  for (int32_t i = 0; i < n; i += AT_ONCE)
    for (int away = 1; away < m->size && !lost; away++)
      lost = trade_with(m, with + i * m->size, n - i < AT_ONCE ? n - i : AT_ONCE, away, awaited);
  return lost;
}

static int trade(void *arg, const FlRankTrade *with, int32_t n) { return trade_by(arg, with, n, NULL); }
static int trade_behind(void *arg, const FlRankTrade *with, const _Atomic bool *awaited) {
  return trade_by(arg, with, 1, awaited);
}

static const FlRankEngine engine = {exchange, send_bytes, trade, trade_behind, true, false};

/* ---- the beginning and the end ------------------------------------------------------------------------- */

/* The ranks say who they are. */
static bool introduce(FlMpi *m) {
  FlPeer mine = {.pid = getpid(), .machine = fl_ranks_machine()};
  gethostname(mine.host, sizeof mine.host - 1);
  m->peers = calloc((size_t)m->size, sizeof *m->peers);
  return m->peers && !gather(m, &mine, m->peers, sizeof mine);
}

/* Meets the others; the library must know as many as the launcher has started. */
static bool join(FlMpi *m, const Family *f, int launched, char why[FL_MPI_WHY]) {
  int given = 0;
  bool ok = m->Init_thread(NULL, NULL, SERIALIZED, &given) == 0 && m->Comm_size(m->world, &m->size) == 0 &&
            m->Comm_rank(m->world, &m->here) == 0;
  if (!ok || m->size != launched) {
    snprintf(why, FL_MPI_WHY, "%s started %d ranks, and its library knows of %d: are they of one version?",
             f->name, launched, m->size);
    return false;
  }
  m->threads = given >= SERIALIZED;
  if (m->returns) m->Comm_set_errhandler(m->world, m->returns);
  if (introduce(m) && fl_beats_met(m)) return true;
  snprintf(why, FL_MPI_WHY, "the ranks that %s started cannot reach each other", f->name);
  return false;
}

bool fl_mpi_start(FlRanks *out, const FlRankNews *news, char why[FL_MPI_WHY]) {
  FlMpiLaunch l;
  const Family *f = fl_mpi_launched(&l) ? &families[l.family] : NULL;
  void *library = f ? open_library(f, why) : NULL;
  FlMpi *m = library ? calloc(1, sizeof *m) : NULL;
  if (!library) return false;
  bool found = m && find_functions(m, library, why);
  if (m) pthread_mutex_init(&m->calls, NULL);
  bool watched = found && fl_beats_start(m, news);
  if (!m || (found && !watched)) snprintf(why, FL_MPI_WHY, "out of memory");
  if (watched && join(m, f, l.size, why)) {
    if (fl_ranks_init(out, &engine, m, m->size, m->here)) return true;
    snprintf(why, FL_MPI_WHY, "out of memory");
  }
  if (watched) fl_beats_stop(m);
  if (m) free(m->peers);
  free(m);
  return false;
}

bool fl_mpi_end(FlRanks *r, bool hurries) {
  FlMpi *m = r->arg;
  if (!atomic_load(&m->lost)) fl_beats_leave(m);
  bool left = !atomic_load(&m->lost);
  if (left && !(hurries && m->open)) m->Finalize();
  fl_beats_stop(m);
  pthread_mutex_destroy(&m->calls);
  fl_ranks_reset(r);
  free(m->peers);
  free(m);
  return left;
}
