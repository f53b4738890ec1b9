/* thread.h: threads of the runtime that take no signals, which are for the thread that waits for them. */
#ifndef FL_BASE_THREAD_H
#define FL_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* false: the system has none. */
bool fl_thread_start(pthread_t *thread, void *(*work)(void *), void *arg);

#endif
