// Accepting clients. The workers share one listening socket, which the library does not know: each worker accepts for
// itself, and leaves clients to the others while it has more connections than they.
#define _GNU_SOURCE  // accept4
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

/// How long a worker does not try to accept when descriptors or memory are used up.
enum { exhausted_ms = 50 };
/// A worker whose turn has taken so long already is not waited for.
enum { busy_ms = 2 };

static unsigned connections_of(const worker *w) {
    return atomic_load_explicit(&w->connections, memory_order_relaxed);
}

/// Whether the other worker has so many fewer connections that the next client should be its own.
static bool should_leave_to(const worker *w, const worker *other) {
    enum { slack = 4, share = 8 };
    unsigned own = connections_of(w);
    int64_t since = atomic_load_explicit(&other->busy_since, memory_order_relaxed);
    return connections_of(other) + slack + own / share < own && (since == 0 || w->now - since < busy_ms);
}

cmhd_acceptance cmhd_may_accept(worker *w) {
    const bool is_full = cmhd_counted_connections(w) >= w->server->worker_connections;
    if (w->quiesced || w->now < w->accept_at || is_full) return CMHD_NOT_NOW;
    cmhd_acceptance acceptance = CMHD_ACCEPTS;
    for (unsigned i = 0; i < w->server->worker_count; i++) {
        worker *other = &w->server->workers[i];
        if (!should_leave_to(w, other)) continue;
        acceptance = CMHD_LEAVES_IT;
        // It may have left clients to this worker until now.
        if (w->accepts) cmhd_wake(other);
    }
    return acceptance;
}

/// Returns false when no client waits, or none can be accepted now.
static bool accept_one(worker *w) {
    struct sockaddr_in6 peer;
    socklen_t length = sizeof peer;
    int fd = accept4(w->server->listener, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            w->accept_at = w->now + exhausted_ms;
        // The client left while it waited.
        return errno == ECONNABORTED || errno == EINTR;
    }
    // A client at a path is on this machine, and has no address.
    if (w->server->address.ss_family == AF_UNIX) {
        length = sizeof(struct sockaddr_in);
        *(struct sockaddr_in *)&peer =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    }
    const cmhd_callbacks *callbacks = &w->server->callbacks;
    if (callbacks->announces != NULL && callbacks->announces(callbacks->context, (struct sockaddr *)&peer)) {
        cmhd_await_greeting(w, fd, &peer, length);
        return true;
    }
    // Manual, MHD_add_connection: "The socket will be closed in any case".
    MHD_add_connection(w->daemon, fd, (struct sockaddr *)&peer, length);
    return true;
}

void cmhd_accept(worker *w) {
    for (unsigned count = 0; count < CMHD_ACCEPTED_AT_ONCE && cmhd_may_accept(w) == CMHD_ACCEPTS; count++)
        if (!accept_one(w)) return;
}

void cmhd_stop_accepting(worker *w) {
    enum { most = 10000 };  // more than the backlog holds
    w->quiesced = true;
    // The clients that wait there are the next server's.
    if (w->server->is_inherited) return;
    cmhd_let_nobody_in(w->server);
    // Clients that are connected and wait to be accepted may have sent their request, which must not be lost.
    for (unsigned count = 0; count < most && accept_one(w); count++) continue;
    // All workers share one socket: from here on clients are refused instead of left waiting.
    shutdown(w->server->listener, SHUT_RD);
}
