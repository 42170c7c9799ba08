/// The bridge to libmicrohttpd: what the server needs of it, and the checks that it does not make itself.
///
/// A `cmhd_server` owns one listening socket and a few workers. A worker is a thread, a libmicrohttpd daemon in
/// external epoll mode, and that daemon's connections: everything about a connection happens on its worker's thread,
/// except `cmhd_resume`. The daemon never runs with one internal epoll thread (it stalls beyond about 128 connections)
/// or its own pool, so that deadlines and draining can be part of the loop.
///
/// A request is collected as a whole, under the limits, then handed over once. A request that violates the framing
/// rules of RFC 9112 is handed over as a refusal, and its connection closes after the response.
///
/// A response's body can be produced piece by piece, see answer.c.
#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#pragma clang assume_nonnull begin

typedef struct cmhd_server cmhd_server;
typedef struct cmhd_connection cmhd_connection;
typedef struct cmhd_worker cmhd_worker;
/// A certificate and its key, counted by references.
typedef struct cmhd_tls cmhd_tls;

/// Why texts are no certificate and key.
typedef enum {
    CMHD_TLS_GOOD = 0,
    CMHD_TLS_CERTIFICATE,       ///< no certificate in PEM, or one that cannot be read
    CMHD_TLS_KEY,               ///< no private key in PEM, or one that is encrypted
    CMHD_TLS_MISMATCH,          ///< the key is not that of the first certificate
    CMHD_TLS_AUTHORITIES,       ///< no certificate in PEM among those of authorities
    CMHD_TLS_OUT_OF_MEMORY,
} cmhd_tls_problem;

/// Texts in PEM. They are copied.
typedef struct {
    const uint8_t *_Nullable certificate; ///< the server's own first, then those that signed it
    size_t certificate_length;
    const uint8_t *_Nullable key;
    size_t key_length;
    /// NULL: clients need no certificate; else theirs must be signed by one of these.
    const uint8_t *_Nullable authorities;
    size_t authorities_length;
} cmhd_tls_texts;

/// Why a request is refused before its handler is called.
typedef enum {
    CMHD_REFUSAL_NONE = 0,
    CMHD_REFUSAL_REQUEST_LINE,        ///< blanks, NUL or odd characters in the request line
    CMHD_REFUSAL_TARGET_TOO_LONG,
    CMHD_REFUSAL_TARGET,              ///< not origin-, absolute- or asterisk-form, or a character no URI may have
    CMHD_REFUSAL_FIELDS_TOO_LARGE,
    CMHD_REFUSAL_TOO_MANY_FIELDS,
    CMHD_REFUSAL_TOO_MANY_ARGUMENTS,
    CMHD_REFUSAL_TOO_MANY_COOKIES,
    CMHD_REFUSAL_LAYOUT,              ///< a folded line, a bare LF or a NUL between the fields
    CMHD_REFUSAL_FIELD_NAME,
    CMHD_REFUSAL_FIELD_VALUE,
    CMHD_REFUSAL_HOST,                ///< missing in HTTP/1.1, twice, or malformed
    CMHD_REFUSAL_FRAMING,             ///< Content-Length twice, or together with Transfer-Encoding, or not a number
    CMHD_REFUSAL_CHUNKS,              ///< a chunked body that is not as RFC 9112, section 7.1, wants it
    CMHD_REFUSAL_VERSION,             ///< another HTTP than 1.0 and 1.1
    CMHD_REFUSAL_LAST_CODING,         ///< the last transfer coding is not `chunked`: the body has no end
    CMHD_REFUSAL_TRANSFER_CODING,     ///< another transfer coding before `chunked`
    CMHD_REFUSAL_BODY_TOO_LARGE,
    CMHD_REFUSAL_OUT_OF_MEMORY,
} cmhd_refusal;

/// The names that nearly every request is asked for, in order of their length. Their places are noted while fields are
/// checked, so that no search is needed. fields.c has the table of their texts.
typedef enum {
    CMHD_FIELD_OTHER = 0,
    CMHD_FIELD_HOST,
    CMHD_FIELD_ACCEPT,
    CMHD_FIELD_COOKIE,
    CMHD_FIELD_EXPECT,
    CMHD_FIELD_ORIGIN,
    CMHD_FIELD_PREFER,
    CMHD_FIELD_IF_MATCH,
    CMHD_FIELD_REQUEST_ID,
    CMHD_FIELD_TRACEPARENT,
    CMHD_FIELD_X_ADMIN_KEY,
    CMHD_FIELD_CONTENT_TYPE,
    CMHD_FIELD_AUTHORIZATION,
    CMHD_FIELD_CONTENT_RANGE,
    CMHD_FIELD_SESSION_TOKEN,
    CMHD_FIELD_IF_NONE_MATCH,
    CMHD_FIELD_CONTENT_LENGTH,
    CMHD_FIELD_SEC_FETCH_SITE,
    CMHD_FIELD_IDEMPOTENCY_KEY,
    CMHD_FIELD_ACCEPT_ENCODING,
    CMHD_FIELD_CONTENT_ENCODING,
    CMHD_FIELD_TRANSFER_ENCODING,
    CMHD_FIELD_X_FORWARDED_PREFIX,
    CMHD_FIELD_NAMES,           ///< how many there are
} cmhd_field_name;

