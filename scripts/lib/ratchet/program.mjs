// Makes the TypeScript program of js/ for the checks that need resolved types and names.
import { posix } from "node:path";
import ts from "typescript";
import { filesBelow } from "../circles.mjs";

/** As strict as tsconfig.json, since `strict` decides what an optional member is. */
const OPTIONS = {
  target: ts.ScriptTarget.ES2023,
  lib: ["lib.es2023.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.Preserve,
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  noEmit: true,
};

/** Returns a host that resolves imports within js/ only; what packages declare does not count. */
function hostOf(rootNames) {
  const known = new Set(rootNames);
  const host = ts.createCompilerHost(OPTIONS);
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  host.resolveModuleNameLiterals = (literals, containing) =>
    literals.map(({ text }) => {
      const resolvedFileName = posix.join(posix.dirname(containing), text);
      const extension = posix.extname(text);
      return { resolvedModule: known.has(resolvedFileName) ? { resolvedFileName, extension } : undefined };
    });
  return host;
}

/**
 * A program over the files of js/ of a checkout.
 * @typedef {{
 *   checker: import("typescript").TypeChecker,
 *   files: readonly { path: string, source: import("typescript").SourceFile }[],
 * }} Sources `path` is relative to the checkout
 */

/** Returns the program of a checkout. Generated files are resolved, but not listed. @returns {Sources} */
export function loadSources(root) {
  const paths = [".ts", ".tsx"].flatMap((ending) => filesBelow(root, "js", ending)).sort();
  const nameOf = (path) => posix.join(root.replaceAll("\\", "/"), path);
  const rootNames = paths.map(nameOf);
  const program = ts.createProgram({ rootNames, options: OPTIONS, host: hostOf(rootNames) });
  const counted = paths.filter((path) => !path.includes("/generated/") && !path.endsWith(".d.ts"));
  return {
    checker: program.getTypeChecker(),
    files: counted.map((path) => ({ path, source: program.getSourceFile(nameOf(path)) })),
  };
}

/** Calls a function for every node below a node, parents first. */
export function walk(node, visit) {
  ts.forEachChild(node, (child) => {
    visit(child);
    walk(child, visit);
  });
}
