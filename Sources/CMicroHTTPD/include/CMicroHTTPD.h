/// The bridge to libmicrohttpd: what the server needs of it, and the checks that it does not do itself.
///
/// A `cmhd_server` owns one listening socket and a few workers. A worker is a thread, a libmicrohttpd daemon in
/// external epoll mode, and that daemon's connections: everything about a connection happens on its worker's
/// thread, except `cmhd_resume`. The daemon is never run with one internal epoll thread (it stalls beyond
/// about 128 connections) nor with its own pool, so that deadlines and draining can live in the loop.
///
/// A request is collected whole, under the limits, then handed over once. What breaks the framing rules of
/// RFC 9112 is handed over as a refusal and its connection closed after the answer.
///
/// Where the caller wants that, a body is handed over piece by piece instead, each when the one before was taken: in
/// between the connection is suspended, so that the client is held back by TCP. An answer's body can be asked for
/// piece by piece in the same way. See stream.c.
#ifndef CMICROHTTPD_H
#define CMICROHTTPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct cmhd_server cmhd_server;
typedef struct cmhd_connection cmhd_connection;
typedef struct cmhd_worker cmhd_worker;

/// Why a request is refused before anybody looks at what it wants.
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

/// The names that nearly every request is asked for, in order of their length: where such fields are is noted while
/// they are checked, so that nobody has to search for them. The table of their texts is in fields.c.
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
    CMHD_FIELD_IF_NONE_MATCH,
    CMHD_FIELD_CONTENT_LENGTH,
    CMHD_FIELD_SEC_FETCH_SITE,
    CMHD_FIELD_IDEMPOTENCY_KEY,
    CMHD_FIELD_CONTENT_ENCODING,
    CMHD_FIELD_TRANSFER_ENCODING,
    CMHD_FIELD_NAMES,           ///< how many there are
} cmhd_field_name;

/// Which of the well-known names this token is, whatever its case.
cmhd_field_name cmhd_field_name_of(const uint8_t *name, size_t length);

/// The text of a well-known name, in lower case; NULL for others.
const char *cmhd_field_name_text(cmhd_field_name name);

/// Where the fields of one name are.
typedef struct {
    uint16_t first;             ///< its index, when there is one
    uint16_t count;
} cmhd_field_place;

/// A header field as it stood on the wire: offsets into `cmhd_request.head`, lengths in bytes.
typedef struct {
    uint32_t name, name_length, value, value_length;
} cmhd_field;

/// RFC 9110, 5.5: whether there is no control character but the tab.
bool cmhd_is_field_value(const uint8_t *text, size_t length);

/// One whole request, or one that is refused. Every pointer is valid during the call that hands it over, only.
typedef struct {
    cmhd_connection *connection;
    cmhd_refusal refusal;
    unsigned worker;            ///< the index of the worker, below `cmhd_options.workers`
    uint64_t number;            ///< no two requests of a server have the same
    bool http_1_0;
    const uint8_t *head;        ///< from the method to the end of the last field; `head_length` 0 when refused
    uint32_t head_length;
    uint32_t method_length;     ///< the method starts at 0
    uint32_t target, target_length;
    const cmhd_field *fields;
    uint32_t field_count;
    const cmhd_field_place *places;     ///< of the well-known names, by `cmhd_field_name`
    uint32_t present;           ///< a bit for each well-known name that there is, by `cmhd_field_name`
    const uint8_t *body;
    size_t body_length;
    bool continues;             ///< `body` is only the first piece of it: the rest comes through `piece`
    bool awaits_continue;       ///< the client sends its body only after a 100: respond, or call `cmhd_continue`
    const struct sockaddr *peer;
    uint64_t received_at;       ///< when its worker turned to it, in nanoseconds of CLOCK_MONOTONIC
} cmhd_request;

/// One whole answer. Everything is copied. `Date`, `Content-Length`, `Connection` and `Transfer-Encoding` are the
/// library's to write.
typedef struct {
    unsigned status;
    const void *first_fields;   ///< as they go out: name, colon, one blank, a value that is not empty, CR LF; and so on
    size_t first_fields_length;
    const void *fields;         ///< more of them
    size_t fields_length;
    bool has_entity_tag;        ///< whether there is a field `ETag`, with this number in quotes
    uint64_t entity_tag;
    const void *last_fields;    ///< more of them, but the value of the last is still to come:
    size_t last_fields_length;
    const void *last_value;     ///< its text; the end of its line is added
    size_t last_value_length;
    const void *body;
    size_t body_length;
    void *stream;               ///< not NULL: the body is asked for with `produce`, and has no end known before
    uint64_t made_at;           ///< just now, in nanoseconds of CLOCK_MONOTONIC
} cmhd_answer;

/// What `cmhd_callbacks.produce` returns when it has no bytes.
enum { CMHD_PRODUCE_LATER = 0, CMHD_PRODUCE_END = -1, CMHD_PRODUCE_BROKEN = -2 };

/// Why a waiting request is called to its end.
typedef enum { CMHD_END_DEADLINE, CMHD_END_STOPPING, CMHD_END_CLIENT_GONE } cmhd_end;

