#ifndef CMHD_INTERNAL_H
#define CMHD_INTERNAL_H

#include <gnutls/gnutls.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "CMicroHTTPD.h"
#include "chunks.h"

// Since then a response's free callback has a context; since 0.9.71 callbacks return an enum.
#if MHD_VERSION < 0x00097302
#error "libmicrohttpd 0.9.74 or later is needed"
#endif

/// The phase of a connection. Each phase has a constant time limit, so a list in order of arrival is also in order of
/// deadline, and the loop looks only at the first of each list.
typedef enum {
    PHASE_HEADER,
    PHASE_BODY,
    PHASE_HANDLER,
    PHASE_PATIENT,  ///< the handler waits for what others do, see `cmhd_be_patient`
    PHASE_WRITE,
    PHASE_SETTLING,  ///< answered a moment ago, see `settle`
    PHASE_TAKING,  ///< answered, but the kernel still has a part that the client has not taken
    PHASE_IDLE,
    PHASE_ENDED,  ///< told to end: it must close soon by itself
    PHASE_COUNT
} phase;

/// What the next call of the access handler means.
typedef enum { STEP_HEAD, STEP_ASKING, STEP_BODY, STEP_WAITING, STEP_ANSWERED } step;

typedef cmhd_worker worker;

/// The library's memory of a connection, see memory.c.
typedef struct cmhd_pool cmhd_pool;

/// One client connection, from accept to close. Used on its worker's thread only.
struct cmhd_connection {
    worker *worker;
    struct MHD_Connection *mhd;
    int fd;
    const struct sockaddr *peer;
    cmhd_tls *tls;                  ///< NULL for plain HTTP
    gnutls_session_t session;       ///< the library's, when there is `tls`
    phase phase;
    step step;
    int64_t deadline;               ///< monotonic milliseconds
    cmhd_connection *previous, *next;  ///< in the list of its phase
    cmhd_pool *pool;                ///< the library's, when it was enlarged
    size_t pool_size;

    // The bytes as they came, see chunked.c.
    const char *read_start, *read_end;  ///< where the last of them lie; NULL when they may have been moved
    const char *buffer;             ///< where the library moves what is left behind a request; NULL when unknown
    bool client_has_ended;          ///< it has sent the end of its stream
    uint64_t received, request_end; ///< how many there were, and up to the end of the last request
    uint64_t stray_end;             ///< up to a byte that no head may have, see `cmhd_look_for_stray`; 0 without one
    char last_byte;

    // The current request.
    char *target;                   ///< in the receive buffer, from the request line
    uint32_t target_length;         ///< with the query
    uint32_t method_length, head_length;
    char *query;                    ///< behind the `?`, if there is one
    char hidden;                    ///< the query's first byte, see `cmhd_on_target`
    bool expects_body, is_chunked;
    bool awaits_continue;           ///< its client sends the body only when it is asked to
    bool closes;                    ///< after this answer, see `cmhd_place_request`
    bool writes_directly;           ///< the answer goes to the socket, see refusal.c
    cmhd_chunks chunks;             ///< of the body, while it is watched
    cmhd_refusal refusal;           ///< decided before the body was swallowed
    uint8_t *body;
    size_t body_length, body_capacity;
    size_t buffered;                ///< see buffer.c
    int64_t buffered_since;
    bool is_listed;                 ///< among those whose clients may be slow
    cmhd_connection *previous_buffered, *next_buffered;  ///< in the worker's list
    uint64_t content_length;
    uint64_t body_limit;
    void *waiting;                  ///< the caller's exchange or stream, see `cmhd_callbacks`
    bool is_patient;                ///< see `cmhd_be_patient`
    bool is_parked;                 ///< it waits for its exchange without being suspended, see `await_exchange`
    unsigned parked_turns;          ///< how often the library has asked since
    atomic_bool awaits_resume;      ///< parked, and nothing to send yet; otherwise `cmhd_resume` resumes it
};

typedef struct {
    cmhd_connection *first, *last;
    unsigned count;
    int64_t limit;                  ///< milliseconds
} phase_list;

/// A socket that got its response while its client was still sending. It is read to its end before it is closed,
/// because closing with unread bytes sends a reset that may overtake the response.
typedef struct lingering {
    struct lingering *next;
    int fd;
    int64_t deadline;
    size_t left;
} lingering;

