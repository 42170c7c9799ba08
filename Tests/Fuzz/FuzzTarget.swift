/// What reads bytes from outside. Each target ends the process when a rule that it knows does not hold.
enum FuzzTarget: String, CaseIterable, Sendable {
    case chunks, request, target, cookies, json, merge, patch, schema, flows, events, journey, archive, record, proxy

    func run(_ bytes: [UInt8]) {
        switch self {
        case .chunks: FuzzedHTTP.readChunks(bytes)
        case .request: FuzzedHTTP.serve(bytes)
        case .target: FuzzedHTTP.route(bytes)
        case .cookies: FuzzedHTTP.readCookies(bytes)
        case .json: FuzzedJSON.readAndWrite(bytes)
        case .merge: FuzzedJSON.merge(bytes)
        case .patch: FuzzedJSON.patch(bytes)
        case .schema: FuzzedJSON.judge(bytes)
        case .flows: FuzzedFlows.load(bytes)
        case .events: FuzzedFlows.travel(bytes)
        case .journey: FuzzedFlows.readJourney(bytes)
        case .archive: FuzzedStore.importArchive(bytes)
        case .record: FuzzedStore.readRow(bytes)
        case .proxy: FuzzedHTTP.readProxyHeader(bytes)
        }
    }
}

/// The parts of an input: a zero byte, which occurs in no JSON, stands between them.
func parts(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
    let parts = bytes.split(separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false).map(Array.init)
    return parts + Array(repeating: [], count: count - parts.count)
}