/// The well-known name that equals this token, in any case.
cmhd_field_name cmhd_field_name_of(const uint8_t *_Nullable name, size_t length);

/// The text of a well-known name, in lower case; NULL for others.
const char *_Nullable cmhd_field_name_text(cmhd_field_name name);

/// Where the fields of a name are.
typedef struct {
    uint16_t first;             ///< its index, when there is one
    uint16_t count;
} cmhd_field_place;

/// A header field as it was on the wire: offsets into `cmhd_request.head`, lengths in bytes.
typedef struct {
    uint32_t name, name_length, value, value_length;
} cmhd_field;

/// RFC 9110, 5.5: whether there is no control character except tab.
bool cmhd_is_field_value(const uint8_t *text, size_t length);

/// One whole request, or a refused one. Every pointer is valid only during the call that hands it over.
typedef struct {
    cmhd_connection *connection;
    cmhd_refusal refusal;
    unsigned worker;            ///< the index of the worker, below `cmhd_options.workers`
    uint64_t number;            ///< no two requests of a server have the same
    bool http_1_0;
    /// From the method to the end of the last field. Of a head that is refused there is at most the field `Origin`.
    const uint8_t *_Nullable head;
    uint32_t head_length;
    uint32_t method_length;     ///< the method starts at 0; 0 when the head is refused
    uint32_t target, target_length;
    const cmhd_field *_Nullable fields;
    uint32_t field_count;
    const cmhd_field_place *_Nullable places;  ///< of the well-known names, by `cmhd_field_name`
    uint32_t present;           ///< a bit for each well-known name that there is, by `cmhd_field_name`
    const uint8_t *_Nullable body;
    size_t body_length;
    bool awaits_continue;       ///< the client sends its body only after a 100: respond, or call `cmhd_continue`
    const struct sockaddr *_Nullable peer;
    uint64_t received_at;       ///< when its worker turned to it, in nanoseconds of CLOCK_MONOTONIC
} cmhd_request;

/// One response. Everything is copied, but the body if it has an owner. The library writes `Date`, `Content-Length`,
/// `Connection` and `Transfer-Encoding`.
typedef struct {
    unsigned status;
    /// As they go out: name, colon, one blank, a value that is not empty, CR LF; and so on.
    const void *_Nullable first_fields;
    size_t first_fields_length;
    const void *_Nullable fields;       ///< more of them
    size_t fields_length;
    bool has_entity_tag;                ///< whether there is a field `ETag`, with this number in quotes
    uint64_t entity_tag;
    const void *_Nullable last_fields;  ///< more of them, but the value of the last is still to come:
    size_t last_fields_length;
    const void *_Nullable last_value;   ///< its text; the end of its line is added
    size_t last_value_length;
    const void *_Nullable body;
    size_t body_length;
    /// Keeps the body in memory; NULL: the body is copied. Consumed by `cmhd_respond`.
    void *_Nullable body_owner;
    void (*_Nullable release_body)(void *_Nullable owner);
    void *_Nullable stream;             ///< not NULL: `produce` is asked for the body, which has no end known before
    uint64_t made_at;                   ///< just now, in nanoseconds of CLOCK_MONOTONIC
} cmhd_answer;

/// What `cmhd_callbacks.produce` returns instead of a number of bytes.
enum { CMHD_PRODUCE_LATER = 0, CMHD_PRODUCE_END = -1, CMHD_PRODUCE_BROKEN = -2 };

/// Why a waiting request must end.
typedef enum { CMHD_END_DEADLINE, CMHD_END_STOPPING, CMHD_END_CLIENT_GONE } cmhd_end;

