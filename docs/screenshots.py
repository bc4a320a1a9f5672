"""Take the pictures of the README and the guide from a real server in real Chromium.

python docs/screenshots.py [FOLDER]

Needs `pip install -e '.[web]' playwright`, chromium, and a folder of manual pages.
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
FOLDER = "/usr/share/man/man8"
PICTURES = {
    "light": ("?items=documents&seed=fsck.8.gz&seed=mkfs.8.gz", "light"),
    "dark": ("?items=documents&seed=how+to+add+a+user+to+a+group", "dark"),
}


def main() -> None:
    """Index a folder, serve it, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "manuals.db"
        run = [sys.executable, "-m", "setsearch"]
        subprocess.run([*run, "index", database, *(sys.argv[1:] or [FOLDER])], check=True)
        server = subprocess.Popen([*run, "serve", str(database), "--port", "0"], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        address = next(filter(None, (re.search(r"http://\S+", line) for line in server.stderr)))
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
