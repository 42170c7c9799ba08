// FoundationNetworking of Swift 6.3 leaks a URL handle of libcurl with each request: `CFURLSessionCurlHostIsEqual`
// calls `curl_free` where it should call `curl_url_cleanup` (mended in swift-corelibs-foundation #5498).
// `scripts/sanitize` loads this before that library. LeakSanitizer does not track what that function alone allocates.
// requests.swift shows whether this is still needed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>

// Null in a process without the sanitizer.
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

bool CFURLSessionCurlHostIsEqual(const char *url, const char *host);

bool CFURLSessionCurlHostIsEqual(const char *url, const char *host) {
    bool (*original)(const char *, const char *) = dlsym(RTLD_NEXT, "CFURLSessionCurlHostIsEqual");
    if (__lsan_disable) __lsan_disable();
    bool isEqual = original(url, host);
    if (__lsan_enable) __lsan_enable();
    return isEqual;
}
