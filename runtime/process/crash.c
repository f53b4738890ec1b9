/* crash.c: see crash.h. In: signals of failures. Out: a sentence and an exit status. What always holds: the
 * handler uses only functions that are safe in signal handlers; nothing is written but what was printed
 * before and the sentence, and files that were being written still have their temporary names. */
#include "process/crash.h"
#include "base/stack.h"
#include "process/printed.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#ifdef HAS_SANITIZER /* its handler would show where; ours stands before it */
#include <sanitizer/common_interface_defs.h>
#define SHOW_WHERE() __sanitizer_print_stack_trace()
#else
#define SHOW_WHERE() ((void)0)
#endif

enum { NEAR = 1 << 20 };

/* An access near where the stack pointer stands: the stack ran out. */
static int near_stack(const siginfo_t *info, const void *context) {
#if defined(__x86_64__)
  uintptr_t sp = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[15 /* REG_RSP */];
#elif defined(__aarch64__)
  uintptr_t sp = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
#else
  uintptr_t sp = 0;
#endif
  uintptr_t at = (uintptr_t)info->si_addr;
  return at + NEAR > sp && at < sp + NEAR;
}

static struct {
  bool (*is_within)(const void *arg);
  const void *arg;
} library;

void fl_crash_ask(bool (*is_within)(const void *arg), const void *arg) {
  library.arg = arg;
  library.is_within = is_within;
}

static void handle(int signal, siginfo_t *info, void *context) {
  fl_printed_rescue();
  if (signal == SIGABRT && library.is_within && library.is_within(library.arg)) {
    fl_printed_say("note: a library has ended this process; what it said stands above\n");
    _exit(4);
  }
  if (signal == SIGBUS) {
    fl_printed_say("error[E0937]: a file that was being read has been cut short by another program\n");
    _exit(1);
  }
  if (signal == SIGSEGV && near_stack(info, context)) {
    fl_printed_say("error: functions call each other too deeply: the stack is used up\n"
                   "  help: does the recursion end? a loop needs no stack\n");
    _exit(1);
  }
  fl_printed_say("error: flow itself failed (");
  fl_printed_say(signal == SIGSEGV   ? "invalid memory access"
                 : signal == SIGILL  ? "invalid instruction"
                 : signal == SIGFPE  ? "invalid division"
                 : signal == SIGABRT ? "abort"
                                     : "trap");
  fl_printed_say("); please report this with the script\n");
  SHOW_WHERE();
  _exit(70);
}

static void handle_compiler(int signal, siginfo_t *info, void *context) {
  if (signal == SIGSEGV && near_stack(info, context)) {
    fl_printed_say("error: the script is nested too deeply to be compiled: the stack is used up\n"
                   "  help: give parts of it names, or put what a program wrote into a data file\n");
    _exit(3);
  }
  handle(signal, info, context);
}

static void install(void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  static const int failures[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
  for (size_t k = 0; k < sizeof failures / sizeof *failures; k++) sigaction(failures[k], &action, NULL);
  fl_stack_for_signals();
}

void fl_crash_install(void) { install(handle); }
void fl_crash_install_compiler(void) { install(handle_compiler); }