/// Reads the header of version 1 or 2 of the PROXY protocol, as a proxy sends it before the bytes of its client:
/// <https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt>, section 2.2.
///
/// Returns its size, and the address in `client`: of the family AF_UNSPEC when there is none, because the connection is
/// the proxy's own or its client has no address of the internet. Returns 0 while there are not enough bytes, and -1
/// when they are no such header, or one of more than `CMHD_PROXY_HEADER_BYTES`.
int cmhd_read_proxy_header(const uint8_t *bytes, size_t length, struct sockaddr_storage *client);
enum { CMHD_PROXY_HEADER_BYTES = 2048 };

/// The functions that the server calls, always on the thread of the connection's worker. They must not throw or block.
///
/// What a connection waits for is the caller's: the exchange that will respond, or the stream that produces a response.
typedef struct {
    void *context;
    /// Either calls `cmhd_respond` and returns NULL, or returns an exchange. The connection then waits, suspended or
    /// parked, and `suspended` is called. A request that `awaits_continue` is handed over before its body; if
    /// `cmhd_continue` was called instead of `cmhd_respond`, it is handed over again with its body.
    void *_Nullable (*_Nonnull request)(void *context, const cmhd_request *request);
    /// The connection is suspended now, so `cmhd_resume` may be called. Returns true when the response, or its next
    /// piece, came in the meantime: the connection is then resumed at once.
    bool (*suspended)(void *context, void *waiting);
    /// The connection runs again: call `cmhd_respond`. Consumes the exchange.
    void (*resumed)(void *context, void *exchange, cmhd_connection *connection);
    /// The request ends without a response, because its connection broke, or with the whole response of a stream.
    /// Consumes the exchange or the stream.
    void (*released)(void *context, void *waiting);
    /// The exchange or the stream must resume its connection soon, because the wait must end.
    void (*end)(void *context, void *waiting, cmhd_end reason);
    /// Writes at most `room` bytes of a response's body and returns how many, or CMHD_PRODUCE_…. After
    /// CMHD_PRODUCE_LATER the connection is suspended.
    ptrdiff_t (*produce)(void *context, void *stream, void *buffer, size_t room);

    // The connections of each client. NULL when they are not limited.

    /// Whether a client may have one more connection. If not, it is closed at once. `now` is of the clock of
    /// `cmhd_request.received_at`.
    bool (*_Nullable admits)(void *context, const struct sockaddr *_Nullable peer, uint64_t now);
    /// A connection has begun or ended.
    void (*_Nullable connected)(void *context, const struct sockaddr *_Nullable peer);
    void (*_Nullable disconnected)(void *context, const struct sockaddr *_Nullable peer);

    /// Whether connections from this address begin with a header of the PROXY protocol. NULL when none do.
    bool (*_Nullable announces)(void *context, const struct sockaddr *_Nullable peer);

    /// A worker's loop begins. From now on the worker may be called.
    void (*worker_began)(void *context, unsigned index, cmhd_worker *worker);
    /// The worker was called, see `cmhd_call_worker`.
    void (*worker_called)(void *context, unsigned index);
    /// The loop has ended and all its connections are closed. After this returns, the worker must not be called.
    void (*worker_ended)(void *context, unsigned index);
} cmhd_callbacks;

/// Limits and deadlines, in bytes and milliseconds.
typedef struct {
    const char *_Nullable host; ///< an address or a name; "" for every address; "unix:" and a path
    uint16_t port;              ///< 0: a free one
    int listener;               ///< a socket that listens, in place of both; 0 for none
    unsigned workers;
    unsigned connections;       ///< over all workers; at this number, idle ones make room for clients that wait
    bool admits_at_once;        ///< then the oldest of those without a request make room; see worker.c
    size_t connection_memory;   ///< libmicrohttpd's pool of a connection: head, its index and the answer's head
    uint32_t target_bytes, head_bytes, fields, arguments, cookies;
    size_t body_bytes;
    size_t buffer_bytes;        ///< of all bodies above CMHD_SMALL_BODY that are in memory, see `cmhd_reserve`
    uint32_t header_timeout;    ///< from the first byte of the connection, or the request line, to the blank line
    uint32_t body_timeout;      ///< from the blank line to the last byte of the body
    uint32_t handler_timeout;   ///< of a request that waits
    uint32_t patient_timeout;   ///< the same after `cmhd_be_patient`
    uint32_t write_timeout;     ///< from the answer to its last byte taken by the client
    uint32_t idle_timeout;      ///< between two requests
    cmhd_tls *_Nullable tls;    ///< NULL: plain HTTP. The server keeps a reference of its own
    bool ignores_hooks;         ///< as in a program without CMicroHTTPDHooks
    bool adds_fields_singly;    ///< as if the library's insides were unknown, see `cmhd_can_link_fields`
} cmhd_options;

