// Writes docs/reference/api.md and docs/reference/api-storage.md: the names that each entry of a package
// exports, functions with their signatures and types with their members. A change of the public API
// changes these files, so that a reviewer sees it.
//
//   npm run api             writes the files
//   npm run api -- --print  prints them instead
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { BuildError, runScript, root } from "./lib/run.mjs";

/** The packages: the page of each, the folder of its manifest, and that of its sources. */
const PACKAGES = [
  { page: "docs/reference/api.md", folder: ".", sources: "js" },
  { page: "docs/reference/api-storage.md", folder: "packages/storage", sources: "packages/storage/src" },
];

/** Returns the name of each entry in a package.json and the TypeScript source of its declarations. */
function packageEntries({ folder, sources }) {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return Object.entries(exports).flatMap(([entry, where]) => {
    if (typeof where !== "object") return [];
    const source = where.types.replace("./dist", sources).replace(/\.d\.ts$/u, ".ts");
    return [{ name: `${name}${entry.slice(1)}`, source: resolve(root, source) }];
  });
}

const EXPORT_KINDS = [
  [ts.SymbolFlags.Class, "class"],
  [ts.SymbolFlags.Function, "function"],
  [ts.SymbolFlags.Interface, "interface"],
  [ts.SymbolFlags.TypeAlias, "type"],
  [ts.SymbolFlags.Variable, "constant"],
];

/**
 * Returns the signatures of a function, or the names of the members of an interface or class; empty
 * for other exports.
 */
function signaturesOrMembers(symbol, kind, checker) {
  if (kind === "function") {
    const type = checker.getTypeOfSymbol(symbol);
    const flags = ts.TypeFormatFlags.NoTruncation;
    return type
      .getCallSignatures()
      .map((signature) => checker.signatureToString(signature, undefined, flags))
      .join("; ");
  }
  if (kind !== "interface" && kind !== "class") return "";
  const members = checker
    .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
    .filter(({ name }) => !name.startsWith("__"))
    .map(({ name, flags }) => (flags & ts.SymbolFlags.Optional ? `${name}?` : name));
  return ` { ${members.join(", ")} }`;
}

/** Returns the pages by their paths. */
export function apiPages() {
  // With it, each package finds the sources of the other one.
  const file = join(root, "tsconfig.test.json");
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, undefined, file);
  const program = ts.createProgram(
    PACKAGES.flatMap(packageEntries).map(({ source }) => source),
    { ...options, noEmit: true },
  );
  return new Map(PACKAGES.map((one) => [one.page, apiPage(packageEntries(one), program)]));
}

/** Returns the text of the page of some entries. */
function apiPage(all, program) {
  const checker = program.getTypeChecker();
  const sections = all.map(({ name, source }) => {
    const file = program.getSourceFile(source);
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new BuildError(`${source} exports nothing`);
    const rows = checker.getExportsOfModule(module).map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const kind = EXPORT_KINDS.find(([flag]) => symbol.flags & flag)?.[1] ?? "other";
      return `${kind} \`${exported.name}${signaturesOrMembers(symbol, kind, checker)}\``;
    });
    return `## ${name}\n${[...new Set(rows)]
      .sort()
      .map((row) => `- ${row}`)
      .join("\n")}\n`;
  });
  return `# Public names\nWhat each entry exports; \`npm run api\` writes this file.\n\n${sections.join("\n")}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    for (const [page, text] of apiPages()) {
      if (process.argv.includes("--print")) process.stdout.write(text);
      else writeFileSync(join(root, page), text);
    }
  });
}
