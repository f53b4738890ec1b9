/* command_doctor.c: flowc doctor: what of flow works here, and how to mend what does not.
 *
 * In: this machine. Out: a line for each thing that scripts need, found by using it as they would: a script
 * is compiled, linked and run, libraries are opened, two ranks meet; with --hosts what ranks need on other
 * machines (doctor_hosts.c). What always holds: nothing stays behind,
 * nothing is changed. */
#include "cli/commands.h"
#include "cli/doctor.h"
#include "driver.h"

#include "base/groups.h"
#include "base/machine.h"
#include "base/spawn.h"
#include "cli/words.h"
#include "data/spill.h"
#include "exec/exec.h"
#include "flow/version.h"
#include "io/engines.h"
#include "sched/sched.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

static const char *const state_names[FL_DOCTOR_STATES] = {"ok", "missing", "wrong"};

/* ---- what is said -------------------------------------------------------------------------------------- */

static void say(FlDoctor *d, FlDoctorState state, const char *name, const char *found, const char *help) {
  fl_doctor_say(d, state, NULL, name, found, help);
}

void fl_doctor_say(FlDoctor *d, FlDoctorState state, const char *host, const char *name, const char *found,
                   const char *help) {
  d->of[state]++;
  if (d->checks) {
    json_t *check = json_pack("{s:s, s:s, s:s, s:s}", "name", name, "state", state_names[state], "found",
                              found, "help", help);
    if (check && host) json_object_set_new(check, "host", json_string(host));
    json_array_append_new(d->checks, check);
    return;
  }
  if (host) printf("%-8s %s: %s: %s\n", state_names[state], host, name, found);
  else printf("%-8s %-11s %s\n", state_names[state], name, found);
  if (*help) printf("%20s help: %s\n", "", help);
  fflush(stdout);
}

static void sayf(FlDoctor *d, FlDoctorState state, const char *name, const char *help, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));
static void sayf(FlDoctor *d, FlDoctorState state, const char *name, const char *help, const char *format,
                 ...) {
  char *found = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&found, format, args) < 0) found = NULL;
  va_end(args);
  say(d, state, name, found ? found : "out of memory", help);
  free(found);
}

static double gib(int64_t bytes) { return (double)bytes / (1 << 30); }

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The first line of what a program said. */
static const char *first_line(FlText1 *said) {
  if (said->len) said->s[strcspn(said->s, "\n")] = '\0';
  return said->len ? said->s : "it says nothing";
}

/* ---- the machine --------------------------------------------------------------------------------------- */

static void check_machine(FlDoctor *d) {
  FlGroupLimits group = fl_group_limits("");
  int cpus = fl_sched_cpus();
  sayf(d, FL_DOCTOR_OK, "processor", "", "x86-64-v%d; %d worker%s unless --workers says otherwise%s",
       (int)fl_cpu_level(), cpus, cpus == 1 ? "" : "s",
       group.cpus <= cpus ? ", the quota of a control group" : "");
  int64_t all = fl_machine_memory(), free_bytes = fl_machine_available();
  sayf(d, FL_DOCTOR_OK, "memory", "", "%.1f GiB%s, of which %.1f GiB are free", gib(all),
       group.memory == all ? ", the limit of a control group" : "", gib(free_bytes < all ? free_bytes : all));
  int fd = fl_spill_open();
  if (fd < 0) {
    say(d, FL_DOCTOR_MISSING, "disk",
        "no folder for what does not fit into memory: TMPDIR, /var/tmp and /tmp cannot be written",
        "name one: export TMPDIR=/path/on/a/disk");
    return;
  }
  sayf(d, FL_DOCTOR_OK, "disk", "", "%.1f GiB for what does not fit into memory", gib(fl_spill_room(fd)));
  close(fd);
}

/* Whether something can be made in a folder. */
static bool takes_files(const char *folder) {
  char path[PATH_MAX + 32];
  snprintf(path, sizeof path, "%s/.flow-doctor-XXXXXX", folder);
  return mkdtemp(path) && rmdir(path) == 0;
}

