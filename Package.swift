// swift-tools-version: 6.2
import PackageDescription

/// SE-0461: an asynchronous function goes on where its caller runs, which here is the worker that read the request,
/// instead of asking for a switch of executors at each call and return.
let onCallersExecutor: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

/// Tests/Fuzz is a test target, which replays the corpus, or the fuzzer itself: `make fuzz` chooses.
let fuzzDependencies: [Target.Dependency] = [
    "CChunks", "CMicroHTTPD", "CMicroHTTPDHooks", "ConciergeApp", "Configuration", "FlowTools", "HTTPServer",
    "HTTPTestClient", "JSONDocument", "Navigation", "Sessions", "SQLiteStorage",
]
let fuzz: Target =
    Context.environment["FUZZING"] == nil
    ? .testTarget(
        name: "Fuzz", dependencies: fuzzDependencies, path: "Tests/Fuzz",
        exclude: ["CChunks", "corpus", "dictionary.txt", "main.swift"])
    : .executableTarget(
        name: "Fuzz", dependencies: fuzzDependencies, path: "Tests/Fuzz",
        exclude: ["CChunks", "corpus", "dictionary.txt", "FuzzTests.swift"])

/// Every library from outside is Debian's; `scripts/setup` installs the packages named in `providers`.
/// ARCHITECTURE.md says what each module may know of the others: the arrows below go one way only.
let package = Package(
    name: "concierge",
    // Of ConciergeClient; everything else is for Linux.
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "concierge", targets: ["ConciergeProgram"]),
        .library(name: "Concierge", targets: ["Concierge"]),
        .library(name: "ServiceLocator", targets: ["ServiceLocator"]),
        .library(name: "HTTPServer", targets: ["HTTPServer"]),
        .library(name: "Navigation", targets: ["Navigation", "FlowTools", "JSONDocument"]),
        .library(name: "ConciergeClient", targets: ["ConciergeClient"]),
    ],
    targets: [
        // C and C++
        .systemLibrary(
            name: "CLibMicroHTTPD", path: "Sources/SystemLibraries/libmicrohttpd", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CCrypto", path: "Sources/SystemLibraries/libcrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CTLSClient", path: "Sources/SystemLibraries/libssl", pkgConfig: "libssl",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/SystemLibraries/sqlite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CDeflate", path: "Sources/SystemLibraries/libdeflate", pkgConfig: "libdeflate",
            providers: [.apt(["libdeflate-dev"])]),
        // Without pkg-config, whose flags for it SwiftPM warns of.
        .systemLibrary(
            name: "CHiredis", path: "Sources/SystemLibraries/hiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/SystemLibraries/libcurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        // GnuTLS (libgnutls28-dev) is the library that libmicrohttpd encrypts with.
        .target(
            name: "CMicroHTTPD", dependencies: ["CLibMicroHTTPD"], linkerSettings: [.linkedLibrary("gnutls")]),
        // Replaces functions of the C library for the whole process: for programs, never for a library product.
        .target(
            name: "CMicroHTTPDHooks", dependencies: ["CMicroHTTPD"], cSettings: [.headerSearchPath("../CMicroHTTPD")]),
        .target(name: "CThreads"),
        .target(name: "CEmbeddedFiles"),
        .target(name: "CPageChecksums", dependencies: ["CSQLite", "CDeflate"]),
        // rapidjson-dev, which is headers only, and libpcre2-dev.
        .target(
            name: "CJSON",
            cxxSettings: [.define("NDEBUG", .when(configuration: .release))],
            linkerSettings: [.linkedLibrary("m"), .linkedLibrary("pcre2-8")]),

        // The modules
        .target(name: "Threads", dependencies: ["CThreads"]),
        .target(
            name: "HTTPServer", dependencies: ["CMicroHTTPD", "CDeflate", "Threads"], exclude: ["README.md"],
            swiftSettings: onCallersExecutor),
        .target(name: "JSONDocument", dependencies: ["CJSON"]),
        .target(name: "Navigation", dependencies: ["JSONDocument", "ServiceLocator"], exclude: ["README.md"]),
        .target(name: "FlowTools", dependencies: ["JSONDocument", "Navigation", "Threads"]),
        .target(name: "ServiceLocator", dependencies: ["Threads"]),
        .target(
            name: "Sessions", dependencies: ["JSONDocument", "Navigation", "ServiceLocator", "CCrypto", "Threads"],
            exclude: ["README.md"], swiftSettings: onCallersExecutor),
        .target(name: "Storage", dependencies: ["Sessions", "CDeflate"]),
        .target(
            name: "SQLiteStorage",
            dependencies: ["Storage", "Sessions", "Threads", "CPageChecksums", "CSQLite"],
            exclude: ["README.md"], swiftSettings: onCallersExecutor),
        .target(
            name: "RedisStorage",
            dependencies: ["Storage", "Sessions", "Threads", "CCrypto", "CHiredis", "CTLSClient"],
            exclude: ["README.md"], swiftSettings: onCallersExecutor),
        .target(name: "ConciergeClient", swiftSettings: onCallersExecutor),
        .target(
            name: "Configuration",
            dependencies: [
                "FlowTools", "HTTPServer", "JSONDocument", "Navigation", "ServiceLocator", "Sessions", "Storage",
                "RedisStorage", "CCrypto",
            ],
            swiftSettings: onCallersExecutor),
        .target(
            name: "Operations",
            dependencies: ["Configuration", "HTTPServer", "JSONDocument", "Sessions", "CThreads", "Threads"],
            swiftSettings: onCallersExecutor),
        .target(
            name: "API", dependencies: ["HTTPServer", "JSONDocument", "Navigation", "Sessions", "CEmbeddedFiles"],
            swiftSettings: onCallersExecutor),
        .target(
            name: "ConciergeApp",
            dependencies: [
                "API", "Configuration", "Operations", "FlowTools", "HTTPServer", "JSONDocument", "Navigation",
                "Sessions", "Storage", "SQLiteStorage", "RedisStorage", "CCurl", "CEmbeddedFiles",
                "Threads",
            ],
            swiftSettings: onCallersExecutor),
        .target(
            name: "Commands",
            dependencies: [
                "API", "Configuration", "Operations", "FlowTools", "HTTPServer", "JSONDocument", "Navigation",
                "Sessions", "Storage", "SQLiteStorage", "CCurl",
            ],
            swiftSettings: onCallersExecutor),
        // With it comes what only a program may have. mimalloc (libmimalloc-dev) takes the place of the C library's
        // allocator: a tree of JSON is many small blocks. Nothing calls it by name.
        .target(
            name: "Concierge",
            dependencies: [
                "Commands", "Configuration", "ConciergeApp", "Operations", "JSONDocument", "ServiceLocator", "Sessions",
                "Threads", "CMicroHTTPDHooks",
            ],
            linkerSettings: [.linkedLibrary("mimalloc")]),
        // Not named as its product is: where file systems ignore case, it would be the library.
        .executableTarget(name: "ConciergeProgram", dependencies: ["Concierge"]),
        // The second is for the build alone, which does not notice changes behind what the first exports.
        .executableTarget(name: "Shop", dependencies: ["Concierge", "Sessions"], path: "Examples/Shop/Sources/Shop"),

        // Tests. Those that start the program start its release build, which `make test` makes: no dependency can say so.
        .target(name: "HTTPTestClient", path: "Tests/HTTPTestClient"),
        .target(name: "SeededRandomness", path: "Tests/SeededRandomness"),
        .target(name: "RedisTestServer", dependencies: ["Threads"], path: "Tests/RedisTestServer"),
        .target(
            name: "Support",
            dependencies: [
                "ConciergeApp", "Configuration", "Operations", "FlowTools", "HTTPTestClient", "JSONDocument",
                "Navigation", "ServiceLocator", "Sessions",
            ],
            path: "Tests/Support"),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: ["HTTPServer", "CMicroHTTPDHooks", "HTTPTestClient", "SeededRandomness"]),
        .testTarget(name: "JSONDocumentTests", dependencies: ["JSONDocument"]),
        .testTarget(
            name: "NavigationTests",
            dependencies: ["Navigation", "FlowTools", "JSONDocument", "HTTPTestClient", "SeededRandomness"]),
        .testTarget(name: "ServiceLocatorTests", dependencies: ["ServiceLocator", "SeededRandomness"]),
        .testTarget(
            name: "StorageTests",
            dependencies: [
                "Storage", "SQLiteStorage", "RedisStorage", "Sessions", "Navigation", "FlowTools", "HTTPTestClient",
                "CSQLite", "CPageChecksums", "Threads", "RedisTestServer", "SeededRandomness",
            ]),
        .testTarget(
            name: "SessionsTests",
            dependencies: ["Sessions", "Navigation", "FlowTools", "SeededRandomness", "Support", "Threads"]),
        .testTarget(
            name: "ConciergeAppTests",
            dependencies: [
                "API", "Commands", "ConciergeApp", "Configuration", "Operations", "CDeflate", "FlowTools",
                "JSONDocument", "Support", "HTTPTestClient",
            ]),
        .testTarget(
            name: "Durability",
            dependencies: [
                "Storage", "SQLiteStorage", "Sessions", "Support", "HTTPTestClient", "JSONDocument",
                "SeededRandomness", "CSQLite", "RedisTestServer",
            ],
            exclude: ["README.md", "PlantedBugs"]),
        .testTarget(
            name: "EndToEnd",
            dependencies: [
                "API", "Commands", "ConciergeApp", "Configuration", "Operations", "Sessions", "Storage",
                "SQLiteStorage", "RedisStorage", "Support", "HTTPServer", "HTTPTestClient", "RedisTestServer",
                "CCrypto", "CTLSClient",
            ]),
        .testTarget(
            name: "SharedHistories",
            dependencies: [
                "ConciergeApp", "FlowTools", "HTTPServer", "HTTPTestClient", "JSONDocument", "Navigation",
                "RedisTestServer", "SeededRandomness", "Sessions", "RedisStorage", "Support",
            ],
            exclude: ["README.md"]),
        .testTarget(name: "ConciergeClientTests", dependencies: ["ConciergeClient", "Support"]),
        .target(
            name: "CChunks", dependencies: ["CMicroHTTPD"], path: "Tests/Fuzz/CChunks",
            cSettings: [.headerSearchPath("../../../Sources/CMicroHTTPD")]),
        fuzz,
        .testTarget(
            name: "Browser",
            dependencies: [
                "Configuration", "HTTPServer", "HTTPTestClient", "JSONDocument", "RedisTestServer", "Sessions",
                "Support",
            ]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
