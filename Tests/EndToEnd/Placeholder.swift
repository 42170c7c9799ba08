// EndToEnd
