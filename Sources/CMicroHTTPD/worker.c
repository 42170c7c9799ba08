// A worker: the loop around a daemon, the deadlines of its connections, and draining.
#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/// The longest sleep of a loop.
enum { sleep_ms = 250, draining_sleep_ms = 10, lingering_sleep_ms = 20, parked_sleep_ms = 20, leaving_sleep_ms = 20 };
/// How often it looks for each client whether it left while its request waits.
enum { gone_check_ms = 1000 };
enum { linger_ms = 5000, linger_bytes = 64 << 20 };
/// Lingering sockets do not count for the connection limit, so each worker has a limit for them.
enum { lingering_limit = 256 };
/// How long a stopping server waits for clients to read refusals and, beyond its timeout, last responses.
enum { draining_linger_ms = 500, last_write_ms = 500 };

uint64_t cmhd_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int64_t cmhd_now(void) { return (int64_t)(cmhd_clock() / 1000000); }

void cmhd_note_time(worker *w, uint64_t clock) {
    w->clock = clock;
    w->now = (int64_t)(clock / 1000000);
}

bool cmhd_is_draining(const worker *w) {
    return atomic_load_explicit(&w->server->draining, memory_order_acquire);
}

static void leave(cmhd_connection *c) {
    phase_list *list = &c->worker->phases[c->phase];
    if (c->worker->next_to_empty == c) c->worker->next_to_empty = c->next;
    if (c->previous != NULL) c->previous->next = c->next; else list->first = c->next;
    if (c->next != NULL) c->next->previous = c->previous; else list->last = c->previous;
    list->count--;
}

static void append(cmhd_connection *c, phase phase) {
    phase_list *list = &c->worker->phases[phase];
    c->phase = phase;
    c->deadline = c->worker->now + list->limit;
    c->previous = list->last;
    c->next = NULL;
    if (list->last != NULL) list->last->next = c; else list->first = c;
    list->last = c;
    list->count++;
    if (phase == PHASE_IDLE && c->worker->next_to_empty == NULL) c->worker->next_to_empty = c;
}

void cmhd_enter(cmhd_connection *c, phase next) {
    leave(c);
    append(c, next);
}

/// The library notices at its next turn, closes the connection and calls `cmhd_on_completed`.
void cmhd_close_socket(cmhd_connection *c) {
    // Otherwise the kernel would keep unread bytes for minutes, behind a zero window.
    struct linger reset = {.l_onoff = 1};
    if (c->phase == PHASE_WRITE || c->phase == PHASE_TAKING)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    const bool is_idle = c->phase == PHASE_SETTLING || c->phase == PHASE_IDLE;
    cmhd_enter(c, PHASE_ENDED);
    if (is_idle) cmhd_tls_end(c);
    shutdown(c->fd, SHUT_RDWR);
}

void cmhd_close_writing(cmhd_connection *c) {
    cmhd_enter(c, PHASE_ENDED);
    cmhd_tls_end(c);
    shutdown(c->fd, SHUT_WR);
}

void cmhd_linger(cmhd_connection *c) {
    if (c->worker->lingering_count >= lingering_limit) return;
    lingering *entry = malloc(sizeof *entry);
    int fd = entry == NULL ? -1 : dup(c->fd);
    if (fd < 0) {
        free(entry);
        return;
    }
    *entry = (lingering){.next = c->worker->lingering, .fd = fd, .deadline = cmhd_now() + linger_ms,
                         .left = linger_bytes};
    c->worker->lingering = entry;
    c->worker->lingering_count++;
}

