import JSONDocument

/// A text for people as its author wrote it, in each of its languages. It may hold values: `"Hello {/profile/name}"`.
public struct TextTemplate: Sendable, Equatable {
    /// The first language first. A text that is written in no language has one version, with an empty name for it.
    private let versions: [Version]
    /// What it says; nil for one that holds values.
    let plain: SaidText?

    struct Version: Sendable, Equatable {
        let language: String
        let parts: [Part]

        /// The text of one that holds no values.
        fileprivate var plain: String? {
            parts.reduce(into: "") { text, part in
                if case .text(let next) = part { text? += next } else { text = nil }
            }
        }
    }

    enum Part: Sendable, Equatable {
        case text(String)
        case value(DataPath)
    }

    /// - Parameter versions: at least one.
    init(_ versions: [Version]) {
        self.versions = versions
        let texts = versions.compactMap { version in version.plain.map { (version.language, $0) } }
        plain = texts.count == versions.count ? SaidText(texts) : nil
    }

    /// A text in no language, without values.
    init(_ text: String) { self.init([Version(language: "", parts: [.text(text)])]) }

    /// The text with its values.
    func said(_ value: (DataPath) -> String) -> SaidText {
        plain
            ?? SaidText(
                versions.map { version in
                    let text = version.parts.reduce(into: "") { text, part in
                        switch part {
                        case .text(let next): text += next
                        case .value(let path): text += value(path)
                        }
                    }
                    return (version.language, text)
                })
    }

    /// The text in a language, as its author wrote it; in an outline, which tells nothing of the data, with an ellipsis
    /// for each value.
    ///
    /// - Parameter language: the first one, where the text is not written in that, or nil.
    package func text(in language: String?, isOutline: Bool) -> String {
        if let plain { return plain.text(in: language) }
        guard let version = versions.first(where: { $0.language == language }) ?? versions.first else { return "" }
        return version.plain
            ?? version.parts.reduce(into: "") { text, part in
                switch part {
                case .text(let next): text += isOutline ? next : next.replacing("{", with: "{{")
                case .value(let path): text += isOutline ? "…" : "{\(path.text)}"
                }
            }
    }

    /// Whether it is written in no language, and holds no values.
    var isBare: Bool { plain?.translations.isEmpty ?? false }

    /// Whether it shows the time.
    var holdsTime: Bool {
        versions.flatMap(\.parts).contains { if case .value(let path) = $0 { path.root == .now } else { false } }
    }

    /// The services whose documents it shows parts of.
    var services: Set<String> {
        Set(
            versions.flatMap(\.parts).compactMap { part in
                if case .value(let path) = part { path.service } else { nil }
            })
    }
}

/// A text with its values.
package struct SaidText: Sendable, Equatable {
    /// In its first language.
    package let text: String
    /// In each of its languages; empty when it is written in none.
    package let translations: [String: String]

    package init(text: String, translations: [String: String]) {
        self.text = text
        self.translations = translations
    }

    /// - Parameter texts: by language, the first one first; the name of no language is empty.
    fileprivate init(_ texts: [(language: String, text: String)]) {
        let named = texts.filter { !$0.language.isEmpty }
        self.init(
            text: texts.first?.text ?? "",
            translations: Dictionary(named.map { ($0.language, $0.text) }, uniquingKeysWith: { first, _ in first }))
    }

    /// The text in a language; in its first one when it is not written in that.
    package func text(in language: String?) -> String { language.flatMap { translations[$0] } ?? text }
}

/// Braces in texts.
extension FlowReader {
    /// Reads `{/profile/name}`, a value, and `{{`, which is a brace.
    ///
    /// - Parameter context: of the values; nil where there are none, and a brace is only a brace.
    mutating func parts(of text: String, at place: JSONPointer, _ context: DataContext?) -> [TextTemplate.Part] {
        guard text.utf8.contains(UInt8(ascii: "{")) else { return [.text(text)] }
        guard let context else {
            if text.contains("{/") {
                report(
                    place, .textNotExpression,
                    "the string is taken literally: values stand only in what the screen of a journey says")
            }
            return [.text(text)]
        }
        var parts: [TextTemplate.Part] = []
        var plain = ""
        var rest = text[...]
        while let brace = rest.firstIndex(of: "{") {
            plain += rest[..<brace]
            rest = rest[brace...].dropFirst()
            if rest.hasPrefix("{") {
                checkIsBrace(rest.dropFirst(), at: place, context)
                plain += "{"
                rest = rest.dropFirst()
                continue
            }
            guard let end = rest.firstIndex(of: "}") else {
                report(
                    place, rest.hasPrefix("/") ? .badPointer : .textNotExpression,
                    "a brace is not closed; a value is written {/profile/name}, and {{ is a brace")
                plain += "{"
                continue
            }
            let inner = rest[..<end]
            if !inner.hasPrefix("/") {
                warn("{\(inner)}", meaning: inner, at: place, context)
                plain += "{"
                continue
            }
            if let path = readShownPath(String(inner), at: place, context) {
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(.value(path))
            }
            rest = rest[end...].dropFirst()
        }
        plain += rest
        if !plain.isEmpty || parts.isEmpty { parts.append(.text(plain)) }
        return parts
    }

