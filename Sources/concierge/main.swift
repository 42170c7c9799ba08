import ConciergeApp

// Everything is in the library: closures written here would be bound to the main actor.
Program.main()
