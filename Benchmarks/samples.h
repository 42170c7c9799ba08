// What programs have in common that take samples of 32 bits and sort them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void fail(const char *what) {
    perror(what);
    exit(1);
}

__attribute__((unused)) static int compare(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return a < b ? -1 : a > b;
}