static void read_lingering(worker *w, int64_t now) {
    static _Thread_local char sink[16384];
    // However many there are, some megabytes a turn.
    const unsigned rounds = 1 + 63 / (w->lingering_count + 1);
    for (lingering **at = &w->lingering; *at != NULL;) {
        lingering *entry = *at;
        ssize_t got = 0;
        for (unsigned round = 0; round < rounds && entry->left > 0; round++) {
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
        w->lingering_count--;
        close(entry->fd);
        free(entry);
    }
}

void cmhd_drop_lingering(worker *w) {
    while (w->lingering != NULL) {
        lingering *entry = w->lingering;
        w->lingering = entry->next;
        close(entry->fd);
        free(entry);
    }
    w->lingering_count = 0;
}

/// Lingering sockets must not delay a stopping server for long.
static void hurry_lingering(worker *w, int64_t now) {
    for (lingering *entry = w->lingering; entry != NULL; entry = entry->next)
        if (entry->deadline > now + draining_linger_ms) entry->deadline = now + draining_linger_ms;
}

static bool has_unread(const cmhd_connection *c) {
    int unread = 0;
    return cmhd_tls_has_unread(c) || (ioctl(c->fd, FIONREAD, &unread) == 0 && unread > 0);
}

enum MHD_Result cmhd_on_accept(void *context, const struct sockaddr *peer, socklen_t length) {
    (void)length;
    const worker *w = context;
    const cmhd_callbacks *callbacks = &w->server->callbacks;
    return callbacks->admits(callbacks->context, peer, w->clock) ? MHD_YES : MHD_NO;
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
        info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        c->peer = info == NULL ? NULL : info->client_addr;
        if (w->server->options.tls != NULL) cmhd_tls_begin(c);
        cmhd_enlarge_pool(c);
        append(c, PHASE_HEADER);
        w->moved = true;
        cmhd_note_connection(c);
        atomic_fetch_add_explicit(&w->connections, 1, memory_order_relaxed);
        const cmhd_callbacks *callbacks = &w->server->callbacks;
        if (callbacks->connected != NULL) callbacks->connected(callbacks->context, c->peer);
    } else {
        cmhd_connection *c = *socket_context;
        if (c == NULL) return;
        // The library has freed it.
        c->session = NULL;
        cmhd_release_buffer(c);
        // The library may have refused the request, such as an endless request line, or its body, before reading it to
        // its end.
        if ((c->phase == PHASE_HEADER || c->phase == PHASE_BODY) && has_unread(c)) cmhd_linger(c);
        leave(c);
        w->moved = true;
        cmhd_forget_connection(c);
        const cmhd_callbacks *callbacks = &w->server->callbacks;
        if (callbacks->disconnected != NULL) callbacks->disconnected(callbacks->context, c->peer);
        if (w->fields_owner == c) w->fields_owner = NULL;
        free(c->body);
        cmhd_tls_release(c->tls);
        free(c);
        atomic_fetch_sub_explicit(&w->connections, 1, memory_order_relaxed);
    }
}

static void end_waiting(cmhd_connection *c, cmhd_end reason) {
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    cmhd_enter(c, PHASE_ENDED);
    if (c->waiting != NULL) callbacks->end(callbacks->context, c->waiting, reason);
}

/// Whether the kernel still has something for the client. Manual, tcp(7), SIOCOUTQ.
static bool has_untaken(const cmhd_connection *c) {
    int untaken = 0;
    return ioctl(c->fd, SIOCOUTQ, &untaken) == 0 && untaken > 0;
}

bool cmhd_has_left(const cmhd_connection *c) {
    char next;
    ssize_t got = recv(c->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

/// The library reads until it gets less than it has room for, and waits for the next edge. When the client's last bytes
/// and the end of its stream arrived together, that edge is over. So a connection on which nothing follows its response
/// is looked at once; a busy one never is.
static void settle(cmhd_connection *c) {
    if (cmhd_has_left(c)) cmhd_close_socket(c);
    else cmhd_enter(c, has_untaken(c) ? PHASE_TAKING : PHASE_IDLE);
}

/// Ends the phases that are over their time, some at a time, so that thousands of them delay nobody. Returns the
/// milliseconds until the next deadline.
static int64_t check_deadlines(worker *w, int64_t now) {
    enum { at_once = 64 };
    unsigned count = 0;
    int64_t next = sleep_ms;
    for (phase phase = 0; phase < PHASE_ENDED; phase++) {
        cmhd_connection *c;
        while ((c = w->phases[phase].first) != NULL && c->deadline <= now && count++ < at_once) {
            if (phase == PHASE_HANDLER || phase == PHASE_PATIENT) end_waiting(c, CMHD_END_DEADLINE);
            else if (phase == PHASE_SETTLING) settle(c);
            else if (phase == PHASE_TAKING && !has_untaken(c)) cmhd_enter(c, PHASE_IDLE);
            else cmhd_close_socket(c);
        }
        if (c != NULL && c->deadline - now < next) next = c->deadline > now ? c->deadline - now : 0;
    }
    return next;
}

/// Gives back the memory of connections that have been idle for a while, some at a time. Returns the milliseconds until
/// the next, at most `sleep`.
static int64_t empty_idle(worker *w, int64_t sleep) {
    enum { at_once = 64, age_ms = 1000 };
    const int64_t limit = w->phases[PHASE_IDLE].limit;
    for (unsigned count = 0; count < at_once; count++) {
        cmhd_connection *c = w->next_to_empty;
        if (c == NULL || w->now - (c->deadline - limit) < age_ms) return sleep;
        cmhd_empty_pool(c);
        w->next_to_empty = c->next;
    }
    return sleep < 1 ? sleep : 1;
}

/// How many clients wait to be accepted. Manual, tcp(7), TCP_INFO: of a listening socket the kernel tells the length of
/// its queue as `tcpi_unacked`.
static unsigned waiting_clients(const worker *w) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(w->server->listener, IPPROTO_TCP, TCP_INFO, &info, &size) == 0) return info.tcpi_unacked;
    // At a path it tells only whether there are some.
    struct pollfd look = {.fd = w->server->listener, .events = POLLIN};
    return poll(&look, 1, 0) == 1 ? CMHD_ACCEPTED_AT_ONCE : 0;
}