/// A connection whose header of the PROXY protocol is not complete, see proxy.c.
typedef struct greeting greeting;

/// Bytes of a Date field, with its line end.
enum { CMHD_DATE_LINE = 37 };

struct cmhd_worker {
    cmhd_server *server;
    unsigned index;
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool running;                   ///< the thread was started
    phase_list phases[PHASE_COUNT];
    cmhd_connection *next_to_empty; ///< the first idle one whose memory has not gone back to the kernel
    uint64_t clock;                 ///< `cmhd_clock` when the turn began, or the last answer in it was made
    int64_t now;                    ///< the same in milliseconds
    lingering *lingering;
    unsigned lingering_count;
    greeting *first_greeting, *last_greeting;
    int greetings;                  ///< an epoll of their sockets; -1 where there can be none
    atomic_uint connections;
    atomic_uint resuming;           ///< threads inside `cmhd_resume`
    int epoll;                      ///< the daemon's
    /// An eventfd that wakes the loop when the server begins to drain, and when there is something to do while the loop
    /// sleeps. The loop sets `sleeping` before it reads `awaited`; the other thread sets `awaited` before it reads
    /// `sleeping`. So at least one of them sees the other.
    int wake;
    atomic_bool sleeping, awaited;
    atomic_bool called;             ///< see `cmhd_call_worker`
    atomic_llong busy_since;        ///< `now` when the turn began; 0 while the loop sleeps
    bool accepts;                   ///< it looks whether clients wait to be accepted
    int64_t accept_at, accept_looked_at;  ///< not before the one; the other is the last time
    bool moved;                     ///< something came, went out or began, in the last turn
    unsigned parked;                ///< connections that are
    size_t buffered;                ///< bytes of bodies, see buffer.c
    cmhd_connection *first_buffered, *last_buffered;
    int64_t room_looked_at;         ///< see `make_room`
    bool crowded;                   ///< clients waited to be accepted then
    bool quiesced;
    cmhd_field *fields;             ///< room for the fields of the request that is being looked at
    uint32_t field_count;
    uint64_t handed_over;           ///< how many requests were
    cmhd_field_place places[CMHD_FIELD_NAMES];
    uint32_t present;               ///< which of those there are, a bit for each
    cmhd_connection *fields_owner;  ///< whose fields they are
    cmhd_connection **by_descriptor;  ///< its connections, so that what the library reads can be seen
    size_t by_descriptor_count;
    size_t look_next;               ///< the descriptor that `look_for_gone` looked at last
    int64_t looked_at;
    time_t date_second;             ///< the second of `date_line`
    int64_t date_looked_at;         ///< `now` when that was found to be the second
    char date_line[CMHD_DATE_LINE + 1];
};

struct cmhd_server {
    cmhd_options options;
    cmhd_callbacks callbacks;
    pthread_mutex_t tls_lock;       ///< guards `tls`, which a reload replaces while workers accept
    cmhd_tls *tls;                  ///< NULL for plain HTTP
    int listener;
    struct sockaddr_storage address;
    uint16_t port;                  ///< 0 at a path
    bool is_inherited;              ///< other processes have the listener, too
    dev_t device;                   ///< of the file that the listener has made, if it has
    ino_t inode;
    unsigned worker_connections;    ///< the most of one worker
    size_t worker_buffer;           ///< the most `buffered` of one worker
    atomic_ullong evictions;
    bool links_fields;              ///< an answer's fields go out as one text, see answer.c
    bool checks_layout;             ///< the library does not, see before_1_0.c
    bool parks;                     ///< connections that wait are parked, see exchange.c
    atomic_bool draining;
    /// Written before `draining`, read after it.
    int64_t quiesce_at, idle_close_at, end_at;
    unsigned worker_count;
    worker workers[];
};

/// RFC 9110, 5.6.2: the characters of a token.
extern const bool cmhd_token[256];

/// The Date field of a response that is made now, with its line end. Valid until the next call.
const char *cmhd_date_line(worker *w);

/// Sets the worker's time. Most requests use the time that was read at the end of the previous one.
void cmhd_note_time(worker *w, uint64_t clock);
/// Monotonic milliseconds.
int64_t cmhd_now(void);