    /// Reads the path of a value that people are shown.
    private mutating func readShownPath(_ text: String, at place: JSONPointer, _ context: DataContext) -> DataPath? {
        guard let path = readPath(text, at: place, context) else { return nil }
        if path.root == .now, !context.isSaidOnce { reportTime(at: place) }
        checkIsShown(.from(path, default: nil), at: place, context)
        let found = kinds(of: .from(path, default: nil), context)
        if found.isDisjoint(with: [.text, .number, .bool, .null]), !found.isEmpty {
            report(
                place, .badValue,
                "\(text) is \(found.phrase); a text shows strings, numbers and booleans, such as a member of it")
        }
        return path
    }

    /// Reports the time in what a view shows.
    private mutating func reportTime(at place: JSONPointer) {
        report(
            place, .badValue,
            "no view shows /now: it would be another one at every look; keep the day in a service, as "
                + "{\"$day\": \"/now\"}, and show that")
    }

    /// Reports named guards that say the time and are asked for views.
    ///
    /// - Parameter shown: the guards whose reasons views show.
    mutating func checkReasons(_ guards: [NamedGuard], shown: [Guard]) {
        guard guards.contains(where: { $0.say?.holdsTime == true }) else { return }
        var rest = shown
        var seen: Set<Int> = []
        while let next = rest.popLast() {
            rest += next.inner
            guard case .named(let place) = next, seen.insert(place).inserted else { continue }
            rest.append(guards[place].guard)
            if guards[place].say?.holdsTime == true {
                reportTime(at: JSONPointer(["guards", guards[place].name, "say"]))
            }
        }
    }

    /// Reports what the schema says is only written, and what is of a service that no client may know of. The author's
    /// own words may show that.
    mutating func checkIsShown(_ value: ValueTemplate, at place: JSONPointer, _ context: DataContext) {
        var secret: DataPath?
        _ = value.contains { path in
            guard let service = path.service, services.hidden.contains(service) else { return false }
            secret = path
            return true
        }
        if let secret {
            report(
                place, .hiddenService, "\(secret.text) is shown here, and its service has \"access\": \"hidden\"",
                severity: .warning)
        }
        var hidden: DataPath?
        _ = value.contains { path in
            guard let schema = document(of: path.root, context), SchemaRoom(schema).isWriteOnly(path.pointer) else {
                return false
            }
            hidden = path
            return true
        }
        guard let hidden else { return }
        report(place, .badValue, "\(hidden.text) is never shown: its schema says writeOnly")
    }

    /// Reports `{{name}}`, which shows `{name}}`.
    private mutating func checkIsBrace(_ rest: Substring, at place: JSONPointer, _ context: DataContext) {
        guard let end = rest.firstRange(of: "}}") else { return }
        let inner = rest[..<end.lowerBound]
        warn("{{\(inner)}}", meaning: inner, at: place, context)
    }

    /// Reports what may be meant as a value. `[0-9]{4}` and `{"a": 1}` are not.
    private mutating func warn(
        _ written: String, meaning name: Substring, at place: JSONPointer, _ context: DataContext
    ) {
        let isName = name.allSatisfy { $0.isLetter || $0.isNumber || "/_-.$ ".contains($0) }
        guard isName, name.contains(where: \.isLetter) else { return }
        report(
            place, .textNotExpression,
            "\(written) is not a value; one is written as a path, {/profile/name}, and {{ is a brace",
            guess: meantPath(name, context).map { "{\($0)}" })
    }

    /// The path that `name`, `profile.name` or `$profile/name` may mean.
    private func meantPath(_ written: Substring, _ context: DataContext) -> String? {
        let parts = written.split { "./$ ".contains($0) }.map(String.init)
        guard let first = parts.first else { return nil }
        if names(in: context).contains(first) { return JSONPointer(parts).description }
        let roots: [DataPath.Root] = [.event, .input] + services.names.map { .service($0) }
        for root in roots {
            guard let schema = document(of: root, context), let names = schema[member: "properties"]?.members,
                names.contains(where: { $0.name == first })
            else { continue }
            return root.pathPrefix + JSONPointer(parts).description
        }
        return nil
    }
}

extension DataPath.Root {
    fileprivate var pathPrefix: String {
        switch self {
        case .service(let name): JSONPointer([name]).description
        case .event: "/event"
        default: "/input"
        }
    }
}
