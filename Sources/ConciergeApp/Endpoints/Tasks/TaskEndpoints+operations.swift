import API

extension TaskEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/tasks/claims", id: "claimTasks",
            summary: "Hands out tasks to be done, the oldest first; waits for one if there is none",
            parameters: [.idempotencyKey], body: .json("TaskClaim"),
            responses: [
                .json(
                    "The tasks; empty if none arrived within `wait`.", "ClaimedTasks",
                    headers: [.idempotencyReplayed])
            ],
            problems: [.contention, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/tasks", id: "listTasks", summary: "The tasks that journeys wait for",
            parameters: [.task, .status, .limit, .cursor], responses: [.json("A page of tasks.", "TaskList")],
            problems: [.invalidInput]),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/result", id: "finishTask",
            summary: "The result of a task: its journey moves on", parameters: [.idempotencyKey],
            body: .json("TaskResult"), responses: [.done("The journey has moved on.", headers: [.idempotencyReplayed])],
            problems: ending),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/failure", id: "failTask",
            summary: "An attempt has failed: the task is handed out again, or its journey moves on by `done.failed`",
            parameters: [.idempotencyKey], body: .json("TaskFailure"),
            responses: [.done("Noted.", headers: [.idempotencyReplayed])], problems: ending),
        APIOperation(
            method: .post, path: "/v1/tasks/{id}/lease", id: "extendTask",
            summary: "The attempt takes longer: extends its lease, from now on", parameters: [.idempotencyKey],
            body: .json("TaskLease"),
            responses: [.json("When the lease ends.", "TaskLeaseEnd", headers: [.idempotencyReplayed])],
            problems: [.taskNotFound, .taskOver, .taskNotClaimed, .storageFull]),
    ]

    private static let ending: [ProblemKind] = [
        .taskNotFound, .taskOver, .taskNotClaimed, .guardNotMet, .actionFailed, .invalidState, .stackFull,
        .journeyOrphaned,
        .endlessFlow, .stateTooLarge, .contention, .storageFull,
    ]
}
