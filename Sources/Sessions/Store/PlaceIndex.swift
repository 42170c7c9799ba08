/// The places of a memory store's journeys.
struct PlaceIndex {
    private struct Entry {
        let place: JourneyPlace
        var journeys = 0
        var sessions: Set<SessionID> = []
    }

    /// Each place that was ever seen has a number, so that a session costs few bytes.
    private var numbers: [JourneyPlace: Int] = [:]
    private var entries: [Entry] = []
    private var ofSession: [SessionID: [Int]] = [:]

    mutating func set(_ id: SessionID, to places: [JourneyPlace]) {
        let new = places.map { number(of: $0) }
        let former = new.isEmpty ? ofSession.removeValue(forKey: id) : ofSession.updateValue(new, forKey: id)
        for number in former ?? [] {
            entries[number].journeys -= 1
            if !new.contains(number) { entries[number].sessions.remove(id) }
        }
        for number in new {
            entries[number].journeys += 1
            entries[number].sessions.insert(id)
        }
    }

    private mutating func number(of place: JourneyPlace) -> Int {
        if let known = numbers[place] { return known }
        numbers[place] = entries.count
        entries.append(Entry(place: place))
        return entries.count - 1
    }

    var counts: [JourneyPlace: Int] {
        Dictionary(uniqueKeysWithValues: entries.filter { $0.journeys > 0 }.map { ($0.place, $0.journeys) })
    }

    /// See ``JourneyIndex/sessions(at:from:limit:)``.
    func sessions(at places: [JourneyPlace], from first: SessionID?, limit: Int) -> [SessionID] {
        var least: [SessionID] = []
        for entry in places.compactMap({ numbers[$0] }).map({ entries[$0] }) {
            for id in entry.sessions where first.map({ id >= $0 }) ?? true {
                if least.count == limit, let last = least.last, id >= last { continue }
                let place = least.firstIndex { id <= $0 } ?? least.endIndex
                guard place == least.endIndex || least[place] != id else { continue }
                least.insert(id, at: place)
                if least.count > limit { least.removeLast() }
            }
        }
        return least
    }
}
