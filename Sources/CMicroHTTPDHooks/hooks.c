// Functions of the C library, of libmicrohttpd and of GnuTLS, replaced in the whole process: the dynamic linker prefers
// the program's. Only a program may decide that, so this target is not part of the library product `HTTPServer`.
// CMicroHTTPD/watching.c says what the calls are for. Calls of other threads pass through unchanged.
//
// The system calls are made by syscall(2): the C library makes a thread cancellable around its own functions for them,
// which costs two atomic exchanges, and nothing cancels a worker.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

static ssize_t (*library_recv)(gnutls_session_t, void *, size_t);
static int (*library_handshake)(gnutls_session_t);
static int (*library_bye)(gnutls_session_t, gnutls_close_request_t);

__attribute__((constructor)) static void find_libraries(void) {
    void *found = dlsym(RTLD_NEXT, "MHD_queue_response");
    if (found != NULL) cmhd_queue = (cmhd_queue_function *)found;
    *(void **)&library_recv = dlsym(RTLD_NEXT, "gnutls_record_recv");
    *(void **)&library_handshake = dlsym(RTLD_NEXT, "gnutls_handshake");
    *(void **)&library_bye = dlsym(RTLD_NEXT, "gnutls_bye");
}

/// Only the library calls it: the bridge calls `cmhd_queue`.
enum MHD_Result MHD_queue_response(struct MHD_Connection *mhd, unsigned status, struct MHD_Response *response) {
    cmhd_note_queued(mhd, status);
    return cmhd_queue(mhd, status, response);
}

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
    ssize_t sent = syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
    cmhd_note_sent(sent);
    return sent;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    ssize_t sent = syscall(SYS_sendmsg, fd, message, flags);
    cmhd_note_sent(sent);
    return sent;
}

ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    ssize_t got = syscall(SYS_recvfrom, fd, buffer, size, flags, NULL, NULL);
    // With flags the caller is the bridge.
    return flags == 0 ? cmhd_note_received(fd, buffer, got) : got;
}

int shutdown(int fd, int how) {
    cmhd_note_closing(fd);
    return (int)syscall(SYS_shutdown, fd, how);
}

ssize_t gnutls_record_recv(gnutls_session_t session, void *buffer, size_t size) {
    return cmhd_note_decrypted(session, buffer, library_recv(session, buffer, size));
}

/// libmicrohttpd closes after a handshake that failed. With an alert the client also learns why.
int gnutls_handshake(gnutls_session_t session) {
    int result = library_handshake(session);
    if (result < 0 && gnutls_error_is_fatal(result)) gnutls_alert_send_appropriate(session, result);
    return result;
}

/// What `shutdown` is for a plain connection.
int gnutls_bye(gnutls_session_t session, gnutls_close_request_t how) {
    cmhd_note_closing(gnutls_transport_get_int(session));
    return library_bye(session, how);
}
