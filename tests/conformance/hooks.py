"""How schemathesis writes FHIR's XML form.

OpenAPI's own way to describe XML cannot say what FHIR's XML is (https://hl7.org/fhir/R4/xml.html): values stand
in attributes, and elements have an order. So the description has one schema for both encodings, of the JSON form,
and a value made for it is written as XML here. No check is changed."""

import json
import os
from xml.sax.saxutils import quoteattr

import requests
import schemathesis

ANSWER = requests.get(
    f"{os.environ['BASE']}/openapi.json",
    verify=os.environ["CA"],
    cert=os.environ["PEM"],
    timeout=30,
)
POST = ANSWER.json()["paths"]["/DocumentReference"]["post"]
SCHEMA = POST["requestBody"]["content"]["application/fhir+json"]["schema"]
# FHIR's order, of all types that the schema knows; no two of them contradict each other.
ORDER = (
    "id meta language contained identifier status type profile system value code display coding reference "
    "subject date author title timestamp entry fullUrl resource content attachment url"
).split()
TYPES = {"string": str, "object": dict, "array": list}


# The first of its family is taken, whatever it is registered for: the built-in ones are replaced.
@schemathesis.serializer("application/xml", "text/xml", "application/fhir+xml")
def fhir_xml(context, value):
    if not isinstance(value, dict):
        return value if isinstance(value, bytes) else json.dumps(value).encode()
    return resource(value, SCHEMA, ' xmlns="http://hl7.org/fhir"').encode("utf-8", "surrogatepass")


def resource(value, schema, namespace=""):
    name = value.get("resourceType", "NoResource")
    return f"<{name}{namespace}>{children(value, schema)}</{name}>"


def children(value, schema):
    known = schema.get("properties", {})
    names = sorted(value, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
    return "".join(
        element(name, value[name], known.get(name, {})) for name in names if name != "resourceType"
    )


def element(name, value, schema):
    wanted = TYPES.get(schema.get("type"))
    if wanted and not isinstance(value, wanted):
        # XML has no types: what is wrong in JSON by its type is written as something that XML refuses.
        return f"<{name}><wrongType value={quoteattr(json.dumps(value))}/></{name}>"
    if isinstance(value, list):
        return "".join(element(name, one, schema.get("items", {})) for one in value)
    if isinstance(value, dict):
        inner = schema.get("properties", {}).get("resourceType")
        return f"<{name}>{resource(value, schema) if inner else children(value, schema)}</{name}>"
    # White space in an attribute is kept by its code only.
    text = quoteattr(str(value), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    return f"<{name} value={text}/>"
