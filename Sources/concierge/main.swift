import ConciergeApp
import Glibc

// Everything is in the library: closures written here would be bound to the main actor.
TerminationSignals.block()
exit(await Program.main())