/* The store, or the first folder above it that is there and in which it can be made. */
static void check_store(FlDoctor *d) {
  char dir[PATH_MAX], above[PATH_MAX];
  struct statvfs fs;
  if (!fl_cache_dir("./", dir, sizeof dir)) {
    say(d, FL_DOCTOR_MISSING, "store", "results are not remembered: neither FLOW_CACHE nor HOME is set",
        "export FLOW_CACHE=/a/folder");
    return;
  }
  snprintf(above, sizeof above, "%s", dir);
  for (char *slash; access(above, F_OK) != 0 && (slash = strrchr(above, '/')) != NULL;)
    *(slash == above ? slash + 1 : slash) = '\0';
  if (access(above, F_OK) != 0) snprintf(above, sizeof above, ".");
  if (!takes_files(above))
    sayf(d, FL_DOCTOR_MISSING, "store", "name one that can be written: export FLOW_CACHE=/a/folder",
         "results are not remembered: `%s`: %s", dir, strerror(errno));
  else if (statvfs(above, &fs) == 0)
    sayf(d, FL_DOCTOR_OK, "store", "",
         "results of this folder's scripts are remembered in %s; %.1f GiB are free there", dir,
         gib((int64_t)fs.f_bavail * (int64_t)fs.f_frsize));
}

/* ---- programs ------------------------------------------------------------------------------------------ */

/* A folder with a script that prints 2, and the flowc that runs. */
typedef struct Trial {
  char self[PATH_MAX], folder[PATH_MAX], script[PATH_MAX + 16], binary[PATH_MAX + 16];
} Trial;

static bool make_folder(Trial *t) {
  const char *const folders[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    if (!folders[k] || !*folders[k]) continue;
    snprintf(t->folder, sizeof t->folder, "%s/flow-doctor-XXXXXX", folders[k]);
    if (mkdtemp(t->folder)) return true;
  }
  return false;
}

static bool trial_begin(Trial *t) {
  ssize_t n = readlink("/proc/self/exe", t->self, sizeof t->self - 1);
  if (n <= 0 || !make_folder(t)) return false;
  t->self[n] = '\0';
  snprintf(t->script, sizeof t->script, "%s/two.flow", t->folder);
  snprintf(t->binary, sizeof t->binary, "%s/two", t->folder);
  FILE *f = fopen(t->script, "we");
  return f && fputs("print(sum([for i in 0..2: i + 0.5]))\n", f) >= 0 && fclose(f) == 0;
}

static void trial_end(const Trial *t) {
  unlink(t->binary);
  unlink(t->script);
  rmdir(t->folder);
}

/* Whether the words run and print 2.0, or are to be silent; else `said` begins with what went wrong. */
static bool works(char *const *words, bool silent, FlText1 *said) {
  int status = fl_spawn(words, NULL, said);
  return status == 0 && (silent || strstr(said->len ? said->s : "", "2.0\n") != NULL);
}

static void check_compiling(FlDoctor *d, Trial *t) {
  FlText1 said = {0};
  double begin = seconds();
  char *const run[] = {t->self, "run", "-O0", "--quiet", "--no-cache", t->script, NULL};
  if (works(run, false, &said))
    sayf(d, FL_DOCTOR_OK, "flowc run", "", "a script was compiled and run in %.2f s", seconds() - begin);
  else
    say(d, FL_DOCTOR_WRONG, "flowc run", first_line(&said),
        "build flow again: ./build.sh; or install it with its folder lib/flow");
  fl_text_reset(&said);
  begin = seconds();
  char *const build[] = {t->self, "build", t->script, "-o", t->binary, NULL};
  char *const binary[] = {t->binary, "--quiet", "--no-cache", NULL};
  if (works(build, true, &said) && works(binary, false, &said))
    sayf(d, FL_DOCTOR_OK, "flowc build", "", "a binary was made and run in %.2f s", seconds() - begin);
  else
    say(d, FL_DOCTOR_WRONG, "flowc build", first_line(&said),
        "install a linker and the C library's files: ./build.sh deps, or apt install lld-19 libc6-dev");
  fl_text_reset(&said);
}

