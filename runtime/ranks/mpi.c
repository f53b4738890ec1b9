/* mpi.c: ranks as processes that a launcher of MPI has started: the engine that gets bytes from one machine
 * to another.
 *
 * In: the launcher's variables of the environment, and the library of the MPI that it belongs to, which is
 * opened when the program runs. Out: an engine. What always holds: without such a launcher nothing of MPI is
 * touched. Two families of libraries are known, by what their handles are: Open MPI's are addresses of
 * symbols, MPICH's (and those of its descendants) numbers of 32 bits. All is bytes, no status is read, and
 * one thread calls. */
#include "ranks/ranks.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef struct FlMpi {
  void *world, *byte, *ignore; /* the communicator of all, the type of a byte, a status that nobody wants */
  int here;
#define FL_MPI(name, parameters) int(*name) parameters;
#include "ranks/mpi.def"
#undef FL_MPI
} FlMpi;

typedef struct Family {
  const char *name, *libraries[3], *package;
} Family;

static const Family families[] = {
    [FL_MPI_OPEN] = {"Open MPI", {"libmpi.so.40", "libmpi.so"}, "libopenmpi3"},
    [FL_MPI_MPICH] = {"MPICH", {"libmpich.so.12", "libmpi.so.12"}, "libmpich12"},
};
enum { FUNNELED = 1, CHUNK = 64 << 20 };

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
  m->ignore = NULL;
  if (m->world && m->byte) return true;
  m->world = (void *)(uintptr_t)0x44000000; /* as the ABI of MPICH says */
  m->byte = (void *)(uintptr_t)0x4c00010d;
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

/* A processor is given to others, ever longer, while nothing comes: workers of this machine need it. */
static int wait_for(FlMpi *m, void *request) {
  enum { YIELDS = 200, LONGEST_US = 500 };
  int done = 0;
  for (int64_t round = 0, us = 10; !m->Test(&request, &done, m->ignore); round++) {
    if (done) return 0;
    if (round < YIELDS) {
      sched_yield();
      continue;
    }
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    if (us < LONGEST_US) us += us / 4 + 1;
  }
  return m->here + 1;
}

static int exchange(void *arg, FlRankSlot *slots) {
  FlMpi *m = arg;
  FlRankSlot mine = slots[m->here];
  void *request = NULL;
  if (m->Iallgather(&mine, FL_RANK_SLOT, m->byte, slots, FL_RANK_SLOT, m->byte, m->world, &request))
    return m->here + 1;
  return wait_for(m, request);
}

static int send_bytes(void *arg, int32_t from, void *bytes, int64_t n) {
  FlMpi *m = arg;
  int lost = 0;
  void *room =
      bytes ? NULL
            : mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return m->here + 1;
  for (int64_t at = 0; at < n && !lost; at += CHUNK) {
    void *request = NULL;
    int some = (int)(n - at < CHUNK ? n - at : CHUNK);
    lost = m->Ibcast(room ? room : (char *)bytes + at, some, m->byte, from, m->world, &request)
               ? m->here + 1
               : wait_for(m, request);
  }
  if (room) munmap(room, CHUNK);
  return lost;
}

static const FlRankEngine engine = {exchange, send_bytes, false};

/* Meets the others; the library must know as many as the launcher has started. */
static bool join(FlMpi *m, const Family *f, int launched, int *size, char why[FL_MPI_WHY]) {
  int given;
  if (m->Init_thread(NULL, NULL, FUNNELED, &given) == 0 && m->Comm_size(m->world, size) == 0 &&
      m->Comm_rank(m->world, &m->here) == 0 && *size == launched)
    return true;
  snprintf(why, FL_MPI_WHY, "%s started %d ranks, and its library knows of %d: are they of one version?",
           f->name, launched, *size);
  return false;
}

bool fl_mpi_start(FlRanks *out, char why[FL_MPI_WHY]) {
  FlMpiLaunch l;
  const Family *f = fl_mpi_launched(&l) ? &families[l.family] : NULL;
  void *library = f ? open_library(f, why) : NULL;
  FlMpi *m = library ? calloc(1, sizeof *m) : NULL;
  int size = 0;
  if (m && find_functions(m, library, why) && join(m, f, l.size, &size, why)) {
    if (fl_ranks_init(out, &engine, m, size, m->here)) return true;
    snprintf(why, FL_MPI_WHY, "out of memory");
  }
  free(m);
  return false;
}

void fl_mpi_end(FlRanks *r, int status) {
  FlMpi *m = r->arg;
  if (r->lost) m->Abort(m->world, status ? status : 1);
  else m->Finalize();
  fl_ranks_reset(r);
  free(m);
}
