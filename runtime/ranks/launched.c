/* launched.c: whether a launcher of MPI has started this process as one of several. In: what it says in the
 * environment. What always holds: nothing of MPI is touched, so that a program that runs alone need not hold
 * what opens its library. */
#include "ranks/ranks.h"

#include <stdlib.h>

static int number(const char *text) { return text && *text ? atoi(text) : -1; }

bool fl_mpi_launched(FlMpiLaunch *l) {
  *l = (FlMpiLaunch){FL_MPI_OPEN, number(getenv("OMPI_COMM_WORLD_RANK")),
                     number(getenv("OMPI_COMM_WORLD_SIZE")), number(getenv("OMPI_COMM_WORLD_LOCAL_SIZE"))};
  if (l->rank >= 0 && l->size > 1) return true;
  *l = (FlMpiLaunch){FL_MPI_MPICH, number(getenv("PMI_RANK")), number(getenv("PMI_SIZE")),
                     number(getenv("MPI_LOCALNRANKS"))};
  return l->rank >= 0 && l->size > 1;
}

int fl_mpi_rank(void) {
  FlMpiLaunch l;
  return fl_mpi_launched(&l) ? l.rank : -1;
}

int fl_mpi_ranks_near(void) {
  FlMpiLaunch l;
  return fl_mpi_launched(&l) && l.near > 0 ? l.near : 1;
}
