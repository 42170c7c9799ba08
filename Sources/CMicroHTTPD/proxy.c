// The PROXY protocol: a proxy that passes bytes on sends a header with the client's address before them. The library
// gets the socket when the header is complete.
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

/// Version 1: `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443`, CR LF, in at most 107 bytes; `PROXY UNKNOWN` and anything
/// where the proxy does not know its client.
static int read_text(const uint8_t *bytes, size_t length, struct sockaddr_storage *client) {
    enum { most = 107 };
    char line[most + 1];
    const size_t seen = length < most ? length : most;
    const uint8_t *end = memchr(bytes, '\n', seen);
    if (end == NULL) return seen < most ? 0 : -1;
    const size_t size = (size_t)(end - bytes) + 1;
    if (size < 15 || end[-1] != '\r' || memchr(bytes, '\0', size) != NULL) return -1;
    memcpy(line, bytes, size - 2);
    line[size - 2] = '\0';
    memset(client, 0, sizeof *client);
    client->ss_family = AF_UNSPEC;
    if (strncmp(line, "PROXY UNKNOWN", 13) == 0 && (line[13] == '\0' || line[13] == ' ')) return (int)size;
    char family, source[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN], again[most + 1];
    unsigned from, to;
    if (sscanf(line, "PROXY TCP%c %45s %45s %u %u", &family, source, target, &from, &to) != 5) return -1;
    // As the proxy must have written it: one blank, no sign, no zeros in front.
    snprintf(again, sizeof again, "PROXY TCP%c %s %s %u %u", family, source, target, from, to);
    if (strcmp(line, again) != 0 || from > 65535 || to > 65535) return -1;
    struct sockaddr_in *v4 = (struct sockaddr_in *)client;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)client;
    struct in6_addr other;
    if (family == '4' && inet_pton(AF_INET, source, &v4->sin_addr) == 1 && inet_pton(AF_INET, target, &other) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)from);
    } else if (family == '6' && inet_pton(AF_INET6, source, &v6->sin6_addr) == 1 &&
               inet_pton(AF_INET6, target, &other) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons((uint16_t)from);
    } else {
        return -1;
    }
    return (int)size;
}

int cmhd_read_proxy_header(const uint8_t *bytes, size_t length, struct sockaddr_storage *client) {
    static const uint8_t signature[] = {0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A};
    enum { fixed = 16, version = 2, proxied = 1, tcp4 = 0x11, tcp6 = 0x21 };
    const size_t seen = length < sizeof signature ? length : sizeof signature;
    if (memcmp(bytes, "PROXY ", length < 6 ? length : 6) == 0) return length < 6 ? 0 : read_text(bytes, length, client);
    if (memcmp(bytes, signature, seen) != 0) return -1;
    if (length < fixed) return 0;
    const unsigned command = bytes[12] & 0x0F, size = (unsigned)bytes[14] << 8 | bytes[15];
    if (bytes[12] >> 4 != version || command > proxied || fixed + size > CMHD_PROXY_HEADER_BYTES) return -1;
    if (length < fixed + size) return 0;
    // The source's address, the destination's, the source's port, the destination's; what follows may be left out.
    memset(client, 0, sizeof *client);
    client->ss_family = AF_UNSPEC;
    const uint8_t *at = bytes + fixed;
    if (command == proxied && bytes[13] == tcp4) {
        if (size < 12) return -1;
        struct sockaddr_in *address = (struct sockaddr_in *)client;
        address->sin_family = AF_INET;
        memcpy(&address->sin_addr, at, 4);
        memcpy(&address->sin_port, at + 8, 2);
    } else if (command == proxied && bytes[13] == tcp6) {
        if (size < 36) return -1;
        struct sockaddr_in6 *address = (struct sockaddr_in6 *)client;
        address->sin6_family = AF_INET6;
        memcpy(&address->sin6_addr, at, 16);
        memcpy(&address->sin6_port, at + 32, 2);
    }
    return (int)(fixed + size);
}

struct greeting {
    greeting *previous, *next;  ///< in the order of their deadlines
    int fd;
    int64_t deadline;  ///< monotonic milliseconds
    struct sockaddr_in6 proxy;
    socklen_t proxy_length;
};

/// Returns its socket, which is open.
static int take(worker *w, greeting *g) {
    if (g->previous != NULL) g->previous->next = g->next; else w->first_greeting = g->next;
    if (g->next != NULL) g->next->previous = g->previous; else w->last_greeting = g->previous;
    atomic_fetch_sub_explicit(&w->connections, 1, memory_order_relaxed);
    const int fd = g->fd;
    epoll_ctl(w->greetings, EPOLL_CTL_DEL, fd, NULL);
    free(g);
    return fd;
}

/// Manual, epoll(7): after an edge there is no other one until more bytes come, also when these are left where they
/// are. `ended`: no more will come.
static void look(worker *w, greeting *g, bool ended) {
    static _Thread_local uint8_t bytes[CMHD_PROXY_HEADER_BYTES];
    const ssize_t got = recv(g->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    struct sockaddr_storage client;
    int size = got <= 0 ? -1 : cmhd_read_proxy_header(bytes, (size_t)got, &client);
    if (size == 0 && !ended) return;
    // Only the header: what follows it is the client's.
    if (size > 0 && recv(g->fd, bytes, (size_t)size, MSG_DONTWAIT) != size) size = -1;
    const struct sockaddr_in6 proxy = g->proxy;
    const socklen_t proxy_length = g->proxy_length;
    const int fd = take(w, g);
    if (size <= 0) {
        close(fd);
        return;
    }
    // Manual, MHD_add_connection: "The socket will be closed in any case".
    if (client.ss_family == AF_UNSPEC) MHD_add_connection(w->daemon, fd, (const struct sockaddr *)&proxy, proxy_length);
    else
        MHD_add_connection(w->daemon, fd, (const struct sockaddr *)&client,
                           client.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
}

void cmhd_await_greeting(worker *w, int fd, const struct sockaddr_in6 *proxy, socklen_t length) {
    greeting *g = malloc(sizeof *g);
    struct epoll_event wish = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = g};
    if (g == NULL || epoll_ctl(w->greetings, EPOLL_CTL_ADD, fd, &wish) != 0) {
        free(g);
        close(fd);
        return;
    }
    *g = (greeting){.previous = w->last_greeting, .fd = fd, .deadline = w->now + w->phases[PHASE_HEADER].limit,
                    .proxy = *proxy, .proxy_length = length};
    if (w->last_greeting != NULL) w->last_greeting->next = g; else w->first_greeting = g;
    w->last_greeting = g;
    atomic_fetch_add_explicit(&w->connections, 1, memory_order_relaxed);
    look(w, g, false);
}

void cmhd_greet(worker *w) {
    enum { at_once = 64 };
    struct epoll_event events[at_once];
    const int count = epoll_wait(w->greetings, events, at_once, 0);
    for (int place = 0; place < count; place++)
        look(w, events[place].data.ptr, (events[place].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
    while (w->first_greeting != NULL && w->first_greeting->deadline <= w->now) close(take(w, w->first_greeting));
}

unsigned cmhd_drop_greetings(worker *w, int64_t age, unsigned most) {
    const int64_t limit = w->phases[PHASE_HEADER].limit;
    unsigned count = 0;
    for (greeting *g; (g = w->first_greeting) != NULL && count < most && w->now - (g->deadline - limit) >= age; count++)
        close(take(w, g));
    return count;
}
