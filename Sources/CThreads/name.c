#define _GNU_SOURCE  // pthread_setname_np
#include "CThreads.h"

#include <pthread.h>

void cthreads_name(const char *name) { pthread_setname_np(pthread_self(), name); }