unsigned cmhd_counted_connections(const worker *w) {
    const unsigned all = atomic_load_explicit(&w->connections, memory_order_relaxed);
    return w->server->options.admits_at_once ? all - w->phases[PHASE_PATIENT].count : all;
}

enum { least_age_ms = 1000 };

/// The first connection of a phase, from `c` on, whose client has sent nothing that was not read, and that came to the
/// phase at least `age` milliseconds ago: a client that is busy, or has just connected, keeps its connection. If
/// `silent`, then only one whose client has never sent anything.
static cmhd_connection *evictable(const worker *w, cmhd_connection *c, int64_t age, bool silent) {
    for (; c != NULL && w->now - (c->deadline - w->phases[c->phase].limit) >= age; c = c->next)
        if ((!silent || c->received == 0) && !has_unread(c)) return c;
    return NULL;
}

/// Closes the connections that have been in a phase for longest. Returns how many.
static unsigned evict(worker *w, phase phase, bool silent, unsigned most) {
    unsigned count = 0;
    cmhd_connection *c = w->phases[phase].first, *next;
    for (; count < most && (c = evictable(w, c, least_age_ms, silent)) != NULL; c = next) {
        next = c->next;
        cmhd_close_socket(c);
        count++;
    }
    return count;
}

/// Keeps places free for the clients that are accepted next, at the cost of the connections that have been without a
/// complete request for longest. Thus a flood of connections does not keep the listener's callers out. A request that
/// waits for what others do takes no place.
static void make_room_at_once(worker *w) {
    // What is on its way to a client that reads is not cut.
    static const struct {
        phase phase;
        int64_t age;
    } lists[] = {{PHASE_HEADER, 0}, {PHASE_BODY, 0}, {PHASE_SETTLING, 0}, {PHASE_IDLE, 0},
                 {PHASE_TAKING, least_age_ms}, {PHASE_WRITE, least_age_ms}};
    const unsigned most = w->server->worker_connections;
    const unsigned kept = most > CMHD_ACCEPTED_AT_ONCE ? most - CMHD_ACCEPTED_AT_ONCE : most / 2;
    // Those that have ended are freed in this turn.
    while (!w->quiesced && cmhd_counted_connections(w) - w->phases[PHASE_ENDED].count > kept) {
        cmhd_connection *oldest = NULL;
        int64_t since = INT64_MAX;
        for (size_t at = 0; at < sizeof lists / sizeof lists[0]; at++) {
            cmhd_connection *c = evictable(w, w->phases[lists[at].phase].first, lists[at].age, false);
            if (c == NULL || c->deadline - w->phases[lists[at].phase].limit >= since) continue;
            since = c->deadline - w->phases[lists[at].phase].limit;
            oldest = c;
        }
        if (oldest == NULL) return;
        cmhd_close_socket(oldest);
        atomic_fetch_add_explicit(&w->server->evictions, 1, memory_order_relaxed);
    }
}

