// A worker: the loop around one daemon, the deadlines of its connections, and how it drains.
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

/// How long a loop sleeps at most: how soon it notices that the server drains.
enum { sleep_ms = 250, draining_sleep_ms = 10, lingering_sleep_ms = 20 };
/// A client that leaves while its request waits is looked for this often.
enum { gone_check_ms = 1000 };
enum { linger_ms = 5000, linger_bytes = 64 << 20 };

int64_t cmhd_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool cmhd_is_draining(const worker *w) {
    return atomic_load_explicit(&w->server->draining, memory_order_acquire);
}

static void leave(cmhd_connection *c) {
    phase_list *list = &c->worker->phases[c->phase];
    if (c->previous != NULL) c->previous->next = c->next; else list->first = c->next;
    if (c->next != NULL) c->next->previous = c->previous; else list->last = c->previous;
}

static void append(cmhd_connection *c, phase phase) {
    phase_list *list = &c->worker->phases[phase];
    c->phase = phase;
    c->deadline = cmhd_now() + list->limit;
    c->previous = list->last;
    c->next = NULL;
    if (list->last != NULL) list->last->next = c; else list->first = c;
    list->last = c;
}

void cmhd_enter(cmhd_connection *c, phase next) {
    leave(c);
    append(c, next);
}

/// The library notices at its next turn, closes the connection and calls `cmhd_on_completed`.
void cmhd_close_socket(cmhd_connection *c) {
    cmhd_enter(c, PHASE_ENDED);
    shutdown(c->fd, SHUT_RDWR);
}

void cmhd_linger(cmhd_connection *c) {
    lingering *entry = malloc(sizeof *entry);
    int fd = entry == NULL ? -1 : dup(c->fd);
    if (fd < 0) {
        free(entry);
        return;
    }
    *entry = (lingering){.next = c->worker->lingering, .fd = fd, .deadline = cmhd_now() + linger_ms,
                         .left = linger_bytes};
    c->worker->lingering = entry;
}

static void read_lingering(worker *w, int64_t now) {
    static _Thread_local char sink[16384];
    for (lingering **at = &w->lingering; *at != NULL;) {
        lingering *entry = *at;
        ssize_t got = 0;
        for (int round = 0; round < 64 && entry->left > 0; round++) {
            got = recv(entry->fd, sink, sizeof sink, MSG_DONTWAIT);
            if (got <= 0) break;
            entry->left -= (size_t)got < entry->left ? (size_t)got : entry->left;
        }
        bool waits = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (waits && entry->left > 0 && now < entry->deadline) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        close(entry->fd);
        free(entry);
    }
}

void cmhd_on_connection(void *context, struct MHD_Connection *mhd, void **socket_context,
                        enum MHD_ConnectionNotificationCode code) {
    worker *w = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        cmhd_connection *c = calloc(1, sizeof *c);
        *socket_context = c;
        if (c == NULL) return;
        c->worker = w;
        c->mhd = mhd;
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
        c->fd = info == NULL ? -1 : info->connect_fd;
        append(c, PHASE_HEADER);
        atomic_fetch_add_explicit(&w->connections, 1, memory_order_relaxed);
    } else {
        cmhd_connection *c = *socket_context;
        if (c == NULL) return;
        leave(c);
        if (w->fields_owner == c) w->fields_owner = NULL;
        free(c->body);
        free(c);
        atomic_fetch_sub_explicit(&w->connections, 1, memory_order_relaxed);
    }
}

static void end_waiting(cmhd_connection *c, cmhd_end reason) {
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    cmhd_enter(c, PHASE_ENDED);
    if (c->exchange != NULL) callbacks->end(callbacks->context, c->exchange, reason);
}

/// Ends what is over its time. Returns the milliseconds until the next one is.
static int64_t check_deadlines(worker *w, int64_t now) {
    int64_t next = sleep_ms;
    for (phase phase = 0; phase < PHASE_ENDED; phase++) {
        cmhd_connection *c;
        while ((c = w->phases[phase].first) != NULL && c->deadline <= now) {
            if (phase == PHASE_HANDLER) end_waiting(c, CMHD_END_DEADLINE); else cmhd_close_socket(c);
        }
        if (c != NULL && c->deadline - now < next) next = c->deadline - now;
    }
    return next;
}

