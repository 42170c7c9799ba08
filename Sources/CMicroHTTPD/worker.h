#ifndef CMHD_WORKER_H
#define CMHD_WORKER_H

#include "internal.h"

/// The body of a worker's thread: runs until the server has drained, then stops its daemon.
void *cmhd_worker_run(void *context);

#endif
