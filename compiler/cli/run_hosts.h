/* run_hosts.h: flowc run --hosts: a script is made a binary, and that is run there. */
#ifndef FL_RUN_HOSTS_H
#define FL_RUN_HOSTS_H

#include "driver.h"

/* command_build.c: a binary that opens the MPI of the machine where it runs; 0, or the exit status after a
 * message. */
int fl_build_for_ranks(FlCompilation *c, const FlBuildOptions *options, const char *out);

/* Whether words of a script's command line name hosts. */
bool fl_run_names_hosts(int argc, char **argv);
/* Becomes the binary, which starts itself on the hosts; else the exit status, after a message. */
int fl_run_on_hosts(FlCompilation *c, const FlBuildOptions *options, int argc, char **argv);

#endif
