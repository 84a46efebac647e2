"""The pilot certificate of a data folder and its key as one PEM file: what most tools want."""

import sys
from pathlib import Path

from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.serialization import pkcs12

pilot = Path(sys.argv[1]) / "pilot"
for store in pilot.glob("*.p12"):
    password = store.with_suffix(".password").read_bytes().strip()
    key, certificate, _ = pkcs12.load_key_and_certificates(store.read_bytes(), password)
    pem = certificate.public_bytes(form.Encoding.PEM) + key.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    )
    store.with_suffix(".pem").write_bytes(pem)
