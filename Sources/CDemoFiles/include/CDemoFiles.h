/// The files of the demo and the JavaScript client, compiled into the program: it finds them wherever it is installed.
#ifndef CDEMOFILES_H
#define CDEMOFILES_H

#include <stddef.h>

/// A file and the path where it is served.
typedef struct {
    const char *path;
    const char *media_type;
    const unsigned char *bytes;
    size_t count;
} CDemoFile;

/// Returns the file at this place in the table, or NULL behind the last one.
const CDemoFile *cdemo_file(size_t place);

#endif
