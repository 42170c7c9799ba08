// Shows at start that the library lays a request's head out as framing.c reads it, and that a query can be
// hidden from it: a few requests through a real daemon over a socket pair, no port, well under a millisecond.
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "worker.h"

typedef struct {
    const char *bytes;
    size_t length;
    cmhd_refusal expected;
    const char *failure;
} sample;

#define SAMPLE(text, refusal, sentence) {text, sizeof(text) - 1, refusal, sentence}

static const sample samples[] = {
    SAMPLE("GET /a?x=1&y HTTP/1.1\r\nHost:h\r\nEmpty:\r\nTabs:\t \tvalue\r\nTrailing: value \t\r\n\r\n",
           CMHD_REFUSAL_NONE, "a legal request is not laid out as expected"),
    SAMPLE("GET /a HTTP/1.1\r\nHost: h\r\nName: value\r\n folded\r\n\r\n", CMHD_REFUSAL_LAYOUT,
           "a folded line is not seen"),
    SAMPLE("GET /a HTTP/1.1\r\nHost: h\nName: value\r\n\r\n", CMHD_REFUSAL_LAYOUT, "a bare LF is not seen"),
    SAMPLE("GET /a HTTP/1.1\r\nHost: h\r\nName: val\0ue\r\n\r\n", CMHD_REFUSAL_LAYOUT, "a NUL is not seen"),
    SAMPLE("GET /a HTTP/1.1\r\nHost: h\r\nName: value\r\n folded\r\nOther: value\n\r\n", CMHD_REFUSAL_LAYOUT,
           "a fold with a bare LF is not seen"),
    SAMPLE("GET  /a HTTP/1.1\r\nHost: h\r\n\r\n", CMHD_REFUSAL_REQUEST_LINE, "a second blank is not seen"),
};

typedef struct {
    bool called, query_whole;
    cmhd_refusal refusal;
} outcome;

static void *note(void *context, const cmhd_request *request) {
    outcome *outcome = context;
    outcome->called = true;
    outcome->refusal = request->refusal;
    static const char target[] = "/a?x=1&y";
    outcome->query_whole = request->target_length == sizeof target - 1 &&
                           memcmp(request->head + request->target, target, sizeof target - 1) == 0;
    cmhd_response *response = cmhd_response_new("", 0);
    if (response != NULL) cmhd_respond(request->connection, 204, response);
    return NULL;
}

static const char *run(worker *w, const sample *sample, outcome *outcome) {
    outcome->called = false;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return "no socket pair";
    struct sockaddr_in nobody = {.sin_family = AF_INET};
    const char *failure = NULL;
    if (MHD_add_connection(w->daemon, pair[0], (struct sockaddr *)&nobody, sizeof nobody) != MHD_YES)
        failure = "a connection cannot be added";
    else if (send(pair[1], sample->bytes, sample->length, MSG_NOSIGNAL) != (ssize_t)sample->length)
        failure = "a request cannot be sent";
    for (int turn = 0; turn < 20 && failure == NULL && !outcome->called; turn++) MHD_run_wait(w->daemon, 10);
    close(pair[1]);
    for (int turn = 0; turn < 20 && atomic_load(&w->connections) > 0; turn++) MHD_run_wait(w->daemon, 10);
    if (failure != NULL) return failure;
    if (!outcome->called || outcome->refusal != sample->expected) return sample->failure;
    if (sample == &samples[0] && !outcome->query_whole) return "a query cannot be hidden from the library";
    return NULL;
}

const char *cmhd_self_test(void) {
    static const cmhd_options options = {
        .workers = 1, .connections = 8, .connection_memory = 8192, .target_bytes = 1024, .head_bytes = 4096,
        .fields = 16, .arguments = 8, .cookies = 8, .body_bytes = 0, .header_timeout = 10000, .body_timeout = 10000,
        .handler_timeout = 10000, .write_timeout = 10000, .idle_timeout = 10000,
    };
    outcome outcome = {0};
    cmhd_server *server = calloc(1, sizeof *server + sizeof(worker));
    cmhd_field *fields = calloc(options.fields, sizeof *fields);
    const char *failure = server == NULL || fields == NULL ? "out of memory" : NULL;
    if (failure == NULL) {
        server->options = options;
        server->callbacks = (cmhd_callbacks){.context = &outcome, .request = note};
        server->listener = -1;
        server->worker_count = 1;
        worker *w = &server->workers[0];
        w->server = server;
        w->fields = fields;
        for (phase phase = 0; phase < PHASE_COUNT; phase++) w->phases[phase].limit = 10000;
        w->daemon = cmhd_daemon_start(w, -1);
        if (w->daemon == NULL) failure = "libmicrohttpd did not start";
        for (size_t i = 0; failure == NULL && i < sizeof samples / sizeof *samples; i++)
            failure = run(w, &samples[i], &outcome);
        if (w->daemon != NULL) MHD_stop_daemon(w->daemon);
        cmhd_drop_lingering(w);
    }
    free(fields);
    free(server);
    return failure;
}
