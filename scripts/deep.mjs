// Runs a deep check: many generated cases of one kind, reproducible by a seed.
//
//   npm run deep -- KIND [--seed N] [--count N] [--seconds N]
//   npm run deep -- jsdiff COPY        a kind that needs an operand
//   npm run deep -- versus --base X    a tarball, a folder of tarballs or a commit to compare with
//   npm run deep -- --list             lists the kinds with their usual counts; so does --help
//   npm run deep -- KIND --share       as many cases as CI runs, with a new seed
//
// Every kind is one file in test/deep. A run prints its seed, so that a failure can be repeated.
// The last line is `N passed, N failed`; `passed` counts kinds, not cases.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { newSeed, MAX_SHARE_SECONDS, timeFromFirstLook } from "./lib/deep-kind.mjs";
import { BuildError, runScript, root } from "./lib/run.mjs";

const USAGE_TEXT = `npm run deep -- KIND [--seed N] [--count N] [--seconds N] [--share]
Kinds, with their usual number of cases:`;
const KINDS_FOLDER = join(root, "test/deep");

/** @returns {string[]} the names of all kinds */
export const kindNames = () =>
  readdirSync(KINDS_FOLDER)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => file.slice(0, -".mjs".length))
    .sort();

/** @returns {Promise<import("./lib/deep-kind.mjs").DeepKind>} */
async function loadKind(kind) {
  const file = join(KINDS_FOLDER, `${kind}.mjs`);
  if (!existsSync(file)) throw new BuildError(`there is no kind '${kind}'; known: ${kindNames().join(", ")}`);
  return (await import(file)).default;
}

/** Runs one kind and prints the number of cases and the time. @returns whether every case passed */
async function runKind(kind, { seed, count, seconds, operand }) {
  const { run } = await loadKind(kind);
  const started = performance.now();
  console.log(
    `${kind}: seed ${seed}, at most ${count} cases${seconds === Infinity ? "" : ` and ${seconds} s`}`,
  );
  const { cases, failures } = await run({
    seed,
    count,
    operand,
    ...timeFromFirstLook(seconds),
  });
  for (const failure of failures.slice(0, 20)) console.error(`FAIL ${kind}, seed ${seed}: ${failure}`);
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  console.log(`${kind}: ${cases} cases, ${failures.length} failures, ${minutes} min, seed ${seed}\n`);
  // A run without any case counts as failed, because it has tested nothing.
  return failures.length === 0 && cases > 0;
}

/**
 * Returns the kinds of which CI runs a share. Whether a kind has one is read from its source text,
 * because importing it needs the built package, which a new checkout does not have.
 * @returns {string[]}
 */
export function sharedKinds() {
  return kindNames().filter((kind) => {
    const [, share] =
      /^ {2}share: ([\d_]+),$/mu.exec(readFileSync(join(KINDS_FOLDER, `${kind}.mjs`), "utf8")) ?? [];
    if (share === undefined) throw new BuildError(`test/deep/${kind}.mjs has no line '  share: N,'`);
    return share !== "0";
  });
}

function parseWholeNumber(name, text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new BuildError(`--${name} must be a positive integer`);
  return value;
}

function parseArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seed: { type: "string" },
        count: { type: "string" },
        seconds: { type: "string" },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        share: { type: "boolean" },
        base: { type: "string" },
      },
    });
  } catch (error) {
    throw new BuildError(error.message);
  }
}

async function printKinds() {
  for (const kind of kindNames()) {
    const { description, count } = await loadKind(kind);
    console.log(`${kind.padEnd(12)} ${String(count).padStart(8)}  ${description}`);
  }
}

/**
 * Returns the kind that the arguments name, and the options of its run.
 * @throws BuildError for arguments that the kind does not take
 */
async function runOfArguments({ values, positionals }) {
  // `--base` is the operand of a kind that compares with an earlier state.
  const [kind, ...operands] = [...positionals, ...(values.base === undefined ? [] : [values.base])];
  if (kind === undefined) throw new BuildError(`name one kind: ${kindNames().join(", ")}`);
  const { count, share, takes } = await loadKind(kind);
  if (operands.length > (takes === undefined ? 0 : 1))
    throw new BuildError(`${kind} takes ${takes ?? "nothing"} besides options: ${operands.join(" ")}`);
  const usual = values.share ? { count: share, seconds: MAX_SHARE_SECONDS } : { count, seconds: Infinity };
  const numberOr = (name, otherwise) =>
    values[name] === undefined ? otherwise : parseWholeNumber(name, values[name]);
  const seed = values.seed === undefined ? newSeed() : parseWholeNumber("seed", values.seed);
  const [operand] = operands;
  return {
    kind,
    run: {
      operand,
      seed,
      count: numberOr("count", usual.count),
      seconds: numberOr("seconds", usual.seconds),
    },
  };
}

if (process.argv[1] === join(root, "scripts/deep.mjs")) {
  await runScript(async () => {
    const given = parseArguments();
    if (given.values.help) console.log(USAGE_TEXT);
    if (given.values.list || given.values.help) return printKinds();
    const { kind, run } = await runOfArguments(given);
    const ok = await runKind(kind, run);
    if (!ok) process.exitCode = 1;
    console.log(`${ok ? 1 : 0} passed, ${ok ? 0 : 1} failed`);
  });
}
