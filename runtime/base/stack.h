/* stack.h: a stack of our own for the main work of a process. */
#ifndef FL_STACK_H
#define FL_STACK_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FL_STACK_FACTOR 8 /* frames are larger there */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FL_STACK_FACTOR 8
#endif
#endif
#ifndef FL_STACK_FACTOR
#define FL_STACK_FACTOR 1
#endif

/* Address space; pages are used when they are touched. */
enum {
  FL_STACK_BYTES = FL_STACK_FACTOR * (64 << 20),
  FL_STACK_GUARD = 1 << 20, /* larger than any frame, so that none steps over it */
};

/* What work(arg) gives. It runs on a thread whose stack has FL_STACK_BYTES, whatever `ulimit -s` is: scripts
 * nest and recurse as deep on every machine, and a recursion without end stops at our bound and not at the
 * machine's memory. Signals come to that thread as they would to this one, which only waits. */
int fl_stack_run(int (*work)(void *arg), void *arg);

/* Gives the calling thread, one of ours, a stack for handlers of signals, once: whoever installs handlers may
 * need it where the thread's own ran out. Taken back before the thread ends. */
void fl_stack_for_signals(void);
void fl_stack_for_signals_end(void);

#endif
