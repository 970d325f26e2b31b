"""Rules about a request that JSON Schema cannot express, and the one documented answer that looks like a failure.

Each rule has a test of its own in the suite. The hook repairs a request that the document permits and the service
rightly refuses. It changes no request that was generated as invalid: a repaired one could be valid by accident.
"""

import json
import re
from datetime import date, datetime
from decimal import Decimal
from unicodedata import normalize

import schemathesis

ENQUIRIES = ("POST /api/v1/transfers/resolve-account", "POST /api/v1/billpay/validate")
VERIFY_CUSTOMER = "POST /api/v1/identity/customers/{customer_id}/kyc/{check_type}/verify"
ACCOUNTS = ("recipient_account", "destination_account_number", "customer_reference")
MAX_KEYS = 50
MAX_BYTES = 8 * 1024


@schemathesis.hook
def before_call(context, case, kwargs):
    """A stateful test merges values of earlier answers into a generated body, so the repair comes right before the call."""
    if case.meta is not None and case.meta.generation.mode.is_negative:
        return
    put_days_in_order(case.query or {})
    name_one_position(case.query or {})
    fit_check(case)
    leave_out_sample_key(case.headers or {})
    if isinstance(case.body, dict):
        name_one_key(case.headers or {}, case.body)
        leave_out_card_numbers(case.body)
        keep_to_size(case.body, named_fields(case.operation))
        leave_out_times(case.body)
        use_one_name(case.body)
        raise_cap(case.body)
        raise_cap(case.body.get("auto_reload"))
        reload_prepaid_cards(case.body)
        name_one_customer(case.body)
        expect_an_amount(case.body)
        pay_the_price(case.body)


def put_days_in_order(query):
    """The service refuses an `end_date` before the `start_date`."""
    first, last = query.get("start_date"), query.get("end_date")
    if is_day(first) and is_day(last) and last < first:
        query["start_date"], query["end_date"] = last, first


def fit_check(case):
    """The type of an identity check is in the path and decides which fields the body has."""
    if case.operation.label != VERIFY_CUSTOMER or not isinstance(case.body, dict):
        return
    of_account = (case.path_parameters or {}).get("check_type") == "bank_account"
    for name in ("number", "date_of_birth") if of_account else ("account_number", "bank_code", "bvn"):
        case.body.pop(name, None)
    needed = {"account_number": "0123456789", "bank_code": "058"} if of_account else {"number": "22212345678"}
    for name, value in needed.items():
        case.body.setdefault(name, value)


def name_one_position(query):
    """A list by page and by offset takes one of the two."""
    if "page" in query and "offset" in query:
        del query["offset"]


def is_day(text):
    try:
        return isinstance(text, str) and bool(date.fromisoformat(text))
    except ValueError:
        return False


def leave_out_sample_key(headers):
    """The document has one sample key for each operation. The service refuses it with a second body."""
    if re.fullmatch(r"[a-z]+(-[a-z]+)*-1", str(headers.get("Idempotency-Key"))):
        del headers["Idempotency-Key"]


def name_one_key(headers, body):
    """The service refuses different idempotency keys in header and body."""
    given = headers.get("Idempotency-Key"), body.get("idempotency_key")
    if all(isinstance(key, str) and re.fullmatch(r"[ -~]{1,255}", key) for key in given):
        del body["idempotency_key"]


# As in src/shared/card-data.ts.
HEXADECIMAL = re.compile(
    r"(?<![0-9A-Za-z])(?=[0-9]*[a-f])(?:[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})(?![0-9A-Za-z])",
    re.ASCII | re.IGNORECASE,
)
BARE = re.compile(
    r"(?<![0-9])(?:[3-6][0-9]{12,18}|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12})(?![0-9])"
)
GROUPED = re.compile(
    r"(?<![0-9A-Za-z])(?=((?:[2-6][0-9]{3}([ ._/‐–-])[0-9]{4}\2[0-9]{4}\2[0-9]{1,4}(?:\2[0-9]{1,3})?"
    r"|3[0-9]{3}([ ._/‐–-])[0-9]{6}\3[0-9]{4,5})(?![0-9A-Za-z])))"
)


def leave_out_card_numbers(value):
    """The service refuses card numbers in names and values. Their checksum cannot be expressed as a pattern."""
    for name, child in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(name, str) and is_card_number(name):
            del value[name]
        elif isinstance(child, (dict, list)):
            leave_out_card_numbers(child)
        elif isinstance(child, str) and is_card_number(child):
            # Every card number begins with 2 to 6: the text keeps its form and length.
            value[name] = "".join("1" if re.search("[2-6]", normalize("NFKC", one)) else one for one in child)
        elif is_number(child) and is_card_number(whole_part(child)):
            value[name] = 1_000


