import Foundation
import JSONDocument
import Testing

extension Browser {
    /// Checks the page with axe-core.
    func checkAccessibility(_ place: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let home = ProcessInfo.processInfo.environment
        let cache = home["XDG_CACHE_HOME"] ?? "\(home["HOME"] ?? "")/.cache"
        let axe = try #require(
            try? String(contentsOfFile: "\(cache)/concierge/axe-core.js", encoding: .utf8),
            "there is no \(cache)/concierge/axe-core.js: `scripts/setup test` fetches it from PyPI")
        try await driver.command(
            "POST", "/execute/sync", ["script": JSONDocument("\(axe); window.axe = axe"), "args": []])
        // A modal that is half transparent yet has another contrast.
        let violations = try await run(
            """
            await Promise.all(document.getAnimations().map((animation) => animation.finished));
            const { violations, passes } = await axe.run();
            done(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
                .concat(passes.length > 10 ? [] : ['it has checked nothing']));
            """)
        #expect(violations == [], "\(place)", sourceLocation: sourceLocation)
    }
}
