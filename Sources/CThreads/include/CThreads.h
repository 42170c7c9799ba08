/// What Swift's C library does not show of threads.
#ifndef CTHREADS_H
#define CTHREADS_H

/// Names the calling thread, for `top -H` and `perf`: at most 15 bytes (pthread_setname_np(3)).
void cthreads_name(const char *name);

#endif
