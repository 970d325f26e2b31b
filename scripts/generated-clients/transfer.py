"""Makes a transfer with the client of openapi-python-client, as its user would. Prints what the service has answered.

scripts/client-generators.mjs generates the package `bursar_client`; test/chaos/clients runs this program.
"""

import json
import os
import time

from bursar_client import AuthenticatedClient
from bursar_client.api.transfers import create_transfer, get_transfer
from bursar_client.models import (
    CreateTransferRefusal,
    NewTransferToRecipient,
    ServiceUnavailableRefusal,
    TransferResponse,
)

client = AuthenticatedClient(base_url=os.environ["BURSAR_URL"], token=os.environ["BURSAR_KEY"])


def create(key: str, amount_minor: int):
    body = NewTransferToRecipient(
        amount_minor=amount_minor,
        recipient_account="0123456789",
        recipient_bank_code="058",
        narration="Rent for May",
    )
    while True:
        answer = create_transfer.sync(client=client, body=body, idempotency_key=key)
        # A busy service; the key makes a repeat safe.
        if not isinstance(answer, ServiceUnavailableRefusal):
            return answer
        time.sleep(0.5)


def created(key: str) -> str:
    answer = create(key, 150_000)
    assert isinstance(answer, TransferResponse), answer
    return answer.data.id


def ended(transfer: str) -> str:
    while True:
        answer = get_transfer.sync(transfer, client=client)
        assert isinstance(answer, TransferResponse), answer
        if answer.data.status in ("completed", "failed"):
            return str(answer.data.status)
        time.sleep(0.5)


id = created("python-1")
repeated = created("python-1")
refusal = create("python-2", 100_000_000)
assert isinstance(refusal, CreateTransferRefusal), refusal
print(json.dumps({"id": id, "repeated": repeated, "status": ended(id), "refused": str(refusal.error.code)}))
