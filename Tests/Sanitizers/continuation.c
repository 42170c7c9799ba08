// What ThreadSanitizer does not see of a continuation that is resumed before its task suspends: the Swift runtime says
// what `resume` releases, but the task that goes on at once acquires nothing. When the task has suspended, the runtime
// says both. `scripts/sanitize` loads this before the runtime, and links the runtime again from its static library so
// that its own calls come here, too. Nothing is suppressed.
//
// The flag and the lock close the gap between looking at the state and the runtime's own look at it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// Null in a process without the sanitizer.
extern void __tsan_acquire(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define ASYNC __attribute__((swiftasynccall))

/// The beginning of `ContinuationAsyncContext` (swift/ABI/Task.h).
struct continuation {
    void *parent, *resume_parent;
    _Atomic size_t flags, status;
};

/// The beginning of `AsyncTask` on 64-bit machines: `ResumeContext` is the ninth word.
struct task {
    void *words[8];
    struct continuation *waits_for;
};

enum { pending, awaited, resumed };
/// A bit of `flags` that the runtime does not use: the task is about to wait.
#define ARRIVED ((size_t)1 << 63)

// Not pthread_mutex_t: the sanitizer would take that for an order between threads that have nothing to do with
// each other.
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void take(void) {
    while (atomic_flag_test_and_set(&lock)) sched_yield();
}

static void give(void) { atomic_flag_clear(&lock); }

extern SWIFT struct task *swift_task_getCurrent(void) __attribute__((weak));

ASYNC void swift_continuation_await(struct continuation *continuation) {
    static ASYNC void (*_Atomic original)(struct continuation *);
    if (!original) original = dlsym(RTLD_NEXT, "swift_continuation_await");
    take();
    continuation->flags |= ARRIVED;
    bool goes_on = continuation->status == resumed;
    give();
    if (goes_on && __tsan_acquire) __tsan_acquire(swift_task_getCurrent());
    __attribute__((musttail)) return original(continuation);
}

/// Whether `resume` comes before the task waits. Then the lock is held until it is done, else it waits for the task to
/// suspend.
static bool comes_first(struct continuation *continuation) {
    take();
    if (!(continuation->flags & ARRIVED)) return true;
    give();
    while (continuation->status == pending) sched_yield();
    return false;
}

#define RESUME(NAME, PARAMETERS, ARGUMENTS)                            \
    SWIFT void NAME PARAMETERS {                                       \
        static SWIFT void (*_Atomic original) PARAMETERS;              \
        if (!original) original = dlsym(RTLD_NEXT, #NAME);             \
        bool first = comes_first(task->waits_for);                     \
        original ARGUMENTS;                                            \
        if (first) give();                                             \
    }                                                                  \
    SWIFT void __wrap_##NAME PARAMETERS __attribute__((alias(#NAME)));

RESUME(swift_continuation_resume, (struct task *task), (task))
RESUME(swift_continuation_throwingResume, (struct task *task), (task))
RESUME(swift_continuation_throwingResumeWithError, (struct task *task, void *error), (task, error))

ASYNC void __wrap_swift_continuation_await(struct continuation *) __attribute__((alias("swift_continuation_await")));
