// Runs jsdiff's own tests against `filewright/diff`. Its package has no tests: give a copy of its repository.
//
//   npm run deep -- jsdiff COPY        a checkout, or a bare git directory
//
// A test that does not hold is explained in test/deep/jsdiff/differences.mjs; one that is not, or that holds
// after all, is a failure. Of each function's tests at least 95 % hold, not counting those where we refuse what
// jsdiff guesses (marked so in that file); fewer are a failure too.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { DIFFERENCES } from "./jsdiff/differences.mjs";
import { BuildError, root } from "../../scripts/lib/run.mjs";

const LEAST_PERCENT = 95;
/** Its tests of functions that it exports; test/util and test/patch/line-endings are of inner ones, test/index of names. */
const SUITES = [
  ...["array", "character", "css", "json", "line", "sentence", "word"].map((name) => `diff/${name}`),
  ...["apply", "create", "parse", "reverse", "readme-rename-example"].map((name) => `patch/${name}`),
  "convert/dmp",
];
/** The function that a test is of: the first of these that its title begins with or names. */
const FUNCTIONS = [
  [/#TrimmedLineDiff/u, "diffTrimmedLines"],
  [/#diffLinesNL|^diff\/line > /u, "diffLines"],
  [/ > #?tokenize > /u, "(inner objects)"],
  [/^diff\/array/u, "diffArrays"],
  [/^diff\/css/u, "diffCss"],
  [/^README Git rename/u, "applyPatches"],
  [/^convertToDMP/u, "convertChangesToDMP"],
  [/#parse\b/u, "parsePatch"],
  [/^patch\/parse/u, "parsePatch"],
  [/^patch\/create > (?!#)/u, "createPatch"],
];

/** @returns the name of the function that a test is of */
function functionOf(title) {
  for (const [pattern, name] of FUNCTIONS) if (pattern.test(title)) return name;
  return /#(\w+)/u.exec(title)?.[1] ?? title.split(" > ")[0];
}

/** The module that the tests import instead of jsdiff's: ours, and what is missing as such. */
function writeShim(folder) {
  const ours = pathToFileURL(join(root, "dist/diff/index.node.js")).href;
  const missing = ["wordDiff", "wordsWithSpaceDiff", "lineDiff", "characterDiff", "sentenceDiff", "Diff"];
  const absent = missing.map((name) => `export const ${name} = undefined;`);
  writeFileSync(
    join(folder, "shim.mjs"),
    [`export * from ${JSON.stringify(ours)};`, ...absent, "export default undefined;"].join("\n"),
  );
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
  const hooks = { before: [], after: [] };
  globalThis.beforeEach = (body) => hooks.before.push({ within: titles.join(" > "), body });
  globalThis.afterEach = (body) => hooks.after.push({ within: titles.join(" > "), body });
  globalThis.it = (title, body) => tests.push({ title: [...titles, title].join(" > "), body, hooks });
  globalThis.it.skip = () => undefined;
  return tests;
}

/** @returns why a test does not hold; undefined where it does */
async function problemOf({ title, body, hooks }) {
  const around = (list) => list.filter(({ within }) => title.startsWith(`${within} > `));
  try {
    for (const hook of around(hooks?.before ?? [])) hook.body();
    if (body.length > 0) {
      await new Promise((done, fail) => {
        setTimeout(() => fail(new Error("nobody called back")), 5000);
        body((error) => (error ? fail(error) : done()));
      });
    } else await body();
    return undefined;
  } catch (error) {
    return String(error?.message ?? error)
      .split("\n")[0]
      .slice(0, 160);
  } finally {
    for (const hook of around(hooks?.after ?? [])) hook.body();
  }
}

/** @returns the tests of a copy of jsdiff's repository, loaded against our module */
async function testsOf(copy) {
  const read = (file) =>
    existsSync(join(copy, file))
      ? readFileSync(join(copy, file), "utf8")
      : execFileSync("git", ["--git-dir", copy, "show", `HEAD:${file}`], { encoding: "utf8" });
  const folder = join(root, ".cache/jsdiff-suite");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeShim(folder);
  writeFileSync(join(folder, "README.md"), read("README.md"));
  const tests = runner();
  for (const suite of SUITES) {
    const file = join(folder, `test/${suite}.mjs`);
    mkdirSync(dirname(file), { recursive: true });
    const text = read(`test/${suite}.js`).replace(/(['"])(?:\.\.\/)+lib[^'"]*\1/g, '"../../shim.mjs"');
    writeFileSync(file, `const __dirname = import.meta.dirname;\n${text}`);
    await import(pathToFileURL(file).href);
  }
  return tests;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "jsdiff's own tests against filewright/diff, from a copy of its repository",
  count: 10_000,
  // CI has no copy of the repository.
  share: 0,
  takes: "COPY",
  async run({ operand: copy, isOver }) {
    if (copy === undefined || !existsSync(copy)) {
      throw new BuildError("give a copy of jsdiff's repository: npm run deep -- jsdiff COPY");
    }
    const failures = [];
    const functions = new Map();
    const explained = new Map(
      DIFFERENCES.flatMap(({ refuses, tests }) => tests.map((title) => [title, refuses === true])),
    );
    let cases = 0;
    for (const test of await testsOf(copy)) {
      if (isOver()) break;
      cases += 1;
      const name = functionOf(test.title);
      const counts = functions.get(name) ?? { all: 0, hold: 0, refused: 0 };
      functions.set(name, counts);
      counts.all += 1;
      const problem = await problemOf(test);
      if (problem === undefined) counts.hold += 1;
      else if (explained.get(test.title)) counts.refused += 1;
      if (problem === undefined && explained.has(test.title)) failures.push(`holds after all: ${test.title}`);
      if (problem !== undefined && !explained.has(test.title)) failures.push(`${test.title}\n    ${problem}`);
      explained.delete(test.title);
    }
    for (const title of explained.keys()) failures.push(`explained, but there is no such test: ${title}`);
    for (const [name, { all, hold, refused }] of [...functions].sort()) {
      const percent = (100 * hold) / Math.max(all - refused, 1);
      console.log(`${name.padEnd(22)} ${hold} of ${all} hold, ${refused} refused`);
      if (percent < LEAST_PERCENT && !name.startsWith("(")) {
        failures.push(`${name}: ${percent.toFixed(0)} % of its tests hold`);
      }
    }
    return { cases, failures };
  },
};
