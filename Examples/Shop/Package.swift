// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Shop",
    dependencies: [.package(name: "concierge", path: "../..")],
    targets: [
        .executableTarget(name: "Shop", dependencies: [.product(name: "Concierge", package: "concierge")])
    ],
    swiftLanguageModes: [.v6]
)
