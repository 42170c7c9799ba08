import Glibc
import Sessions

extension SQLiteStore {
    package var figures: StoreFigures {
        var figures = StoreFigures()
        commits.figures.copy(to: &figures)
        figures.queue = commits.waiting
        var (file, disk) = (stat(), statvfs())
        if fstat(lock.descriptor, &file) == 0 { figures.fileBytes = Int(file.st_size) }
        if fstatvfs(lock.descriptor, &disk) == 0 {
            let unit = Int(clamping: disk.f_frsize)
            figures.disk = (Int(clamping: disk.f_blocks) * unit, Int(clamping: disk.f_bavail) * unit)
        }
        return figures
    }
}