/// What the server calls, always on the thread of the connection's worker. No call may throw or block.
typedef struct {
    void *context;
    /// Answer with `cmhd_respond` before returning, and return NULL; or return the exchange that will: the
    /// connection then waits, suspended or held, and `suspended` is called. A request that `awaits_continue` is handed
    /// over before its body, and a second time with it when `cmhd_continue` was called instead of `cmhd_respond`.
    void *(*request)(void *context, const cmhd_request *request);
    /// The connection is suspended now, so that `cmhd_resume` may be called. Returns true when the answer came
    /// in between: it is then resumed at once.
    bool (*suspended)(void *context, void *exchange);
    /// The connection runs again: answer with `cmhd_respond`. Consumes the exchange.
    void (*resumed)(void *context, void *exchange, cmhd_connection *connection);
    /// The request ends without an answer, since its connection broke. Consumes the exchange.
    void (*abandoned)(void *context, void *exchange);
    /// The waiting request has to come to an end: it must see to it that it is resumed soon.
    void (*end)(void *context, void *exchange, cmhd_end reason);

    // Of bodies that are not whole.

    /// Whether the body of this request is wanted piece by piece. Only its head is there. Asked when
    /// `cmhd_options.streams_bodies`, of requests with a body.
    bool (*takes_pieces)(void *context, const cmhd_request *request);
    /// The connection, which was suspended, runs again. True: the next piece is wanted; false: the answer is there,
    /// before the body has come to its end, and `resumed` is called for it.
    bool (*wants_piece)(void *context, void *exchange);
    /// One more piece; or none any more, when `length` is 0. The connection is suspended then, and `suspended` called.
    void (*piece)(void *context, void *exchange, const uint8_t *bytes, size_t length);
    /// Writes at most `room` bytes of an answer's body and returns how many, or CMHD_PRODUCE_…. After
    /// CMHD_PRODUCE_LATER the connection is suspended and `stream_suspended` called, which is for a stream what
    /// `suspended` is for an exchange.
    ptrdiff_t (*produce)(void *context, void *stream, void *buffer, size_t room);
    bool (*stream_suspended)(void *context, void *stream);
    /// The stream, which waits, has to come to an end: it must see to it that its connection is resumed soon.
    void (*stream_end)(void *context, void *stream);
    /// The answer is over, or its connection broke. Consumes the stream.
    void (*stream_released)(void *context, void *stream);

    /// A worker's loop begins: from now on it may be called.
    void (*worker_began)(void *context, unsigned index, cmhd_worker *worker);
    /// The worker was called, see `cmhd_call_worker`.
    void (*worker_called)(void *context, unsigned index);
    /// The loop is over, all its connections are closed. When this returns the worker may not be called any more.
    void (*worker_ended)(void *context, unsigned index);
} cmhd_callbacks;

/// Limits and deadlines. Milliseconds and bytes.
typedef struct {
    const char *host;           ///< an address or a name; "" for every address
    uint16_t port;              ///< 0: a free one
    unsigned workers;
    unsigned connections;       ///< over all workers
    size_t connection_memory;   ///< libmicrohttpd's pool of a connection: head, its index and the answer's head
    uint32_t target_bytes, head_bytes, fields, arguments, cookies;
    size_t body_bytes;
    bool streams_bodies;        ///< whether there are requests whose bodies are wanted piece by piece
    uint64_t streamed_body_bytes;   ///< of such a body, instead of `body_bytes`
    uint32_t header_timeout;    ///< from the first byte of the connection, or the request line, to the blank line
    uint32_t body_timeout;      ///< from the blank line to the last byte of the body
    uint32_t handler_timeout;   ///< of a request that waits
    uint32_t write_timeout;     ///< from the answer to its last byte taken by the client
    uint32_t idle_timeout;      ///< between two requests
    bool ignores_hooks;         ///< as in a program without CMicroHTTPDHooks
    bool adds_fields_singly;    ///< as if the library's insides were unknown, see `cmhd_can_link_fields`
} cmhd_options;

/// Checks that the library keeps a request's head laid out as the framing checks need it. Returns NULL, or a
/// static sentence that says what is different: do not serve then.
const char *cmhd_self_test(void);

/// Checks that the library asks again for an answer that was not given, so that requests can wait without their
/// connections being suspended. When it does not a server suspends them.
bool cmhd_can_hold(void);

/// Checks that the library keeps an answer's fields so that they can be given to it as one text, which is much
/// cheaper than one by one. When it does not a server adds them one by one.
bool cmhd_can_link_fields(void);

/// The version of the library that is loaded, such as "0.9.75".
const char *cmhd_library_version(void);

/// Binds, listens, starts the workers. Returns NULL and a message for a person in `message` when that fails.
cmhd_server *cmhd_server_start(const cmhd_options *options, const cmhd_callbacks *callbacks, char *message,
                               size_t message_size);

/// The port that it listens on, also when 0 was asked for.
uint16_t cmhd_server_port(const cmhd_server *server);

/// Connections open now, over all workers.
unsigned cmhd_server_connections(const cmhd_server *server);

/// Drains and stops: goes on accepting for `delay`, with `Connection: close` on every answer; then stops
/// listening, lets what is under way finish, and closes what is idle; after `timeout` (which includes the
/// delay) ends what is left. Returns when every connection is closed. To be called once.
void cmhd_server_stop(cmhd_server *server, uint32_t delay, uint32_t timeout);

/// Frees a stopped server.
void cmhd_server_free(cmhd_server *server);

/// Queues the answer. False when that cannot be done, for want of memory: the connection then breaks, and a stream
/// stays the caller's.
bool cmhd_respond(cmhd_connection *connection, const cmhd_answer *answer);

/// Asks the client for the body of a request that `awaits_continue`, which is handed over again when it is there.
void cmhd_continue(cmhd_connection *connection);

/// Wakes a waiting connection, from any thread, exactly once each time that it waits. One that is held may break: it is
/// not to be woken after `abandoned` has returned, and that is to return only when nobody is in here.
void cmhd_resume(cmhd_connection *connection);

/// Has the worker call `worker_called` soon, once for any number of calls, from any thread.
void cmhd_call_worker(cmhd_worker *worker);

#endif
