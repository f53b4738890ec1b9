/* doctor_hosts.c: flowc doctor --hosts: what ranks need on other machines, and how to mend what is not so.
 *
 * In: names. Out: a line for each thing of each host, and whether ranks meet there, which is tried last, by a
 * script. What always holds: it ends: each question within 20 seconds, the ports within 60, the script
 * within 90.
 */
#include "cli/doctor.h"

#include "process/hosts.h"
#include "process/launch.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MEET_S = 90 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* false: ranks do not run without it. */
static bool say_check(FlDoctor *d, const FlHost *h, const FlHostCheck *c) {
  FlDoctorState state = c->well ? FL_DOCTOR_OK : c->needed ? FL_DOCTOR_WRONG : FL_DOCTOR_MISSING;
  fl_doctor_say(d, state, h->name, c->name, c->found, c->well ? "" : c->help);
  return c->well || !c->needed;
}

/* Whether some line is this one; others may be of what the shells of the hosts say when they start. */
static bool has_line(const char *said, const char *line) {
  size_t n = strlen(line);
  for (const char *at = said; at != NULL; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (!strncmp(at, line, n) && at[n] == '\n') return true;
  }
  return false;
}

/* What was said first, or that it was nothing. */
static const char *first_line(char *said) {
  said[strcspn(said, "\n")] = '\0';
  return *said ? said : "it says nothing";
}

static void check_meeting(FlDoctor *d, const char *hosts) {
  char self[PATH_MAX], said[FL_HOST_SAID], found[FL_HOST_SAID + 128];
  ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  self[n > 0 ? n : 0] = '\0';
  char *const words[] = {self,
                         (char *)(uintptr_t)"run",
                         (char *)(uintptr_t)"-c",
                         (char *)(uintptr_t)"print(1 + 1)",
                         (char *)(uintptr_t)"--quiet",
                         (char *)(uintptr_t)"--no-cache",
                         (char *)(uintptr_t)"--hosts",
                         (char *)(uintptr_t)hosts,
                         NULL};
  double begin = seconds();
  int status = fl_ask(words, NULL, MEET_S, said, sizeof said);
  if (status == 0 && has_line(said, "2")) {
    snprintf(found, sizeof found, "they met in %.2f s", seconds() - begin);
    fl_doctor_say(d, FL_DOCTOR_OK, NULL, "ranks", found, "");
    return;
  }
  if (status == -2) snprintf(found, sizeof found, "they have not met within %d seconds", MEET_S);
  else snprintf(found, sizeof found, "they do not start: %s", first_line(said));
  fl_doctor_say(d, FL_DOCTOR_WRONG, NULL, "ranks", found,
                "several networks? tell MPI which: OMPI_MCA_btl_tcp_if_include and "
                "OMPI_MCA_oob_tcp_if_include, as 10.0.0.0/24");
}

int fl_doctor_hosts(FlDoctor *d, const char *text) {
  char why[512], folder[PATH_MAX];
  FlHost *hosts, here = {.name = "this machine", .here = true};
  int n = fl_hosts_read(text, &hosts, why, sizeof why);
  if (n < 0) return fprintf(stderr, "flowc doctor: --hosts: %s; for example --hosts a,b\n", why), 2;
  if (!getcwd(folder, sizeof folder)) folder[0] = '\0';
  fl_hosts_ask(&here, 1, fl_launcher(), folder, "/proc/self/exe");
  fl_hosts_ask(hosts, n, fl_launcher(), folder, "/proc/self/exe");
  bool well = true;
  for (int k = 0; k < n; k++) {
    FlHostCheck checks[FL_HOST_CHECKS];
    int n_checks = fl_host_checks(&hosts[k], &here, folder, checks);
    for (int i = 0; i < n_checks; i++) well &= say_check(d, &hosts[k], &checks[i]);
  }
  FlHostCheck *ports = calloc((size_t)n, sizeof *ports);
  if (ports) fl_hosts_ports(hosts, n, &here, ports);
  for (int k = 0; ports && k < n; k++)
    if (hosts[k].status == 0) well &= say_check(d, &hosts[k], &ports[k]);
  if (well) check_meeting(d, text);
  else
    fl_doctor_say(d, FL_DOCTOR_MISSING, NULL, "ranks", "not tried, since they would not start",
                  "mend what stands above");
  free(ports);
  free(hosts);
  return 0;
}
