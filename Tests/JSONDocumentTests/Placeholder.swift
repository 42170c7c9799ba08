// JSONDocumentTests