/// Opens the listener of the options; on failure returns false and a message for people.
bool cmhd_listen(cmhd_server *server, const cmhd_options *options, char *message, size_t message_size);
/// No further client can connect to a listener that is only this process's.
void cmhd_let_nobody_in(const cmhd_server *server);
/// A server without threads and without a listener; NULL when memory is short.
cmhd_server *cmhd_server_new(const cmhd_options *options, const cmhd_callbacks *callbacks);
/// Starts a daemon, which does not listen, with the callbacks of this bridge.
struct MHD_Daemon *cmhd_daemon_start(worker *w);

/// Whether a worker accepts the next client.
typedef enum {
    CMHD_ACCEPTS,
    CMHD_LEAVES_IT,  ///< to a worker with fewer connections
    CMHD_NOT_NOW,
} cmhd_acceptance;

/// How many clients a worker accepts before it serves those that it has.
enum { CMHD_ACCEPTED_AT_ONCE = 16 };
cmhd_acceptance cmhd_may_accept(worker *w);
/// The connections that count for the limit.
unsigned cmhd_counted_connections(const worker *w);
/// Accepts clients that wait.
void cmhd_accept(worker *w);
/// Accepts all clients that wait, and refuses further ones.
void cmhd_stop_accepting(worker *w);

/// Hands the connection to the library when its header of the PROXY protocol is complete.
void cmhd_await_greeting(worker *w, int fd, const struct sockaddr_in6 *proxy, socklen_t length);
/// Looks for greetings that have come, and for those that are overdue.
void cmhd_greet(worker *w);
/// Closes the oldest that have waited for so many milliseconds, at most so many. Returns how many.
unsigned cmhd_drop_greetings(worker *w, int64_t age, unsigned most);

/// The body of a worker's thread: runs until the server has drained, then stops its daemon.
void *cmhd_worker_run(void *context);
/// Makes the worker's loop take a turn.
void cmhd_wake(worker *w);

void cmhd_enter(cmhd_connection *connection, phase next);
void cmhd_close_socket(cmhd_connection *connection);
/// Whether nothing more comes from the client.
bool cmhd_has_left(const cmhd_connection *connection);
void cmhd_linger(cmhd_connection *connection);
void cmhd_drop_lingering(worker *w);
/// What was reserved for the connection is free.
void cmhd_release_buffer(cmhd_connection *connection);
/// Its client has sent the body, and waits.
void cmhd_strike_buffer(cmhd_connection *connection);

// The callbacks for libmicrohttpd, see its manual, "Starting and stopping the server".
enum MHD_Result cmhd_on_access(void *context, struct MHD_Connection *mhd, const char *url, const char *method,
                               const char *version, const char *data, size_t *data_size, void **request);
void *cmhd_on_target(void *context, const char *target, struct MHD_Connection *mhd);
void cmhd_on_completed(void *context, struct MHD_Connection *mhd, void **request,
                       enum MHD_RequestTerminationCode code);
enum MHD_Result cmhd_on_accept(void *context, const struct sockaddr *peer, socklen_t length);
void cmhd_on_connection(void *context, struct MHD_Connection *mhd, void **connection,
                        enum MHD_ConnectionNotificationCode code);

/// Checks the head of a request and fills in `request`; see framing.c.
cmhd_refusal cmhd_check_head(cmhd_connection *connection, const char *url, const char *method, const char *version,
                             cmhd_request *request);
/// Fills in `request` again when the body has arrived.
void cmhd_describe(cmhd_connection *connection, const char *method, const char *version, cmhd_request *request);

/// The size of a request's head when it has arrived; 0 before.
size_t cmhd_header_size(struct MHD_Connection *mhd);

/// Fills in what the connection has collected besides the head.
void cmhd_prepare(cmhd_connection *connection, cmhd_request *request);
bool cmhd_is_head_request(const cmhd_connection *connection);

/// Hands a refusal over and writes its response to the socket at once. After that the connection can only be closed.
void cmhd_refuse_now(cmhd_connection *connection, cmhd_refusal refusal);
/// The same when `refusal` is noted already and `request` holds what may be shown.
void cmhd_write_refusal(cmhd_connection *connection, cmhd_request *request);
/// For `cmhd_respond` while `writes_directly`.
bool cmhd_write_answer(cmhd_connection *connection, const cmhd_answer *answer);
void cmhd_close_writing(cmhd_connection *connection);

