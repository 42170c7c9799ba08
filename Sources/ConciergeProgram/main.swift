import Concierge

Concierge().run()
