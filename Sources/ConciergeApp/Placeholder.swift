// ConciergeApp
