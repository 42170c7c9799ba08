// What a disk gives to somebody who makes every write durable by itself: writes as much as one commit adds to SQLite's
// log, syncs, and begins again, one after the other, in a file that is used again from its start, as that log is.
//
//   sync FILE BYTES SECONDS
//
// Prints the same line of JSON as wrk/report.lua; a request is a write with its sync.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "samples.h"

enum { length = 16 << 20, most_bytes = 1 << 20, most_samples = 1 << 22 };

static void write_all(int file, const char *data, size_t bytes, off_t place) {
    if (pwrite(file, data, bytes, place) != (ssize_t)bytes) fail("pwrite");
}

int main(int count, char **arguments) {
    size_t bytes = count == 4 ? strtoul(arguments[2], NULL, 10) : 0;
    if (bytes == 0 || bytes > most_bytes) {
        fprintf(stderr, "usage: sync FILE BYTES SECONDS\n");
        return 2;
    }
    static char data[most_bytes];
    static uint32_t samples[most_samples];
    int file = open(arguments[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) fail(arguments[1]);
    // The file has its blocks before it is measured: what it costs to give it some is not a sync's.
    memset(data, 'x', sizeof data);
    for (off_t place = 0; place < length; place += most_bytes) write_all(file, data, most_bytes, place);
    if (fsync(file) != 0) fail("fsync");

    uint64_t start = now(), end = start + strtoull(arguments[3], NULL, 10) * 1000000000u, time = start;
    size_t requests = 0;
    off_t place = 0;
    while (time < end && requests < most_samples) {
        memcpy(data, &requests, sizeof requests);
        write_all(file, data, bytes, place);
        if (fdatasync(file) != 0) fail("fdatasync");
        uint64_t done = now();
        samples[requests++] = (uint32_t)((done - time) / 1000);
        time = done;
        if ((place += (off_t)bytes) + (off_t)bytes > length) place = 0;
    }
    qsort(samples, requests, sizeof *samples, compare);
    printf("RESULT {\"requests\": %zu, \"duration\": %llu, \"p50\": %u, \"p99\": %u, \"failed\": 0}\n", requests,
           (unsigned long long)((time - start) / 1000), samples[requests / 2], samples[requests * 99 / 100]);
    return 0;
}
