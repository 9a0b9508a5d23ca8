// The kit on a backend in memory, on one engine: native, wasm (in Node, the entry for
// browsers), or chromium where FILEWRIGHT_BROWSER and FILEWRIGHT_PAGE name one. As storage
// it is on a storage in memory instead of a backend, on the native engine. Every
// case that `applies.mjs` lets through must pass, and every answer must be word for
// word what native said, where native has said it into the same directory before.
//
//   node memory.mjs ENGINE DIRECTORY CASE,CASE...
//
// With the ids of cases it runs these alone.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { whyNot } from "./applies.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** Runs the applicable ones of the cases with these ids, or of all; gives what was counted, and what is wrong. */
export function runInMemory(engine, scratch, ids) {
  const all = readFileSync(join(here, "public.jsonl"), "utf8").trim().split("\n").map(JSON.parse);
  const cases = ids === undefined ? all : all.filter(({ id }) => ids.includes(id));
  const applicable = cases.filter((one) => whyNot(one) === undefined);
  const file = join(scratch, "cases.jsonl");
  const inMemory = (one) => ({
    ...(engine === "storage" ? withoutCreated(one) : one),
    config: { backend: "memory", case: one.id, ...one.config },
  });
  writeFileSync(file, `${applicable.map((one) => JSON.stringify(inMemory(one))).join("\n")}\n`);
  const report = join(scratch, `${engine}.json`);
  const adapter = join(here, "adapter-recording.mjs");
  const args = [join(here, "runner.mjs"), "--adapter", adapter, "--cases", file, "--json", report];
  // What holds here holds on a machine with other things to do.
  args.push("--time-scale", "3");
  const env = {
    ...process.env,
    FILEWRIGHT_ENGINE: engine === "storage" ? "native" : engine,
    FILEWRIGHT_ADAPTER: engine,
    FILEWRIGHT_RECORD: recordOf(scratch, engine),
  };
  const child = spawnSync(process.execPath, args, { encoding: "utf8", env, maxBuffer: 64 << 20 });
  if (!existsSync(report)) throw new Error(`the runner could not start: ${child.stdout}${child.stderr}`);
  const wrong = JSON.parse(readFileSync(report, "utf8"))
    .results.filter(({ status }) => status !== "pass")
    .map(
      ({ id, title, status, errors, reason }) =>
        `${status} ${id} ${title}: ${reason ?? JSON.stringify(errors?.[0])}`,
    );
  const said = answers(scratch, engine);
  if (engine !== "native" && existsSync(recordOf(scratch, "native")))
    wrong.push(...differences(nativeAnswers(scratch, engine, cases), said, engine));
  return {
    cases: applicable.length,
    answers: said.length,
    inapplicable: cases.length - applicable.length,
    wrong,
  };
}

/** A storage keeps no time at which a file was created, so a case that expects one expects the rest. */
const withoutCreated = (one) =>
  JSON.parse(JSON.stringify(one, (key, value) => (key === "created" ? undefined : value)));

/** What an environment says instead of what native says. */
const WORDING = {
  storage: (line) =>
    line
      .replace('"created":"<run>",', "")
      .replace("created: <time>\\n", "")
      .replace('"fresh":"watch"', '"fresh":"scan"'),
};

const recordOf = (scratch, engine) => join(scratch, `${engine}.said`);

/** Calls of one case may end in any order, and cases run side by side. */
const answers = (scratch, engine) =>
  readFileSync(recordOf(scratch, engine), "utf8").trim().split("\n").sort();

/** Returns the answers of native in these cases, in the words of an engine. */
const nativeAnswers = (scratch, engine, cases) => {
  const ids = new Set(cases.map(({ id }) => id));
  const said = answers(scratch, "native").filter((line) => ids.has(line.slice(0, line.indexOf(" "))));
  return said.map(WORDING[engine] ?? String);
};

function differences(native, said, engine) {
  const [here, there] = [new Set(native), new Set(said)];
  const only = (list, other, name) =>
    list.filter((line) => !other.has(line)).map((line) => `${name} alone said: ${line.slice(0, 600)}`);
  return [
    ...(native.length === said.length
      ? []
      : [`native gave ${native.length} answers, ${engine} ${said.length}`]),
    ...only(native, there, "native"),
    ...only(said, here, engine),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [engine = "native", directory, ids] = process.argv.slice(2);
  const scratch = directory ?? mkdtempSync(join(tmpdir(), "filewright-memory-"));
  try {
    const { cases, answers, inapplicable, wrong } = runInMemory(engine, scratch, ids?.split(","));
    for (const line of wrong) console.log(line);
    console.log(
      `${engine}: ${cases} cases, ${answers} answers, ${inapplicable} inapplicable, ${wrong.length} wrong`,
    );
    process.exitCode = wrong.length === 0 && cases > 0 ? 0 : 1;
  } finally {
    if (directory === undefined) rmSync(scratch, { recursive: true, force: true });
  }
}
