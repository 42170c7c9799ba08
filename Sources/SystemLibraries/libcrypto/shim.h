// The one-shot SHA256() of OpenSSL 3 looks its algorithm up by name on every call (362 ns for a token here, with
// allocations); the SHA256_* calls it deprecates do not (87 ns, none). They are marked deprecated, not removed.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
