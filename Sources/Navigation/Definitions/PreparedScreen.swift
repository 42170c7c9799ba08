/// A screen with all that was found out about it when its flow was loaded. One object, for steps hand it on a lot.
final class PreparedScreen: Sendable {
    let screen: Screen
    /// How it is shown.
    let text: ScreenText
    /// What may happen on it if no other flow runs below its own: its own events, then the flow's that it has not.
    let offers: [Offer]
    /// What must hold to be here, where services alone are asked; nil where ``Screen/requires`` has to be.
    let needs: [ServiceShape]?

    init(_ screen: Screen, id: String, flow: String, offers: [Offer], named: [NamedGuard]) {
        self.screen = screen
        text = ScreenText(screen, id: id, flow: flow)
        self.offers = offers
        needs = ServiceShape.all(of: screen.requires, named: named)
    }
}
