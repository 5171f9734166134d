"""An older document with one entry, as its readers' tests begin with it."""

START = 1_800_000_000_000_000
"""Microseconds at which the tests' clock begins."""

ID = "mem_00000000000000000000000001"
DOCUMENT = {
    "version": 2,
    "entries": [
        {
            "id": ID,
            "revision": 1,
            "collection": "project",
            "repo": "/srv/code/shop",
            "projectId": "core",
            "status": "accepted",
            "createdAt": "2026-03-01T08:00:00Z",
            "updatedAt": "2026-04-01T09:00:00Z",
            "title": "Retry only idempotent requests",
            "body": "POST is never retried.",
        }
    ],
    "receipts": [],
    "feedback": [],
}
