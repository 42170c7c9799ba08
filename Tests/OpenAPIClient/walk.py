"""The walk of the README by a client that openapi-python-client made. Needs the address of a public listener."""

import sys

from concierge_client import AuthenticatedClient, Client
from concierge_client.api.journeys import get_journey, restart_journey, send_event
from concierge_client.api.services import get_service, patch_service, replace_service
from concierge_client.api.sessions import create_session, end_session, get_session, update_session
from concierge_client.models import (
    JourneyEvent, JourneyRestart, MergePatch, NewSession, SessionPatch)

URL = sys.argv[1]


def check(response, status):
    assert response.status_code == status, f"{response.status_code} {response.content[:300]}"
    return response.parsed


created = check(create_session.sync_detailed(client=Client(base_url=URL), body=NewSession()), 201)
client = AuthenticatedClient(base_url=URL, token=created.token)
assert check(get_session.sync_detailed("current", client=client), 200).id == created.session.id

patched = patch_service.sync_detailed("current", "profile", client=client, body=MergePatch.from_dict({"name": "Ada"}))
assert check(patched, 200)["name"] == "Ada"
etag = patched.headers["ETag"]
check(patch_service.sync_detailed(
    "current", "profile", client=client, body=MergePatch.from_dict({"name": "Eve"}), if_match='"0"'), 412)
assert check(get_service.sync_detailed("current", "profile", client=client), 200)["name"] == "Ada"
check(replace_service.sync_detailed("current", "quote", client=client, body={"text": "To be", "author": "WS"}, if_none_match="*"), 200)
check(get_service.sync_detailed("current", "profile", client=client, if_none_match=etag), 304)
labels = SessionPatch.from_dict({"labels": {"device": "phone"}})
assert check(update_session.sync_detailed("current", client=client, body=labels), 200).labels["device"] == "phone"

check(restart_journey.sync_detailed("current", "main", client=client, body=JourneyRestart(flow="wizard")), 201)
event = JourneyEvent.from_dict({"event": "sign_in", "data": {"name": "Grace"}})
for replayed in (None, "true"):
    moved = send_event.sync_detailed(
        "current", "main", client=client, body=event, idempotency_key='"3b0f6f1c-8c3e-4a39-9f0e-8d7f1b8c2a11"')
    assert check(moved, 200).screen.id == "page1"
    assert moved.headers.get("Idempotency-Replayed") == replayed
assert check(get_journey.sync_detailed("current", "main", client=client), 200).step == 2
assert check(get_service.sync_detailed("current", "profile", client=client), 200)["name"] == "Grace"

check(end_session.sync_detailed("current", client=client), 204)
check(get_session.sync_detailed("current", client=client), 401)
print("The generated client took the whole walk.")