// TLS, see tls.c.
extern const char cmhd_tls_priorities[];
/// The library starts with a certificate, or with this function. GnuTLS calls it when `cmhd_tls_begin` could not give
/// the session its credentials; the handshake then fails.
int cmhd_no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                        const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **certificates,
                        unsigned *count, gnutls_privkey_t *key);
/// A connection was accepted: gives it the server's credentials.
void cmhd_tls_begin(cmhd_connection *connection);
/// Encrypts and sends; false when the kernel did not take all of it.
bool cmhd_tls_write(cmhd_connection *connection, const struct iovec *parts, size_t count, size_t total);
/// Tells the client that nothing more comes, so that it can tell an end from a cut.
void cmhd_tls_end(cmhd_connection *connection);
/// Whether bytes were decrypted that the library has not read.
bool cmhd_tls_has_unread(const cmhd_connection *connection);

void cmhd_note_connection(cmhd_connection *connection);
void cmhd_forget_connection(const cmhd_connection *connection);

/// Looks at bytes that have just been read from the connection's socket.
cmhd_refusal cmhd_note_read(cmhd_connection *connection, char *bytes, size_t length);
/// Finds out where a request with a good head is. Watches its body from here on when it is chunked, and sets `closes`
/// when it cannot.
cmhd_refusal cmhd_place_request(cmhd_connection *connection, char *head);

/// How many bytes behind the last request have arrived; SIZE_MAX when that is unknown.
uint64_t cmhd_unread(const cmhd_connection *connection);

/// The size of the pools that the library makes. When it is less than `connection_memory` they are to be enlarged.
size_t cmhd_pool_option(const cmhd_server *server);
/// A connection begins.
void cmhd_enlarge_pool(cmhd_connection *connection);
/// A request has ended, and the library is about to clear its memory for the next one.
void cmhd_withhold_pool(cmhd_connection *connection);
/// The next request line is there, and nothing behind it was read yet.
void cmhd_restore_pool(cmhd_connection *connection);
/// Gives the memory of an idle connection back to the kernel.
void cmhd_empty_pool(cmhd_connection *connection);

/// The library is shown this value instead of the cookies of a request, see `cmhd_on_target`.
extern const char cmhd_no_cookies[];

/// Records that the calling thread is the worker's, see watching.c.
void cmhd_begin_worker(worker *w);
typedef enum MHD_Result cmhd_queue_function(struct MHD_Connection *, unsigned, struct MHD_Response *);
/// The library's own `MHD_queue_response`.
extern cmhd_queue_function *cmhd_queue;
// The functions of CMicroHTTPDHooks call these before or after their work.
void cmhd_note_sent(ssize_t sent);
/// Returns the result for `recv`.
ssize_t cmhd_note_received(int fd, char *buffer, ssize_t got);
void cmhd_note_closing(int fd);
/// The same as `cmhd_note_received` for what GnuTLS has decrypted.
ssize_t cmhd_note_decrypted(gnutls_session_t session, char *buffer, ssize_t got);
void cmhd_note_queued(struct MHD_Connection *mhd, unsigned status);

/// Whether the loaded library checks less than version 1.0.
bool cmhd_is_before_1_0(void);
/// Whether a field begins where it must if nothing is between it and the `expected` start.
bool cmhd_is_field_in_place(const char *expected, const char *name, size_t name_length, const char *value);
/// Notes the first NUL, or CR or LF without the other, behind the end of the last request. `position` is where the
/// bytes begin.
void cmhd_look_for_stray(cmhd_connection *connection, const char *bytes, size_t length, uint64_t position);
/// Whether `chunked` is the only transfer coding.
cmhd_refusal cmhd_check_codings(struct MHD_Connection *mhd);

/// Whether responses must close their connections because the server drains.
bool cmhd_is_draining(const worker *w);

// Responses, see answer.c.

/// A field of a response as the library keeps it: its `struct MHD_HTTP_Header`.
typedef struct cmhd_field_node {
    struct cmhd_field_node *next, *previous;
    char *name;
    size_t name_length;
    char *value;
    size_t value_length;
    enum MHD_ValueKind kind;
} cmhd_field_node;

/// The beginning of the library's `struct MHD_Response`.
typedef struct {
    cmhd_field_node *first, *last;
} cmhd_response_start;

#endif