/// A suspended connection is not watched by the library: a client that hangs up is noticed here.
static void look_for_gone(worker *w) {
    for (cmhd_connection *c = w->phases[PHASE_HANDLER].first, *next; c != NULL; c = next) {
        next = c->next;
        // No event asked for: errors and hang-ups are always told. A client that only closed its own half may
        // still want the answer.
        struct pollfd look = {.fd = c->fd};
        if (poll(&look, 1, 0) == 1 && (look.revents & (POLLERR | POLLHUP)) != 0) end_waiting(c, CMHD_END_CLIENT_GONE);
    }
}

static bool has_unread(const cmhd_connection *c) {
    int unread = 0;
    return ioctl(c->fd, FIONREAD, &unread) == 0 && unread > 0;
}

/// One look at how the draining goes; false when the worker is done.
static bool drain(worker *w, int64_t now) {
    cmhd_server *server = w->server;
    if (!w->quiesced && now >= server->quiesce_at) {
        // What has come in until now is still accepted.
        MHD_run_wait(w->daemon, 0);
        w->listener = MHD_quiesce_daemon(w->daemon);
        // All workers' descriptors are one socket: from here on clients are refused, not left waiting.
        if (w->listener >= 0) shutdown(w->listener, SHUT_RD);
        w->quiesced = true;
    }
    if (!w->quiesced) return true;
    if (now >= server->idle_close_at) {
        for (cmhd_connection *c = w->phases[PHASE_IDLE].first, *next; c != NULL; c = next) {
            next = c->next;
            if (!has_unread(c)) cmhd_close_socket(c);
        }
        // Connections on which nothing was ever sent.
        for (cmhd_connection *c = w->phases[PHASE_HEADER].first, *next; c != NULL; c = next) {
            next = c->next;
            if (c->target == NULL && !has_unread(c)) cmhd_close_socket(c);
        }
    }
    if (now >= server->end_at && !w->ended) {
        w->ended = true;
        while (w->phases[PHASE_HANDLER].first != NULL) end_waiting(w->phases[PHASE_HANDLER].first, CMHD_END_STOPPING);
        static const phase rest[] = {PHASE_HEADER, PHASE_BODY, PHASE_IDLE};
        for (unsigned i = 0; i < sizeof rest / sizeof *rest; i++)
            while (w->phases[rest[i]].first != NULL) cmhd_close_socket(w->phases[rest[i]].first);
        w->phases[PHASE_WRITE].limit = 0;
    }
    // An exchange that was told to end resumes soon, but on its own thread. One that never did would make
    // stopping the daemon abort the process, so there is no way around waiting for it.
    if (now >= server->end_at + 500)
        while (w->phases[PHASE_WRITE].first != NULL) cmhd_close_socket(w->phases[PHASE_WRITE].first);
    return atomic_load_explicit(&w->connections, memory_order_relaxed) > 0 || w->lingering != NULL;
}

void *cmhd_worker_run(void *context) {
    worker *w = context;
    int64_t look_at = 0;
    for (;;) {
        int64_t now = cmhd_now();
        int64_t sleep = check_deadlines(w, now);
        if (w->phases[PHASE_HANDLER].first != NULL && now >= look_at) {
            look_for_gone(w);
            look_at = now + gone_check_ms;
        }
        if (w->lingering != NULL) {
            read_lingering(w, now);
            if (sleep > lingering_sleep_ms) sleep = lingering_sleep_ms;
        }
        if (cmhd_is_draining(w)) {
            if (!drain(w, now)) break;
            if (sleep > draining_sleep_ms) sleep = draining_sleep_ms;
        }
        MHD_run_wait(w->daemon, (int32_t)sleep);
    }
    MHD_stop_daemon(w->daemon);
    w->daemon = NULL;
    // Manual, MHD_quiesce_daemon: the socket is the caller's to close, once the daemon is stopped.
    if (w->listener >= 0) close(w->listener);
    return NULL;
}
