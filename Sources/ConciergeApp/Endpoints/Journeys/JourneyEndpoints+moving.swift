import API
import HTTPServer
import JSONDocument
import Sessions

/// Journeys that go on in another session.
extension JourneyEndpoints {
    /// A link that is passed on is used within days, and must not lie around for longer.
    private static let lifetimes = Duration.seconds(60)...Duration.seconds(30 * 86_400)
    private static let usualLifetime = Duration.seconds(7 * 86_400)

    @Sendable func makeLink(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["expires_in"], isOptional: true)
        let lifetime = try body.duration("expires_in", in: Self.lifetimes) ?? Self.usualLifetime
        request.remark(standing: id(of: request), of: found.session)
        let response = UnitResponse(to: request) { (issued: IssuedLink) in
            request.carries(issued.link)
            return .json(.created) { json in
                json.member("link", issued.link.text)
                json.member("expires_at", issued.expiresAt)
            }
        }
        return try response.of(
            await found.session.makeLink(
                toJourney: id(of: request), lifetime: lifetime.milliseconds, once: response.once))
    }

    /// Takes a journey over.
    func take(_ move: JourneyMove, _ request: HTTPRequest, _ session: Session) async throws -> HTTPResponse {
        let withSchemas = try Self.includesSchemas(request)
        let (claim, source) = try move.claim(by: session)
        let response = UnitResponse(to: request) { [self] (form: JourneyForm) in created(request, form, in: session) }
        return try response.of(
            await caller.sessions.moveJourney(
                claim, of: source, into: session, withSchemas: withSchemas, once: response.once))
    }

    /// The journeys of the sessions in which the caller's user is signed in.
    func listOfUser(
        _ request: HTTPRequest, _ query: inout QueryReader, _ included: JourneyInclusion?, _ session: Session
    ) async throws -> HTTPResponse {
        let page = try PageRequest(&query)
        guard let user = try session.summary().userID else { throw Problem(.noUser) }
        let all = try await caller.sessions.journeys(ofUser: user)
        let shown = try ListPage(of: all, page) { "\($0.session) \($0.text.journey)" }
        var response = HTTPResponse.page(shown) {
            let text = $1.text
            let view = dressing.dress(
                Problem.shown(text, under: request.basePath), of: text, for: request
            ).view
            // The view with two more members at its end.
            $0.raw(view.dropLast())
            $0.member("session", $1.session.description)
            $0.member("portable", $1.isPortable)
            $0.endObject()
        }
        if dressing.translates { response.fields.add(.vary, HTTPFieldName.acceptLanguage.text) }
        return response
    }
}

/// What `of` may name.
enum JourneyOwner: String, CaseIterable {
    case user
}

/// What takes a journey over: `{"link": …}` or `{"take": {"session": …, "journey": …}}`.
struct JourneyMove {
    private enum Way {
        case link(PresentedLink?)
        case user(session: String, journey: String)
    }

    private let way: Way

    /// Nil for a body that starts a journey.
    init?(_ body: BodyMembers) throws(Problem) {
        guard body["link"] != nil || body["take"] != nil else { return nil }
        for other in ["flow", "version", "input", "at", "params", "resume"] where body[other] != nil {
            throw BodyMembers.refusal(other, "must be left out, because the journey brings it along")
        }
        if let link = try body.text("link") {
            if body["take"] != nil { throw BodyMembers.refusal("take", "must be left out beside link") }
            way = .link(PresentedLink(link))
            return
        }
        guard let take = body["take"], let members = take.members, members.count == 2,
            let session = take[member: "session"]?.string, let journey = take[member: "journey"]?.string
        else { throw BodyMembers.refusal("take", "must be an object with the strings session and journey") }
        way = .user(session: session, journey: journey)
    }

    /// By what right, and from which session.
    func claim(by session: Session) throws -> (JourneyClaim, SessionID) {
        switch way {
        case .link(let link):
            guard let link else { throw JourneyError.linkUnusable }
            return (.link(link), link.session)
        case .user(let source, let journey):
            guard let user = try session.summary().userID else { throw Problem(.noUser) }
            guard let source = SessionID(source) else { throw JourneyError.notFound(journey) }
            return (.user(user, journey: journey), source)
        }
    }
}
