// ConciergeAppTests
