// Runs the table of `rows.mjs` in one tier as the user who runs this, and prints what held as JSON:
//   node table.mjs DIST BASE strict|fast ROW,ROW...
// A ROW is an index in the table.
import { chmodSync, cpSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { OPEN_KERNEL_FILES, ROWS } from "./rows.mjs";

const [dist, base, tier, rows] = process.argv.slice(2);
const { openWorkspace } = await import(join(dist, "cli/library.js"));
process.env.FILEWRIGHT_HOST = "the host's own";
process.env.HOME = base;

const put = (path, text) => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
};
const template = join(base, "template");
mkdirSync(template);
execFileSync("git", ["init", "-q", "--template=", template]);
put(join(template, ".git/hooks/pre-commit.sample"), "sample\n");
put(join(template, "a"), "a\n");
put(join(template, "package.json"), "{}\n");
put(join(template, "src/x"), "x\n");
const git = (...args) =>
  execFileSync("git", ["-C", template, "-c", "user.name=A", "-c", "user.email=a@b", ...args]);
git("add", "-A");
git("commit", "-qm", "one");
put(join(template, "denied/hidden.txt"), "hidden content\n");
put(join(template, ".env"), "TOKEN=s3cret\n");
put(join(template, ".husky/pre-push"), "husky\n");
put(join(template, "nested/private/hidden.txt"), "private content\n");
put(join(template, "nested/.vscode/tasks.json"), "{}\n");
put(join(template, ".gitignore"), "denied\n.env\n.husky\nnested\n");

const server = createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
const { port } = server.address();
const results = [];
for (const index of rows.split(",").map(Number)) {
  const row = ROWS[index];
  const here = join(base, `row${index}`);
  const root = join(here, "ws");
  cpSync(template, root, { recursive: true });
  put(join(here, "out"), "out");
  put(join(here, "state/key"), "journal key\n");
  chmodSync(join(here, "state"), 0o700);
  row.setup?.({ root, put: (path, text) => put(join(root, path), text) });
  const ws = await openWorkspace({
    root,
    stateDir: join(here, "state"),
    access: { deny: ["denied"], ...row.access },
    commands: tier === "strict" ? true : { tier: "fast", degrade: "allow" },
  });
  const marker = `3${process.pid}.${index}`;
  const script = row.script
    .replaceAll("HOST", String(process.pid))
    .replaceAll("MARKER", marker)
    .replaceAll("PORT", String(port));
  const before = lstatSync(join(here, "out"));
  // Without capabilities root still owns the files of the kernel: each row looks at them with its own options. By day an
  // eighth of the rows that root runs do (test/support/share.ts), because a look takes half a second.
  const looks = process.getuid() === 0 && (process.env.FILEWRIGHT_NIGHT === "1" || index % 16 < 2);
  const looked = looks
    ? (await ws.call("run_command", { command: ["sh", "-c", OPEN_KERNEL_FILES], cwd: row.cwd ?? "." })).data
    : { stdout: "" };
  const result = await ws.call("run_command", {
    command: [row.shell ?? "sh", "-c", script],
    cwd: row.cwd ?? ".",
    timeout_ms: 60_000,
  });
  let held;
  try {
    held = row.ok({ base: here, root, result, pid: process.pid, marker, before });
  } catch (error) {
    held = `${error}`;
  }
  if (looked?.stdout !== "") held = `the kernel is open: ${JSON.stringify(looked).slice(0, 1_000)}`;
  results.push({ name: row.name, held, data: result.ok ? result.data : result.error });
  await ws.close();
  // Node cannot remove what has a path that is too long for the system.
  execFileSync("rm", ["-rf", here]);
}
server.close();
process.stdout.write(JSON.stringify(results));
