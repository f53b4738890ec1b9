/* launched.c: whether a launcher of MPI has started this process as one of several. In: what it says in the
 * environment. What always holds: nothing of MPI is touched, so that a program that runs alone need not hold
 * what opens its library. */
#include "ranks/ranks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int number(const char *text) { return text && *text ? atoi(text) : -1; }

/* One process that a launcher has started is alone, unless it is our own, which wants to be told. */
static bool is_rank(const FlMpiLaunch *l) {
  return l->rank >= 0 && (l->size > 1 || (l->size == 1 && getenv("FLOW_RANKS_STATUS")));
}

bool fl_mpi_launched(FlMpiLaunch *l) {
  *l = (FlMpiLaunch){FL_MPI_OPEN, number(getenv("OMPI_COMM_WORLD_RANK")),
                     number(getenv("OMPI_COMM_WORLD_SIZE")), number(getenv("OMPI_COMM_WORLD_LOCAL_SIZE"))};
  if (is_rank(l)) return true;
  *l = (FlMpiLaunch){FL_MPI_MPICH, number(getenv("PMI_RANK")), number(getenv("PMI_SIZE")),
                     number(getenv("MPI_LOCALNRANKS"))};
  return is_rank(l);
}

int fl_mpi_rank(void) {
  FlMpiLaunch l;
  return fl_mpi_launched(&l) ? l.rank : -1;
}

int fl_mpi_ranks_near(void) {
  FlMpiLaunch l;
  return fl_mpi_launched(&l) && l.near > 0 ? l.near : 1;
}

uint64_t fl_ranks_machine(void) {
  char text[256] = "";
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, text, 64);
  if (fd >= 0) close(fd);
  if (n < 0) n = 0;
  ssize_t more = readlink("/proc/self/ns/pid", text + n, sizeof text - (size_t)n);
  uint64_t hash = 14695981039346656037u; /* FNV-1a, of 64 bits */
  for (ssize_t k = 0; k < n + (more > 0 ? more : 0); k++)
    hash = (hash ^ (unsigned char)text[k]) * 1099511628211u;
  return hash;
}
