// Finds functions that are too long, too complex or have too many parameters, with the rules of biome.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { filesBelow } from "../circles.mjs";
import { BuildError, npmProgram } from "../run.mjs";
import { functionAt, symbolPath, withDistinctNames } from "./names.mjs";

/** For each kind of offender, the rule of biome that finds it with its options. */
const RULE_BY_KIND = {
  complexity: ["noExcessiveCognitiveComplexity", { maxAllowedComplexity: 15 }],
  lines: ["noExcessiveLinesPerFunction", { maxLines: 60, skipBlankLines: true }],
  parameters: ["useMaxParams", { max: 4 }],
};
const KIND_BY_RULE = new Map(Object.entries(RULE_BY_KIND).map(([kind, [rule]]) => [rule, kind]));

const ENDINGS = [".ts", ".tsx", ".mjs"];

/**
 * Returns the files whose functions count. Tests of vitest are left out, because a `describe` is one
 * function of all its tests, and so are copies of the work of others.
 */
function countedFiles(root) {
  const found = ["js", "packages/storage/src", "scripts", "bench"].flatMap((folder) =>
    ENDINGS.flatMap((ending) => filesBelow(root, folder, ending)),
  );
  const ofTests = filesBelow(root, "test", ".mjs").filter((path) => !/^test\/[^/]+\/runner\.mjs$/.test(path));
  return [...found, ...ofTests].filter((path) => !/\/(?:generated|node_modules)\/|\.d\.ts$/.test(path));
}

/** A comment that turns one of the rules off. */
const SUPPRESSION = new RegExp(
  `biome-ignore(?:-all|-start)?\\s+lint(?:/complexity)?(?:/(?:${[...KIND_BY_RULE.keys()].join("|")}))?\\s*:`,
);

/** Returns the configuration of biome with these rules alone. */
function configuration() {
  const rules = Object.values(RULE_BY_KIND).map(([rule, options]) => [rule, { level: "error", options }]);
  return {
    root: true,
    files: { includes: ["**"] },
    linter: { rules: { preset: "none", complexity: Object.fromEntries(rules) } },
  };
}

/** Runs biome over files of a checkout. @returns {Promise<object[]>} its diagnostics */
async function diagnosticsOf(root, paths) {
  if (paths.length === 0) return [];
  const folder = mkdtempSync(join(tmpdir(), "filewright-ratchet-"));
  try {
    writeFileSync(join(folder, "biome.json"), JSON.stringify(configuration()));
    const output = join(folder, "diagnostics.json");
    const given = [`--config-path=${folder}`, "--max-diagnostics=none", "--reporter=json"];
    const child = spawn(npmProgram("biome"), ["lint", ...given, `--reporter-file=${output}`, ...paths], {
      cwd: root,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const said = child.stderr.setEncoding("utf8").toArray();
    await once(child, "close");
    if (!existsSync(output)) throw new BuildError(`biome has found nothing out:\n${(await said).join("")}`);
    return JSON.parse(readFileSync(output, "utf8")).diagnostics;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the name of the function that a diagnostic is about. */
function functionName(file, { line, column }) {
  const offset = ts.getPositionOfLineAndCharacter(file, line - 1, 0) + column - 1;
  const found = functionAt(file, offset);
  return found === undefined ? "" : symbolPath(found);
}

/** Returns the parsed source file of a checkout. */
const parse = (root, path) =>
  ts.createSourceFile(path, readFileSync(join(root, path), "utf8"), ts.ScriptTarget.Latest, true);

/**
 * Returns the functions of a checkout that break a rule.
 * @returns {Promise<Record<"complexity" | "lines" | "parameters", import("./list.mjs").Offender[]>>}
 */
export async function functionOffenders(root) {
  const files = new Map();
  const found = { complexity: [], lines: [], parameters: [] };
  const diagnostics = await diagnosticsOf(root, countedFiles(root));
  diagnostics.sort((a, b) => a.location.start.line - b.location.start.line);
  for (const { category, message, location } of diagnostics) {
    const kind = KIND_BY_RULE.get(category.split("/").at(-1));
    if (kind === undefined) continue;
    const { path, start } = location;
    if (!files.has(path)) files.set(path, parse(root, path));
    const figure = Number(/\d+/.exec(message)?.[0]);
    found[kind].push({ path, name: functionName(files.get(path), start), figure });
  }
  for (const kind of Object.keys(found)) found[kind] = withDistinctNames(found[kind]);
  return found;
}

/** Returns a line of text for each comment of a checkout that turns one of the rules off. */
export function suppressionFaults(root) {
  return countedFiles(root)
    .filter((path) => SUPPRESSION.test(readFileSync(join(root, path), "utf8")))
    .map((path) => `${path} turns a rule of the ratchet off; remove the comment biome-ignore`);
}
