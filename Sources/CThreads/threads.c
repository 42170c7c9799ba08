#define _GNU_SOURCE  // pthread_setname_np
#include "CThreads.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// SCHED_FLAG_RESET_ON_FORK: a thread that the calling one starts has the usual slice again. A pool starts its threads
// from the thread that gives it work, which may be one with another slice.
enum { reset_on_fork = 1 };

void cthreads_name(const char *name) { pthread_setname_np(pthread_self(), name); }

void cthreads_set_slice(uint64_t slice) {
    // Who started the process may have chosen another policy (chrt(1)), which stays.
    if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER) return;
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice, deadline, period;
    } wanted = {
        .size = sizeof wanted, .policy = SCHED_OTHER, .flags = reset_on_fork, .nice = getpriority(PRIO_PROCESS, 0),
        .slice = slice,
    };
    syscall(SYS_sched_setattr, 0, &wanted, 0);
}
