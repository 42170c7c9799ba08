/// A screen with all that was found out about it when its flow was loaded. One object, for steps hand it on a lot.
final class PreparedScreen: Sendable {
    let screen: Screen
    /// How it is shown.
    let text: ScreenText
    /// The names of ``Screen/data`` as members.
    let dataNames: [[UInt8]]
    /// What may happen on it if no other flow runs below its own: its own events, then the flow's that it has not.
    let offers: [Offer]
    /// What all of the offers need; nil where that cannot be said of one, see ``Offer/needs``.
    let needsOfOffers: [ServiceShape]?
    /// How the offers are shown when each would do something.
    let offersText: [UInt8]
    /// What must hold to be here, where services alone are asked; nil where ``Screen/requires`` has to be.
    let needs: [ServiceShape]?

    init(_ screen: Screen, id: String, flow: String, offers: [Offer], named: [NamedGuard]) {
        self.screen = screen
        text = ScreenText(screen, id: id, flow: flow)
        dataNames = screen.data.map(ScreenText.member)
        self.offers = offers
        needsOfOffers = offers.reduce([]) { all, offer in
            // Very many are not worth finding out which are the same.
            guard let all, let needs = offer.needs, all.count <= ServiceShape.maximumParts else { return nil }
            return all + needs.filter { need in !all.contains { $0.isSame(as: need) } }
        }
        offersText = ScreenText.enabled(offers.map(\.rule.event))
        needs = ServiceShape.all(of: screen.requires, named: named)
    }
}
