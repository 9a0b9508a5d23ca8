// Attack scripts: programs that try to reach what a policy denies, to make git run a command, to forge a question for a
// person, to answer in a person's place, or to stop a server. Each is a file of test/deep/attack and runs in a process
// of its own, because some of them exhaust descriptors or wait for uncaught errors.
//
// The seed chooses the order of the scripts and their random calls. Environment: FILEWRIGHT_ENGINE=wasm attacks the
// other engine; ATTACK_ONLY=NAME,... runs some scripts; ATTACK_SECONDS is the time of each random script, default 20.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { root } from "../../scripts/lib/run.mjs";

/** Every script, by the name of its file. */
const SCRIPTS = [
  "fuzz",
  "git-sequences",
  "many-locks",
  "mcp-surface",
  "page-injection",
  "race-links",
  "review-requests",
  "terminal-injection",
];
const DEFAULT_SECONDS = 20;
/** The time of a random script where the whole run has a time limit, as a share of it. */
const SHARE_OF_LIMIT = 0.3;

/** Returns the scripts to run, in the order of a seed. */
function chosenScripts(seed, count) {
  const only = process.env.ATTACK_ONLY?.split(",");
  const unknown = only?.find((name) => !SCRIPTS.includes(name));
  if (unknown !== undefined) throw new Error(`there is no attack '${unknown}'; known: ${SCRIPTS.join(", ")}`);
  return seededRandom(seed)
    .shuffle(only ?? SCRIPTS)
    .slice(0, count);
}

/** Runs one script and passes its notes on. @returns its number of checks and a line for each that failed */
async function runScript(name, seed, seconds) {
  const script = join(root, "test/deep/attack/run.mjs");
  const child = spawn(process.execPath, [script, name, String(seed), String(seconds)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const result = { cases: 0, failures: [], ended: false };
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (!line.startsWith("{")) return console.log(`  ${line}`);
    const { check, isBroken, ended } = JSON.parse(line);
    if (ended) result.ended = true;
    if (check === undefined) return;
    result.cases += 1;
    if (isBroken) result.failures.push(`${name}: ${check}`);
  });
  const [status] = await once(child, "close");
  if (!result.ended) result.failures.push(`${name} ended early, with status ${status}`);
  console.log(`${name.padEnd(20)} ${result.cases} checks, ${result.failures.length} failures`);
  return result;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "attacks on confinement, on secrets, on git, on the review page, the terminal and MCP servers",
  count: SCRIPTS.length,
  share: 2,
  async run({ seed, count, isOver, secondsLeft }) {
    const failures = [];
    let cases = 0;
    const limit = secondsLeft() * SHARE_OF_LIMIT;
    const seconds = Math.max(1, Math.min(limit, Number(process.env.ATTACK_SECONDS ?? DEFAULT_SECONDS)));
    for (const name of chosenScripts(seed, count)) {
      if (isOver()) break;
      const result = await runScript(name, seed, seconds);
      cases += result.cases;
      failures.push(...result.failures);
    }
    return { cases, failures };
  },
};
