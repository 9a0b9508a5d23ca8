// Makes the TypeScript program of all packages for the checks that need resolved types and names.
import { posix } from "node:path";
import ts from "typescript";
import { sourcesBelow } from "../circles.mjs";

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

/** The source of the entry by which a package beside the main one imports from it. */
const ENTRY_SOURCES = { "filewright/files": "js/files/index.ts" };

/** Returns a host that resolves imports of our own files only; what other packages declare does not count. */
function hostOf(rootNames, nameOf) {
  const known = new Set(rootNames);
  const host = ts.createCompilerHost(OPTIONS);
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  host.resolveModuleNameLiterals = (literals, containing) =>
    literals.map(({ text }) => {
      const entry = ENTRY_SOURCES[text];
      const resolvedFileName =
        entry === undefined ? posix.join(posix.dirname(containing), text) : nameOf(entry);
      const extension = posix.extname(resolvedFileName);
      return { resolvedModule: known.has(resolvedFileName) ? { resolvedFileName, extension } : undefined };
    });
  return host;
}

/**
 * A program over the files of the packages of a checkout.
 * @typedef {{
 *   checker: import("typescript").TypeChecker,
 *   files: readonly { path: string, source: import("typescript").SourceFile }[],
 * }} Sources `path` is relative to the checkout
 */

/** Returns the program of a checkout. Generated files are resolved, but not listed. @returns {Sources} */
export function loadSources(root) {
  const paths = [...sourcesBelow(root)].sort();
  const nameOf = (path) => posix.join(root.replaceAll("\\", "/"), path);
  const rootNames = paths.map(nameOf);
  const program = ts.createProgram({ rootNames, options: OPTIONS, host: hostOf(rootNames, nameOf) });
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
