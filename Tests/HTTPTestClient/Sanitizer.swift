import Glibc

/// Whether this process runs under AddressSanitizer or ThreadSanitizer (`make sanitize`). Memory that was freed is then
/// kept for a while, and everything takes many times as long: a test of either says less than usual.
public let isSanitized: Bool = {
    let program = dlopen(nil, RTLD_NOW)
    return dlsym(program, "__asan_init") != nil || dlsym(program, "__tsan_init") != nil
}()
