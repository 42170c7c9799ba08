// A load that costs its core little, for what wrk cannot send: answers without a body (wrk waits for the one whose
// length a 304 tells, RFC 9110, section 8.6), and another token in every request without a script's table of them,
// whose cache misses would be measured, too.
//
//   load [-t TOKENS] [-r RATE] [-n REQUESTS] PORT CONNECTIONS SECONDS STATUS < REQUEST
//
// One request at a time on each connection. With a RATE so many are due in a second, evenly, on whichever connection is
// free, and the time of an answer counts from when its request was due: one that had to wait for others to be answered
// has waited. It ends after SECONDS, or after so many REQUESTS. Marks in REQUEST are replaced each time it is sent: `*`
// by the next line of the file TOKENS, in its order, again and again; `~` by a line drawn at random; `########` by as
// many digits, which are others each time; `<one|two>` by the first word in the first round of the lines, by the second
// word in the next round, and so on. The lines are of one length, and so are the words. Prints the same line of JSON as
// wrk/report.lua, with the 99.9th percentile and the worst.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "samples.h"

enum { most_connections = 4096, most_samples = 1 << 24, most_answer = 8192 };

typedef struct {
    int fd;
    size_t length;  // bytes of the answer that have come
    uint64_t due_at;
    char answer[most_answer];
} connection;

// What is sent, and the places in it of a token, of a number and of a word.
static char message[16384], *token_place, *number_place, *word_place;
static size_t message_length;
static bool in_order;
static char words[2][64];
static size_t word_length;
static int word;
static const char *tokens, *next_token, *tokens_end;
static size_t token_width;
static uint64_t chance, number;

static const char number_mark[] = "########";
enum { digits = sizeof number_mark - 1 };

static void open_tokens(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0) fail(path);
    tokens = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (tokens == MAP_FAILED) fail(path);
    close(fd);
    const char *end = memchr(tokens, '\n', (size_t)about.st_size);
    if (end == NULL) fail("no line of tokens");
    token_width = (size_t)(end - tokens);
    tokens_end = tokens + (size_t)about.st_size / (token_width + 1) * (token_width + 1);
    next_token = tokens;
}

static void prepare(void) {
    static char request[sizeof message / 2 + 1];  // ends with a zero
    size_t length = fread(request, 1, sizeof request - 1, stdin);
    char *end = message;
    for (const char *c = request; c < request + length; c++) {
        if (token_place == NULL && tokens != NULL && (*c == '*' || *c == '~')) {
            in_order = *c == '*';
            token_place = end;
            end += token_width;
        } else if (*c == '<' && word_place == NULL && sscanf(c, "<%63[a-z0-9]|%63[a-z0-9]>", words[0], words[1]) == 2 &&
                   strlen(words[0]) == strlen(words[1])) {
            word_place = end;
            word_length = strlen(words[0]);
            end += word_length;
            c += 2 * word_length + 2;
        } else {
            *end++ = *c;
        }
    }
    message_length = (size_t)(end - message);
    number_place = memmem(message, message_length, number_mark, digits);
    chance = number = now();
}

static const char *choose_token(void) {
    const char *token = next_token;
    if (in_order) {
        if ((next_token += token_width + 1) == tokens_end) {
            next_token = tokens;
            word = !word;
        }
        return token;
    }
    // xorshift64
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return tokens + (chance >> 32) % ((size_t)(tokens_end - tokens) / (token_width + 1)) * (token_width + 1);
}

static void send_next(connection *c, uint64_t due) {
    if (word_place != NULL) memcpy(word_place, words[word], word_length);
    if (token_place != NULL) memcpy(token_place, choose_token(), token_width);
    if (number_place != NULL) {
        uint64_t rest = number++;
        for (int i = digits; i-- > 0; rest /= 10) number_place[i] = (char)('0' + rest % 10);
    }
    c->length = 0;
    c->due_at = due;
    if (send(c->fd, message, message_length, MSG_NOSIGNAL) != (ssize_t)message_length) fail("send");
}

// Whether the answer is all there.
static bool is_complete(const connection *c, bool has_body) {
    const char *end = memmem(c->answer, c->length, "\r\n\r\n", 4);
    if (end == NULL) return false;
    if (!has_body) return true;
    const char *field = memmem(c->answer, (size_t)(end - c->answer), "Content-Length: ", 16);
    if (field == NULL) fail("an answer without Content-Length");
    return c->length >= (size_t)(end + 4 - c->answer) + strtoul(field + 16, NULL, 10);
}

