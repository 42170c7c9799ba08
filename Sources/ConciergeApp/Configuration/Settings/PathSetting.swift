/// A file or directory. Written in a file, it is relative to that file; elsewhere to the working directory.
package struct PathSetting: SettingType {
    package var name: String { "path" }
    package var allowed: String { "a path" }

    package func read(_ written: WrittenValue) -> String? {
        // A NUL would end the path early in every call to the system.
        written.string.flatMap { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }
    }

    package func show(_ value: String) -> String { JSONText.string(value) }
}

extension SettingType where Self == PathSetting {
    static var path: PathSetting { PathSetting() }
}
