// The memory of bodies that are under way. Clients that send or read slowly decide how long a body stays in memory, so
// all bodies together have a limit. Each worker has an equal part of it and counts alone.
#include "internal.h"

/// A client whose body is older than this is slow when memory is needed for others.
enum { slow_ms = 1000 };
static void enlist(cmhd_connection *c) {
    worker *w = c->worker;
    c->buffered_since = w->now;
    c->previous_buffered = w->last_buffered;
    c->next_buffered = NULL;
    if (w->last_buffered != NULL) w->last_buffered->next_buffered = c; else w->first_buffered = c;
    w->last_buffered = c;
    c->is_listed = true;
}

void cmhd_strike_buffer(cmhd_connection *c) {
    if (!c->is_listed) return;
    c->is_listed = false;
    worker *w = c->worker;
    if (c->previous_buffered != NULL) c->previous_buffered->next_buffered = c->next_buffered;
    else w->first_buffered = c->next_buffered;
    if (c->next_buffered != NULL) c->next_buffered->previous_buffered = c->previous_buffered;
    else w->last_buffered = c->previous_buffered;
}

void cmhd_release_buffer(cmhd_connection *c) {
    if (c->buffered == 0) return;
    cmhd_strike_buffer(c);
    c->worker->buffered -= c->buffered;
    c->buffered = 0;
}

/// Closes the connection that has been slow for longest. The library frees its memory within this turn or the next.
static bool close_slowest(worker *w, const cmhd_connection *asking) {
    for (cmhd_connection *c = w->first_buffered; c != NULL; c = c->next_buffered) {
        if (w->now - c->buffered_since < slow_ms) return false;
        if (c == asking || (c->phase != PHASE_WRITE && c->phase != PHASE_BODY)) continue;
        cmhd_release_buffer(c);
        cmhd_close_socket(c);
        atomic_fetch_add_explicit(&w->server->evictions, 1, memory_order_relaxed);
        return true;
    }
    return false;
}

bool cmhd_reserve(cmhd_connection *c, size_t bytes) {
    worker *w = c->worker;
    const size_t limit = w->server->worker_buffer;
    // What is larger than the limit is let in alone.
    while (w->buffered > c->buffered && w->buffered + bytes > limit)
        if (!close_slowest(w, c)) return false;
    // A response is as young as it is, however long its request took.
    if (c->phase != PHASE_BODY) cmhd_strike_buffer(c);
    if (!c->is_listed) enlist(c);
    c->buffered += bytes;
    w->buffered += bytes;
    return true;
}
