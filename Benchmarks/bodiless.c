// A load of requests whose answers have no body: wrk waits for one when a 304 says how long the state is
// (RFC 9110, section 8.6), and would wait for ever.
//
//   bodiless PORT CONNECTIONS SECONDS < REQUEST
//
// One request at a time on each connection; prints the same line of JSON as wrk/report.lua.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_connections = 4096, most_samples = 1 << 24 };

typedef struct {
    int fd;
    size_t matched;  // bytes of the blank line that have come
    uint64_t sent_at;
} connection;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static int compare(const void *one, const void *other) {
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return a < b ? -1 : a > b;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: bodiless PORT CONNECTIONS SECONDS < REQUEST\n");
        return 2;
    }
    static char request[16384];
    size_t length = fread(request, 1, sizeof request, stdin);
    int width = atoi(arguments[2]);
    if (width < 1 || width > most_connections || length == 0) return 2;
    static connection connections[most_connections];
    uint32_t *samples = malloc(most_samples * sizeof *samples);
    int events = epoll_create1(0);
    if (samples == NULL || events < 0) fail("start");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    uint64_t start = now(), end = start + strtoull(arguments[3], NULL, 10) * 1000000000u, time = start;
    for (int i = 0; i < width; i++) {
        connection *c = &connections[i];
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(events, EPOLL_CTL_ADD, c->fd, &event) != 0) fail("epoll_ctl");
        c->sent_at = now();
        if (send(c->fd, request, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
    }
    uint64_t requests = 0, failed = 0;
    while ((time = now()) < end) {
        struct epoll_event ready[64];
        int got = epoll_wait(events, ready, 64, 100);
        for (int i = 0; i < got; i++) {
            connection *c = ready[i].data.ptr;
            char data[4096];
            ssize_t bytes = recv(c->fd, data, sizeof data, 0);
            if (bytes <= 0) fail("recv");
            if (c->matched == 0 && memcmp(data, "HTTP/1.1 304", bytes < 12 ? (size_t)bytes : 12) != 0) failed++;
            for (ssize_t at = 0; at < bytes; at++) {
                c->matched = data[at] == "\r\n\r\n"[c->matched & 3] ? c->matched + 1 : data[at] == '\r' ? 1 : 0;
                if (c->matched < 4) continue;
                if (requests < most_samples) samples[requests] = (uint32_t)((now() - c->sent_at) / 1000);
                requests++;
                c->sent_at = now();
                if (send(c->fd, request, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
                c->matched = 0;
            }
        }
    }
    size_t kept = requests < most_samples ? requests : most_samples;
    qsort(samples, kept, sizeof *samples, compare);
    printf("RESULT {\"requests\": %llu, \"duration\": %llu, \"p50\": %u, \"p99\": %u, \"failed\": %llu}\n",
           (unsigned long long)requests, (unsigned long long)((time - start) / 1000),
           kept ? samples[kept / 2] : 0, kept ? samples[kept * 99 / 100] : 0, (unsigned long long)failed);
    return 0;
}
