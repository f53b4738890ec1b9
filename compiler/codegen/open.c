/* open.c: finding and loading libflow_llvm.so, and a name for this machine's processor.
 *
 * A run whose code is remembered never comes here: LLVM costs milliseconds and megabytes to load. */
#include "codegen/codegen.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the folder of the running program, without the last '/', into out. */
static bool program_folder(char *out, size_t size) {
  ssize_t n = readlink("/proc/self/exe", out, size - 1);
  if (n <= 0) return false;
  out[n] = 0;
  char *slash = strrchr(out, '/');
  if (!slash) return false;
  *slash = 0;
  return true;
}

bool fl_codegen_find(const char *file, char *out, size_t size) {
  /* Beside the program (a build folder), one and two up (its tests), and where `install` puts it. */
  static const char *const places[] = {"",       "/runtime",       "/..",         "/../runtime",
                                       "/../..", "/../../runtime", "/../lib/flow"};
  char folder[4096];
  if (!program_folder(folder, sizeof folder)) return false;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    int n = snprintf(out, size, "%s%s/%s", folder, places[i], file);
    if (n > 0 && (size_t)n < size && access(out, R_OK) == 0) return true;
  }
  return false;
}

/* Whether a limit of address space (ulimit -v) leaves room for the module and some more. Where memory ends
 * just behind loading it, the C library's loader ends the process on its own, at the first variable of a
 * thread. */
static bool has_room(const char *path) {
  enum { SOME = 8 << 20 };
  struct rlimit limit;
  struct stat module;
  unsigned long long pages = 0;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || stat(path, &module) != 0)
    return true;
  FILE *f = fopen("/proc/self/statm", "re");
  bool known = f && fscanf(f, "%llu", &pages) == 1;
  if (f) fclose(f);
  unsigned long long used = pages * (unsigned long long)sysconf(_SC_PAGESIZE);
  return !known || used + (unsigned long long)module.st_size + SOME <= limit.rlim_cur;
}

FlCodegenFn *fl_codegen_open(char **why) {
  char path[8192];
  *why = NULL;
  if (!fl_codegen_find("libflow_llvm.so", path, sizeof path)) {
    *why = strdup("libflow_llvm.so, the code generator, is not installed beside flowc or in ../lib/flow");
    return NULL;
  }
  if (!has_room(path)) {
    *why = strdup("cannot allocate memory for it");
    return NULL;
  }
  void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *entry = module ? dlsym(module, "fl_codegen_object") : NULL;
  if (!entry) *why = strdup(dlerror());
  FlCodegenFn *fn;
  memcpy(&fn, &entry, sizeof fn);
  return fn;
}

void fl_codegen_host_name(char *out, size_t size) {
  unsigned a, b, c, d, leaf1[4] = {0}, leaf7[4] = {0};
  if (__get_cpuid(1, &a, &b, &c, &d)) leaf1[0] = a, leaf1[2] = c, leaf1[3] = d;
  /* Without the bits that change while running: OSXSAVE says the same for all of a boot. */
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) leaf7[1] = b, leaf7[2] = c;
  (void)snprintf(out, size, "x86-64-%08x-%08x-%08x-%08x-%08x", leaf1[0], leaf1[2], leaf1[3], leaf7[1],
                 leaf7[2]);
}
