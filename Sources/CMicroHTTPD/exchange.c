// One request: collecting it, handing it over, responding.
#include <stdlib.h>
#include <string.h>

#include "internal.h"

const char cmhd_no_cookies[] = "";

/// Called when the request line is there, before the library looks at the query.
///
/// The library would split the query into arguments in the connection's memory, and with many of them hang or close
/// without a response. So it is shown an empty query: the byte after the `?` is saved, replaced by a zero, and restored
/// when the head has been read.
///
/// It would also copy the cookies into that memory and split the copy. It takes them from the first `Cookie` field, so
/// it gets an empty one before those of the request.
void *cmhd_on_target(void *context, const char *target, struct MHD_Connection *mhd) {
    (void)context;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    cmhd_connection *c = info == NULL ? NULL : info->socket_context;
    if (c == NULL) return NULL;
    c->step = STEP_HEAD;
    c->target = (char *)target;
    c->target_length = target == NULL ? 0 : (uint32_t)strlen(target);
    c->refusal = CMHD_REFUSAL_NONE;
    c->closes = false;
    c->is_patient = false;
    c->method_length = 0;
    char *mark = target == NULL ? NULL : memchr(c->target, '?', c->target_length);
    c->query = mark == NULL ? NULL : mark + 1;
    if (c->query != NULL) {
        c->hidden = c->query[0];
        c->query[0] = '\0';
    }
    cmhd_restore_pool(c);
    MHD_set_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_COOKIE, cmhd_no_cookies);
    // The first request's time limit begins at the accept. Its request line must not extend it.
    if (c->phase != PHASE_HEADER) cmhd_enter(c, PHASE_HEADER);
    return c;
}

static void forget_body(cmhd_connection *c) {
    free(c->body);
    c->body = NULL;
    c->body_length = c->body_capacity = 0;
}

static cmhd_refusal collect(cmhd_connection *c, const char *data, size_t size) {
    size_t limit = (size_t)c->body_limit;
    if (size > limit - c->body_length) return CMHD_REFUSAL_BODY_TOO_LARGE;
    if (c->body_length + size > c->body_capacity) {
        size_t capacity = c->body_capacity == 0 ? 256 : c->body_capacity * 2;
        if (capacity < c->body_length + size) capacity = c->body_length + size;
        if (!c->is_chunked && capacity > c->content_length) capacity = (size_t)c->content_length;
        if (capacity > CMHD_SMALL_BODY && !cmhd_reserve(c, capacity - c->buffered)) return CMHD_REFUSAL_OUT_OF_MEMORY;
        uint8_t *body = realloc(c->body, capacity);
        if (body == NULL) return CMHD_REFUSAL_OUT_OF_MEMORY;
        c->body = body;
        c->body_capacity = capacity;
    }
    memcpy(c->body + c->body_length, data, size);
    c->body_length += size;
    return CMHD_REFUSAL_NONE;
}

void cmhd_prepare(cmhd_connection *c, cmhd_request *request) {
    worker *w = c->worker;
    request->connection = c;
    request->worker = w->index;
    // Each worker counts its own requests: one count for all would travel between processors.
    request->number = w->handed_over++ * w->server->worker_count + w->index;
    request->refusal = c->refusal;
    request->body = c->body;
    request->body_length = c->refusal == CMHD_REFUSAL_NONE ? c->body_length : 0;
    request->peer = c->peer;
    request->received_at = w->clock;
}

/// The most parked connections of a worker: the library asks for the response of each in every turn of the loop.
enum { parked_limit = 512 };
/// After so many turns this has cost as much as suspending the connection.
enum { parked_turns = 32 };

/// Suspends the connection until its exchange resumes it, or parks it.
///
/// For a short time a parked connection waits like a suspended one, at half the cost: the library asks for the response
/// again in each of its turns (connection.c, MHD_CONNECTION_FULL_REQ_RECEIVED, "try again next time"). Suspending and
/// resuming would take the connection out of epoll's set and put it back, try to read what cannot be there yet, and
/// walk all suspended connections. A parked connection also notices at once that its client has hung up.
///
/// Only a request that was read to its end can be parked, because the library would read on otherwise. This depends on
/// the internals of the library: `cmhd_can_park` checks them when a server starts.
static void await_exchange(cmhd_connection *c, bool is_read) {
    worker *w = c->worker;
    // The handler may have taken long before it waited.
    cmhd_note_time(w, cmhd_clock());
    cmhd_enter(c, c->is_patient ? PHASE_PATIENT : PHASE_HANDLER);
    if (is_read && w->server->parks && w->parked < parked_limit && !c->is_patient) {
        c->is_parked = true;
        c->parked_turns = 0;
        w->parked++;
        atomic_store_explicit(&c->awaits_resume, true, memory_order_relaxed);
    } else {
        // Manual, MHD_suspend_connection: to be called from within the access handler.
        MHD_suspend_connection(c->mhd);
    }
    cmhd_callbacks *callbacks = &w->server->callbacks;
    if (callbacks->suspended(callbacks->context, c->waiting)) cmhd_resume(c);
}

static void unpark(cmhd_connection *c) {
    if (!c->is_parked) return;
    c->is_parked = false;
    c->worker->parked--;
}

/// The library asks for the response of a parked connection. If that was too often, the connection is suspended.
static void park_on(cmhd_connection *c) {
    if (++c->parked_turns < parked_turns) return;
    unpark(c);
    // Before the other thread may resume it.
    MHD_suspend_connection(c->mhd);
    if (!atomic_exchange(&c->awaits_resume, false)) MHD_resume_connection(c->mhd);
}

/// The exchange responds now.
static void resume(cmhd_connection *c) {
    void *exchange = c->waiting;
    c->waiting = NULL;
    unpark(c);
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    callbacks->resumed(callbacks->context, exchange, c);
}

