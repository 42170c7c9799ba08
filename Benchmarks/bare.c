/* The least that libmicrohttpd can do: what Concierge is measured against.
 *
 * The same library, the same options and the same shape of answer, with nothing behind it: no session is looked up,
 * nothing is parsed, nothing is kept. What Concierge costs beyond this is Concierge's.
 *
 *   bare [--port N] [--threads N] [--idle N] [--memory BYTES] [--connections N] [--etag VALUE] [--body JSON] [--created JSON]
 *
 * --threads is how many loops there are, --idle how many threads beside them that only wait: the kernel and the C library
 * do more for each system call of a process that has several threads.
 *
 * GET answers the body (304 when If-None-Match is the ETag); PUT and PATCH collect what is sent and answer the body;
 * POST collects and answers 201 with the "created" body. Like Concierge it writes one line on standard error once it
 * listens, and ends with status 0 on SIGTERM.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *etag = "\"1\"";
static const char *body = "{\"name\":\"Ada\",\"email\":null,\"locale\":null,\"attributes\":{}}";
static const char *created = "{\"session\":{\"id\":\"ses_bare\"},\"token\":\"cg_bare\"}";
static unsigned memory_limit = 8192;
static unsigned connection_limit = 20000;
static atomic_ulong requests;
static volatile sig_atomic_t ending;

/* What a request has sent so far; also the mark that its first call is over. */
struct exchange {
    size_t length;
    char *bytes;
};

static void give_id(char id[16]) {
    static const char digits[] = "0123456789abcdef";
    unsigned long number = atomic_fetch_add_explicit(&requests, 1, memory_order_relaxed);
    for (int i = 14; i >= 0; i--, number >>= 4) id[i] = digits[number & 15];
    id[15] = 0;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *text, int is_new) {
    char id[16];
    give_id(id);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) return MHD_NO;
    if (status != MHD_HTTP_NOT_MODIFIED) MHD_add_response_header(response, "Content-Type", "application/json");
    if (is_new)
        MHD_add_response_header(response, "Location", "/v1/sessions/ses_0123456789abcdef01234567");
    else
        MHD_add_response_header(response, "ETag", etag);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "Request-Id", id);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **con_cls) {
    (void)cls, (void)url, (void)version;
    struct exchange *exchange = *con_cls;
    if (exchange == NULL) { /* an answer queued in this first call would close the connection */
        *con_cls = calloc(1, sizeof *exchange);
        return *con_cls != NULL ? MHD_YES : MHD_NO;
    }
    if (*data_size > 0) {
        char *grown = realloc(exchange->bytes, exchange->length + *data_size);
        if (grown == NULL) return MHD_NO;
        memcpy(grown + exchange->length, data, *data_size);
        exchange->bytes = grown;
        exchange->length += *data_size;
        *data_size = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") == 0) {
        const char *known = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");
        if (known != NULL && strcmp(known, etag) == 0) return answer(connection, MHD_HTTP_NOT_MODIFIED, "", 0);
        return answer(connection, MHD_HTTP_OK, body, 0);
    }
    if (strcmp(method, "POST") == 0) return answer(connection, MHD_HTTP_CREATED, created, 1);
    return answer(connection, MHD_HTTP_OK, body, 0);
}

static void completed(void *cls, struct MHD_Connection *connection, void **con_cls,
                      enum MHD_RequestTerminationCode code) {
    (void)cls, (void)connection, (void)code;
    struct exchange *exchange = *con_cls;
    if (exchange == NULL) return;
    free(exchange->bytes);
    free(exchange);
    *con_cls = NULL;
}

static void *wait_forever(void *nothing) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);  // signals are for the loops
    for (;;) pause();
    return nothing;
}

static void stop(int signal_number) {
    (void)signal_number;
    ending = 1;
}

static void fail(const char *what) {
    fprintf(stderr, "bare: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int listen_on(uint16_t *port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) fail("socket");
    int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes); /* the kernel spreads over the loops */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
    if (listen(descriptor, 4096) != 0) fail("listen");
    socklen_t length = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) fail("getsockname");
    *port = ntohs(address.sin_port);
    return descriptor;
}

/* One loop of our own around one daemon. The waiting is done here and not by libmicrohttpd (its internal thread, or
 * MHD_run_wait with a timeout): 0.9.75 takes 128 events at a time, and after a full batch waits again for the whole
 * timeout before it serves any of them. With more than 128 clients that all wait for their answer, it stalls. */
static void *run(void *argument) {
    int descriptor = (int)(intptr_t)argument;
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, &handle, NULL,
        MHD_OPTION_LISTEN_SOCKET, descriptor,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)memory_limit,
        MHD_OPTION_CONNECTION_LIMIT, connection_limit,
        MHD_OPTION_CONNECTION_TIMEOUT, 60u,
        MHD_OPTION_NOTIFY_COMPLETED, &completed, NULL,
        MHD_OPTION_END);
    if (daemon == NULL) fail("MHD_start_daemon");
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL) fail("MHD_get_daemon_info");
    struct pollfd events = {.fd = info->epoll_fd, .events = POLLIN};
    while (!ending) {
        MHD_UNSIGNED_LONG_LONG timeout;
        if (MHD_get_timeout(daemon, &timeout) != MHD_YES || timeout > 1000) timeout = 1000;
        if (poll(&events, 1, (int)timeout) < 0 && errno != EINTR) fail("poll");
        if (MHD_run(daemon) != MHD_YES) break;
    }
    MHD_stop_daemon(daemon);
    return NULL;
}

int main(int argc, char **argv) {
    uint16_t port = 0;
    unsigned threads = 1, idle = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--version") == 0) {
            puts(MHD_get_version());
            return 0;
        }
        if (i + 1 >= argc) {
            fprintf(stderr, "bare: %s needs a value\n", argv[i]);
            return 2;
        }
        const char *name = argv[i++], *value = argv[i];
        if (strcmp(name, "--port") == 0) port = (uint16_t)atoi(value);
        else if (strcmp(name, "--threads") == 0) threads = (unsigned)atoi(value);
        else if (strcmp(name, "--idle") == 0) idle = (unsigned)atoi(value);
        else if (strcmp(name, "--memory") == 0) memory_limit = (unsigned)atoi(value);
        else if (strcmp(name, "--connections") == 0) connection_limit = (unsigned)atoi(value);
        else if (strcmp(name, "--etag") == 0) etag = value;
        else if (strcmp(name, "--body") == 0) body = value;
        else if (strcmp(name, "--created") == 0) created = value;
        else {
            fprintf(stderr, "bare: unknown option %s\n", name);
            return 2;
        }
    }
    if (threads < 1 || threads > 64) {
        fprintf(stderr, "bare: --threads is 1 to 64\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    int descriptors[64];
    for (unsigned i = 0; i < threads; i++) descriptors[i] = listen_on(&port);
    fprintf(stderr, "{\"event\":\"listening\",\"public\":\"http://127.0.0.1:%u\"}\n", port);
    pthread_t loops[64];
    for (unsigned i = 1; i < threads; i++)
        if (pthread_create(&loops[i], NULL, run, (void *)(intptr_t)descriptors[i]) != 0) fail("pthread_create");
    for (; idle > 0; idle--) {
        pthread_t waiting;
        if (pthread_create(&waiting, NULL, wait_forever, NULL) != 0) fail("pthread_create");
    }
    run((void *)(intptr_t)descriptors[0]);
    for (unsigned i = 1; i < threads; i++) pthread_join(loops[i], NULL);
    return 0;
}
