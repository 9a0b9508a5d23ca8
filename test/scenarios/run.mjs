// Runs the scenarios against this checkout and compares with disputed.json: a case that we hold
// wrong may fail, for the reason given there; every other one must pass, and one that passes
// must not be disputed. Halves of the kit run side by side.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const cases = join(here, "public.jsonl");
const scratch = mkdtempSync(join(tmpdir(), "filewright-scenarios-"));
const extra = process.argv.slice(2);

const lines = readFileSync(cases, "utf8").split("\n");
const ids = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line).id);
const disputed = JSON.parse(readFileSync(join(here, "disputed.json"), "utf8"));

/**
 * Makes a checkout whose library is the bundle of the same entries: the process of each case loads one file, not some
 * three hundred modules. Some cases run as another user, who has to read it.
 */
function makeCheckout() {
  const dist = join(scratch, "checkout/dist");
  mkdirSync(dist, { recursive: true });
  chmodSync(scratch, 0o755);
  const library = JSON.stringify(pathToFileURL(join(root, "dist/cli/library.js")).href);
  writeFileSync(join(dist, "index.node.js"), `export * from ${library};\n`);
  writeFileSync(join(dist, "package.json"), '{"type":"module"}\n');
  symlinkSync(join(root, "dist/bin"), join(dist, "bin"));
  return join(dist, "..");
}
const checkout = makeCheckout();

/** Returns the runner's report of the cases that `options` select. */
async function results(name, options) {
  const report = join(scratch, `${name}.json`);
  const args = [join(here, "runner.mjs"), checkout, cases, "--json", report, ...options];
  // Failures are printed below, once the disputed cases are known.
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const status = await new Promise((done) => child.on("close", done));
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    console.error(`the runner of the scenarios could not start: status ${status}`);
    process.exit(2);
  }
}

const processes = extra.length > 0 ? 1 : Math.min(2, availableParallelism());
const shares = Array.from({ length: processes }, (_, nth) =>
  extra.length > 0 ? extra : ["--id", ids.filter((_, i) => i % processes === nth).join(",")],
);
const all = (await Promise.all(shares.map((share, nth) => results(`share-${nth}`, share)))).flat();
rmSync(scratch, { recursive: true, force: true });

const count = { passed: 0, failed: 0, skipped: 0 };
for (const { id, title, weight, skip, fails } of all) {
  if (skip) {
    count.skipped += 1;
    console.log(`skipped  ${id}  ${title}: ${skip}`);
  } else if (fails.length > 0 && id in disputed) {
    count.skipped += 1;
  } else if (fails.length > 0) {
    count.failed += 1;
    console.log(`FAIL  ${id} (weight ${weight})  ${title}`);
    for (const { expected, seen } of fails) console.log(`    expected ${expected}\n    seen     ${seen}`);
  } else if (id in disputed) {
    count.failed += 1;
    console.log(`FAIL  ${id}  ${title}\n    passes, but disputed.json lists it`);
  } else {
    count.passed += 1;
  }
}
for (const id of Object.keys(disputed)) {
  if (ids.includes(id)) continue;
  count.failed += 1;
  console.log(`FAIL  ${id}\n    disputed.json names it, but there is no such case`);
}
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exit(count.failed === 0 ? 0 : 1);
