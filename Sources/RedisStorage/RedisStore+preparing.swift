import Glibc
import Sessions
import Storage

extension RedisStore {
    /// What every new connection for requests begins with.
    struct Preparation: Sendable {
        let isCluster: Bool
        let prefix: String
        let documentKeys: DocumentKeys?
        let condition: RedisCondition

        /// Loads the scripts, and checks that the user may do everything and that nothing is sealed with a key that is
        /// not here.
        ///
        /// - Parameter server: the one at the other end.
        func prepare(
            _ link: RedisLink, to server: RedisAddress, until end: ContinuousClock.Instant
        ) throws(RedisFailure) {
            let keys = RedisKeys(prefix: prefix)
            var request = RedisRequest()
            for script in RedisScript.all { request.add("SCRIPT", "LOAD", .text(script.text)) }
            request.add(RedisRights.question(keys))
            request.add(RedisCondition.question)
            let question = RedisRequest("HGETALL", .text(keys.documentKeys))
            request.add(question)
            let replies = try link.exchange(request, until: end, toleratesErrors: true)
            let asked = replies[RedisScript.all.count...]
            let (rights, settings) = (asked[asked.startIndex], asked[asked.startIndex + 1])
            for reply in replies[..<asked.startIndex] + [rights] {
                // While Redis takes no writes it refuses the script that looks for rights, too.
                guard let error = reply.error, !["NOREPLICAS", "MISCONF"].contains(where: error.hasPrefix) else {
                    continue
                }
                throw RedisGreeting.refusal(error, server)
            }
            if let refusal = RedisRights.refusal(rights, server, prefix: prefix) { throw refusal }
            condition.note(settings, of: isCluster ? server.places[0] : nil)
            // Of the nodes of a cluster one has the keys. While none has them, requests wait as well.
            var used = replies[replies.count - 1]
            while let redirection = RedisErrand.Redirection(used), ContinuousClock.now < end {
                let (place, isAsking): (RedisAddress.Place?, Bool)
                switch redirection {
                case .moved(_, nil): return
                case .moved(_, let node): (place, isAsking) = (node, false)
                case .ask(let node): (place, isAsking) = (node, true)
                case .later: (place, isAsking) = (nil, false)
                }
                if let place {
                    do throws(RedisFailure) {
                        let answer = try server.server(at: place).ask(
                            "HGETALL", .text(keys.documentKeys), isAsking: isAsking, until: end)
                        return try check(answer.list)
                    } catch {
                        if error.isPermanent { throw error }
                    }
                }
                usleep(50_000)
                used = try link.exchange(question, until: end, toleratesErrors: true)[0]
            }
            if let error = used.error {
                // A server that encrypts nothing need not wait for the node that knows the keys, which may be gone.
                if documentKeys == nil, RedisErrand.Redirection(used) != nil { return }
                throw RedisGreeting.refusal(error, server)
            }
            try check(used.list)
            guard let key = documentKeys?.first, !ids(used.list).contains(key.id) else { return }
            let note = RedisRequest("HSETNX", .text(keys.documentKeys), .text(key.id), .text(String(key.fingerprint)))
            _ = try link.exchange(note, until: end)
        }

        private func ids(_ used: [RedisReply]) -> [String] {
            stride(from: 0, to: used.count - 1, by: 2).map { used[$0].text ?? "" }
        }

        private func check(_ used: [RedisReply]) throws(RedisFailure) {
            for place in stride(from: 0, to: used.count - 1, by: 2) {
                let id = used[place].text ?? ""
                guard documentKeys?[id]?.fingerprint == used[place + 1].number else {
                    throw RedisFailure(
                        "The sessions in Redis are encrypted with a key \"\(id)\", which is not in "
                            + "encryption_keys_file, or is another one there: add it.", isPermanent: true)
                }
            }
        }
    }
}
