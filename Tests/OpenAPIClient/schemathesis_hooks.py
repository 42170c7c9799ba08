"""What schemathesis has to know of Concierge beyond /openapi.json.

CONCIERGE_URL and CONCIERGE_ADMIN_URL are the listeners, whichever is called: sessions begin on the public one, and users
are signed in on the other.
"""

import itertools
import os
import re

import requests
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData

PUBLIC, ADMIN = os.environ["CONCIERGE_URL"], os.environ["CONCIERGE_ADMIN_URL"]
SESSION = re.compile("ses_[0-9a-f]{32}")
numbers = itertools.count()

# Why a request that fits the description is refused all the same. JSON Schema cannot say any of this. The responses
# themselves are checked as all others are.

REFUSED_BY_CODE = {
    "precondition_failed": "Which entity tag is the current one is not known before.",
    "precondition_required": "A `first_write` service needs If-Match or If-None-Match: one of two fields.",
    "idempotency_key_reused": "A key belongs to one request; schemathesis uses short ones again.",
    "journey_finished": "What has happened to a journey is not known before.",
    "journey_expired": "The same.",
    "task_over": "The same, of a task.",
    "invalid_patch": "JSON Patch has no schema in the description: some generators of clients fail on it.",
    "not_an_export": "OpenAPI 3.1 has no schema for the lines of NDJSON.",
}
REFUSED_BY_PLACE = {
    r"GET .*": {r"/cursor": "A cursor is opaque: only the server issues any."},
    r"POST /v1/exports": {r"/after": "The same."},
    r"POST .*/journeys": {
        r"/at": "Only the flow knows its screens.",
        r"/params": "They need `at`: schemathesis does not heed `dependentRequired`.",
    },
    r"POST .*/navigation": {r"/to": "Only the flow knows its screens."},
    r"POST .*/events": {r"/data.*": "Screens have events of one name with different data."},
    r"PATCH .*": {r".*": "The result of a patch that fits need not fit: a JSON Patch has no schema."},
    r"POST .*/transactions": {r"/operations/.*": "The service that an operation names decides what `value` must be."},
    r"POST /v1/journeys/trial": {r"/(flows|services).*": "Flows and schemas have rules beyond their shape."},
    r"POST /v1/tasks/.*": {r"/(lease|wait|retry_after)": "A pattern of durations has no least and no most."},
    r"GET /v1/tasks": {r"/older_than": "The same, and it fits some texts that are no duration."},
    r"(PUT .*/user|POST .*/result)": {r"(/sign_in)?/(lifetime|idle_timeout)": "Only the configuration says the most."},
}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    # A request whose body does not fit is refused, too, when its condition fails first.
    if isinstance(failure, AcceptedNegativeData) and response.status_code == 412:
        return False
    if not isinstance(failure, RejectedPositiveData):
        return True
    problem = response.json()
    if problem["code"] in REFUSED_BY_CODE:
        return False
    # schemathesis takes an empty If-Match for one that fits its pattern, until a hook changes a header field.
    if problem["code"] == "invalid_condition" and problem["detail"].endswith(" is empty."):
        return False
    # A pattern that leaves out `.` and `..` needs a look-ahead, which not all generators of clients read.
    if problem["detail"] == "The path has a dot segment.":
        return False
    places = [
        place
        for operation, places in REFUSED_BY_PLACE.items()
        if re.fullmatch(operation, case.operation.label)
        for place in places
    ]
    errors = problem.get("errors", [])
    return not errors or not all(any(re.fullmatch(place, error["pointer"]) for place in places) for error in errors)


class Caller:
    """Has a session whose token is valid, and knows the tokens of the sessions that requests have begun."""

    def __init__(self):
        self.tokens = {}
        self.own = None

    def session(self):
        """The caller's own session, with a user."""
        if self.own is None:
            created = requests.post(PUBLIC + "/v1/sessions", timeout=10).json()
            self.own = created["session"]["id"]
            user = {"user_id": f"user-{next(numbers)}"}
            signed_in = requests.put(f"{ADMIN}/v1/sessions/{self.own}/user", json=user, timeout=10).json()
            self.tokens[self.own] = signed_in["token"]
        return self.own

    def forget(self, session):
        self.tokens.pop(session, None)
        if self.own == session:
            self.own = None


caller = Caller()
# In place of a token until the session of the request is known.
TOKEN_OF_CALLER = "Bearer of-caller"


@schemathesis.auth()
class Bearer:
    def get(self, case, context):
        return TOKEN_OF_CALLER

    def set(self, case, data, context):
        # Sessions that nobody has begun are 404: one of four requests names such a one.
        path = case.path_parameters
        if path and SESSION.fullmatch(str(path.get("session"))) and next(numbers) % 4:
            path["session"] = caller.session()
        # The admin listener needs no key on loopback.
        if "cookie" in case.operation.schema.raw_schema["components"]["securitySchemes"]:
            case.headers = {**(case.headers or {}), "Authorization": data}


@schemathesis.hook
def before_call(context, case, kwargs):
    headers, session = case.headers or {}, (case.path_parameters or {}).get("session")
    if headers.get("Authorization") == TOKEN_OF_CALLER:
        token = caller.tokens.get(session) or caller.tokens[caller.session()]
        headers["Authorization"] = f"Bearer {token}"
    # The example of a condition would fail everywhere.
    if headers.get("If-Match") == '"7"':
        headers["If-Match"] = "*"
    # The example of a key would be reused everywhere.
    if headers.get("Idempotency-Key") == '"8e03978e-40d5-43dd-bc93-6894a57f9324"':
        headers["Idempotency-Key"] = f"schemathesis-{next(numbers):08}"
    # Waits are longer than the time that schemathesis has.
    if "wait=" in headers.get("Prefer", ""):
        headers["Prefer"] = "wait=0"
    if isinstance(case.body, dict) and re.fullmatch(r"[0-9]+(ms|s|m|h|d)|P[0-9A-Z.,]+", str(case.body.get("wait"))):
        case.body["wait"] = "0s"
    # Few journeys would begin with a screen that the flow does not have.
    if case.operation.label.endswith("/journeys") and isinstance(case.body, dict) and next(numbers) % 4:
        if isinstance(case.body.get("at"), str) and case.body["at"]:
            del case.body["at"]


@schemathesis.hook
def after_call(context, case, response):
    label, status = case.operation.label, response.status_code
    sent = response.request.headers.get("Authorization", "").removeprefix("Bearer ")
    named = (case.path_parameters or {}).get("session")
    if status == 201 and label == "POST /v1/sessions":
        created = response.json()
        if "token" in created:
            caller.tokens[created["session"]["id"]] = created["token"]
    if status == 201 and label == "POST /v1/sessions/{session}/tokens":
        caller.tokens[caller.own if named == "current" else named] = response.json()["token"]
    # These sessions have ended. The caller's next request begins another one.
    if status == 404 and "session_not_found" in response.text:
        caller.forget(named)
    if status == 401:
        for session in [session for session, token in caller.tokens.items() if token == sent]:
            caller.forget(session)


@schemathesis.serializer("application/x-ndjson", "application/ndjson", "application/jsonl")
def lines(context, value):
    return str(value).encode()


@schemathesis.deserializer(
    "application/openmetrics-text", "application/x-ndjson", "text/vnd.graphviz", "text/vnd.mermaid", "image/svg+xml"
)
def text(context, response):
    return response.text
