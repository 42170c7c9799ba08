// TLS: certificates, what a connection's handshake may agree on, and the bytes that the bridge writes itself.
//
// The library runs the handshake and encrypts with GnuTLS, one session a connection. It knows one certificate for the
// life of a daemon, so the credentials of each session are set here, when its connection is accepted: those that the
// server has at that moment. A connection keeps its credentials until it closes.
//
// What a handshake costs counts for the header's deadline, which begins when the connection is accepted.
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "internal.h"

/// TLS 1.2 and 1.3, with forward secrecy and authenticated encryption only: no exchange of keys by RSA, no CBC, no
/// SHA-1. The curves are those of RFC 9325, 4.2.1.
const char cmhd_tls_priorities[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:"
    "+CHACHA20-POLY1305:-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:-SIGN-RSA-SHA1:"
    "-SIGN-ECDSA-SHA1:%SERVER_PRECEDENCE";

struct cmhd_tls {
    atomic_uint references;
    gnutls_certificate_credentials_t credentials;
    bool asks_client;
};

/// The time in which the first certificate, which is the server's own, is valid.
static bool read_validity(cmhd_tls *tls, int64_t *begins, int64_t *ends) {
    gnutls_datum_t der;
    gnutls_x509_crt_t certificate;
    if (gnutls_certificate_get_crt_raw(tls->credentials, 0, 0, &der) != 0 || gnutls_x509_crt_init(&certificate) != 0)
        return false;
    bool is_read = gnutls_x509_crt_import(certificate, &der, GNUTLS_X509_FMT_DER) == 0;
    if (is_read) {
        *begins = gnutls_x509_crt_get_activation_time(certificate);
        *ends = gnutls_x509_crt_get_expiration_time(certificate);
    }
    gnutls_x509_crt_deinit(certificate);
    return is_read;
}

static bool is_certificate(const gnutls_datum_t *text) {
    gnutls_x509_crt_t *list = NULL;
    unsigned count = 0;
    if (gnutls_x509_crt_list_import2(&list, &count, text, GNUTLS_X509_FMT_PEM, 0) < 0) return false;
    for (unsigned i = 0; i < count; i++) gnutls_x509_crt_deinit(list[i]);
    gnutls_free(list);
    return count > 0;
}

static bool is_key(const gnutls_datum_t *text) {
    gnutls_x509_privkey_t key;
    if (gnutls_x509_privkey_init(&key) != 0) return false;
    bool is_read = gnutls_x509_privkey_import2(key, text, GNUTLS_X509_FMT_PEM, NULL, 0) == 0;
    gnutls_x509_privkey_deinit(key);
    return is_read;
}

static cmhd_tls_problem fill(cmhd_tls *tls, const cmhd_tls_texts *texts, int64_t *begins, int64_t *ends) {
    gnutls_datum_t certificate = {(unsigned char *)texts->certificate, (unsigned)texts->certificate_length};
    gnutls_datum_t key = {(unsigned char *)texts->key, (unsigned)texts->key_length};
    gnutls_datum_t authorities = {(unsigned char *)texts->authorities, (unsigned)texts->authorities_length};
    if (!is_certificate(&certificate)) return CMHD_TLS_CERTIFICATE;
    if (!is_key(&key)) return CMHD_TLS_KEY;
    if (gnutls_certificate_set_x509_key_mem2(tls->credentials, &certificate, &key, GNUTLS_X509_FMT_PEM, NULL, 0) < 0 ||
        !read_validity(tls, begins, ends))
        return CMHD_TLS_MISMATCH;
    tls->asks_client = texts->authorities != NULL;
    if (tls->asks_client &&
        (!is_certificate(&authorities) ||
         gnutls_certificate_set_x509_trust_mem(tls->credentials, &authorities, GNUTLS_X509_FMT_PEM) <= 0))
        return CMHD_TLS_AUTHORITIES;
    return CMHD_TLS_GOOD;
}

cmhd_tls *cmhd_tls_new(const cmhd_tls_texts *texts, cmhd_tls_problem *problem, int64_t *begins, int64_t *ends) {
    *problem = CMHD_TLS_OUT_OF_MEMORY;
    cmhd_tls *tls = calloc(1, sizeof *tls);
    if (tls == NULL || gnutls_certificate_allocate_credentials(&tls->credentials) != 0) {
        free(tls);
        return NULL;
    }
    atomic_init(&tls->references, 1);
    *problem = fill(tls, texts, begins, ends);
    if (*problem == CMHD_TLS_GOOD) return tls;
    cmhd_tls_release(tls);
    return NULL;
}

static cmhd_tls *retain(cmhd_tls *tls) {
    atomic_fetch_add(&tls->references, 1);
    return tls;
}

void cmhd_tls_release(cmhd_tls *tls) {
    if (tls == NULL || atomic_fetch_sub(&tls->references, 1) > 1) return;
    gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
}

void cmhd_server_set_tls(cmhd_server *server, cmhd_tls *tls) {
    pthread_mutex_lock(&server->tls_lock);
    cmhd_tls *former = server->tls;
    server->tls = retain(tls);
    pthread_mutex_unlock(&server->tls_lock);
    cmhd_tls_release(former);
}

int cmhd_no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                        const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **certificates,
                        unsigned *count, gnutls_privkey_t *key) {
    (void)session, (void)authorities, (void)authority_count, (void)algorithms, (void)algorithm_count;
    (void)certificates, (void)count, (void)key;
    return -1;
}

void cmhd_tls_begin(cmhd_connection *c) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    gnutls_session_t session = info == NULL ? NULL : info->tls_session;
    if (session == NULL) return;
    cmhd_server *server = c->worker->server;
    pthread_mutex_lock(&server->tls_lock);
    c->tls = retain(server->tls);
    pthread_mutex_unlock(&server->tls_lock);
    c->session = session;
    // A failure leaves the session without a certificate, so that its handshake fails.
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, c->tls->credentials);
    // RFC 7301, 3.2: a client that offers other protocols alone is refused.
    static const unsigned char name[] = "http/1.1";
    const gnutls_datum_t protocol = {(unsigned char *)name, sizeof name - 1};
    gnutls_alpn_set_protocols(session, &protocol, 1, GNUTLS_ALPN_MANDATORY);
    if (!c->tls->asks_client) return;
    // The handshake fails for a client without a certificate, or with one that is not signed by an authority that is
    // trusted, has expired, or is not for clients.
    static gnutls_typed_vdata_st purpose = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT};
    gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
    gnutls_session_set_verify_cert2(session, &purpose, 1, 0);
}

bool cmhd_tls_write(cmhd_connection *c, const struct iovec *parts, size_t count, size_t total) {
    char *text = malloc(total), *end = text;
    if (text == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].iov_len > 0) memcpy(end, parts[i].iov_base, parts[i].iov_len);
        end += parts[i].iov_len;
    }
    size_t done = 0;
    while (done < total) {
        ssize_t sent = gnutls_record_send(c->session, text + done, total - done);
        if (sent < 0) break;
        done += (size_t)sent;
    }
    free(text);
    return done == total;
}

void cmhd_tls_end(cmhd_connection *c) {
    if (c->session != NULL) gnutls_bye(c->session, GNUTLS_SHUT_WR);
}

bool cmhd_tls_has_unread(const cmhd_connection *c) {
    return c->session != NULL && gnutls_record_check_pending(c->session) > 0;
}
