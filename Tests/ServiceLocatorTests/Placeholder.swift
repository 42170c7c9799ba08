// ServiceLocatorTests