/// The memory of a connection that libmicrohttpd uses for a field, in addition to its text; and for a response's head.
enum { CMHD_FIELD_BYTES = 64, CMHD_RESPONSE_HEAD_BYTES = 2048 };

/// The least `connection_memory` with which every request within these limits gets a response. Less is rounded up.
size_t cmhd_least_memory(size_t head_bytes, size_t fields);

/// Checks that the library keeps a request's head as the framing checks need it. Returns NULL, or a static sentence
/// that says what differs; then the server must not start.
const char *_Nullable cmhd_self_test(void);

/// Checks that the library asks again for a response that was not given, so that connections can be parked. Otherwise a
/// server suspends them.
bool cmhd_can_park(void);

/// Checks that the library keeps a response's fields so that they can be passed as one text, which is much cheaper.
/// Otherwise a server adds them one by one.
bool cmhd_can_link_fields(void);

/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t cmhd_clock(void);

/// The version of the loaded library, such as "0.9.75".
const char *cmhd_library_version(void);

/// Binds, listens, starts the workers. On failure returns NULL and a message for people in `message`.
cmhd_server *_Nullable cmhd_server_start(const cmhd_options *options, const cmhd_callbacks *callbacks, char *message,
                                         size_t message_size);

/// The port of the listener, also when 0 was requested. 0 at a path.
uint16_t cmhd_server_port(const cmhd_server *server);

/// Where it listens: "192.0.2.1:80", "[2001:db8::1]:80" or "unix:" and a path.
void cmhd_server_address(const cmhd_server *server, char *text, size_t size);

/// Open connections of all workers.
unsigned cmhd_server_connections(const cmhd_server *server);

/// For how many milliseconds a worker has been in its present turn of the loop; of all workers, the longest. A handler
/// that does not return keeps the connections of its worker waiting.
int64_t cmhd_server_busy(const cmhd_server *server);

/// Connections that were closed to make room for others: at the connection limit those that were idle, and at
/// `buffer_bytes` those whose client is slow.
uint64_t cmhd_server_evictions(const cmhd_server *server);

/// Drains and stops. It accepts for `delay`, with `Connection: close` on every response; then it stops listening, lets
/// requests in progress finish, and closes idle connections; after `timeout`, which includes the delay, it ends the
/// rest. Returns when every connection is closed. Call it once.
void cmhd_server_stop(cmhd_server *server, uint32_t delay, uint32_t timeout);

/// Credentials with one reference; NULL with the problem when there is one. `begins` and `ends` are the times between
/// which the certificate is valid, in seconds since 1970.
cmhd_tls *_Nullable cmhd_tls_new(const cmhd_tls_texts *texts, cmhd_tls_problem *problem, int64_t *begins,
                                 int64_t *ends);

/// Gives a reference back.
void cmhd_tls_release(cmhd_tls *_Nullable tls);

/// Connections that are accepted from now on get this certificate; others keep theirs. For a server that was started
/// with one, from any thread.
void cmhd_server_set_tls(cmhd_server *server, cmhd_tls *tls);

/// Frees a stopped server.
void cmhd_server_free(cmhd_server *server);

/// Bodies up to this size do not count for `buffer_bytes`: the limit of connections bounds them.
enum { CMHD_SMALL_BODY = 4096 };

/// Reserves memory for a body until the end of the current request. At `buffer_bytes` the connections go whose bodies
/// have been sent or read for longest. Returns false when none of them is slow.
bool cmhd_reserve(cmhd_connection *connection, size_t bytes);

/// Queues the response. Returns false when memory is short: the connection then breaks, and the caller keeps its
/// stream.
bool cmhd_respond(cmhd_connection *connection, const cmhd_answer *answer);

/// Asks the client for the body of a request that `awaits_continue`. The request is handed over again with its body.
void cmhd_continue(cmhd_connection *connection);

/// The current request may wait for `patient_timeout`, because it waits for what others do. A streamed response is then
/// one that is mostly silent, and the kernel keeps little of it for a client that does not read. Call it on the
/// worker's thread, before the request waits or its response is queued.
void cmhd_be_patient(cmhd_connection *connection);

/// Wakes a waiting connection, from any thread, exactly once for each time that it waits. A parked connection may
/// break: it must not be woken after `released` has returned, and `released` must return only when no thread is in this
/// function.
void cmhd_resume(cmhd_connection *connection);

/// Makes the worker call `worker_called` soon, once for any number of calls, from any thread.
void cmhd_call_worker(cmhd_worker *worker);

#pragma clang assume_nonnull end

#endif
