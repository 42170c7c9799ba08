import HTTPTestClient
import Support
import Testing

/// Certificates in a folder of their own, made by OpenSSL's program:
///
/// - `root.pem` has signed `inner.pem`, which has signed `a.pem` and `b.pem`, those of the server with their chain in
///   one file;
/// - `clients.pem` has signed `ada.pem`; `stranger.pem` and `lonely.pem` have signed themselves; `old.pem` has expired;
///   `elsewhere.pem` has another name; `locked.key` is `ada.key` with a password.
///
/// The keys are beside them, as `a.key`. In `services` is a service that takes any document, `large`.
func withCertificates<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let files = ["make": commands, "services/large.json": #"{"name": "large", "schema": {}, "default": {}}"#]
    return try await withFolder(files) { _, folder in
        _ = try await ShellCommand.outputs(of: ShellCommand.all(in: "$ bash -e make"), in: folder, addresses: [:])
        return try await body(folder)
    }
}

private let commands = """
    key() { openssl ecparam -name prime256v1 -genkey -noout -out $1.key 2>/dev/null; }
    own() { key $1; openssl req -x509 -new -key $1.key -subj /CN=$1 -days 30 -out $1.pem -addext "$2"; }
    signed() { # name, by whom, extensions
        key $1
        openssl req -new -key $1.key -subj /CN=$1 -out $1.csr
        openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -days ${4-30} -out $1.pem -extfile <(echo "$3") 2>/dev/null
    }
    own root basicConstraints=critical,CA:TRUE
    own clients basicConstraints=critical,CA:TRUE
    own stranger extendedKeyUsage=clientAuth
    signed inner root basicConstraints=critical,CA:TRUE
    for name in a b; do
        signed $name inner subjectAltName=DNS:localhost,IP:127.0.0.1
        cat inner.pem >>$name.pem
    done
    signed ada clients extendedKeyUsage=clientAuth
    signed serveronly clients extendedKeyUsage=serverAuth
    signed old root subjectAltName=DNS:localhost -1
    own lonely subjectAltName=DNS:localhost,IP:127.0.0.1
    openssl ec -in ada.key -aes128 -passout pass:word -out locked.key 2>/dev/null
    signed elsewhere root subjectAltName=DNS:elsewhere.example,IP:127.0.0.2
    """
