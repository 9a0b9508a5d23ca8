// A call of one agent must not use up the descriptors of the process: while an agent makes thousands of files with one
// patch under the default limit of many containers, the calls of another agent go on.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { loadPackage, makeAttack } from "./lib.mjs";

const DESCRIPTOR_LIMIT = 4096;
const FILE_COUNTS = [1000, 5000];
const TIMEOUT_MS = 200_000;

/** Runs the patch in a process whose descriptors are limited. */
export default function attackByManyLocks({ check, seconds }) {
  // The larger patch takes ten seconds by itself.
  for (const count of seconds < 5 ? FILE_COUNTS.slice(0, 1) : FILE_COUNTS) {
    const command = `ulimit -n ${DESCRIPTOR_LIMIT} && exec "$0" "$@"`;
    const script = fileURLToPath(import.meta.url);
    const { stdout, stderr } = spawnSync(
      "sh",
      ["-c", command, process.execPath, script, "--child", String(count)],
      { encoding: "utf8", timeout: TIMEOUT_MS },
    );
    const result = stdout.trim().split("\n").at(-1) ?? "";
    const isBroken = !/"failed":0,/u.test(result);
    check(
      `a patch of ${count} files, ${DESCRIPTOR_LIMIT} descriptors: ${result || stderr.slice(-300)}`,
      isBroken,
    );
  }
}

/** Makes a patch of `count` new files while another agent works. Prints the failed calls of that one. */
async function patchBesideCalls(count) {
  const { attack, end } = makeAttack(1, 1);
  const { openWorkspace } = await loadPackage();
  const root = attack.temporary();
  writeFileSync(join(root, "a.txt"), "hello\n");
  const workspace = await openWorkspace({ root, stateDir: attack.temporary("state"), guard: "off" });
  const other = await workspace.agent("other");
  const files = Array.from({ length: count }, (_, n) => `--- /dev/null\n+++ b/n/${n}\n@@ -0,0 +1 @@\n+x\n`);
  let isDone = false;
  const patched = workspace.call("apply_patch", { patch: files.join("") }).finally(() => {
    isDone = true;
  });
  let tried = 0;
  const failures = [];
  while (!isDone) {
    for (const [tool, args] of [
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: "o.txt", content: String(tried) }],
      ["list_directory", { path: "." }],
    ]) {
      const result = await other.call(tool, args);
      tried += 1;
      if (!result.ok) failures.push(`${tool}: ${result.text.slice(0, 120)}`);
    }
    await sleep(5);
  }
  const { ok, text } = await patched;
  await workspace.close();
  await end();
  const patch = ok ? "ok" : text.slice(0, 150);
  console.log(JSON.stringify({ failed: failures.length, tried, patch, first: failures[0] }));
}

if (process.argv[2] === "--child") await patchBesideCalls(Number(process.argv[3]));
