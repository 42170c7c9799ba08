// A load that costs its core little, for what wrk cannot send: answers without a body (wrk waits for the one whose
// length a 304 tells, RFC 9110, section 8.6), and another token in every request without a script's table of them,
// whose cache misses would be measured, too.
//
//   load PORT CONNECTIONS SECONDS STATUS [TOKENS [RATE]] < REQUEST
//
// One request at a time on each connection. With a RATE so many are due in a second, evenly, on whichever connection is
// free, and the time of an answer counts from when its request was due: one that had to wait for others to be answered
// has waited. Where REQUEST has a `*`, the next line of the file TOKENS goes, whose
// lines are of one length and come in the order of the file, again and again. Prints the same line of JSON as
// wrk/report.lua.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "samples.h"

enum { most_connections = 4096, most_samples = 1 << 24, most_answer = 8192 };

typedef struct {
    int fd;
    size_t length;  // bytes of the answer that have come
    uint64_t due_at;
    char answer[most_answer];
} connection;

// What is sent: the text before the token and after it.
static char request[16384], message[16384];
static size_t before, after, token_width;
static const char *tokens, *next_token, *tokens_end;

static void open_tokens(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) fail(path);
    tokens = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (tokens == MAP_FAILED) fail(path);
    close(fd);
    const char *end = memchr(tokens, '\n', (size_t)about.st_size);
    if (end == NULL) fail("no line of tokens");
    token_width = (size_t)(end - tokens);
    tokens_end = tokens + (size_t)about.st_size / (token_width + 1) * (token_width + 1);
    next_token = tokens;
}

static void prepare(void) {
    size_t length = fread(request, 1, sizeof request / 2, stdin);
    const char *mark = memchr(request, '*', length);
    before = mark == NULL || tokens == NULL ? length : (size_t)(mark - request);
    after = before == length ? 0 : length - before - 1;
    memcpy(message, request, before);
    memcpy(message + before + token_width, request + before + 1, after);
}

static void send_next(connection *c, uint64_t due) {
    size_t length = before;
    if (tokens != NULL) {
        memcpy(message + before, next_token, token_width);
        if ((next_token += token_width + 1) == tokens_end) next_token = tokens;
        length += token_width + after;
    }
    c->length = 0;
    c->due_at = due;
    if (send(c->fd, message, length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
}

// Whether the answer is all there.
static bool is_complete(const connection *c, bool has_body) {
    const char *end = memmem(c->answer, c->length, "\r\n\r\n", 4);
    if (end == NULL) return false;
    if (!has_body) return true;
    const char *field = memmem(c->answer, (size_t)(end - c->answer), "Content-Length: ", 16);
    if (field == NULL) fail("an answer without Content-Length");
    return c->length >= (size_t)(end + 4 - c->answer) + strtoul(field + 16, NULL, 10);
}

int main(int count, char **arguments) {
    if (count < 5 || count > 7) {
        fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS STATUS [TOKENS [RATE]] < REQUEST\n");
        return 2;
    }
    int width = atoi(arguments[2]);
    char status[16];
    snprintf(status, sizeof status, "HTTP/1.1 %.3s", arguments[4]);
    bool has_body = strcmp(arguments[4], "304") != 0 && strcmp(arguments[4], "204") != 0;
    if (count > 5) open_tokens(arguments[5]);
    uint64_t interval = count > 6 ? 1000000000u / strtoull(arguments[6], NULL, 10) : 0;
    prepare();
    if (width < 1 || width > most_connections || before == 0) return 2;
    connection *connections = calloc((size_t)width, sizeof *connections);
    connection **free_ones = calloc((size_t)width, sizeof *free_ones);
    uint32_t *samples = malloc(most_samples * sizeof *samples);
    int events = epoll_create1(0);
    if (connections == NULL || free_ones == NULL || samples == NULL || events < 0) fail("start");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int free_count = 0;
    for (int i = 0; i < width; i++) {
        connection *c = &connections[i];
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(events, EPOLL_CTL_ADD, c->fd, &event) != 0) fail("epoll_ctl");
        free_ones[free_count++] = c;
    }
    uint64_t start = now(), end = start + strtoull(arguments[3], NULL, 10) * 1000000000u, time = start, due = start;
    uint64_t requests = 0, failed = 0;
    while ((time = now()) < end) {
        for (; free_count > 0 && due <= time; due = interval > 0 ? due + interval : due)
            send_next(free_ones[--free_count], interval > 0 ? due : now());
        // Without a rate it never sleeps: to wake it would be the server's work, on the server's core, and all the more of
        // that the faster this load is.
        struct timespec wait = {.tv_nsec = interval > 0 ? 100000000 : 0};
        if (interval > 0 && free_count > 0 && due - time < 100000000u) wait.tv_nsec = (long)(due - time);
        struct epoll_event ready[64];
        int got = epoll_pwait2(events, ready, 64, &wait, NULL);
        for (int i = 0; i < got; i++) {
            connection *c = ready[i].data.ptr;
            ssize_t bytes = recv(c->fd, c->answer + c->length, most_answer - c->length, 0);
            if (bytes <= 0) fail("recv");
            c->length += (size_t)bytes;
            if (!is_complete(c, has_body)) continue;
            if (memcmp(c->answer, status, 12) != 0) failed++;
            if (requests < most_samples) samples[requests] = (uint32_t)((now() - c->due_at) / 1000);
            requests++;
            if (interval > 0) {
                free_ones[free_count++] = c;
            } else {
                send_next(c, now());
            }
        }
    }
    size_t kept = requests < most_samples ? requests : most_samples;
    // What was due and never sent waited until the end, at least.
    for (; interval > 0 && due < end && kept < most_samples; due += interval)
        samples[kept++] = (uint32_t)((end - due) / 1000);
    qsort(samples, kept, sizeof *samples, compare);
    printf("RESULT {\"requests\": %llu, \"duration\": %llu, \"p50\": %u, \"p99\": %u, \"failed\": %llu}\n",
           (unsigned long long)requests, (unsigned long long)((time - start) / 1000),
           kept ? samples[kept / 2] : 0, kept ? samples[kept * 99 / 100] : 0, (unsigned long long)failed);
    return 0;
}
