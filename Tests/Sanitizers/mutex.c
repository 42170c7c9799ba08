// What ThreadSanitizer does not see of `Synchronization.Mutex`: the functions of the standard library that lock and
// unlock it when threads meet there are not compiled with the sanitizer. `scripts/sanitize` loads this before that
// library. Each function calls the original and says what it did; nothing is suppressed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Null in a process without the sanitizer.
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    SWIFT void (*original)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
    original(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF) {
    SWIFT void (*original)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(mutex);
    original(mutex);
}

SWIFT bool try_lock_slow(SELF) {
    SWIFT bool (*original)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
    bool locked = original(mutex);
    if (locked && __tsan_acquire) __tsan_acquire(mutex);
    return locked;
}