/// At the connection limit the worker accepts nobody, and clients would wait until connections end by themselves. So
/// connections on which nothing was ever sent are closed for them, then idle ones, then those with a part of a head or
/// body, and at last those that do not read.
///
/// Another worker may still have room. So clients must have waited for one look. Returns the milliseconds until the
/// next look, at most `sleep`.
static int64_t make_room(worker *w, int64_t sleep) {
    enum { look_ms = 20, at_once = 64 };
    if (w->server->options.admits_at_once) {
        make_room_at_once(w);
        return sleep;
    }
    if (atomic_load_explicit(&w->connections, memory_order_relaxed) < w->server->worker_connections || w->quiesced) {
        w->crowded = false;
        return sleep;
    }
    if (w->now - w->room_looked_at >= look_ms) {
        w->room_looked_at = w->now;
        unsigned clients = waiting_clients(w);
        if (clients > 0 && w->crowded) {
            unsigned most = (clients + w->server->worker_count - 1) / w->server->worker_count;
            if (most > at_once) most = at_once;
            unsigned evicted = cmhd_drop_greetings(w, least_age_ms, most);
            evicted += evict(w, PHASE_HEADER, true, most - evicted);
            static const phase next[] = {PHASE_TAKING, PHASE_IDLE, PHASE_HEADER, PHASE_BODY, PHASE_WRITE};
            for (size_t at = 0; at < sizeof next / sizeof next[0]; at++)
                evicted += evict(w, next[at], false, most - evicted);
            atomic_fetch_add_explicit(&w->server->evictions, evicted, memory_order_relaxed);
        }
        w->crowded = clients > 0;
    }
    return sleep < look_ms ? sleep : look_ms;
}

/// The library does not watch suspended connections: clients that hang up are noticed here. A busy loop looks at a few
/// descriptors in a turn, so that thousands of waiting clients delay nobody.
static void look_for_gone(worker *w) {
    enum { at_once = 256 };
    static _Thread_local struct pollfd looks[at_once];
    int64_t elapsed = w->now - w->looked_at;
    if (elapsed > gone_check_ms) elapsed = gone_check_ms;
    size_t due = w->by_descriptor_count * (size_t)elapsed / gone_check_ms;
    if (due < at_once && elapsed < gone_check_ms) return;
    w->looked_at = w->now;
    while (due > 0) {
        nfds_t count = 0;
        for (; due > 0 && count < at_once; due--) {
            if (++w->look_next >= w->by_descriptor_count) w->look_next = 0;
            const cmhd_connection *c = w->by_descriptor[w->look_next];
            // No event is requested: errors and hang-ups are always reported. A client that closed only its own half
            // may still want the response.
            if (c != NULL && (c->phase == PHASE_HANDLER || c->phase == PHASE_PATIENT))
                looks[count++] = (struct pollfd){.fd = c->fd};
        }
        if (poll(looks, count, 0) <= 0) continue;
        for (nfds_t place = 0; place < count; place++)
            if ((looks[place].revents & (POLLERR | POLLHUP)) != 0)
                end_waiting(w->by_descriptor[looks[place].fd], CMHD_END_CLIENT_GONE);
    }
}

/// Closes the connections of a phase whose clients have sent nothing that was not read.
static void close_quiet(worker *w, phase phase) {
    for (cmhd_connection *c = w->phases[phase].first, *next; c != NULL; c = next) {
        next = c->next;
        if (c->target == NULL && !has_unread(c)) cmhd_close_socket(c);
    }
}

static void close_all(worker *w, phase phase) {
    while (w->phases[phase].first != NULL) cmhd_close_socket(w->phases[phase].first);
}

/// Looks once at the state of draining; returns false when the worker is done.
static bool drain(worker *w, int64_t now) {
    cmhd_server *server = w->server;
    if (!w->quiesced && now >= server->quiesce_at) {
        cmhd_stop_accepting(w);
        return true;
    }
    if (!w->quiesced) return true;
    hurry_lingering(w, now);
    if (now >= server->idle_close_at) {
        cmhd_drop_greetings(w, 0, UINT_MAX);
        // Their clients may be about to take the end of a response.
        for (cmhd_connection *c; (c = w->phases[PHASE_TAKING].first) != NULL;) cmhd_enter(c, PHASE_IDLE);
        close_quiet(w, PHASE_SETTLING);
        close_quiet(w, PHASE_IDLE);
        // Without a target nothing was ever sent.
        close_quiet(w, PHASE_HEADER);
    }
    if (now >= server->end_at) {
        // At every turn, because a request may have arrived after the last one.
        for (cmhd_connection *c; (c = w->phases[PHASE_HANDLER].first) != NULL;) end_waiting(c, CMHD_END_STOPPING);
        for (cmhd_connection *c; (c = w->phases[PHASE_PATIENT].first) != NULL;) end_waiting(c, CMHD_END_STOPPING);
        static const phase rest[] = {PHASE_HEADER, PHASE_BODY, PHASE_SETTLING, PHASE_IDLE};
        for (unsigned i = 0; i < sizeof rest / sizeof *rest; i++) close_all(w, rest[i]);
    }
    // An exchange that was told to end resumes soon, but on its own thread. Stopping the daemon without it would abort
    // the process, so the worker must wait for it.
    if (now >= server->end_at + last_write_ms) close_all(w, PHASE_WRITE);
    return atomic_load_explicit(&w->connections, memory_order_relaxed) > 0 || w->lingering != NULL;
}