/// The library asks for the body when the access handler returns, or sends a large response. Otherwise the response is
/// written. After a response the connection ends, as the client may send the body all the same.
static enum MHD_Result after_asking(cmhd_connection *c) {
    if (c->step == STEP_BODY) return MHD_YES;
    cmhd_linger(c);
    if (c->step == STEP_ANSWERED) return MHD_YES;
    c->step = STEP_ANSWERED;
    cmhd_close_writing(c);
    return MHD_NO;
}

/// Hands over a request whose client waits to be asked for the body, see `cmhd_continue`.
static enum MHD_Result ask_first(cmhd_connection *c, cmhd_request *request) {
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    cmhd_prepare(c, request);
    request->awaits_continue = true;
    c->step = STEP_ASKING;
    c->writes_directly = true;
    void *exchange = callbacks->request(callbacks->context, request);
    c->writes_directly = false;
    if (exchange == NULL) return after_asking(c);
    c->waiting = exchange;
    await_exchange(c, false);
    return MHD_YES;
}

void cmhd_continue(cmhd_connection *c) {
    c->step = STEP_BODY;
    // A client that has closed its half sends no more than the library has read already, and the library may have
    // missed that edge, see `settle`.
    cmhd_enter(c, cmhd_has_left(c) ? PHASE_SETTLING : PHASE_BODY);
}

/// Hands the request over. If an exchange is returned, it responds later.
static enum MHD_Result hand_over(cmhd_connection *c, cmhd_request *request) {
    cmhd_callbacks *callbacks = &c->worker->server->callbacks;
    cmhd_prepare(c, request);
    void *exchange = callbacks->request(callbacks->context, request);
    forget_body(c);
    if (exchange == NULL) return c->step == STEP_ANSWERED ? MHD_YES : MHD_NO;
    // The request has the body, so it counts on, but no client is slow now.
    cmhd_strike_buffer(c);
    c->waiting = exchange;
    c->step = STEP_WAITING;
    await_exchange(c, true);
    return MHD_YES;
}

enum MHD_Result cmhd_on_access(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                               const char *version, const char *data, size_t *data_size, void **request_context) {
    (void)context;
    cmhd_connection *c = *request_context;
    if (c == NULL) return MHD_NO;
    if (c->is_parked && atomic_load_explicit(&c->awaits_resume, memory_order_acquire)) {
        park_on(c);
        return MHD_YES;
    }
    c->mhd = mhd;
    c->worker->moved = true;
    cmhd_request request = {0};
    switch (c->step) {
    case STEP_HEAD:
        c->refusal = cmhd_check_head(c, url, method, version, &request);
        c->step = STEP_BODY;
        if (c->refusal != CMHD_REFUSAL_NONE) {
            // A head that is too large may have left the library no memory for a response.
            cmhd_write_refusal(c, &request);
            return MHD_NO;
        }
        // Queueing a response in this call would close the connection. Without a body the next call comes at once.
        if (c->awaits_continue) return ask_first(c, &request);
        if (c->expects_body) cmhd_enter(c, PHASE_BODY);
        return MHD_YES;
    case STEP_ASKING:
        c->writes_directly = true;
        resume(c);
        c->writes_directly = false;
        return after_asking(c);
    case STEP_BODY:
        if (*data_size > 0) {
            cmhd_refusal refusal = collect(c, data, *data_size);
            *data_size = 0;
            // The client may send for a long time, or not at all, so it gets the response at once.
            if (refusal != CMHD_REFUSAL_NONE) cmhd_refuse_now(c, refusal);
            return refusal == CMHD_REFUSAL_NONE ? MHD_YES : MHD_NO;
        }
        cmhd_describe(c, method, version, &request);
        return hand_over(c, &request);
    case STEP_WAITING:
        resume(c);
        return c->step == STEP_ANSWERED ? MHD_YES : MHD_NO;
    case STEP_ANSWERED:
        break;
    }
    return MHD_NO;
}

void cmhd_on_completed(void *context, struct MHD_Connection *mhd, void **request_context,
                       enum MHD_RequestTerminationCode code) {
    (void)context;
    (void)mhd;
    (void)code;
    cmhd_connection *c = *request_context;
    if (c == NULL) return;
    c->worker->moved = true;
    if (c->waiting != NULL) {
        void *waiting = c->waiting;
        c->waiting = NULL;
        cmhd_callbacks *callbacks = &c->worker->server->callbacks;
        callbacks->released(callbacks->context, waiting);
        unpark(c);
    }
    forget_body(c);
    cmhd_release_buffer(c);
    // The library moves the rest of what was read, which belongs to the next request.
    c->chunks.step = CHUNKS_UNWATCHED;
    c->read_end = NULL;
    cmhd_withhold_pool(c);
    if (c->worker->fields_owner == c) c->worker->fields_owner = NULL;
    c->step = STEP_HEAD;
    c->target = NULL;
    if (c->phase != PHASE_ENDED) cmhd_enter(c, PHASE_SETTLING);
}

void cmhd_be_patient(cmhd_connection *connection) { connection->is_patient = true; }

void cmhd_resume(cmhd_connection *connection) {
    // The library marks the connection, and from then on its worker may respond, close it and end. The worker stops its
    // daemon only when no thread is in this function.
    worker *w = connection->worker;
    atomic_fetch_add(&w->resuming, 1);
    if (!atomic_exchange(&connection->awaits_resume, false)) MHD_resume_connection(connection->mhd);
    // The library only marks the connection: with an external loop it has no channel to wake the loop.
    cmhd_wake(w);
    atomic_fetch_sub(&w->resuming, 1);
}
