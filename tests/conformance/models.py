"""fhirpy, an independent FHIR client, against a running authority, and every resource that it answers read by
two libraries of typed models: fhirclient (SMART on FHIR) and fhir.resources, which also reads the XML form.
The last line it prints is the result: how many cases, and every fault."""

import copy
import json
import os
import sys
import time
import uuid

import requests
from fhir.resources.R4B import get_fhir_model_class
from fhirclient.models import bundle, capabilitystatement, documentreference, operationoutcome
from fhirpy import SyncFHIRClient
from fhirpy.base.exceptions import OperationOutcome, ResourceNotFound

BASE, CA, PEM = (os.environ[name] for name in ("BASE", "CA", "PEM"))
STATUS = "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status"
TYPED = {
    "Bundle": bundle.Bundle,
    "CapabilityStatement": capabilitystatement.CapabilityStatement,
    "DocumentReference": documentreference.DocumentReference,
    "OperationOutcome": operationoutcome.OperationOutcome,
}

session = requests.Session()
session.verify, session.cert = CA, PEM
client = SyncFHIRClient(BASE, requests_config={"verify": CA, "cert": PEM})
cases, faults = 0, []


def check(name, act, *arguments):
    """One case; what it raises is a fault."""
    global cases
    cases += 1
    try:
        act(*arguments)
    except Exception as error:  # noqa: BLE001 whatever goes wrong is told
        faults.append(f"{name}: {type(error).__name__}: {error}")


def ask(method, path, accept, **more):
    headers = {"Accept": accept, **more.pop("headers", {})}
    return session.request(method, f"{BASE}{path}", headers=headers, timeout=30, **more)


def typed(method, path, status, kind, **more):
    """The same request in both encodings: three parsers must agree on what was said."""
    answer = ask(method, path, "application/fhir+json", **more)
    assert answer.status_code == status, f"{answer.status_code} {answer.text}"
    assert answer.headers["content-type"] == "application/fhir+json;charset=utf-8"
    resource = answer.json()
    assert resource["resourceType"] == kind, resource
    model = TYPED[kind](resource)
    assert model.as_json() == resource, "fhirclient writes what it read"
    strict = get_fhir_model_class(kind).model_validate(resource)
    assert json.loads(strict.model_dump_json()).keys() == resource.keys()
    answer = ask(method, path, "application/fhir+xml", **more)
    assert answer.status_code == status, f"{answer.status_code} {answer.text}"
    assert answer.headers["content-type"] == "application/fhir+xml;charset=utf-8"
    from_xml = get_fhir_model_class(kind).model_validate_xml(answer.content)
    assert from_xml.get_resource_type() == kind
    if kind in ("DocumentReference", "OperationOutcome") and method == "GET":
        assert from_xml.model_dump_json() == strict.model_dump_json(), "XML says what JSON says"
    return resource


example = session.get(f"{BASE}/openapi.json", timeout=30).json()["paths"]["/DocumentReference"]["post"]
example = example["requestBody"]["content"]["application/fhir+json"]["example"]


def report(**changes):
    body = copy.deepcopy(example)
    body["identifier"][0]["value"] = f"urn:uuid:{uuid.uuid4()}"
    body["contained"][0]["identifier"]["value"] = f"urn:uuid:{uuid.uuid4()}"
    return body | changes


def status_of(reference):
    parts = next(one for one in reference["extension"] if one["url"] == STATUS)["extension"]
    return next(one["valueCode"] for one in parts if one["url"] == "status")


sent = []


def create():
    resource = client.resource("DocumentReference", **report())
    resource.save()
    assert resource.id and status_of(resource) == "in-progress"
    sent.append(resource)


def read(resource):
    end = time.monotonic() + 30
    while True:
        found = client.reference("DocumentReference", resource.id).to_resource()
        assert found["identifier"] == resource["identifier"]
        if status_of(found) == "completed":
            return
        assert time.monotonic() < end, "processed within 30 s"


def search():
    found = client.resources("DocumentReference")
    assert found.count() == len(sent)
    newest = [one.id for one in found.fetch()]
    assert newest == [one.id for one in reversed(sent)], newest
    pages = [one.id for one in found.sort("date").limit(2).fetch_all()]
    assert pages == [one.id for one in sent], pages
    one = found.search(identifier=sent[0]["identifier"][0]["value"]).get()
    assert one.id == sent[0].id
    assert found.search(_lastUpdated__gt="2020-01-01").count() == len(sent)
    assert found.search(date__lt="2020-01-01").count() == 0
    assert found.search(identifier="urn:uuid:unknown").first() is None


def refused(act, error):
    try:
        act()
    except error as refusal:
        if error is OperationOutcome:
            assert refusal.resource["issue"], refusal
        return
    raise AssertionError("accepted")


for number in range(5):
    check(f"create {number}", create)
for one in sent:
    check(f"read {one.id}", read, one)
check("search", search)
unknown = client.reference("DocumentReference", "unknown")
check("read, unknown id", refused, unknown.to_resource, ResourceNotFound)
vague = client.resources("DocumentReference").search(date="yesterday")
check("search, refused", refused, vague.fetch, OperationOutcome)
wrong = client.resource("DocumentReference", **report(status="final"))
check("create, refused", refused, wrong.save, OperationOutcome)

document = "/DocumentReference"
for path, code, kind in [
    ("/metadata", 200, "CapabilityStatement"),
    (f"{document}/{sent[0].id}", 200, "DocumentReference"),
    (f"{document}?_count=2", 200, "Bundle"),
    (f"{document}?_count=0", 200, "Bundle"),
    (f"{document}?_count=2&page=2&_sort=date", 200, "Bundle"),
    (f"{document}?identifier=none", 200, "Bundle"),
    (f"{document}/unknown", 404, "OperationOutcome"),
    (f"{document}?date=yesterday&_count=x", 400, "OperationOutcome"),
    ("/Patient/1", 404, "OperationOutcome"),
    (f"{document}?identifier=a|b|c&date=%25", 400, "OperationOutcome"),
]:
    check(f"models: GET {path}", typed, "GET", path, code, kind)
sending = {"Content-Type": "application/fhir+json"}
outcome = sending | {"Prefer": "return=OperationOutcome"}
for name, code, kind, headers, body in [
    ("create", 201, "DocumentReference", sending, json.dumps(report())),
    ("outcome", 201, "OperationOutcome", outcome, json.dumps(report())),
    ("rules", 422, "OperationOutcome", sending, json.dumps(report(status="final", colour="red"))),
    ("no JSON", 400, "OperationOutcome", sending, "{"),
    ("type", 415, "OperationOutcome", {"Content-Type": "text/plain"}, "{}"),
]:
    more = {"headers": headers, "data": body}
    check(f"models: POST {name}", lambda more=more, code=code, kind=kind: typed(
        "POST", document, code, kind, **{key: copy.copy(value) for key, value in more.items()}))
form = {"data": {"_count": "1", "elm-status": "completed"}}
check("models: POST _search", lambda: typed("POST", f"{document}/_search", 200, "Bundle", **form))
check("models: PUT", lambda: typed("PUT", document, 405, "OperationOutcome", data="{}"))

print(json.dumps({"cases": cases, "faults": faults}))
sys.exit(0)