void cmhd_wake(worker *w) {
    atomic_store(&w->awaited, true);
    if (atomic_exchange(&w->sleeping, false)) eventfd_write(w->wake, 1);
}

void cmhd_call_worker(worker *w) {
    atomic_store(&w->called, true);
    cmhd_wake(w);
}

/// Waits for something to do, and does it.
///
/// The library's own wait (MHD_run_wait with a time) asks epoll again whenever it got exactly as many events as it has
/// room for, 128, and waits with those unhandled. So the wait is done here.
static void turn(worker *w, int64_t sleep) {
    cmhd_callbacks *callbacks = &w->server->callbacks;
    MHD_UNSIGNED_LONG_LONG pending = 0;
    // While connections are parked the library always reports work. A turn in which nothing moved shows that there is
    // no other work.
    if (w->parked > 0 && !w->moved) sleep = sleep < parked_sleep_ms ? sleep : parked_sleep_ms;
    else if (MHD_get_timeout(w->daemon, &pending) == MHD_YES && (int64_t)pending < sleep) sleep = (int64_t)pending;
    w->moved = false;
    const cmhd_acceptance acceptance = cmhd_may_accept(w);
    w->accepts = acceptance == CMHD_ACCEPTS;
    if (!w->accepts && w->accept_at > w->now && w->accept_at - w->now < sleep) sleep = w->accept_at - w->now;
    // The other worker may have much to do by then.
    if (acceptance == CMHD_LEAVES_IT && sleep > leaving_sleep_ms) sleep = leaving_sleep_ms;
    struct pollfd ready[] = {{.fd = w->epoll, .events = POLLIN},
                             {.fd = w->wake, .events = POLLIN},
                             {.fd = w->accepts ? w->server->listener : -1, .events = POLLIN},
                             {.fd = w->greetings, .events = POLLIN}};
    bool has_looked = false;
    if (sleep > 0) {
        atomic_store_explicit(&w->busy_since, 0, memory_order_relaxed);
        atomic_store(&w->sleeping, true);
        if (!atomic_load(&w->awaited)) has_looked = poll(ready, 4, (int)sleep) >= 0;
        atomic_store(&w->sleeping, false);
        eventfd_t count;
        if ((ready[1].revents & POLLIN) != 0) eventfd_read(w->wake, &count);
    }
    // An exchange, not a store: what another thread did before it set `awaited` must be visible from here on.
    atomic_exchange(&w->awaited, false);
    cmhd_note_time(w, cmhd_clock());
    atomic_store_explicit(&w->busy_since, w->now, memory_order_relaxed);
    if (atomic_exchange(&w->called, false)) {
        callbacks->worker_called(callbacks->context, w->index);
        // Handlers ran, and may have taken long.
        cmhd_note_time(w, cmhd_clock());
    }
    // A worker that does not sleep looks once in a millisecond.
    if (w->accepts && (has_looked ? (ready[2].revents & POLLIN) != 0 : w->accept_looked_at < w->now)) {
        w->accept_looked_at = w->now;
        cmhd_accept(w);
    }
    if (w->first_greeting != NULL) cmhd_greet(w);
    MHD_run_wait(w->daemon, 0);
}

void *cmhd_worker_run(void *context) {
    worker *w = context;
    cmhd_begin_worker(w);
    cmhd_callbacks *callbacks = &w->server->callbacks;
    callbacks->worker_began(callbacks->context, w->index, w);
    for (;;) {
        cmhd_note_time(w, cmhd_clock());
        int64_t now = w->now;
        int64_t sleep = check_deadlines(w, now);
        look_for_gone(w);
        sleep = empty_idle(w, sleep);
        sleep = make_room(w, sleep);
        if (w->lingering != NULL) {
            read_lingering(w, now);
            if (sleep > lingering_sleep_ms) sleep = lingering_sleep_ms;
        }
        if (cmhd_is_draining(w)) {
            if (!drain(w, now)) break;
            if (sleep > draining_sleep_ms) sleep = draining_sleep_ms;
        }
        turn(w, sleep);
    }
    callbacks->worker_ended(callbacks->context, w->index);
    while (atomic_load_explicit(&w->resuming, memory_order_acquire) > 0) sched_yield();
    MHD_stop_daemon(w->daemon);
    w->daemon = NULL;
    return NULL;
}
