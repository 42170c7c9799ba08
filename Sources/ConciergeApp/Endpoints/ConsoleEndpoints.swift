import API
import Configuration
import HTTPServer
import JSONDocument

/// Signs the console in with the admin key, and out.
struct ConsoleEndpoints: Sendable {
    let access: AdminAccess

    private static let path = "/console/session"

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, Self.path, handler: { .response(try show($0)) })
        routes.on(.post, Self.path, handler: { .response(try signIn($0)) })
        routes.on(.delete, Self.path, handler: { .response(try signOut($0)) })
    }

    /// By what the caller is admitted: a session of the console, or because no key is needed.
    private func show(_ request: HTTPRequest) throws -> HTTPResponse {
        let admission = try access.admit(request)
        return .json { json in
            json.member("key", admission.key)
            json.member("signed_in", admission.session != nil)
        }
    }

    private func signIn(_ request: HTTPRequest) throws -> HTTPResponse {
        let admission = try access.admit(request)
        // With a cookie alone its time would begin anew.
        guard admission.session == nil else { throw AdminAccess.needed }
        var response = HTTPResponse.done
        if admission.key != AdminKeyHash.loopbackName {
            response.fields.add(.setCookie, access.console.begin(admission.key, by: request))
        }
        return response
    }

    private func signOut(_ request: HTTPRequest) throws -> HTTPResponse {
        var response = HTTPResponse.done
        if let session = try access.admit(request).session {
            response.fields.add(.setCookie, access.console.end(of: session))
        }
        return response
    }
}
