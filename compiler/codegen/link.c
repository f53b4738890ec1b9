/* link.c: from an object to an executable: static, of the object, the parts of libflowrt.a that it uses, and
 * the C library; one that opens shared libraries when it starts is linked with the system's C library
 * instead, which a static one cannot do reliably.
 *
 * lld is driven directly where the start files of the C library are in their usual places: no compiler is
 * needed, and it takes a fraction of the time; flow_lld, which is lld as a part of this installation, or that
 * of the system. It reads the object from a pipe and writes to one, so that it may start, and read all else,
 * before there is an object. Otherwise cc is asked, which knows its own places.
 * The result appears under its name whole or not at all. A flowc built with sanitizers (FLOW_SANITIZE names
 * them) links executables with them too, which cannot be static. */
#include "codegen/codegen.h"
#include "base/spawn.h"
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKER_FOLDER "/usr/lib/llvm-19/bin"
#define FROM_PIPE "/dev/fd/3" /* FL_CHILD_INPUT: behind all else, so that it waits for the object last */
enum { MAX_ARGS = 128 };

typedef struct Command {
  FlArena *arena;
  char *args[MAX_ARGS + 1];
  int n;
} Command;

static void add(Command *c, const char *s) {
  if (c->n < MAX_ARGS) c->args[c->n++] = fl_arena_strndup(c->arena, s, strlen(s));
}

/* ---- commands ------------------------------------------------------------------------------------------ */

static bool readable(const char *path) { return access(path, R_OK) == 0; }

static bool runs(const char *path) { return access(path, X_OK) == 0; }

static bool system_has_lld(void) { return runs(LINKER_FOLDER "/ld.lld"); }

/* Adds the linker itself: flow_lld, or ld.lld of the system. */
static bool add_linker(Command *c) {
  char own[8192];
  if (fl_codegen_find("flow_lld", own, sizeof own) && runs(own)) add(c, own);
  else if (system_has_lld()) add(c, LINKER_FOLDER "/ld.lld");
  return c->n > 0;
}

/* The folder of the newest gcc's start files and libgcc, without the last '/'. */
static char *find_gcc(FlArena *arena) {
  glob_t g;
  char *out = NULL;
  if (glob("/usr/lib/gcc/x86_64-linux-gnu/*/crtbeginT.o", 0, NULL, &g) == 0 && g.gl_pathc > 0) {
    const char *path = g.gl_pathv[g.gl_pathc - 1];
    out = fl_arena_strndup(arena, path, (size_t)(strrchr(path, '/') - path));
  }
  globfree(&g);
  return out;
}

typedef struct Inputs {
  const char *object, *output;
  char start[8192], runtime[8192]; /* libflowstart.a, libflowrt.a */
  bool linear_algebra;
  const FlLinkOptions *options;
} Inputs;

/* Whether the object calls an operator of linear algebra: only those reach OpenBLAS. The names of what an
 * object calls stand in it as they are, with a zero after them. */
static bool needs_blas(const FlObject *object) {
  static const char matmul[] = "fl_rt_matmul", solve[] = "fl_rt_solve", family[] = "fl_rt_linalg_";
  return memmem(object->bytes, object->size, matmul, sizeof matmul) != NULL ||
         memmem(object->bytes, object->size, solve, sizeof solve) != NULL ||
         memmem(object->bytes, object->size, family, sizeof family - 1) != NULL;
}

/* Libraries that are only used by what is linked from libflowrt.a. FLOW_OPENBLAS is the archive of OpenBLAS
 * without threads of its own, to which linalg_buffers.c adds locks; it is large, so it is only read when
 * something may need it. */
static void add_libraries(Command *c, const Inputs *in) {
  bool cc = strcmp(c->args[0], "cc") == 0;
  if (cc) add(c, in->object);
  add(c, in->start);
  add(c, cc ? "-Wl,--start-group" : "--start-group");
  add(c, in->runtime);
  if (in->options->dynamic) { /* it may open MPI as well, and start ranks */
    static const char *const wanted[] = {"fl_mpi_start", "fl_rank_begin", "fl_launch_hosts"};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
      char word[64];
      snprintf(word, sizeof word, "%s%s", cc ? "-Wl,-u," : "-u", wanted[k]);
      add(c, word);
    }
    add(c, cc ? "-Wl,-Bstatic" : "-Bstatic");
  }
  add(c, "-lxxhash");
  add(c, "-lz");
  add(c, "-ldeflate");
  add(c, "-lzstd");
  add(c, "-llz4");
  add(c, "-lpcre2-8");
  if (in->options->dynamic) add(c, cc ? "-Wl,-Bdynamic" : "-Bdynamic");
  for (int i = 0; i < in->options->n_libraries; i++)
    add(c, fl_arena_printf(c->arena, "-l%s", in->options->libraries[i]));
  if (in->linear_algebra) {
    add(c, FLOW_OPENBLAS);
    add(c, cc ? "-Wl,--wrap=blas_memory_alloc" : "--wrap=blas_memory_alloc");
    add(c, cc ? "-Wl,--wrap=blas_memory_free" : "--wrap=blas_memory_free");
  }
  add(c, "-lm");
}

