// Clients that hold the server up: each sends the beginning of a request, then a byte every two seconds, or it sends a
// whole request and takes a byte of the response every two seconds. A client whose connection ends comes back at once.
//
//   slow PORT CLIENTS send|take < BEGINNING
//
// Prints a line when every client has sent its BEGINNING. On SIGTERM it prints a line of JSON: how many connections the
// server has ended, how long the longest of all was open, and how many responses came to clients that send (a refusal,
// for example). With `take` a client has a small window, so that the response waits at the server.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "samples.h"

enum { interval_ms = 2000, slice_ms = 1, most_events = 1024, small_window = 2048 };

typedef struct {
    int fd;
    bool has_begun;
    size_t sent;  // of the beginning
    uint64_t connected_at;
} client;

static int queue;
static struct sockaddr_in server;
static bool takes;
static char beginning[2 << 20];
static size_t beginning_length;
static uint64_t ended, longest, answered;
static volatile sig_atomic_t is_over;

static void end(int signal) {
    (void)signal;
    is_over = 1;
}

static void begin(client *c) {
    c->has_begun = false;
    c->sent = 0;
    c->connected_at = now();
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) fail("socket");
    int window = small_window;
    if (takes) setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    struct epoll_event event = {.events = EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(queue, EPOLL_CTL_ADD, c->fd, &event) != 0) fail("epoll_ctl");
    if (connect(c->fd, (struct sockaddr *)&server, sizeof server) != 0 && errno != EINPROGRESS) fail("connect");
}

static void note_age(const client *c) {
    uint64_t age = c->sent > 0 ? now() - c->connected_at : 0;
    if (age > longest) longest = age;
}

/// Closing with a reset leaves no socket behind that waits.
static void begin_again(client *c) {
    char answer[16];
    if (!takes && recv(c->fd, answer, sizeof answer, MSG_DONTWAIT) > 0) answered++;
    note_age(c);
    ended++;
    struct linger reset = {.l_onoff = 1};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(c->fd);
    begin(c);
}

static bool go_on(client *c) {
    char byte = 'a';
    ssize_t moved = takes ? recv(c->fd, &byte, 1, 0) : send(c->fd, &byte, 1, MSG_NOSIGNAL);
    return moved > 0 || (moved < 0 && errno == EAGAIN);
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t width = (size_t)atol(arguments[2]), begun = 0, next = 0;
    takes = strcmp(arguments[3], "take") == 0;
    beginning_length = fread(beginning, 1, sizeof beginning, stdin);
    client *clients = calloc(width, sizeof *clients);
    queue = epoll_create1(EPOLL_CLOEXEC);
    if (clients == NULL || queue < 0 || width == 0) fail("start");
    signal(SIGTERM, end);
    bool is_open = false;
    for (size_t i = 0; i < width; i++) {
        begin(&clients[i]);
        if (i % 64 == 63) usleep(1000);  // less than the backlog at once
    }
    uint64_t due = now();
    while (!is_over) {
        struct epoll_event events[most_events];
        int ready = epoll_wait(queue, events, most_events, slice_ms);
        for (int i = 0; i < ready; i++) {
            client *c = events[i].data.ptr;
            if ((events[i].events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) {
                begin_again(c);
            } else if (!c->has_begun) {
                if (c->sent == 0) c->connected_at = now();
                ssize_t sent = send(c->fd, beginning + c->sent, beginning_length - c->sent, MSG_NOSIGNAL);
                if (sent > 0) c->sent += (size_t)sent;
                if (c->sent < beginning_length) continue;
                c->has_begun = true;
                begun++;
            }
        }
        if (!is_open && begun >= width) {
            is_open = true;
            printf("open\n");
            fflush(stdout);
        }
        for (; due <= now(); due += (uint64_t)interval_ms * 1000000 / width) {
            client *c = &clients[next];
            next = (next + 1) % width;
            if (c->has_begun && !go_on(c)) begin_again(c);
        }
    }
    for (size_t i = 0; i < width; i++) note_age(&clients[i]);
    printf("{\"ended\": %llu, \"longest_ms\": %llu, \"answered\": %llu}\n", (unsigned long long)ended,
           (unsigned long long)(longest / 1000000), (unsigned long long)answered);
    return 0;
}
