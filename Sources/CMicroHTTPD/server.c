// Starting and stopping: the daemons, the threads.
#define _GNU_SOURCE  // pthread_setname_np
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

/// After the listener has closed, clients get this long to send one more request on an open connection.
enum { idle_grace_ms = 300 };
/// How long after a response a connection is looked at for its end, see `settle`.
enum { settling_ms = 100 };

const char *cmhd_library_version(void) { return MHD_get_version(); }

/// The router decodes targets, segment by segment; the library must not.
static size_t keep_escapes(void *context, struct MHD_Connection *mhd, char *text) {
    (void)context;
    (void)mhd;
    return strlen(text);
}

struct MHD_Daemon *cmhd_daemon_start(worker *w) {
    const cmhd_options *options = &w->server->options;
    // The bridge writes Date, see answer.c.
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_SUPPRESS_DATE_NO_CLOCK | (options->tls == NULL ? 0 : MHD_USE_TLS);
    // RFC 9112 to the letter, except for one empty line before a request. The number is
    // MHD_OPTION_CLIENT_DISCIPLINE_LVL, which the headers of 0.9 do not have; before 1.0 there is no such option.
    enum { discipline_option = 38, discipline = 1 };
    MHD_AcceptPolicyCallback on_accept = w->server->callbacks.admits == NULL ? NULL : cmhd_on_accept;
    // MHD_OPTION_STRICT_FOR_CLIENT stays off: the bridge checks the same, and with it the library would respond in
    // HTML, with its header written twice.
    struct MHD_OptionItem given[] = {
        {w->server->checks_layout ? MHD_OPTION_CONNECTION_TIMEOUT : (enum MHD_OPTION)discipline_option,
         w->server->checks_layout ? 0 : discipline, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem tls[] = {
        {options->tls == NULL ? MHD_OPTION_END : MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)cmhd_tls_priorities},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)cmhd_no_certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        flags, 0, on_accept, w, cmhd_on_access, w,
        MHD_OPTION_ARRAY, given,
        MHD_OPTION_ARRAY, tls,
        // The bridge accepts, and has a limit.
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)INT_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, cmhd_pool_option(w->server),
        MHD_OPTION_URI_LOG_CALLBACK, cmhd_on_target, w,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, cmhd_on_completed, w,
        MHD_OPTION_NOTIFY_CONNECTION, cmhd_on_connection, w,
        MHD_OPTION_END);
}

static bool start_worker(worker *w, char *message, size_t message_size) {
    w->daemon = cmhd_daemon_start(w);
    if (w->daemon == NULL) {
        snprintf(message, message_size, "libmicrohttpd did not start");
        return false;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    w->epoll = info == NULL ? -1 : info->epoll_fd;
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const bool announces = w->server->callbacks.announces != NULL;
    if (announces) w->greetings = epoll_create1(EPOLL_CLOEXEC);
    if (w->epoll < 0 || w->wake < 0 || (announces && w->greetings < 0)) {
        snprintf(message, message_size, "no descriptor for a worker");
        return false;
    }
    // Another thread waits for signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&w->thread, NULL, cmhd_worker_run, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure != 0) {
        snprintf(message, message_size, "no thread for a worker: %s", strerror(failure));
        return false;
    }
    char name[16];
    snprintf(name, sizeof name, "worker %u", w->index);
    pthread_setname_np(w->thread, name);
    w->running = true;
    return true;
}

size_t cmhd_least_memory(size_t head_bytes, size_t fields) {
    // One more field is `cmhd_no_cookies`.
    return head_bytes + (fields + 1) * CMHD_FIELD_BYTES + CMHD_RESPONSE_HEAD_BYTES;
}

