"""Runs a command in a real pseudo-terminal, as somebody at a keyboard would.

argv: JSON of {"command": [...], "env": {...}, "steps": [{"wait": text, "send": keys, "run": [...]}], "rows": n}
Waits for each text, runs the command of the step, types the keys, and prints JSON of {"output": ..., "status": ...}.
"""
import fcntl, json, os, pty, select, struct, subprocess, sys, termios, time

job = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(job.get("env", {}))
    for name in job.get("unset", []):
        os.environ.pop(name, None)
    os.execvp(job["command"][0], job["command"])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", job.get("rows", 40), 100, 0, 0))
output, seen = "", 0
steps = list(job["steps"])
deadline = time.time() + job.get("seconds", 30)


def step():
    global seen
    while steps:
        at = output.find(steps[0]["wait"], seen)
        if at < 0:
            return
        seen = at + len(steps[0]["wait"])
        done = steps.pop(0)
        keys = done.get("send")
        time.sleep(done.get("after", 0.05))
        if "run" in done:
            subprocess.run(done["run"], stdout=subprocess.DEVNULL, check=True)
        if keys == "<close>":
            os.close(fd)
            return "closed"
        if keys:
            os.write(fd, keys.encode())


closed = None
while time.time() < deadline and not closed:
    ready, _, _ = select.select([fd], [], [], 0.2)
    if ready:
        try:
            chunk = os.read(fd, 65536)
        except OSError:
            break
        if not chunk:
            break
        output += chunk.decode("utf-8", "replace")
    closed = step()
else:
    if not closed:
        os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
print(json.dumps({"output": output, "status": os.waitstatus_to_exitcode(status), "left": len(steps)}))