int main(int count, char **arguments) {
    uint64_t interval = 0, most_requests = UINT64_MAX;
    for (int option; (option = getopt(count, arguments, "t:r:n:")) != -1;) {
        if (option == 't') open_tokens(optarg);
        if (option == 'r') interval = 1000000000u / strtoull(optarg, NULL, 10);
        if (option == 'n') most_requests = strtoull(optarg, NULL, 10);
    }
    if (count - optind != 4) {
        fprintf(stderr, "usage: load [-t TOKENS] [-r RATE] [-n REQUESTS] PORT CONNECTIONS SECONDS STATUS < REQUEST\n");
        return 2;
    }
    arguments += optind;
    int width = atoi(arguments[1]);
    char status[16];
    snprintf(status, sizeof status, "HTTP/1.1 %.3s", arguments[3]);
    bool has_body = strcmp(arguments[3], "304") != 0 && strcmp(arguments[3], "204") != 0;
    prepare();
    if (width < 1 || width > most_connections || message_length == 0) return 2;
    connection *connections = calloc((size_t)width, sizeof *connections);
    // A ring, so that each is used in turn: one that is idle for long is closed by the server.
    connection **free_ones = calloc((size_t)width, sizeof *free_ones);
    uint32_t *samples = malloc(most_samples * sizeof *samples);
    int events = epoll_create1(0);
    if (connections == NULL || free_ones == NULL || samples == NULL || events < 0) fail("start");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[0])),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int free_count = 0, first_free = 0;
    for (int i = 0; i < width; i++) {
        connection *c = &connections[i];
        c->fd = socket(AF_INET, SOCK_STREAM, 0);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(events, EPOLL_CTL_ADD, c->fd, &event) != 0) fail("epoll_ctl");
        free_ones[free_count++] = c;
    }
    uint64_t start = now(), end = start + strtoull(arguments[2], NULL, 10) * 1000000000u, time = start, due = start;
    uint64_t requests = 0, failed = 0;
    while ((time = now()) < end && requests < most_requests) {
        for (; free_count > 0 && due <= time; due = interval > 0 ? due + interval : due) {
            send_next(free_ones[first_free], interval > 0 ? due : now());
            first_free = (first_free + 1) % width;
            free_count--;
        }
        // Without a rate it never sleeps: to wake it would be the server's work, on the server's core, and all the more of
        // that the faster this load is.
        struct timespec wait = {.tv_nsec = interval > 0 ? 100000000 : 0};
        if (interval > 0 && free_count > 0 && due - time < 100000000u) wait.tv_nsec = (long)(due - time);
        struct epoll_event ready[64];
        int got = epoll_pwait2(events, ready, 64, &wait, NULL);
        for (int i = 0; i < got; i++) {
            connection *c = ready[i].data.ptr;
            ssize_t bytes = recv(c->fd, c->answer + c->length, most_answer - c->length, 0);
            if (bytes <= 0) fail("recv");
            c->length += (size_t)bytes;
            if (!is_complete(c, has_body)) continue;
            if (memcmp(c->answer, status, 12) != 0) failed++;
            if (requests < most_samples) samples[requests] = (uint32_t)((now() - c->due_at) / 1000);
            requests++;
            if (interval > 0) {
                free_ones[(first_free + free_count++) % width] = c;
            } else {
                send_next(c, now());
            }
        }
    }
    size_t kept = requests < most_samples ? requests : most_samples;
    // What was due and never sent waited until the end, at least.
    for (; interval > 0 && due < end && kept < most_samples; due += interval)
        samples[kept++] = (uint32_t)((end - due) / 1000);
    qsort(samples, kept, sizeof *samples, compare);
    printf("RESULT {\"requests\": %llu, \"duration\": %llu, \"failed\": %llu", (unsigned long long)requests,
           (unsigned long long)((time - start) / 1000), (unsigned long long)failed);
    static const struct {
        const char *name;
        size_t permille;
    } figures[] = {{"p50", 500}, {"p99", 990}, {"p999", 999}, {"worst", 1000}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures && kept > 0; i++) {
        size_t place = kept * figures[i].permille / 1000;
        printf(", \"%s\": %u", figures[i].name, samples[place < kept ? place : kept - 1]);
    }
    printf("}\n");
    return 0;
}