static bool direct_command(Command *c, const Inputs *in) {
  static const char libc[] = "/usr/lib/x86_64-linux-gnu";
  if (*FLOW_SANITIZE) return false; /* only the C compiler knows what they need */
  char *gcc = find_gcc(c->arena);
  if (!gcc || !readable("/usr/lib/x86_64-linux-gnu/crt1.o") ||
      !readable("/usr/lib/x86_64-linux-gnu/libc.a") || !readable("/dev/fd") || !add_linker(c))
    return false;
  bool dynamic = in->options->dynamic;
  if (dynamic) add(c, "-dynamic-linker=/lib64/ld-linux-x86-64.so.2");
  else add(c, "-static");
  add(c, "-O0");         /* of the linker: equal strings are not looked for */
  add(c, "--threads=1"); /* more take longer to start than they save */
  add(c, "--gc-sections");
  add(c, "--strip-debug");
  add(c, "--build-id=none");
  add(c, "-z");
  add(c, "noexecstack");
  add(c, "-z");
  add(c, "relro");
  add(c, "-o");
  add(c, "-"); /* its standard output */
  add(c, fl_arena_printf(c->arena, "%s/crt1.o", libc));
  add(c, fl_arena_printf(c->arena, "%s/crti.o", libc));
  add(c, fl_arena_printf(c->arena, dynamic ? "%s/crtbegin.o" : "%s/crtbeginT.o", gcc));
  add(c, fl_arena_printf(c->arena, "-L%s", gcc));
  add(c, fl_arena_printf(c->arena, "-L%s", libc));
  add_libraries(c, in);
  add(c, "-lgcc");
  if (!dynamic) add(c, "-lgcc_eh");
  add(c, "-lc");
  add(c, "--end-group");
  add(c, FROM_PIPE);
  add(c, fl_arena_printf(c->arena, "%s/crtend.o", gcc));
  add(c, fl_arena_printf(c->arena, "%s/crtn.o", libc));
  return true;
}

static void cc_command(Command *c, const Inputs *in) {
  add(c, "cc");
  add(c, *FLOW_SANITIZE ? "-fsanitize=" FLOW_SANITIZE : in->options->dynamic ? "-no-pie" : "-static");
  if (system_has_lld()) {
    add(c, "-fuse-ld=lld"); /* a file ld.lld, which gcc looks for in the folders of -B */
    add(c, "-B" LINKER_FOLDER);
  }
  add(c, "-Wl,--gc-sections,--strip-debug");
  add(c, "-o");
  add(c, in->output);
  add_libraries(c, in);
  add(c, "-Wl,--end-group");
}

/* ---- the public function ------------------------------------------------------------------------------- */

struct FlLinker {
  FlChild child;
  bool linear_algebra;
};

static bool asks_for(const FlRegion *r, bool (*wanted)(const FlOp *op)) {
  for (const FlOp *op = r->first; op; op = op->next) {
    if (wanted(op)) return true;
    for (int i = 0; i < op->n_regions; i++)
      if (asks_for(op->regions[i], wanted)) return true;
  }
  return false;
}

/* As needs_blas will say of the object; where it says otherwise the linker starts once more. */
static bool is_of_blas(const FlOp *op) {
  const char *name = fl_op_info[op->code].name;
  return op->code == FL_OP_MATMUL || op->code == FL_OP_SOLVE || strncmp(name, "linalg_", 7) == 0;
}

static bool find_archives(Inputs *in) {
  return fl_codegen_find("libflowrt.a", in->runtime, sizeof in->runtime) &&
         fl_codegen_find("libflowstart.a", in->start, sizeof in->start);
}

static FlLinker *start_linker(bool linear_algebra, const FlLinkOptions *options) {
  Inputs in = {.linear_algebra = linear_algebra, .options = options};
  FlLinker *linker = calloc(1, sizeof *linker);
  FlArena *arena = fl_arena_new();
  Command c = {.arena = arena};
  bool ok = linker && find_archives(&in) && direct_command(&c, &in);
  c.args[c.n] = NULL;
  ok = ok && fl_child_start(c.args, &linker->child);
  fl_arena_free(arena);
  if (ok) {
    linker->linear_algebra = linear_algebra;
    return linker;
  }
  free(linker);
  return NULL;
}

FlLinker *fl_linker_start(const FlModule *m, const FlLinkOptions *options) {
  bool linear_algebra = false;
  for (const FlFunc *f = m->first; f && !linear_algebra; f = f->next)
    linear_algebra = asks_for(f->body, is_of_blas);
  return start_linker(linear_algebra, options);
}

