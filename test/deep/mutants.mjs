// The mutation score of the rules that protect people: operators of js/hooks, js/policy and js/review are swapped one by
// one, drawn by the seed, and the nearest tests have to fail. The score is the share of mutants that they find.
//
//   npm run deep -- mutants --seed N --count N
//
// A survivor is printed and is no failure by itself: it may be equivalent. A score below MIN_SCORE is a failure.
// MUTANTS_IN=js/hooks draws from one folder only.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { filesBelow } from "../../scripts/lib/circles.mjs";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { withCopyOfCheckout } from "../../scripts/lib/mutate.mjs";
import { root } from "../../scripts/lib/run.mjs";

/** The least share of mutants that the tests have to find. */
const MIN_SCORE = 0.75;
/** The folders from which mutants are drawn, each with the folders of the nearest tests. */
const TESTS_BY_FOLDER = {
  "js/hooks": ["test/hooks", "test/approvals"],
  "js/policy": ["test/rules", "test/access", "test/places", "test/differential"],
  "js/review": ["test/review"],
};
/** Drawn by screens in a browser, whose tests are slow ones. */
const IN_BROWSER = "js/review/page/";
const { SyntaxKind } = ts;
/** Each operator with what replaces it. */
const SWAPS = new Map([
  [SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [SyntaxKind.LessThanToken, "<="],
  [SyntaxKind.LessThanEqualsToken, "<"],
  [SyntaxKind.GreaterThanToken, ">="],
  [SyntaxKind.GreaterThanEqualsToken, ">"],
  [SyntaxKind.AmpersandAmpersandToken, "||"],
  [SyntaxKind.BarBarToken, "&&"],
  [SyntaxKind.QuestionQuestionToken, "&&"],
  [SyntaxKind.PlusToken, "-"],
  [SyntaxKind.MinusToken, "+"],
]);

/**
 * One swap: the range of a token in a file, and the text that replaces it.
 * @typedef {{ file: string, start: number, end: number, to: string, line: number }} Mutant
 */

/** Returns every mutant of a file: swapped operators, and boolean literals turned round. @returns {Mutant[]} */
function mutantsOf(file) {
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (node, to) => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, start, end: node.end, to, line });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node)) return;
    if (ts.isBinaryExpression(node)) {
      const to = SWAPS.get(node.operatorToken.kind);
      if (to !== undefined) add(node.operatorToken, to);
    }
    if (node.kind === SyntaxKind.TrueKeyword) add(node, "false");
    if (node.kind === SyntaxKind.FalseKeyword) add(node, "true");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Draws mutants, each from a file that is drawn first, so that long files count no more than short ones. */
function drawMutants(folders, seed, count) {
  const random = seededRandom(seed);
  const byFile = folders
    .flatMap((folder) => filesBelow(root, folder, ".ts"))
    .filter((file) => !file.startsWith(IN_BROWSER))
    .map((file) => random.shuffle(mutantsOf(file)))
    .filter((list) => list.length > 0);
  const drawn = [];
  for (let turns = random.shuffle(byFile); drawn.length < count && turns.length > 0; ) {
    const list = turns.shift();
    drawn.push(list.pop());
    if (list.length > 0) turns.push(list);
    else turns = turns.filter((one) => one.length > 0);
  }
  return drawn;
}

/** Runs tests of the copy that are not slow, and ends at the first failure. @returns whether all passed */
function doTestsPass(copy, folders) {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const projects = ["--project=fast", "--project=processes"];
  const args = [vitest, "run", ...projects, "--bail=1", "--reporter=dot", ...folders];
  return spawnSync(process.execPath, args, { cwd: copy, stdio: "ignore" }).status === 0;
}

/** Makes one swap in the copy, runs the tests, and takes the swap back. @returns whether the tests found it */
function isFound(copy, { file, start, end, to }, tests) {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.slice(0, start) + to + text.slice(end));
  try {
    return !doTestsPass(copy, tests);
  } finally {
    writeFileSync(path, text);
  }
}

const testsOf = ({ file }) => TESTS_BY_FOLDER[file.split("/").slice(0, 2).join("/")];

/** Tries mutants until the time is over. @returns how many were tried, and how many the tests found */
function tryMutants(copy, mutants, isOver) {
  const counts = { cases: 0, found: 0 };
  for (const mutant of mutants) {
    if (isOver()) break;
    counts.cases += 1;
    if (isFound(copy, mutant, testsOf(mutant))) counts.found += 1;
    else console.log(`  survived: ${mutant.file}:${mutant.line} to ${mutant.to}`);
  }
  return counts;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "mutants: swapped operators of hooks, policy and review make a test fail",
  count: 48,
  share: 0,
  run: ({ seed, count, isOver }) =>
    withCopyOfCheckout(async (copy) => {
      const folders = process.env.MUTANTS_IN?.split(",") ?? Object.keys(TESTS_BY_FOLDER);
      const broken = folders.filter((folder) => !doTestsPass(copy, TESTS_BY_FOLDER[folder]));
      if (broken.length > 0) return { cases: 0, failures: [`unchanged, tests fail: ${broken.join(", ")}`] };
      const { cases, found } = tryMutants(copy, drawMutants(folders, seed, count), isOver);
      const score = cases === 0 ? 0 : found / cases;
      console.log(`mutants: ${found} of ${cases} found, ${Math.round(score * 100)} %`);
      return { cases, failures: score < MIN_SCORE ? [`a score below ${MIN_SCORE * 100} %`] : [] };
    }),
};
