import Glibc

/// Values that the kernel reports about this process.
enum ProcessReadings {
    /// In bytes; `nil` without `/proc`.
    static func residentMemory() -> Int? {
        // proc(5): the sizes are in pages; total, resident, and more.
        let fields = read("/proc/self/statm").split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Seconds of all threads.
    static func processorTime() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

    /// In seconds since 1970; now without `/proc`.
    static func startTime() -> Double {
        let now = seconds(CLOCK_REALTIME)
        // proc(5): the second field, a name in brackets, may hold spaces; the 22nd counts ticks since
        // the machine booted.
        let stat = read("/proc/self/stat")
        guard let bracket = stat.lastIndex(of: UInt8(ascii: ")")) else { return now }
        let fields = stat[bracket...].split(separator: UInt8(ascii: " "))
        guard fields.count > 20, let ticks = Double(String(decoding: fields[20], as: UTF8.self)) else { return now }
        let age = seconds(CLOCK_BOOTTIME) - ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return now - max(0, age)
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The beginning of a file, at most a page.
    private static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, buffer.count))
        }
    }
}
