"""The walk of the README by a client that openapi-python-client made. Needs the address of a public listener."""

import sys

from concierge_client import AuthenticatedClient, Client
from concierge_client.api.journeys import get_journey, restart_journey, send_event, start_journey
from concierge_client.api.services import (
    call_basket_add, get_basket, get_profile, patch_profile, replace_profile, replace_quote)
from concierge_client.api.sessions import create_session, end_session, get_session, update_session
from concierge_client.models import (
    Basket, BasketAddInput, EditQuoteJourneyStart, JourneyRestart, ProfilePatch, ProfileWrite, Quote,
    SessionCreation, SessionPatch, SignInEvent, WizardSignIn)

URL = sys.argv[1]


def check(response, status):
    assert response.status_code == status, f"{response.status_code} {response.content[:300]}"
    return response.parsed


created = check(create_session.sync_detailed(client=Client(base_url=URL), body=SessionCreation()), 201)
client = AuthenticatedClient(base_url=URL, token=created.token)
assert check(get_session.sync_detailed("current", client=client), 200).id == created.session.id

patched = patch_profile.sync_detailed("current", client=client, body=ProfilePatch(name="Ada"))
assert check(patched, 200).name == "Ada"
etag = patched.headers["ETag"]
check(patch_profile.sync_detailed("current", client=client, body=ProfilePatch(name="Eve"), if_match='"0"'), 412)
assert check(get_profile.sync_detailed("current", client=client), 200).name == "Ada"
check(replace_quote.sync_detailed("current", client=client, body=Quote(text="To be", author="WS"), if_none_match="*"), 200)
check(get_profile.sync_detailed("current", client=client, if_none_match=etag), 304)
# Members that are left out get their defaults, and null in a patch removes a member.
assert check(replace_profile.sync_detailed(client=client, body=ProfileWrite(name="Ada", locale="en")), 200).locale == "en"
assert check(patch_profile.sync_detailed(client=client, body=ProfilePatch(locale=None)), 200).locale is None

# A service of the configuration, which commands change.
assert check(get_basket.sync_detailed(client=client), 200) == Basket(items=[], total=0)
added = check(call_basket_add.sync_detailed(client=client, body=BasketAddInput(sku="TEA", quantity=2)), 200)
assert added.output.total == 900
check(call_basket_add.sync_detailed(client=client, body=BasketAddInput(sku="GOLD")), 409)
basket = check(get_basket.sync_detailed(client=client), 200)
assert (basket.items[0].sku, basket.items[0].quantity, basket.total) == ("TEA", 2, 900)
labels = SessionPatch.from_dict({"labels": {"device": "phone"}})
assert check(update_session.sync_detailed("current", client=client, body=labels), 200).labels["device"] == "phone"

check(restart_journey.sync_detailed("current", "main", client=client, body=JourneyRestart(flow="wizard")), 201)
event = SignInEvent(event="sign_in", data=WizardSignIn(name="Grace"))
for replayed in (None, "true"):
    moved = send_event.sync_detailed(
        "current", "main", client=client, body=event, idempotency_key='"3b0f6f1c-8c3e-4a39-9f0e-8d7f1b8c2a11"')
    assert check(moved, 200).screen.id == "page1"
    assert moved.headers.get("Idempotency-Replayed") == replayed
assert check(get_journey.sync_detailed("current", "main", client=client), 200).step == 2
assert check(get_profile.sync_detailed("current", client=client), 200).name == "Grace"
started = check(start_journey.sync_detailed(client=client, body=EditQuoteJourneyStart(flow="edit-quote")), 201)
assert started.flow == "edit-quote" and started.id != "main"

check(end_session.sync_detailed("current", client=client), 204)
check(get_session.sync_detailed("current", client=client), 401)
print("The generated client took the whole walk.")
