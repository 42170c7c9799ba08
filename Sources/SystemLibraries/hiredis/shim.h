#include <hiredis/hiredis.h>

// What a connection's thread waits for beside its socket. Glibc of Swift does not have it.
#include <sys/eventfd.h>
