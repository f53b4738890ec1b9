/* host_ports.c: whether machines reach each other on the ports that MPI takes.
 *
 * In: hosts that have been asked. Out: a check of each. Nothing has to listen: a port at which nobody does
 * refuses at once, and one that a firewall hides is silent, or answers that it is not to be had. Each machine
 * tries all others and this one, which starts them.
 */
#include "process/hosts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRY_S = 4, ADDRESS = 64, LIST = 16384 };

/* $1: names and addresses, as in b=10.0.0.2, $2: a port, $3: seconds. */
static const char tries[] =
    "command -v bash >/dev/null && command -v timeout >/dev/null || exit 0\n"
    "for way in $1; do\n"
    "  said=$(timeout \"$3\" bash -c \"exec 3<>/dev/tcp/${way#*=}/$2\" 2>&1); status=$?\n"
    "  if [ $status = 124 ]; then echo \"flow-dropped ${way%%=*} ${way#*=}\"; continue; fi\n"
    "  case $said in\n"
    "    *refused*|\"\") ;;\n"
    "    *) echo \"flow-dropped ${way%%=*} ${way#*=}\" ;;\n"
    "  esac\n"
    "done\n";

typedef struct Look {
  const FlHost *host;
  char ways[LIST], port[16], seconds[16], said[FL_HOST_SAID];
  pthread_t thread;
  bool started;
} Look;

/* The k-th word, from 0, of what ssh says of its connection: from where, its port, to where, its port. */
static bool connection(const FlHost *h, int k, char out[ADDRESS]) {
  char text[256], *rest = text, *word = NULL;
  if (!fl_host_fact(h, "at", text, sizeof text)) return false;
  for (int i = 0; i <= k; i++) word = strtok_r(i ? NULL : text, " ", &rest);
  if (word) snprintf(out, ADDRESS, "%s", word);
  return word != NULL;
}

static void add_way(Look *l, const char *name, const char *address) {
  size_t n = strlen(l->ways);
  snprintf(l->ways + n, sizeof l->ways - n, "%s=%s ", name, address);
}

static void *look(void *arg) {
  Look *l = arg;
  double seconds = 10 + TRY_S * (double)(strlen(l->ways) / 4);
  fl_host_run(l->host, tries, (const char *const[]){l->ways, l->port, l->seconds}, NULL,
              seconds > 60 ? 60 : seconds, l->said, sizeof l->said);
  return NULL;
}

/* What the k-th looker has found silent; the last one is this machine. */
static void judge(const Look *looks, int n, int k, FlHostCheck *c) {
  const char *name = looks[k].host->name;
  *c = (FlHostCheck){.name = "ports", .well = true, .needed = true};
  snprintf(c->found, sizeof c->found, "it and the others reach each other");
  snprintf(
      c->help, sizeof c->help,
      "a firewall lets nothing through: open TCP ports 32768 to 60999 between the hosts, or a range that "
      "is told to MPI (docs/cluster.md)");
  for (int from = 0; from <= n && c->well; from++) {
    char who[FL_HOST_NAME];
    const char *at = strstr(looks[from].said, "flow-dropped ");
    for (; at && c->well; at = strstr(at + 1, "flow-dropped ")) {
      snprintf(who, sizeof who, "%.*s", (int)strcspn(at + 13, " "), at + 13);
      if (from != k && strcmp(who, name) != 0) continue;
      c->well = false;
      snprintf(c->found, sizeof c->found, "%.200s does not reach %.200s on port %s", looks[from].host->name,
               strcmp(who, "-") ? who : "this machine", looks[k].port);
    }
  }
  if (c->well) c->help[0] = '\0';
}

void fl_hosts_ports(const FlHost *hosts, int n, const FlHost *here, FlHostCheck *out) {
  Look *looks = calloc((size_t)n + 1, sizeof *looks);
  if (!looks) return;
  char address[ADDRESS];
  for (int k = 0; k <= n; k++) {
    Look *l = &looks[k];
    l->host = k < n ? &hosts[k] : here;
    snprintf(l->port, sizeof l->port, "%d", 40000 + (int)getpid() % 10000);
    snprintf(l->seconds, sizeof l->seconds, "%d", TRY_S);
    for (int i = 0; i < n; i++)
      if (i != k && !hosts[i].here && connection(&hosts[i], 2, address)) add_way(l, hosts[i].name, address);
    if (!l->host->here && connection(l->host, 0, address)) add_way(l, "-", address);
    l->started = l->host->status == 0 && pthread_create(&l->thread, NULL, look, l) == 0;
  }
  for (int k = 0; k <= n; k++)
    if (looks[k].started) pthread_join(looks[k].thread, NULL);
  for (int k = 0; k < n; k++) judge(looks, n, k, &out[k]);
  free(looks);
}
