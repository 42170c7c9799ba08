// Counters of a library that is loaded into a process, where others can read them.
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file that a variable names, mapped; `otherwise` when there is none. */
static void *map_counts(const char *variable, size_t size, void *otherwise) {
    const char *path = getenv(variable);
    if (path == NULL) return otherwise;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return otherwise;
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return mapped == MAP_FAILED ? otherwise : mapped;
}
