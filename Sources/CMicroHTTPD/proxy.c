// The PROXY protocol: a proxy that passes bytes on sends a header with the client's address before them. The library
// gets the socket when the header is complete.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "internal.h"

int cmhd_read_proxy_header(const uint8_t *bytes, size_t length, struct sockaddr_storage *client) {
    static const uint8_t signature[] = {0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A};
    enum { fixed = 16, version = 2, proxied = 1, tcp4 = 0x11, tcp6 = 0x21 };
    const size_t seen = length < sizeof signature ? length : sizeof signature;
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
