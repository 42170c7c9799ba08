// The Date field (RFC 9110, 6.6.1). The library would compute it for every response; a worker computes it once a
// second.
#include <stdio.h>
#include <time.h>

#include "internal.h"

/// RFC 9110, 5.6.7, in any locale.
static void write_line(char *line, time_t now) {
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm at;
    gmtime_r(&now, &at);
    // Each is cut to its digits, because the compiler does not know the calendar.
    snprintf(line, CMHD_DATE_LINE + 1, "Date: %s, %02u %s %04u %02u:%02u:%02u GMT\r\n", days[at.tm_wday],
             (unsigned)at.tm_mday % 100, months[at.tm_mon], (unsigned)(at.tm_year + 1900) % 10000,
             (unsigned)at.tm_hour % 100, (unsigned)at.tm_min % 100, (unsigned)at.tm_sec % 100);
}

const char *cmhd_date_line(worker *w) {
    if (w->now == w->date_looked_at && w->date_line[0] != '\0') return w->date_line;
    w->date_looked_at = w->now;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != w->date_second || w->date_line[0] == '\0') {
        write_line(w->date_line, now.tv_sec);
        w->date_second = now.tv_sec;
    }
    return w->date_line;
}
