// Transfers between two paths of one directory, run where `two` is a bind mount of `one` (bind-mounts.test.ts):
// node bind-mounts.mjs FOLDER prints for each case the code of the answer and the tree before and after it.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";

const [folder] = process.argv.slice(2);
const root = join(folder, "ws");

function seed() {
  for (const name of readdirSync(join(root, "one"))) rmSync(join(root, "one", name), { recursive: true });
  mkdirSync(join(root, "one/d/sub"), { recursive: true });
  writeFileSync(join(root, "one/f"), "f");
  writeFileSync(join(root, "one/d/a"), "a");
  writeFileSync(join(root, "one/d/sub/b"), "b");
}

/** Every file below the directory with its content, and every empty directory. */
function tree() {
  const entries = readdirSync(join(root, "one"), { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path.slice(root.length)}${entry.isFile() ? `=${readFileSync(path, "utf8")}` : "/"}`;
    })
    .sort();
}

/** Calls one tool in a fresh tree. */
async function play(history, [tool, args]) {
  seed();
  const before = tree();
  const ws = await openWorkspace({ root, stateDir: join(folder, "state"), history });
  const { ok, error, text } = await ws.call(tool, args);
  await ws.close();
  return { code: ok ? "ok" : error.code, text, before, after: tree() };
}

const cases = JSON.parse(readFileSync(0, "utf8"));
const answers = [];
for (const one of cases) for (const history of [true, false]) answers.push(await play(history, one));
console.log(JSON.stringify(answers));
