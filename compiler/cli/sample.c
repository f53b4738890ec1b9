/* sample.c: rows of a table of a script that is being written, by the interpreter on what a file begins with,
 * in a process of its own; see sample.h.
 *
 * What always holds: it ends after the time that it has, takes a bounded amount of memory, writes no file,
 * runs no command, opens no library of a script, and sees nothing of the protocol's streams; whatever becomes
 * of it, the server goes on. */
#include "cli/sample.h"
#include "cli/program.h"

#include "base/child_limits.h"
#include "io/io.h"
#include "lsp/document.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  CUT = 1 << 20,      /* bytes of a larger file that are read: what its types come from begins with them */
  MEMORY = 512 << 20, /* address space, besides what the server has */
  MOST = 1 << 16      /* bytes of the answer */
};

/* ---- in the child: files ------------------------------------------------------------------------------- */

/* The end of the last whole row within the first bytes of a text file: a line end outside of quotes; 0: none.
 */
static size_t whole_rows(const char *s, size_t n) {
  size_t end = 0;
  bool quoted = false;
  for (size_t k = 0; k < n; k++) {
    quoted ^= s[k] == '"';
    if (s[k] == '\n' && !quoted) end = k + 1;
  }
  return end;
}

/* A file that holds what the one at this path begins with, by its path, the caller's; NULL: there is none. It
 * is there as long as this process. */
static char *cut_file(const char *path) {
  char *bytes = malloc(CUT), *name = NULL;
  int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("sample", MFD_CLOEXEC);
  ssize_t n = bytes && from >= 0 ? pread(from, bytes, CUT, 0) : -1;
  size_t end = n > 0 ? whole_rows(bytes, (size_t)n) : 0;
  if (!end || to < 0 || pwrite(to, bytes, end, 0) != (ssize_t)end ||
      asprintf(&name, "/proc/self/fd/%d", to) < 0)
    name = NULL;
  if (from >= 0) close(from);
  free(bytes);
  return name;
}

/* Formats whose first rows can be read by themselves. */
static bool has_lines(const char *path) {
  const char *reader = fl_io_reader_of(path);
  const FlFormatInfo *format = reader ? fl_format_find(reader) : NULL;
  return format && (format->flags & FL_FORMAT_BY_LINES);
}

/* The files that the program reads by name. */
typedef struct Files {
  const FlLspSample *asked;
  FlArena *arena;
  FlText1 cut; /* those that were cut, a line each */
  bool moved;  /* some lie elsewhere than the script says */
  bool shown;  /* the script shows paths */
} Files;

/* What is read at the path of which `op` makes a file. */
static void place_file(Files *f, FlOp *op) {
  const FlOp *name = op->args[0]->op;
  struct stat is;
  if (!name || name->code != FL_OP_CONST) return;
  char *path = fl_lsp_found(f->asked->world, name->attrs.s), *cut = NULL;
  const char *now = access(name->attrs.s, F_OK) == 0 ? name->attrs.s : path;
  if (stat(now, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > CUT && has_lines(now)) cut = cut_file(now);
  if (cut) {
    fl_text_addf(&f->cut, "%s\n", name->attrs.s);
    now = cut;
  }
  if (now != name->attrs.s) {
    FlRegion *r = op->parent;
    FlBuilder before = {
        .module = r->func->module, .func = r->func, .region = r, .before = op, .span = op->span};
    op->args[0] = fl_ir_const_t(&before, fl_arena_strndup(f->arena, now, strlen(now)), (int)strlen(now));
    f->moved = true;
  }
  free(cut);
  fl_piece_free(path);
}

static void place_files(Files *f, FlRegion *r) {
  for (FlOp *op = r->first; op; op = op->next) {
    if (op->code == FL_OP_FILE_OF) place_file(f, op);
    f->shown = f->shown || op->code == FL_OP_FILE_PATH || op->code == FL_OP_FILES;
    for (int i = 0; i < op->n_regions; i++) place_files(f, op->regions[i]);
  }
}

/* ---- in the child: what it may take -------------------------------------------------------------------- */

static bool leave_streams(int to) {
  int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  return nowhere >= 0 && dup2(nowhere, 0) == 0 && dup2(to, 1) == 1 && dup2(nowhere, 2) == 2;
}

static bool say(int to, const char *bytes, size_t n) {
  while (n) {
    ssize_t done = write(to, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    n -= (size_t)done;
  }
  return true;
}

/* Beside the script, where the paths that it says begin. */
static bool go_beside(const char *script) {
  const char *end = strrchr(script, '/');
  char *folder = end ? strndup(script, (size_t)(end - script) + 1) : NULL;
  bool there = folder && chdir(folder) == 0;
  free(folder);
  return there;
}

/* The whole of what the child does; its exit status. */
static int show(const FlLspSample *asked, int to) {
  char *argv[] = {"flow", "--quiet", "--no-cache", "--workers", "1", "--memory", "256M", NULL};
  FlWorld world = fl_lsp_world(asked->world);
  FlBuildOptions build = {.cpu = FL_CPU_HOST, .test = -1, .world = &world};
  FlCompilation c;
  fl_child_limits(asked->ms / 1000 + 2, MEMORY);
  fl_compilation_init_text(&c, asked->path, asked->text);
  c.silent = true;
  if (c.lacks || fl_compile_ir(&c, &build) || !go_beside(asked->path)) return 1;
  for (const FlFunc *f = c.sema.module->first; f; f = f->next)
    if (fl_program_acts(f->body)) return 1;
  Files files = {.asked = asked, .arena = c.arena};
  for (const FlFunc *f = c.sema.module->first; f; f = f->next) place_files(&files, f->body);
  if (files.moved && files.shown) return 1;
  setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}); /* files of its own are made */
  if (!leave_streams(to) || (files.cut.len && !say(1, files.cut.s, files.cut.len)) || !say(1, "\n", 1))
    return 1;
  return fl_program_look(&c, &build, 7, argv, (int64_t)asked->ms * 1000000);
}

_Noreturn static void be_child(const FlLspSample *asked, pid_t parent, int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1); /* it ended before the line above */
  int status = show(asked, to);
  _exit(fflush(stdout) == 0 ? status : 1);
}

/* ---- in the parent ------------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Takes the answer to its end; false: it is too long, or does not end in time. */
static bool listen_to(int from, int64_t until, FlText1 *out) {
  for (;;) {
    char bytes[4096];
    struct pollfd p = {.fd = from, .events = POLLIN};
    int64_t left = until - now_ms();
    int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
    if (ready < 0 && errno == EINTR) continue;
    ssize_t n = ready > 0 ? read(from, bytes, sizeof bytes) : -1;
    if (n <= 0) return n == 0;
    fl_text_add(out, bytes, (size_t)n);
    if (out->len > MOST) return false;
  }
}

bool fl_sample_show(const FlLspSample *asked, FlText1 *out) {
  int fds[2], status = 0;
  int64_t until = now_ms() + asked->ms;
  if (pipe2(fds, O_CLOEXEC) != 0) return false;
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) be_child(asked, parent, fds[1]);
  close(fds[1]);
  bool whole = pid > 0 && listen_to(fds[0], until, out);
  close(fds[0]);
  if (pid < 0) return false;
  if (!whole) kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return false;
  return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
