// Runs jsdiff's own tests of patches against `filewright/diff`, out of the tree,
// and says which do not hold. Its package has no tests: give a copy of its repository.
//
//   node scripts/jsdiff-suite.mjs [COPY]        a checkout, or a bare git directory
//
// Every test that does not hold is explained in lib/jsdiff-differences.mjs; one
// that is not, or that holds after all, is a failure.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { DIFFERENCES } from "./lib/jsdiff-differences.mjs";
import { main, root } from "./lib/run.mjs";

const SUITES = ["patch/apply", "patch/create", "patch/parse", "patch/reverse"];
const copy = process.argv[2] ?? join(root, "../jsdiff");

const read = (file) =>
  existsSync(join(copy, file))
    ? readFileSync(join(copy, file), "utf8")
    : execFileSync("git", ["--git-dir", copy, "show", `HEAD:${file}`], { encoding: "utf8" });

/** The module that the tests import instead of jsdiff's: ours, and what is missing as such. */
function writeShim(folder) {
  const ours = pathToFileURL(join(root, "dist/diff/index.node.js")).href;
  const theirs = pathToFileURL(join(root, "node_modules/diff/libesm/index.js")).href;
  const missing = [
    "wordDiff",
    "wordsWithSpaceDiff",
    "lineDiff",
    "characterDiff",
    "sentenceDiff",
    "diffTrimmedLines",
  ];
  const absent = missing.map((name) => `export const ${name} = undefined;`);
  const text = [
    `export * from ${JSON.stringify(ours)};`,
    // Judges that the tests use beside what is tested.
    `export { convertChangesToXML } from ${JSON.stringify(theirs)};`,
    ...absent,
  ];
  writeFileSync(join(folder, "shim.mjs"), text.join("\n"));
}

/** As much of a test runner as these tests ask for. */
function runner() {
  const titles = [];
  const tests = [];
  globalThis.describe = (title, body) => {
    titles.push(title);
    try {
      body();
    } catch (error) {
      // An expectation outside any test.
      tests.push({
        title: titles.join(" > "),
        body: () => {
          throw error;
        },
      });
    }
    titles.pop();
  };
  globalThis.it = (title, body) => tests.push({ title: [...titles, title].join(" > "), body });
  globalThis.it.skip = () => undefined;
  return tests;
}

async function outcome({ body }) {
  try {
    if (body.length > 0) {
      await new Promise((done, fail) => {
        setTimeout(() => fail(new Error("nobody called back")), 300);
        body((error) => (error ? fail(error) : done()));
      });
    } else await body();
    return undefined;
  } catch (error) {
    return String(error?.message ?? error)
      .split("\n")[0]
      .slice(0, 160);
  }
}

await main(async () => {
  if (!existsSync(copy)) {
    console.log(`jsdiff's tests: not run, there is no copy of its repository at ${copy}`);
    return;
  }
  const folder = join(root, ".cache/jsdiff-suite");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeShim(folder);
  const tests = runner();
  for (const suite of SUITES) {
    const file = join(folder, `${suite}.mjs`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, read(`test/${suite}.js`).replace(/(['"])(?:\.\.\/)+lib[^'"]*\1/g, '"../shim.mjs"'));
    await import(pathToFileURL(file).href);
  }
  const counts = { hold: 0, differ: 0, failed: 0 };
  const explained = new Map(DIFFERENCES.flatMap(({ why, tests: names }) => names.map((name) => [name, why])));
  for (const test of tests) {
    const problem = await outcome(test);
    if (problem === undefined && explained.has(test.title)) {
      counts.failed += 1;
      console.log(`holds after all: ${test.title}`);
    } else if (problem === undefined) counts.hold += 1;
    else if (explained.has(test.title)) counts.differ += 1;
    else {
      counts.failed += 1;
      console.log(`${test.title}\n    ${problem}`);
    }
  }
  console.log(
    `jsdiff's tests: ${counts.hold} hold, ${counts.differ} differ as explained, ${counts.failed} failed`,
  );
  if (counts.failed > 0) process.exitCode = 1;
});
