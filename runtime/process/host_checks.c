/* host_checks.c: what was told of a host, beside this machine, as sentences: what is there, and what to do
 * about what is not. */
#include "process/hosts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FACT = 256 };

static void add(FlHostCheck *c, const char *name, bool needed) {
  *c = (FlHostCheck){.name = name, .needed = needed, .well = true};
}

/* The last line that is no fact: programs end with what is wrong. */
static void last_words(const FlHost *h, char *out, size_t room) {
  snprintf(out, room, "it says nothing");
  for (const char *at = h->said; *at; at += *at == '\n') {
    size_t len = strcspn(at, "\r\n");
    if (len && strncmp(at, "flow-", 5) != 0) snprintf(out, room, "%.*s", (int)len, at);
    at += strcspn(at, "\n");
  }
}

static const char *const ssh_helps[][2] = {
    {"Permission denied", "let it in without a password: ssh-copy-id %s"},
    {"Host key verification failed",
     "its key is not known, or has changed: ssh %s once by hand, and look at what it says"},
    {"Could not resolve",
     "is the name right? Names of hosts stand in DNS, in /etc/hosts or in ~/.ssh/config: ssh %s"},
    {"Connection refused", "no ssh server listens there: on Debian apt install openssh-server; then ssh %s"},
    {"timed out", "is it on, and does a firewall let port 22 through? ssh %s"},
    {"No route to host", "is it on, and in this network? ssh %s"},
    {"Network is unreachable", "is it on, and in this network? ssh %s"},
    {"No such file or directory", "install ssh: on Debian apt install openssh-client; then ssh %s"},
};

static void check_ssh(FlHostCheck *c, const FlHost *h) {
  char words[FACT], cpus[FACT] = "?";
  add(c, "ssh", true);
  fl_host_fact(h, "cpus", cpus, sizeof cpus);
  if (h->status == 0) {
    snprintf(c->found, sizeof c->found, "%s in %.2f s; %s processor%s",
             h->here ? "this machine answers" : "it answers", h->took, cpus,
             strcmp(cpus, "1") == 0 ? "" : "s");
    return;
  }
  c->well = false;
  last_words(h, words, sizeof words);
  if (h->status == -2)
    snprintf(c->found, sizeof c->found, "it has not answered within %.0f seconds", h->took);
  else snprintf(c->found, sizeof c->found, "it cannot be reached: %s", words);
  snprintf(c->help, sizeof c->help, "try it by hand: ssh %s true", h->name);
  for (size_t k = 0; k < sizeof ssh_helps / sizeof *ssh_helps; k++)
    if (strstr(h->said, ssh_helps[k][0])) {
      size_t n = strcspn(ssh_helps[k][1], "%");
      snprintf(c->help, sizeof c->help, "%.*s%s%s", (int)n, ssh_helps[k][1], h->name,
               ssh_helps[k][1] + n + 2);
      return;
    }
}

/* "mpirun (Open MPI) 4.1.4", "mpirun.openmpi (OpenRTE) 4.1.4", "Version: 4.0.2". */
bool fl_host_open_mpi(const char *version) {
  return strstr(version, "Open MPI") || strstr(version, "OpenRTE");
}

