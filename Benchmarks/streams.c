// Opens streams of events and keeps them open, and measures when they see a change.
//
//   streams PORT TOKENS STREAMS PATCHES
//
// Stream number i has line i of the file TOKENS, again and again; the lines are of one length. When all streams have
// begun it prints a line. With PATCHES it then sends so many PATCHes, one after the other, for the first token, and
// prints the distances between each answer and each event as a line of JSON. It ends when its input ends.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "samples.h"

enum { most_bytes = 4096, most_events = 256 };

static int port, queue;

static int open_connection(const char *head, const char *token, const char *tail) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    char request[1024];
    int length = snprintf(request, sizeof request, "%s\r\nHost: h\r\nAuthorization: Bearer %s\r\n%s", head, token, tail);
    if (send(fd, request, (size_t)length, 0) != length) fail("send");
    return fd;
}

/// Reads from the streams until so many have sent `mark`; notes the time of each.
static void await(size_t count, const char *mark, uint32_t *times, uint64_t since) {
    struct epoll_event events[most_events];
    char bytes[most_bytes];
    for (size_t seen = 0; seen < count;) {
        int ready = epoll_wait(queue, events, most_events, 20000);
        if (ready <= 0) fail("no event for 20 s");
        for (int i = 0; i < ready; i++) {
            ssize_t got = recv(events[i].data.fd, bytes, sizeof bytes, 0);
            if (got <= 0) fail("a stream ended");
            if (memmem(bytes, (size_t)got, mark, strlen(mark)) == NULL) continue;
            if (times != NULL) times[seen] = (uint32_t)((now() - since) / 1000);
            seen++;
        }
    }
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    port = atoi(arguments[1]);
    size_t streams = (size_t)atol(arguments[3]), patches = (size_t)atol(arguments[4]);
    FILE *file = fopen(arguments[2], "re");
    queue = epoll_create1(EPOLL_CLOEXEC);
    if (file == NULL || queue < 0) fail(arguments[2]);
    char token[256], first[256] = "";
    for (size_t i = 0; i < streams; i++) {
        if (fgets(token, sizeof token, file) == NULL) {
            rewind(file);
            if (fgets(token, sizeof token, file) == NULL) fail("no token");
        }
        token[strcspn(token, "\n")] = '\0';
        if (i == 0) memcpy(first, token, sizeof first);
        struct epoll_event event = {
            .events = EPOLLIN, .data.fd = open_connection("GET /v1/sessions/current/events HTTP/1.1", token, "\r\n")};
        if (epoll_ctl(queue, EPOLL_CTL_ADD, event.data.fd, &event) != 0) fail("epoll_ctl");
        await(1, "retry: ", NULL, 0);
    }
    printf("open\n");
    fflush(stdout);
    if (patches > 0) {
        uint32_t *times = calloc(patches * streams, sizeof *times);
        if (times == NULL) fail("calloc");
        for (size_t i = 0; i < patches; i++) {
            char answer[most_bytes];
            int fd = open_connection(
                "PATCH /v1/sessions/current/services/profile HTTP/1.1", first,
                "Content-Type: application/json\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{\"name\":\"x\"}");
            if (recv(fd, answer, sizeof answer, 0) <= 0 || strncmp(answer, "HTTP/1.1 200", 12) != 0) fail("PATCH");
            uint64_t answered = now();
            close(fd);
            await(streams, "service.changed", times + i * streams, answered);
        }
        qsort(times, patches * streams, sizeof *times, compare);
        size_t all = patches * streams;
        printf("{\"p50_us\": %u, \"p99_us\": %u, \"max_us\": %u}\n", times[all / 2], times[all - 1 - all / 100],
               times[all - 1]);
        fflush(stdout);
    }
    while (getchar() != EOF) continue;
    return 0;
}