cmhd_server *cmhd_server_new(const cmhd_options *options, const cmhd_callbacks *callbacks) {
    unsigned count = options->workers == 0 ? 1 : options->workers;
    cmhd_server *server = calloc(1, sizeof *server + count * sizeof(worker));
    if (server == NULL) return NULL;
    server->options = *options;
    server->options.workers = count;
    server->options.host = NULL;  // the caller's, not needed any more
    // The most that `cmhd_field_place` can count.
    if (options->fields > UINT16_MAX) server->options.fields = UINT16_MAX;
    server->callbacks = *callbacks;
    server->checks_layout = cmhd_is_before_1_0();
    server->listener = -1;
    pthread_mutex_init(&server->tls_lock, NULL);
    if (options->tls != NULL) cmhd_server_set_tls(server, options->tls);
    server->worker_count = count;
    server->worker_connections = options->connections <= count ? 1 : (options->connections + count - 1) / count;
    server->worker_buffer = options->buffer_bytes / count;
    const size_t memory = cmhd_least_memory(options->head_bytes, options->fields);
    if (server->options.connection_memory < memory) server->options.connection_memory = memory;
    const uint32_t settling = options->idle_timeout < settling_ms ? options->idle_timeout : settling_ms;
    const uint32_t limits[PHASE_COUNT] = {
        [PHASE_HEADER] = options->header_timeout, [PHASE_BODY] = options->body_timeout,
        [PHASE_HANDLER] = options->handler_timeout, [PHASE_PATIENT] = options->patient_timeout,
        [PHASE_WRITE] = options->write_timeout,
        [PHASE_SETTLING] = settling, [PHASE_TAKING] = options->write_timeout,
        [PHASE_IDLE] = options->idle_timeout - settling,
    };
    for (unsigned i = 0; i < count; i++) {
        worker *w = &server->workers[i];
        w->server = server;
        w->index = i;
        w->wake = w->greetings = -1;
        w->fields = calloc(server->options.fields + 1u, sizeof *w->fields);
        if (w->fields == NULL) {
            cmhd_server_free(server);
            return NULL;
        }
        for (phase phase = 0; phase < PHASE_COUNT; phase++) w->phases[phase].limit = limits[phase];
    }
    return server;
}

cmhd_server *cmhd_server_start(const cmhd_options *options, const cmhd_callbacks *callbacks, char *message,
                               size_t message_size) {
    // The library writes with MSG_NOSIGNAL where it can. This is for other systems.
    signal(SIGPIPE, SIG_IGN);
    cmhd_server *server = cmhd_server_new(options, callbacks);
    if (server == NULL) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    if (!cmhd_listen(server, options, message, message_size)) {
        cmhd_server_free(server);
        return NULL;
    }
    server->links_fields = !options->adds_fields_singly && cmhd_can_link_fields();
    server->parks = cmhd_can_park();
    for (unsigned i = 0; i < server->worker_count; i++)
        if (!start_worker(&server->workers[i], message, message_size)) {
            cmhd_server_stop(server, 0, 0);
            cmhd_server_free(server);
            return NULL;
        }
    return server;
}

uint16_t cmhd_server_port(const cmhd_server *server) { return server->port; }

unsigned cmhd_server_connections(const cmhd_server *server) {
    unsigned sum = 0;
    for (unsigned i = 0; i < server->worker_count; i++)
        sum += atomic_load_explicit(&server->workers[i].connections, memory_order_relaxed);
    return sum;
}

int64_t cmhd_server_busy(const cmhd_server *server) {
    int64_t now = cmhd_now(), longest = 0;
    for (unsigned i = 0; i < server->worker_count; i++) {
        int64_t since = atomic_load_explicit(&server->workers[i].busy_since, memory_order_relaxed);
        if (since != 0 && now - since > longest) longest = now - since;
    }
    return longest;
}

uint64_t cmhd_server_evictions(const cmhd_server *server) {
    return atomic_load_explicit(&server->evictions, memory_order_relaxed);
}

void cmhd_server_stop(cmhd_server *server, uint32_t delay, uint32_t timeout) {
    int64_t now = cmhd_now();
    uint32_t grace = timeout > delay + idle_grace_ms ? delay + idle_grace_ms : timeout;
    server->quiesce_at = now + (delay < timeout ? delay : timeout);
    server->idle_close_at = now + grace;
    server->end_at = now + timeout;
    atomic_store_explicit(&server->draining, true, memory_order_release);
    for (unsigned i = 0; i < server->worker_count; i++)
        if (server->workers[i].wake >= 0) eventfd_write(server->workers[i].wake, 1);
    for (unsigned i = 0; i < server->worker_count; i++) {
        worker *w = &server->workers[i];
        if (w->running) pthread_join(w->thread, NULL);
        else if (w->daemon != NULL) MHD_stop_daemon(w->daemon);
        w->running = false;
    }
    if (server->listener >= 0) close(server->listener);
    server->listener = -1;
}

void cmhd_server_free(cmhd_server *server) {
    if (server == NULL) return;
    for (unsigned i = 0; i < server->worker_count; i++) {
        worker *w = &server->workers[i];
        cmhd_drop_lingering(w);
        cmhd_drop_greetings(w, 0, UINT_MAX);
        if (w->greetings >= 0) close(w->greetings);
        if (w->wake >= 0) close(w->wake);
        free(w->fields);
        free(w->by_descriptor);
    }
    cmhd_tls_release(server->tls);
    pthread_mutex_destroy(&server->tls_lock);
    free(server);
}