static void check_mpi(FlHostCheck *c, const FlHost *h, const FlHost *here) {
  char its[FACT] = "", ours[FACT] = "";
  add(c, "MPI", true);
  bool there = fl_host_fact(h, "mpi", its, sizeof its), known = fl_host_fact(here, "mpi", ours, sizeof ours);
  const char *package = known && !fl_host_open_mpi(ours) ? "mpich" : "openmpi-bin";
  c->well = there && known && !strcmp(its, ours);
  if (c->well) {
    snprintf(c->found, sizeof c->found, "%s%s", fl_host_open_mpi(its) ? "" : "MPICH: ", its);
  } else if (!there) {
    snprintf(c->found, sizeof c->found, "no MPI is there: the program that starts ranks is not found");
    snprintf(c->help, sizeof c->help, "install it on %s: on Debian apt install %s", h->name, package);
  } else if (!known) {
    snprintf(c->found, sizeof c->found, "it has an MPI (%s), and this machine has none", its);
    snprintf(c->help, sizeof c->help, "install the same one here: on Debian apt install %s",
             fl_host_open_mpi(its) ? "openmpi-bin" : "mpich");
  } else if (fl_host_open_mpi(its) != fl_host_open_mpi(ours)) {
    snprintf(c->found, sizeof c->found, "it has another MPI than this machine: %s, and here %s", its, ours);
    snprintf(c->help, sizeof c->help,
             "install the same one on both; FLOW_MPIRUN names one of several, as mpirun.openmpi");
  } else {
    snprintf(c->found, sizeof c->found, "it has another version of MPI than this machine: %s, and here %s",
             its, ours);
    snprintf(c->help, sizeof c->help, "install the same version on both");
  }
}

static void check_processor(FlHostCheck *c, const FlHost *h, const FlHost *here) {
  char its[FACT] = "", ours[FACT] = "", flags[FACT] = "", our_flags[FACT] = "";
  add(c, "processor", true);
  fl_host_fact(h, "processor", its, sizeof its);
  fl_host_fact(here, "processor", ours, sizeof ours);
  fl_host_fact(h, "flags", flags, sizeof flags);
  fl_host_fact(here, "flags", our_flags, sizeof our_flags);
  c->well = !strcmp(its, ours) && !strcmp(flags, our_flags);
  if (c->well) {
    snprintf(c->found, sizeof c->found, "of the same kind as here:%s", its);
    return;
  }
  snprintf(c->found, sizeof c->found, "of another kind than here:%s, and here%s", its, ours);
  snprintf(c->help, sizeof c->help,
           "products of matrices would have other bits there: take machines of one kind");
}

static void check_clock(FlHostCheck *c, const FlHost *h) {
  double off = fabs(h->clock_off);
  add(c, "clock", false);
  c->well = off < 1;
  if (c->well) {
    snprintf(c->found, sizeof c->found, "as here, to within %.1f s", h->took + off);
    return;
  }
  snprintf(c->found, sizeof c->found, "%.0f seconds %s this machine's", off,
           h->clock_off > 0 ? "ahead of" : "behind");
  snprintf(c->help, sizeof c->help,
           "times of files and of remembered results would mislead: set it, on Debian apt install "
           "systemd-timesyncd");
}

static void check_folder(FlHostCheck *c, const FlHost *h, const FlHost *here, const char *folder) {
  char its[FACT], ours[FACT];
  add(c, "folder", false);
  bool there = fl_host_fact(h, "folder", its, sizeof its);
  c->well = there && fl_host_fact(here, "folder", ours, sizeof ours) && !strcmp(its, ours);
  if (c->well) {
    snprintf(c->found, sizeof c->found, "%.400s is there, with the same files", folder);
    return;
  }
  snprintf(c->found, sizeof c->found, "%.400s is %s", folder,
           there ? "there, with other files than here"
                 : "not there: ranks would not find files by their names");
  snprintf(c->help, sizeof c->help,
           "work in a folder that all hosts see under one path, as on NFS; or make it there, and copy what "
           "scripts read");
}

int fl_host_checks(const FlHost *h, const FlHost *here, const char *folder, FlHostCheck out[FL_HOST_CHECKS]) {
  check_ssh(&out[0], h);
  if (h->status != 0) return 1;
  check_mpi(&out[1], h, here);
  check_processor(&out[2], h, here);
  check_clock(&out[3], h);
  check_folder(&out[4], h, here, folder);
  return FL_HOST_CHECKS;
}

bool fl_host_has_file(const FlHost *h, const FlHost *here) {
  char its[FACT], ours[FACT];
  return fl_host_fact(h, "file", its, sizeof its) && fl_host_fact(here, "file", ours, sizeof ours) &&
         !strcmp(its, ours);
}
