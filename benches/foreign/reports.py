"""Published reports with pyfhircheck, against the same profile from the same packages: the figures that `bench rules`
sets beside ours. Called with a file: {"packages": [], "reports": [], "profile": "", "seconds": 0, "evidence": ""}.
Prints {"perReport": [milliseconds], "first": milliseconds, "accepted": 0, "mb": 0}."""

import contextlib
import json
import os
import resource
import sys
import time

asked = json.load(open(sys.argv[1], encoding="utf-8"))
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    from pyfhircheck import Validator
    from pyfhircheck.config import ValidatorConfig

    began = time.perf_counter()
    validator = Validator(
        ValidatorConfig.load_dict(
            {
                "fhirVersion": "4.0.1",
                "terminology": {"mode": "local"},
                "localPackagePaths": asked["packages"],
                "profiles": {"Bundle": [asked["profile"]]},
                "evidenceOutputDir": asked["evidence"],
            }
        )
    )
    reports = [json.load(open(file, encoding="utf-8")) for file in asked["reports"]]
    accepted = 0
    times = []
    first = None
    for report in reports:
        start = time.perf_counter()
        told = validator.validate_resource(report)
        took = (time.perf_counter() - start) * 1e3
        accepted += not told.errors
        if first is None:
            # With the loading of the packages.
            first = (time.perf_counter() - began) * 1e3
        else:
            times.append(took)
        if time.perf_counter() - began > asked["seconds"]:
            break
mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
seen = len(times) + 1
print(json.dumps({"perReport": times, "first": first, "accepted": accepted, "seen": seen, "mb": mb}))
