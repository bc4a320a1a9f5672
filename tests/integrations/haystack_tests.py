"""Haystack's own tests of its Whoosh backend, with the backend of examples/django in its place.

python tests/integrations/haystack_tests.py FOLDER    # of the source archive of django-haystack
"""

import os
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "django"


def main(folder: str) -> None:
    """Run them; the process ends with 1 if one fails."""
    os.chdir(folder)
    sys.path[:0] = [folder, str(EXAMPLES)]
    os.environ["DJANGO_SETTINGS_MODULE"] = "test_haystack.settings"
    from test_haystack import settings

    settings.HAYSTACK_CONNECTIONS.pop("solr")  # needs a server
    import django

    django.setup()
    from django.core.management import call_command
    from haystack.backends.whoosh_backend import WhooshEngine
    from haystack_backend import SetsBackend

    WhooshEngine.backend = SetsBackend
    call_command("test", "test_haystack.whoosh_tests")


if __name__ == "__main__":
    main(sys.argv[1])
