/* groups.c: limits of control groups, read from crafted trees of files: version 1, version 2, both at once,
 * nested groups, mounts that show a part of a hierarchy, names with spaces, and files that are missing or say
 * nothing. */
#include "check.h"
#include "base/groups.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t NONE = INT64_MAX;

typedef struct File {
  const char *path, *text;
} File;

typedef struct Case {
  const char *what;
  File files[12];
  int64_t memory, left;
  int cpus;
} Case;

#define CGROUP "proc/self/cgroup"
#define MOUNTS "proc/self/mountinfo"
#define V2 "30 20 0:25 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1                                                                                                   \
  "30 20 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"                                               \
  "31 30 0:26 / /sys/fs/cgroup/cpu,cpuacct rw shared:3 master:1 - cgroup cgroup rw,cpu,cpuacct\n"            \
  "32 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                                        \
  "33 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static const Case cases[] = {
    {"no /proc at all", {{0}}, NONE, NONE, INT32_MAX},
    {"no mounts", {{CGROUP, "0::/a\n"}, {"sys/fs/cgroup/a/memory.max", "5000\n"}}, NONE, NONE, INT32_MAX},
    {"version 2 without files", {{CGROUP, "0::/a\n"}, {MOUNTS, V2}}, NONE, NONE, INT32_MAX},
    {"version 2, max",
     {{CGROUP, "0::/a\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/a/memory.max", "max\n"},
      {"sys/fs/cgroup/a/cpu.max", "max 100000\n"}},
     NONE,
     NONE,
     INT32_MAX},
    {"version 2, the root's own folder",
     {{CGROUP, "0::/\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/memory.max", "5000\n"},
      {"sys/fs/cgroup/cpu.max", "150000 100000\n"}},
     5000,
     NONE,
     2},
    {"version 2, nested: the group above has the least",
     {{CGROUP, "0::/a/b/c\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/a/b/c/memory.max", "9000\n"},
      {"sys/fs/cgroup/a/b/memory.max", "max\n"},
      {"sys/fs/cgroup/a/memory.max", "4000\n"},
      {"sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "50000 100000\n"},
      {"sys/fs/cgroup/a/cpu.max", "max 100000\n"}},
     4000,
     NONE,
     1},
    {"version 2, nested: the group below has the least; memory.high counts",
     {{CGROUP, "0::/a/b\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/a/b/memory.max", "max\n"},
      {"sys/fs/cgroup/a/b/memory.high", "3000\n"},
      {"sys/fs/cgroup/a/memory.max", "4000\n"},
      {"sys/fs/cgroup/a/b/cpu.max", "210000 100000\n"}},
     3000,
     NONE,
     3},
    {"version 2, what is left: of the fullest group, unused pages of files being free",
     {{CGROUP, "0::/a/b\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/a/b/memory.max", "3000\n"},
      {"sys/fs/cgroup/a/b/memory.current", "1500\n"},
      {"sys/fs/cgroup/a/b/memory.stat",
       "anon 1000\nfile 500\nworkingset_inactive_file 7\ninactive_file 400\n"},
      {"sys/fs/cgroup/a/memory.max", "4000\n"},
      {"sys/fs/cgroup/a/memory.current", "3900\n"}},
     3000,
     100,
     INT32_MAX},
    {"more in use than the limit",
     {{CGROUP, "0::/\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/memory.max", "3000\n"},
      {"sys/fs/cgroup/memory.current", "3500\n"}},
     3000,
     0,
     INT32_MAX},
    {"version 1, nested",
     {{CGROUP, "12:memory:/a/b\n5:cpu,cpuacct:/x\n1:name=systemd:/init\n0::/a/b\n"},
      {MOUNTS, V1},
      {"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "7000\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/memory/a/memory.usage_in_bytes", "5000\n"},
      {"sys/fs/cgroup/memory/a/memory.stat", "cache 1\ninactive_file 9\ntotal_inactive_file 1000\n"}},
     7000,
     3000,
     3},
    {"version 1, no limits",
     {{CGROUP, "12:memory:/a\n5:cpu,cpuacct:/a\n"},
      {MOUNTS, V1},
      {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/memory/a/memory.stat", "hierarchical_memory_limit 9223372036854771712\n"},
      {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}},
     NONE,
     NONE,
     INT32_MAX},
    {"version 1, limits of groups above the mount",
     {{CGROUP, "12:memory:/docker/abc\n"},
      {MOUNTS, "32 30 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 6000\ncache 5\n"}},
     6000,
     NONE,
     INT32_MAX},
    {"both at once: each controller where it is",
     {{CGROUP, "12:memory:/a\n0::/a\n"},
      {MOUNTS, V1},
      {"sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8000\n"},
      {"sys/fs/cgroup/unified/a/memory.max", "7500\n"},
      {"sys/fs/cgroup/unified/a/cpu.max", "100000 100000\n"}},
     7500,
     NONE,
     1},
    {"a mount that shows a part of the hierarchy",
     {{CGROUP, "0::/docker/abc/inner\n"},
      {MOUNTS, "30 20 0:25 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
      {"sys/fs/cgroup/memory.max", "5000\n"},
      {"sys/fs/cgroup/inner/memory.max", "4500\n"},
      {"sys/fs/cgroup/docker/abc/memory.max", "1\n"}},
     4500,
     NONE,
     INT32_MAX},
    {"a group that is not below what is mounted stands for the mount",
     {{CGROUP, "0::/../other\n"},
      {MOUNTS, V2},
      {"sys/fs/cgroup/memory.max", "5000\n"},
      {"sys/fs/memory.max", "1\n"}},
     5000,
     NONE,
     INT32_MAX},
    {"the same with a name that begins alike",
     {{CGROUP, "0::/docker/abcd\n"},
      {MOUNTS, "30 20 0:25 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
      {"sys/fs/cgroup/memory.max", "5000\n"},
      {"sys/fs/cgroup/d/memory.max", "1\n"}},
     5000,
     NONE,
     INT32_MAX},
    {"a mount and a group with spaces and colons",
     {{CGROUP, "0::/a b:c\n"},
      {MOUNTS, "30 20 0:25 / /my\\040groups rw - cgroup2 cgroup2 rw\n"},
      {"my groups/a b:c/memory.max", "5000\n"}},
     5000,
     NONE,
     INT32_MAX},
    {"controllers are whole words",
     {{CGROUP, "3:cpuset:/a\n2:cpuacct:/a\n1:hugememory:/a\n"},
      {MOUNTS, "31 30 0:26 / /sys/fs/cgroup/x rw - cgroup cgroup rw,cpuset,cpuacct,hugememory\n"},
      {"sys/fs/cgroup/x/a/memory.limit_in_bytes", "1\n"},
      {"sys/fs/cgroup/x/a/cpu.cfs_quota_us", "1\n"}},
     NONE,
     NONE,
     INT32_MAX},
    {"files that say nothing",
     {{CGROUP, "no colon\n12:memory\n\n0::/a\n::\n"},
      {MOUNTS, "short\n - cgroup2\n" V2},
      {"sys/fs/cgroup/a/memory.max", "\n"},
      {"sys/fs/cgroup/a/memory.high", "soon\n"},
      {"sys/fs/cgroup/a/cpu.max", "0 0\n"},
      {"sys/fs/cgroup/memory.max", "99999999999999999999999\n"}},
     NONE,
     NONE,
     INT32_MAX},
    {"version 1, a quota without its period, and a small one",
     {{CGROUP, "5:cpu,cpuacct:/x/y\n"},
      {MOUNTS, V1},
      {"sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "200001\n"},
      {"sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us", "400000\n"},
      {"sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us", "50000\n"}},
     NONE,
     NONE,
     3},
};

static void write_file(const char *root, const File *file) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", root, file->path);
  for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
    *at = 0;
    mkdir(path, 0700);
  }
  FILE *f = fopen(path, "w");
  if (!f || fputs(file->text, f) < 0 || fclose(f)) abort();
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s, (void)kind, (void)at;
  return remove(path);
}

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const Case *c = &cases[k];
    char root[] = "/tmp/flow_groups_XXXXXX";
    if (!mkdtemp(root)) abort();
    for (size_t i = 0; i < sizeof c->files / sizeof *c->files && c->files[i].path; i++)
      write_file(root, &c->files[i]);
    FlGroupLimits found = fl_group_limits(root);
    check(found.memory == c->memory, "%s: memory %lld", c->what, (long long)found.memory);
    check(found.memory_left == c->left, "%s: left %lld", c->what, (long long)found.memory_left);
    check(found.cpus == c->cpus, "%s: cpus %d", c->what, found.cpus);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  }
  FlGroupLimits here = fl_group_limits("");
  CHECK(here.memory > 0 && here.memory_left >= 0 && here.cpus >= 1);
  return finish();
}
