/// Files compiled into the program, which finds them wherever it is installed.
#ifndef CEMBEDDEDFILES_H
#define CEMBEDDEDFILES_H

#include <stddef.h>

/// A file, and the path where it is served; NULL if it is not.
typedef struct {
    const char *path;
    const char *media_type;
    const unsigned char *bytes;
    size_t count;
} CEmbeddedFile;

/// Returns the file of the demo at this place, the JavaScript client among them, or NULL behind the last one.
const CEmbeddedFile *cembedded_demo_file(size_t place);

/// The same of the console.
const CEmbeddedFile *cembedded_console_file(size_t place);

/// The components of the API's description (OpenAPI 3.1) that do not depend on what a server has loaded.
extern const CEmbeddedFile cembedded_api_components;

#endif