def is_card_number(text):
    plain = HEXADECIMAL.sub(" ", normalize("NFKC", text))
    printed = [found[1] for found in GROUPED.finditer(plain)]
    # A short last group may be a security code or a month.
    without_last = [re.sub("[^0-9][0-9]{1,3}$", "", run) for run in printed]
    grouped = [re.sub("[^0-9]", "", run) for run in (*printed, *without_last)]
    return any(passes_luhn(found[0]) for run in (plain, *grouped) for found in BARE.finditer(run))


def passes_luhn(text):
    digits = [int(digit) for digit in reversed(text)]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


def whole_part(number):
    """The digits that the service reads: its numbers are doubles, whether written with an exponent or without."""
    try:
        return str(int(Decimal(repr(float(number)))))
    except OverflowError:
        return ""


def keep_to_size(body, named):
    """Metadata, with the fields that have no name in a free-form body, has 50 keys over all levels and 8 KiB."""
    free = [name for name in body if name not in named or name == "metadata"]
    while free and not fits(kept_fields(body, named)):
        del body[free.pop()]


def kept_fields(body, named):
    metadata = body.get("metadata")
    rest = {name: value for name, value in body.items() if name not in named}
    return {**rest, **metadata} if isinstance(metadata, dict) else rest


def fits(metadata):
    size = len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    return count_keys(metadata) <= MAX_KEYS and size <= MAX_BYTES


def count_keys(value):
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (len(value) if isinstance(value, dict) else 0) + sum(map(count_keys, children))


def named_fields(operation):
    """The fields of the operation's body that the document names."""
    document = operation.schema.raw_schema
    schema = operation.definition.raw["requestBody"]["content"]["application/json"]["schema"]
    schema = resolved(schema, document)
    forms = [schema, *(resolved(form, document) for form in schema.get("oneOf", []))]
    return {"metadata", *(name for form in forms for name in form.get("properties", {}))}


def resolved(schema, document):
    return document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def use_one_name(body):
    """`reference` is an older name of `transaction_reference`; the service refuses different values in both."""
    if "transaction_reference" in body and "reference" in body and "amount_minor" in body:
        del body["reference"]


def name_one_customer(body):
    """A customer's id that is given twice must be the same."""
    if isinstance(body.get("customer"), dict) and "customer_id" in body:
        del body["customer_id"]


def expect_an_amount(body):
    """A deposit is sent back for its amount only where an amount is expected."""
    if body.get("on_mismatch") == "return" and "expected_amount_minor" not in body:
        del body["on_mismatch"]


def reload_prepaid_cards(body):
    """Only a prepaid card is reloaded."""
    if body.get("funding") == "jit":
        body.pop("auto_reload", None)


def raise_cap(body):
    """The daily cap must allow at least one reload."""
    if not isinstance(body, dict):
        return
    amount, cap = body.get("amount_minor"), body.get("daily_cap_minor")
    if is_amount(amount) and is_amount(cap) and cap < amount:
        body["daily_cap_minor"] = amount


def pay_the_price(body):
    """The item in the examples of bill payments has a fixed price."""
    if body.get("item_id") == "kite-1gb-30d" and is_amount(body.get("amount_minor")):
        body["amount_minor"] = 120_000


def is_amount(value):
    """JSON has one type of number, so 5.0 is an integer too."""
    return is_number(value) and value >= 1 and float(value).is_integer()


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def leave_out_times(body):
    """A recurring charge starts neither in the past nor far ahead, ends later, and has an existing time zone."""
    if "interval" not in body:
        return
    zone = body.get("timezone")
    if isinstance(zone, str) and len(zone) <= 64:
        del body["timezone"]
    for name in ("start_at", "end_at"):
        if is_time(body.get(name)):
            del body[name]


def is_time(text):
    try:
        return isinstance(text, str) and "T" in text.upper() and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Only the sandbox account whose bank, or whose biller, never answers may get the documented 503 with Retry-After."""
    body = case.body if case.operation.label in ENQUIRIES and isinstance(case.body, dict) else {}
    silent = any(str(body.get(name)).endswith("011") for name in ACCOUNTS)
    return not (silent and response.status_code == 503 and "retry-after" in response.headers)