static void check_ranks(FlDoctor *d, Trial *t) {
  static const char help[] = "install an MPI: ./build.sh deps --mpi, or on Debian apt install openmpi-bin";
  const char *named = getenv("FLOW_MPIRUN");
  char *launcher = strdup(named && *named ? named : "mpirun");
  FlText1 version = {0}, said = {0};
  char *const ask[] = {launcher, "--version", NULL};
  char *const run[] = {t->self, "run", "--ranks", "2", "--quiet", "--no-cache", t->script, NULL};
  double begin;
  if (!launcher || fl_spawn(ask, NULL, &version) != 0) {
    sayf(d, FL_DOCTOR_MISSING, "ranks", help, "no program starts ranks: %s", first_line(&version));
  } else if (begin = seconds(), works(run, false, &said)) {
    sayf(d, FL_DOCTOR_OK, "ranks", "", "two ranks met in %.2f s: %s", seconds() - begin,
         first_line(&version));
  } else {
    const char *which = first_line(&version), *why = first_line(&said);
    sayf(d, FL_DOCTOR_MISSING, "ranks", help, "%s starts no ranks: %s", which, why);
  }
  fl_text_reset(&version);
  fl_text_reset(&said);
  free(launcher);
}

static void check_programs(FlDoctor *d) {
  Trial t = {0};
  setenv("FLOW_CODE_CACHE", "", 1); /* of those that are started from here */
  if (trial_begin(&t)) {
    check_compiling(d, &t);
    check_ranks(d, &t);
  } else {
    sayf(d, FL_DOCTOR_WRONG, "flowc run", "name a folder that can be written: export TMPDIR=/a/folder",
         "no script can be tried: TMPDIR, /tmp and /var/tmp: %s", strerror(errno));
  }
  trial_end(&t);
}

static void check_engines(FlDoctor *d) {
  FlIoEngine engines[FL_IO_ENGINES];
  fl_io_engines(engines);
  for (int k = 0; k < FL_IO_ENGINES; k++) {
    const FlIoEngine *e = &engines[k];
    if (e->there) say(d, FL_DOCTOR_OK, e->name, e->gives, "");
    else sayf(d, FL_DOCTOR_MISSING, e->name, e->why.help, "%s: %s", e->gives, e->why.message);
  }
}

/* ---- the command --------------------------------------------------------------------------------------- */

int fl_command_doctor(int n_words, char **words) {
  FlWords w;
  int status = fl_words_read(FL_COMMAND_DOCTOR, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  FlDoctor d = {.checks = w.flags[FL_FLAG_JSON] ? json_array() : NULL};
  if (!d.checks) printf("flow %s\n", FL_FLOW_VERSION);
  fflush(stdout);
  const char *hosts = w.flags[FL_FLAG_HOSTS];
  if (hosts) {
    status = fl_doctor_hosts(&d, hosts);
    if (status) return json_decref(d.checks), status;
  } else {
    check_machine(&d);
    check_store(&d);
    check_programs(&d);
    check_engines(&d);
  }
  if (d.checks) {
    json_t *all = json_pack("{s:s, s:b, s:o}", "flow", FL_FLOW_VERSION, "well", d.of[FL_DOCTOR_WRONG] == 0,
                            "checks", d.checks);
    json_dumpf(all, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(all);
  } else if (hosts) {
    printf(d.of[FL_DOCTOR_WRONG] ? "%d of these ranks need: see its help\n" : "ranks run on these hosts\n",
           d.of[FL_DOCTOR_WRONG]);
  } else if (d.of[FL_DOCTOR_WRONG]) {
    printf("%d of these every script needs: see its help\n", d.of[FL_DOCTOR_WRONG]);
  } else if (d.of[FL_DOCTOR_MISSING]) {
    printf("all that every script needs is here; what is missing only those need that use it\n");
  } else {
    printf("all is here\n");
  }
  return d.of[FL_DOCTOR_WRONG] ? 1 : 0;
}
