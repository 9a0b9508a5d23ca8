// Content cannot forge a question in a terminal: hostile names, contents and reasons are shown by the commands of the
// product, in a pseudo-terminal and in colour, and no control sequence or bidirectional control of theirs arrives.
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { COMMAND, homeIn, loadPackage, waitFor } from "./lib.mjs";
import { startServer } from "./server.mjs";

const FREE_PORT_FROM = 20_000;
const COMMAND_TIMEOUT_MS = 20_000;
const HOSTILE = [
  ...[
    "\x1b]52;c;enF4\x07",
    "\x1b[2J\x1b[H",
    "\x9b2J",
    "\x9d0;zqx\x9c",
    "\x1b]8;;http://evil\x07link\x1b]8;;\x07",
  ],
  ...["\x1bPq#0zqx\x1b\\", "\u202eevil", "\u2066x\u2069", "\u200bz", "\u2028", "\u061c", "\x08\x08\x08"],
  ...["\rOVER", "\x7f", "\x1b[?1049h", "\x1b[6n", "\ufff9x\ufffa", "\u{E0041}\u{E0042}", "\x1bc", "\x05"],
];
/** Sequences and characters that must not arrive once those of our own view are taken out. */
const FORBIDDEN = ["\x1b]52", "\x1b]8", "\x1bP", "\x1bc", "\x1b[6n", "\b", "\x7f", "\x05"];
/** Second control set, bidirectional controls, separators of lines and paragraphs. */
const FORBIDDEN_CHARACTERS = /[\u0080-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;
const TEXT = `first\n${HOSTILE.map((hostile, n) => `${n} ${hostile} zz`).join("\n")}\n`;
const NAME = `n${HOSTILE.join("").replaceAll("/", "_").slice(0, 60)}.txt`;
/** Commands whose output names files, shows content or repeats an argument. */
const COMMANDS = [
  ...[["history"], ["history", "show", "last"], ["ls", "."], ["stat", "n.txt"], ["grep", "zz", "."]],
  ...[
    ["glob", "**"],
    ["find", "raw"],
    ["read", "n.txt"],
    ["diff", "n.txt", "n.txt"],
  ],
  ...[
    ["undo", "--dry-run"],
    ["access"],
    ["doctor"],
    ["call", "stat", "--args", JSON.stringify({ path: NAME })],
  ],
  ...[
    ["read", `missing${HOSTILE[0]}${HOSTILE[6]}`],
    ["approve", `x${HOSTILE[0]}`],
  ],
];
/** Commands that give a pipe the content of files as it is. */
const CONTENT_COMMANDS = ["read", "grep", "diff"];
/** Copies a program's output in a pseudo-terminal of 150 columns, and presses keys: show secrets, help, next. */
const PSEUDO_TERMINAL = `
import fcntl, os, pty, select, struct, sys, termios, time
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 150, 0, 0))
end = time.time() + 30; keys = [b"h", b"?", b"n"]; shown = b""
while time.time() < end:
  if select.select([fd], [], [], 0.2)[0]:
    try: data = os.read(fd, 65536)
    except OSError: break
    if not data: break
    sys.stdout.buffer.write(data); sys.stdout.buffer.flush(); shown += data
  elif shown.endswith(b"] "):
    if not keys: break
    os.write(fd, keys.pop(0))
os.kill(pid, 9)
`;

function forbiddenIn(text) {
  const found = FORBIDDEN.filter((sequence) => text.includes(sequence));
  const character = FORBIDDEN_CHARACTERS.exec(text)?.[0];
  return [...found, ...(character === undefined ? [] : [character])].map((one) => JSON.stringify(one));
}
const ESCAPE = "\u001b";
const ANY_SEQUENCE = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, "gu");
const COLOUR = new RegExp(`${ESCAPE}\\[[0-9;]*[mK]`, "gu");
/** Takes out what our own view sends: colours, movements of the cursor, modes. */
const withoutView = (text) =>
  text.replaceAll(ANY_SEQUENCE, (sequence) => (sequence === "\x1b[6n" ? sequence : ""));
const withoutColours = (text) => text.replaceAll(COLOUR, "");

/** Attacks the terminal's questions, then the other commands. */
export default async function attackTerminal(attack) {
  const root = attack.temporary();
  const env = { ...homeIn(attack), TERM: "xterm-256color", COLORTERM: "truecolor" };
  await attackQuestions(attack, root, env);
  await attackCommands(attack, root, env);
}

async function attackQuestions(attack, root, env) {
  const port = FREE_PORT_FROM + attack.random.below(20_000);
  const args = [root, `--review=${port}`, "--preset", "canonical", "--guard", "off"];
  const server = startServer(attack, args, { env });
  await server.initialize();
  await server.line(/wait at/u);
  void server.call("write_file", { path: NAME, content: TEXT });
  const { status: hasPython } = spawnSync("python3", ["-c", "import pty"]);
  if (hasPython !== 0) throw new Error("python3 is missing: it opens the pseudo-terminal");
  await waitFor(() => outputOf(["approve"], root, env).includes("Create"), "question");
  void server.call("mkdir", { path: `d${NAME}` });
  const watching = [process.execPath, COMMAND, "approve", "--watch"];
  const child = spawn("python3", ["-c", PSEUDO_TERMINAL, ...watching], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const parts = [];
  child.stdout.on("data", (data) => parts.push(data));
  await once(child, "close");
  const shown = Buffer.concat(parts).toString("utf8");
  const faults = forbiddenIn(withoutView(shown));
  attack.check(`approve --watch in a terminal: ${faults.join(" ")}`, faults.length > 0);
  attack.check("approve --watch shows the question", !shown.includes("zz"));
  const listed = forbiddenIn(withoutColours(outputOf(["approve", "--color", "always"], root, env)));
  attack.check(`approve: ${listed.join(" ")}`, listed.length > 0);
  await server.stop();
}

async function attackCommands(attack, root, env) {
  const { openWorkspace } = await loadPackage();
  const workspace = await openWorkspace({
    root,
    guard: "off",
    stateDir: join(env.XDG_STATE_HOME, "filewright"),
  });
  for (const path of [NAME, "n.txt"]) await workspace.call("write_file", { path, content: TEXT });
  await workspace.close();
  const rawName = `raw${HOSTILE.slice(6, 9).join("")}${HOSTILE[0]}.txt`;
  writeFileSync(join(root, rawName), TEXT);
  for (const args of COMMANDS) {
    for (const colour of [["--color", "always"], []]) {
      const output = outputOf([...args, ...colour], root, env);
      const isContent = CONTENT_COMMANDS.includes(args[0]) && colour.length === 0;
      const faults = isContent ? [] : forbiddenIn(withoutColours(output));
      const what = `filewright ${JSON.stringify(args).slice(0, 60)} ${colour.join(" ")}: ${faults.join(" ")}`;
      attack.check(what, faults.length > 0 || /unknown command/iu.test(output));
    }
  }
}

function outputOf(args, cwd, env) {
  const options = { cwd, env, encoding: "utf8", timeout: COMMAND_TIMEOUT_MS };
  const { stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], options);
  return stdout + stderr;
}
