// The fuzzer: `make fuzz` builds it. The name of a target comes first, then libFuzzer's own arguments.
import Glibc

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@_silgen_name("__lsan_disable")
private func ignoreLeaks()

@_silgen_name("__lsan_enable")
private func noticeLeaks()

/// Set once, before libFuzzer begins.
private nonisolated(unsafe) var target: FuzzTarget?

@_cdecl("LLVMFuzzerTestOneInput")
func runTarget(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

target = CommandLine.arguments.dropFirst().first.flatMap { FuzzTarget(rawValue: $0) }
guard target != nil else {
    print("usage: Fuzz TARGET [ARGUMENT OF libFuzzer]…, where TARGET is one of")
    print(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))
    exit(2)
}
// LeakSanitizer does not see through a reference in whose unused bits Swift keeps the case of an enumeration: what lives
// for ever would look lost.
ignoreLeaks()
Shipped.load()
noticeLeaks()
var count = CommandLine.argc - 1
// libFuzzer takes the first for the name of the program.
var arguments = CommandLine.unsafeArgv + 1
exit(runDriver(&count, &arguments, runTarget))
