/* hosts.h: other machines as ssh reaches them: what is there of what ranks need, in sentences. As launch.h,
 * only in programs that can open libraries. */
#ifndef FL_HOSTS_H
#define FL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

/* Runs words[0], looked for in PATH, with these words and NULL behind them, its input a file (NULL: nothing).
 * What it prints on either output is in `said`, of so many bytes, ended by a zero. Its exit status; 128 and a
 * signal; -1: it could not be started, and `said` says why; -2: it was killed after so many seconds. */
int fl_ask(char *const *words, const char *input, double seconds, char *said, size_t room);

enum { FL_HOSTS_MAX = 256, FL_HOST_NAME = 256, FL_HOST_SAID = 4096 };

typedef struct FlHost {
  char name[FL_HOST_NAME];
  int workers;      /* of its rank; 0: as many as it has processors */
  bool here;        /* it is this machine */
  int status;       /* of asking it */
  double clock_off; /* seconds by which its clock is ahead of this machine's, at least; */
  double took;      /* and what asking took, by which that may be more */
  char said[FL_HOST_SAID];
} FlHost;

/* Reads a:8,b. Their number, or -1: `why` says what is wrong. *out is to be freed. */
int fl_hosts_read(const char *text, FlHost **out, char *why, size_t room);
/* Runs a script of sh on a host, with three words, by ssh or, where it is this machine, at once. As fl_ask.
 */
int fl_host_run(const FlHost *host, const char *script, const char *const args[3], const char *input,
                double seconds, char *said, size_t room);
/* Asks all at the same time, within 20 seconds: which MPI `launcher` is there, and whether a folder and a
 * file are. */
void fl_hosts_ask(FlHost *hosts, int n, const char *launcher, const char *folder, const char *file);
/* A fact that the host has told, in out[room]; false: it has not. */
bool fl_host_fact(const FlHost *host, const char *name, char *out, size_t room);

/* Whether that is the fact `mpi` of an Open MPI; else of MPICH. */
bool fl_host_open_mpi(const char *version);

/* What is to be known of a host, beside this machine: whether it is well, and what to do where it is not. */
typedef struct FlHostCheck {
  const char *name;  /* ssh, MPI, processor, clock, folder; ports */
  bool well, needed; /* needed: ranks do not start there without it */
  char found[512], help[512];
} FlHostCheck;
enum { FL_HOST_CHECKS = 5 };
/* How many there are: one that does not answer has only the first. */
int fl_host_checks(const FlHost *host, const FlHost *here, const char *folder,
                   FlHostCheck out[FL_HOST_CHECKS]);
/* Whether hosts that have answered, and this machine, reach each other by TCP: a check of each in out[n]. */
void fl_hosts_ports(const FlHost *hosts, int n, const FlHost *here, FlHostCheck *out);
/* Whether the file that was asked for is the same there. */
bool fl_host_has_file(const FlHost *host, const FlHost *here);

#endif
