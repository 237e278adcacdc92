"""Starts processes of Trustflow with the Temporal client of Python, submits a one-time password, and reads results."""

import asyncio
import base64
import json
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes
from temporalio.exceptions import WorkflowAlreadyStartedError

from codec import Codec, parse_ring
from issue_certificate_input import Input1 as CertificateInput
from issue_certificate_result import Result as CertificateResult
from send_postal_input import Input as LetterInput
from send_postal_result import Result as LetterResult

EXAMPLES = Path(__file__).parent.parent
NAMESPACE = os.environ.get("TEMPORAL_NAMESPACE", "default")
# A handler of Trustflow answers within 20 seconds; a later answer means that no worker runs.
UPDATE_LIMIT = timedelta(seconds=30)


async def send_letter(order: str) -> None:
    content = (EXAMPLES / "letter.pdf").read_bytes()
    letter: LetterInput = {
        "document": {"base64": base64.b64encode(content).decode(), "mediaType": "application/pdf"},
        "lookupKey": order,
        "recipientName": "sandbox:delivered",
        "recipientAddress": {
            "streetAddress": "Calle Mayor 1",
            "postalCode": "28013",
            "locality": "Madrid",
            "region": "Madrid",
            "country": "ES",
        },
        "settings": {"affidavitWindowSeconds": 10},
    }
    await start("sendPostal", order, letter)
    await show_result(f"sendPostal/{order}")


async def issue_certificate(order: str) -> None:
    holder: CertificateInput = json.loads((EXAMPLES / "holder.json").read_text())
    holder["disposableHolder"]["identificationCode"] = order
    await start("issueCertificate", order, holder)


async def start(process: str, order: str, given: Any) -> None:
    """Starts a process, or joins the one of the same id and input."""
    workflow_id = f"{process}/{order}"
    client = await connect(workflow_id)
    try:
        await client.start_workflow(
            process,
            given,
            id=workflow_id,
            task_queue="trustflow",
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )
    except WorkflowAlreadyStartedError:
        if await first_input(client, workflow_id) != given:
            raise ValueError(f"{workflow_id} was started with another input")
    print(workflow_id)


async def first_input(client: Client, workflow_id: str) -> Any:
    """Is in the first event of the history, whichever client started the process."""
    async for event in client.get_workflow_handle(workflow_id).fetch_history_events():
        payloads = event.workflow_execution_started_event_attributes.input.payloads
        [value] = await client.data_converter.decode(payloads)
        return value


async def submit_otp(order: str) -> None:
    workflow_id = f"issueCertificate/{order}"
    handle = (await connect(workflow_id)).get_workflow_handle(workflow_id)
    code = sys.stdin.readline().strip()
    # The server answers each request sooner, and the SDK asks again without an end.
    update = handle.execute_update("submitOtp", {"code": code})
    answer = await asyncio.wait_for(update, UPDATE_LIMIT.total_seconds())
    print(answer["answer"])


async def show_result(workflow_id: str) -> None:
    client = await connect(workflow_id)
    result: LetterResult | CertificateResult = await client.get_workflow_handle(workflow_id).result()
    print(f"{workflow_id}: {result['outcome']}")


async def connect(workflow_id: str) -> Client:
    """A client for one process: the write tag holds for its id alone."""
    ring = parse_ring(os.environ["TRUSTFLOW_KEYS__CODEC"])
    write_key = os.environ.get("TRUSTFLOW_KEYS__CODEC_WRITE")
    codec = Codec(ring, parse_ring(write_key) if write_key else {}, NAMESPACE, workflow_id)
    converter = DataConverter(
        payload_codec=codec, failure_converter_class=DefaultFailureConverterWithEncodedAttributes
    )
    address = os.environ["TEMPORAL_ADDRESS"]
    return await Client.connect(address, namespace=NAMESPACE, data_converter=converter)


COMMANDS = {
    "letter": send_letter,
    "certificate": issue_certificate,
    "otp": submit_otp,
    "result": show_result,
}


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in COMMANDS:
        print(f"usage: letters.py {'|'.join(COMMANDS)} ID", file=sys.stderr)
        return 2
    try:
        asyncio.run(COMMANDS[sys.argv[1]](sys.argv[2]))
    except (WorkflowFailureError, WorkflowUpdateFailedError) as error:
        print(error.cause, file=sys.stderr)
        return 1
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # A defect of the SDK crashes the interpreter now and then while it ends (temporalio/sdk-python#300).
    os._exit(code)