void fl_linker_free(FlLinker *linker) {
  if (linker) fl_child_reset(&linker->child);
  free(linker);
}

/* An executable for all who may read it. */
static bool write_binary(const char *path, const void *bytes, size_t size) {
  FlWholeFile file;
  if (!fl_whole_open(path, 0777, &file)) return false;
  file.again = true;
  file.mode |= (file.mode & 0444) >> 2;
  if (fl_whole_write(file.fd, bytes, size)) return fl_whole_commit(&file);
  fl_whole_abandon(&file);
  return false;
}

static bool write_object(const char *path, const FlObject *object) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool ok = fl_whole_write(fd, object->bytes, object->size);
  return close(fd) == 0 && ok;
}

/* Puts what was linked in its place. */
static bool place(int from, const char *to) {
  struct stat there;
  bool ok = from >= 0 && fstat(from, &there) == 0;
  size_t size = ok ? (size_t)there.st_size : 0;
  if (ok && !size) errno = EIO; /* the linker has written nothing */
  void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, from, 0) : MAP_FAILED;
  ok = bytes != MAP_FAILED && write_binary(to, bytes, size);
  int why = errno;
  if (bytes != MAP_FAILED) munmap(bytes, size);
  errno = why;
  return ok;
}

/* Signals that ask to end wait until nothing is left to remove; the linker gets them. */
static const int asks_to_end[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_ASKS = sizeof asks_to_end / sizeof *asks_to_end };

static void hold_signals(sigset_t *before) {
  sigset_t ours;
  sigemptyset(&ours);
  for (int k = 0; k < N_ASKS; k++) sigaddset(&ours, asks_to_end[k]);
  sigprocmask(SIG_BLOCK, &ours, before);
}

static bool is_interrupted(void) {
  sigset_t waiting;
  bool any = false;
  sigpending(&waiting);
  for (int k = 0; k < N_ASKS; k++) any = any || sigismember(&waiting, asks_to_end[k]) == 1;
  return any;
}

static bool failed(const char *path, FlText1 *said) {
  fl_text_addf(said, "%s: %s", path, is_interrupted() ? "interrupted" : strerror(errno));
  return false;
}

/* By the linker that has started, or one that starts now. */
static bool link_direct(FlLinker *linker, const FlObject *object, const char *out_path, FlText1 *said) {
  bool ok = fl_child_end(&linker->child, object->bytes, object->size, said) == 0;
  return ok && ((!is_interrupted() && place(linker->child.output, out_path)) || failed(out_path, said));
}

/* By cc, in a folder that only this process uses. */
static bool link_by_cc(const FlObject *object, const char *out_path, Inputs *in, const sigset_t *before,
                       FlText1 *said) {
  FlArena *arena = fl_arena_new();
  Command c = {.arena = arena};
  char *folder;
  int lock = fl_whole_folder(out_path, &folder);
  bool ok = lock >= 0 || failed(out_path, said);
  if (ok) {
    in->object = fl_arena_printf(arena, "%s/script.o", folder);
    in->output = fl_arena_printf(arena, "%s/binary", folder);
    cc_command(&c, in);
    c.args[c.n] = NULL;
    ok = write_object(in->object, object) || failed(in->object, said);
  }
  ok = ok && fl_spawn(c.args, before, said) == 0;
  int made = ok ? open(in->output, O_RDONLY | O_CLOEXEC) : -1;
  if (ok) ok = (!is_interrupted() && place(made, out_path)) || failed(out_path, said);
  if (made >= 0) close(made);
  if (lock >= 0) fl_whole_folder_remove(lock, folder);
  fl_arena_free(arena);
  return ok;
}

bool fl_link(const FlObject *object, const char *out_path, const FlLinkOptions *options, FlLinker *started,
             char **why) {
  FlText1 said = {0};
  Inputs in = {.linear_algebra = needs_blas(object), .options = options};
  bool ok = false, fits = started && started->child.pid && started->linear_algebra == in.linear_algebra;
  FlLinker *own = fits ? NULL : start_linker(in.linear_algebra, options);
  struct stat there;
  sigset_t before;
  *why = NULL;
  hold_signals(&before);
  if (stat(out_path, &there) == 0 && !S_ISREG(there.st_mode)) {
    fl_text_addf(&said, "%s: it exists and is not an ordinary file", out_path);
  } else if (!find_archives(&in)) {
    fl_text_addz(&said, "libflowrt.a, the runtime, is not installed beside flowc or in ../lib/flow");
  } else {
    fl_whole_clean(out_path);
    if (fits || own) ok = link_direct(fits ? started : own, object, out_path, &said);
    else ok = link_by_cc(object, out_path, &in, &before, &said);
  }
  fl_linker_free(own);
  if (!ok) *why = strdup(said.s ? said.s : "the linker failed");
  fl_text_reset(&said);
  sigprocmask(SIG_SETMASK, &before, NULL); /* one that waited ends the process here */
  return ok;
}
