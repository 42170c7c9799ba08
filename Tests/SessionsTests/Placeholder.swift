// SessionsTests
