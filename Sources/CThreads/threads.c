#define _GNU_SOURCE  // pthread_setname_np
#include "CThreads.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// SCHED_FLAG_KEEP_POLICY: who started the process may have set one (chrt(1)). With a real-time policy, which has no
// niceness, the call fails.
enum { keep_policy = 8 };

void cthreads_name(const char *name) { pthread_setname_np(pthread_self(), name); }

void cthreads_share_processor(int niceness, uint64_t slice) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice, deadline, period;
    } wanted = {
        .size = sizeof wanted, .flags = keep_policy, .slice = slice,
        // The main thread's is the process'. Its own one a thread may have from another that called this.
        .nice = getpriority(PRIO_PROCESS, getpid()) + niceness,
    };
    // A filter of system calls may know this one alone, which is for the thread as well (setpriority(2), "C
    // library/kernel differences").
    if (syscall(SYS_sched_setattr, 0, &wanted, 0) != 0) setpriority(PRIO_PROCESS, 0, wanted.nice);
}
