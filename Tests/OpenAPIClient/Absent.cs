// What openapi-generator's C# clients use of packages that Debian does not have, so that the rest can be compiled.
using System;
using System.Threading.Tasks;

namespace JsonSubTypes { }

namespace Polly {
    public enum OutcomeType { Successful, Failure }

    public class PolicyResult<T> {
        public OutcomeType Outcome;
        public T Result;
        public Exception FinalException;
    }

    public interface ISyncPolicy<T> { }

    public interface IAsyncPolicy<T> {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> action);
    }
}
