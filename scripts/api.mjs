// Prints what each entry of the package exports (functions with their signatures, types with their members) into docs/reference/api.md: a change of the public
// surface is a change of that file, and is seen in review.
//
//   npm run api             writes the file
//   npm run api -- --print  on the screen
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { BuildError, main, root } from "./lib/run.mjs";

const FILE = "docs/reference/api.md";

/** The source of each entry's declarations, as package.json names them. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries(exports).flatMap(([entry, where]) => {
    if (typeof where !== "object") return [];
    const source = where.types.replace("./dist/", "js/").replace(/\.d\.ts$/u, ".ts");
    return [
      { name: entry === "." ? "filewright" : `filewright${entry.slice(1)}`, source: resolve(root, source) },
    ];
  });
}

const KINDS = [
  [ts.SymbolFlags.Class, "class"],
  [ts.SymbolFlags.Function, "function"],
  [ts.SymbolFlags.Interface, "interface"],
  [ts.SymbolFlags.TypeAlias, "type"],
  [ts.SymbolFlags.Variable, "constant"],
];

/** What of a name its users rely on: the signatures of a function, the members of a type. */
function shapeOf(symbol, kind, checker) {
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

/** The report as text. */
export function apiReport() {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const all = entries();
  const program = ts.createProgram(
    all.map(({ source }) => source),
    { ...options, noEmit: true },
  );
  const checker = program.getTypeChecker();
  const sections = all.map(({ name, source }) => {
    const file = program.getSourceFile(source);
    const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
    if (module === undefined) throw new BuildError(`${source} exports nothing`);
    const rows = checker.getExportsOfModule(module).map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const kind = KINDS.find(([flag]) => symbol.flags & flag)?.[1] ?? "other";
      return `${kind} \`${exported.name}${shapeOf(symbol, kind, checker)}\``;
    });
    return `## ${name}\n${[...new Set(rows)]
      .sort()
      .map((row) => `- ${row}`)
      .join("\n")}\n`;
  });
  return `# Public names\nWhat each entry exports; \`npm run api\` writes this file.\n\n${sections.join("\n")}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await main(() => {
    const report = apiReport();
    if (process.argv.includes("--print")) process.stdout.write(report);
    else writeFileSync(join(root, FILE), report);
  });
}
