"""Take the pictures of the README and the guide from a real server in real Chromium: python docs/screenshots.py

Needs `pip install -e '.[web]' playwright`, and chromium.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
SIZE = {"width": 1040, "height": 760}
PICTURES = {
    "light": ("?seed=red&seed=blue&seed=green", "light"),
    "dark": ("?items=documents&seed=waltz&seed=tango&reject=minuet", "dark"),
}


def main() -> None:
    """Index the sample corpus, serve it, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "wordnet.db"
        run = [sys.executable, "-m", "setsearch"]
        subprocess.run([*run, "index", database, HERE.parent / "sample_corpus" / "wordnet.jsonl"], check=True)
        server = subprocess.Popen([*run, "serve", str(database), "--port", "0"], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        address = re.search(r"http://\S+", server.stderr.readline())
        assert address
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, (query, scheme) in PICTURES.items():
                page = browser.new_page(viewport=SIZE, color_scheme=scheme)
                page.goto(address.group() + query)
                page.locator("#hits > li").first.focus()
                if name == "dark":
                    page.keyboard.press("w")
                page.screenshot(path=HERE / "images" / f"{name}.png")
            browser.close()
        server.send_signal(signal.SIGINT)
        server.wait()


if __name__ == "__main__":
    main()
