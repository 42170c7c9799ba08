// The listening socket: at an address, at a path of the file system, or one that the process was started with.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "internal.h"

enum { backlog = 4096 };
/// How much the kernel takes of a response before its client reads.
enum { most_unsent = 16 << 10 };
/// What stands before a path in place of a host.
static const char scheme[] = "unix:";

/// Closes, and keeps the reason for people.
static int give_up(int fd) {
    const int reason = errno;
    if (fd >= 0) close(fd);
    errno = reason;
    return -1;
}

/// Otherwise the kernel would keep megabytes for a client that does not read. Connections inherit it. tcp(7) does not
/// have it: beyond so many bytes that are not sent yet, a write is refused; what is on its way does not count, so that
/// distant clients are as fast as they were.
static void limit_unsent(int fd) {
    const int unsent = most_unsent;
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

static int listen_at_address(const struct addrinfo *address) {
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    const int on = 1, off = 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    limit_unsent(fd);
    return bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, backlog) == 0 ? fd : give_up(fd);
}

static int listen_at_host(const cmhd_options *options, char *message, size_t message_size) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", options->port);
    const int failure = getaddrinfo(options->host[0] == '\0' ? NULL : options->host, port, &hints, &found);
    if (failure != 0) {
        snprintf(message, message_size, "no address for host \"%s\": %s", options->host, gai_strerror(failure));
        return -1;
    }
    int fd = -1;
    for (struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) fd = listen_at_address(at);
    if (fd < 0)
        snprintf(message, message_size, "cannot listen on %s:%u: %s", options->host, options->port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

/// Whether the file is a socket that no process listens at any more, because its server was killed. If not, the reason
/// not to take its place is in `errno`.
static bool is_left_behind(const struct sockaddr_un *address) {
    struct stat file;
    if (lstat(address->sun_path, &file) != 0) return false;
    if (!S_ISSOCK(file.st_mode)) {
        errno = EEXIST;
        return false;
    }
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    // Manual, connect(2): ECONNREFUSED, "found no one listening". EAGAIN: there is one, whose queue is full.
    const bool is_served = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN;
    if (is_served) errno = EADDRINUSE;
    give_up(fd);
    return !is_served && errno == ECONNREFUSED;
}

/// Owner and group may connect, whatever the umask is: a proxy in front runs as another user. Nobody can connect
/// before `listen`.
static int listen_at_path(cmhd_server *server, const char *path, char *message, size_t message_size) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        snprintf(message, message_size, "cannot listen on unix:%s: the path is longer than %zu bytes", path,
                 sizeof address.sun_path - 1);
        return -1;
    }
    strcpy(address.sun_path, path);
    enum { mode = 0660 };
    const struct sockaddr *name = (const struct sockaddr *)&address;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool is_bound = fd >= 0 && bind(fd, name, sizeof address) == 0;
    if (!is_bound && fd >= 0 && errno == EADDRINUSE && is_left_behind(&address))
        is_bound = unlink(path) == 0 && bind(fd, name, sizeof address) == 0;
    struct stat file;
    if (is_bound && chmod(path, mode) == 0 && listen(fd, backlog) == 0 && lstat(path, &file) == 0) {
        server->device = file.st_dev;
        server->inode = file.st_ino;
        return fd;
    }
    give_up(fd);
    snprintf(message, message_size, "cannot listen on unix:%s: %s", path,
             errno == EADDRINUSE ? "another server listens there"
             : errno == EEXIST   ? "there is a file that is no socket"
                                 : strerror(errno));
    return -1;
}

/// A socket that another process has made, and may give to the next server as well.
static int adopt(int fd, char *message, size_t message_size) {
    int listens = 0, type = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
        snprintf(message, message_size, "descriptor %d is no stream socket that listens", fd);
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    limit_unsent(fd);
    return fd;
}

bool cmhd_listen(cmhd_server *server, const cmhd_options *options, char *message, size_t message_size) {
    const bool is_path = strncmp(options->host, scheme, sizeof scheme - 1) == 0;
    server->is_inherited = options->listener > 0;
    server->listener = server->is_inherited ? adopt(options->listener, message, message_size)
                       : is_path ? listen_at_path(server, options->host + sizeof scheme - 1, message, message_size)
                                 : listen_at_host(options, message, message_size);
    if (server->listener < 0) return false;
    socklen_t size = sizeof server->address;
    if (getsockname(server->listener, (struct sockaddr *)&server->address, &size) != 0) return true;
    const struct sockaddr_storage *address = &server->address;
    if (address->ss_family == AF_INET) server->port = ntohs(((const struct sockaddr_in *)address)->sin_port);
    if (address->ss_family == AF_INET6) server->port = ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
    return true;
}

void cmhd_server_address(const cmhd_server *server, char *text, size_t size) {
    const struct sockaddr_storage *address = &server->address;
    if (address->ss_family == AF_UNIX) {
        snprintf(text, size, "%s%s", scheme, ((const struct sockaddr_un *)address)->sun_path);
        return;
    }
    char host[INET6_ADDRSTRLEN] = "";
    getnameinfo((const struct sockaddr *)address, sizeof *address, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    snprintf(text, size, address->ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, server->port);
}

/// Stops further clients from connecting. Closing the socket resets the clients in its queue, so no client may join the
/// queue between the last look at it and the closing.
///
/// Manual, socket(7), SO_ATTACH_FILTER: a program inspects each segment, from the TCP header on. It drops segments that
/// open a connection (RFC 9293, 3.1: SYN without ACK). Their clients try again a second later, and are refused then. A
/// client whose last ACK is still on its way is reset; waiting before the call prevents that (`cmhd_server_stop`).
///
/// At a path clients find no file any more; another server may be there already, and then it is that one's. Those that
/// had found it are refused, and those in the queue can still be accepted.
void cmhd_let_nobody_in(const cmhd_server *server) {
    enum { flags_offset = 13, syn = 0x02, ack = 0x10 };
    struct sock_filter drop_openings[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, flags_offset),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, syn | ack),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syn, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {.len = sizeof drop_openings / sizeof *drop_openings, .filter = drop_openings};
    if (server->address.ss_family != AF_UNIX) {
        setsockopt(server->listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
        return;
    }
    struct stat file;
    const char *path = ((const struct sockaddr_un *)&server->address)->sun_path;
    if (lstat(path, &file) == 0 && file.st_dev == server->device && file.st_ino == server->inode) unlink(path);
    shutdown(server->listener, SHUT_RD);
}
