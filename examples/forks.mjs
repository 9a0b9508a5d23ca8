// Three agents try three changes of one project at the same time, each in a fork. What they changed is compared, the
// best attempt is merged, and the others are dropped.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
const root = join(dir, "project");
mkdirSync(root);
writeFileSync(join(root, "sum.mjs"), "export const sum = (list) => 0;\n");

const ws = await openWorkspace({ root, stateDir: join(dir, "state") });
const ATTEMPTS = {
  loop: "export const sum = (list) => { let all = 0; for (const one of list) all += one; return all; };\n",
  reduce: "export const sum = (list) => list.reduce((all, one) => all + one, 0);\n",
  wrong: "export const sum = (list) => list.length;\n",
};

/** Tries the code of a fork, and returns its size; infinite for code that is wrong. */
async function score(fork) {
  const code = await fork.fs.readText(join(root, "sum.mjs"));
  const { sum } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return sum([1, 2, 3, 4]) === 10 ? code.length : Number.POSITIVE_INFINITY;
}

const forks = await Promise.all(Object.keys(ATTEMPTS).map((name) => ws.fork(name)));
await Promise.all(
  forks.map(async (fork) => {
    const agent = await fork.agent(`${fork.name}-agent`);
    await agent.call("read_file", { path: "sum.mjs" });
    await agent.call("write_file", { path: "sum.mjs", content: ATTEMPTS[fork.name], overwrite: true });
  }),
);
console.log(`the project meanwhile: ${readFileSync(join(root, "sum.mjs"), "utf8").trim()}`);

const scores = await Promise.all(forks.map(score));
const best = forks[scores.indexOf(Math.min(...scores))];
const { changes } = await best.diff();
console.log(`best: ${best.name}, changes ${changes.map(({ path }) => path).join(", ")}`);
const { merged, callId } = await best.merge();
console.log(`merged: ${merged}; the project: ${readFileSync(join(root, "sum.mjs"), "utf8").trim()}`);

// Another attempt changed the same line, so its merge is a conflict and changes nothing.
const other = forks.find((fork) => fork !== best);
const { conflicts } = await other.merge();
console.log(`${other.name}: ${conflicts.map(({ path, kind }) => `${path} ${kind}`).join(", ")}`);

for (const fork of forks) await fork.drop();
await ws.undo(callId);
console.log(`after the undo: ${readFileSync(join(root, "sum.mjs"), "utf8").trim()}`);
await ws.close();
rmSync(dir, { recursive: true });
