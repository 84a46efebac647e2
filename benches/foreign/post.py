"""Posts the files of a folder with one session of requests. Called with the address, the CA's certificate, the client's
(certificate and key in one PEM file) and the folder. Prints the seconds that the requests took."""

import pathlib
import sys
import time

import requests

url, ca, client, folder = sys.argv[1:]
bodies = [file.read_bytes() for file in sorted(pathlib.Path(folder).iterdir())]
with requests.Session() as session:
    session.verify, session.cert, session.trust_env = ca, client, False
    session.headers.update({"Content-Type": "application/fhir+json", "Accept": "application/fhir+json"})
    began = time.perf_counter()
    for body in bodies:
        session.post(url, data=body).raise_for_status()
    print(time.perf_counter() - began)
