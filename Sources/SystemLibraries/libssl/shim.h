#include <openssl/err.h>
#include <openssl/ssl.h>

// Swift cannot call macros.

static inline int ctls_set_versions(SSL_CTX *context, int lowest, int highest) {
    return SSL_CTX_set_min_proto_version(context, lowest) == 1 && SSL_CTX_set_max_proto_version(context, highest) == 1;
}
