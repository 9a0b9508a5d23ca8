/** The declarations as users of the package meet them: without the DOM, strictly checked, and completed by an editor. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "filewright-types-")));
const file = join(dir, "server.ts");

beforeAll(() => {
  mkdirSync(join(dir, "node_modules/@types"), { recursive: true });
  symlinkSync(root, join(dir, "node_modules/filewright"), "junction");
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(dir, "node_modules", name), "junction");
});
afterAll(() => rmSync(dir, { recursive: true }));

/** A plain server of Node: no DOM, and declarations are checked. */
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  skipLibCheck: false,
  lib: ["lib.es2022.d.ts"],
  types: ["node"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  target: ts.ScriptTarget.ES2022,
  // As a package that is installed, not as the folder that the link leads to.
  preserveSymlinks: true,
  noEmit: true,
};

/** A language service, as an editor has it, over one file. */
function service(text: string): ts.LanguageService {
  const read = (path: string): string | undefined => (path === file ? text : ts.sys.readFile(path));
  return ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const content = read(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => dir,
    getCompilationSettings: () => OPTIONS,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    directoryExists: ts.sys.directoryExists,
    readFile: read,
  });
}

const ENTRIES = [
  "",
  "/engine",
  "/diff",
  "/edit",
  "/backends",
  "/access",
  "/hooks",
  "/presets",
  "/wasm",
  "/workers",
  "/testing",
  "/node-fs",
];

test("a strict project without the DOM compiles every entry that needs no SDK", () => {
  const imports = ENTRIES.map((entry, at) => `import * as e${at} from "filewright${entry}";`);
  const text = `${imports.join("\n")}
export const all = [${ENTRIES.map((_, at) => `e${at}`).join(", ")}];
const ws = await e0.openWorkspace("/repo");
const { data } = await ws.call("grep", { pattern: "x" });
export const lines: readonly number[] = data?.matches?.map(({ line }) => line) ?? [];
export const other: unknown = (await ws.call("a_tool_of_another_preset", { any: 1 })).data;
`;
  const host = ts.createCompilerHost(OPTIONS);
  const plain = host.getSourceFile;
  const program = ts.createProgram([file], OPTIONS, {
    ...host,
    getCurrentDirectory: () => dir,
    fileExists: (path) => path === file || host.fileExists(path),
    getSourceFile: (path, version, ...rest) =>
      path === file
        ? ts.createSourceFile(path, text, {
            languageVersion: ts.ScriptTarget.ES2022,
            impliedNodeFormat: ts.ModuleKind.ESNext,
          })
        : plain(path, version, ...rest),
  });
  const told = ts.getPreEmitDiagnostics(program).map(({ file: at, messageText }) => {
    const words = ts.flattenDiagnosticMessageText(messageText, " ");
    return `${at?.fileName.replace(dir, "")}: ${words}`;
  });
  expect(told).toEqual([]);
}, 120_000);

describe("an editor completes", () => {
  const text = `import { openWorkspace } from "filewright";
const ws = await openWorkspace("/repo");
await ws.call("/*tool*/", {});
await ws.call("grep", { /*first*/ });
await ws.call("grep", { pattern: "x", /*next*/ });
await ws.call("grep", { pattern: "x", case: "/*value*/" });
await ws.call("edit_file", { path: "a", /*edit*/ });
`;
  let editor: ts.LanguageService;
  beforeAll(() => {
    editor = service(text);
  });

  test.each<[string, readonly string[]]>([
    ["tool", ["read_file", "grep", "batch"]],
    ["first", ["pattern", "path", "glob", "max_results"]],
    ["next", ["path", "glob", "word", "output"]],
    ["value", ["sensitive", "insensitive", "smart"]],
    ["edit", ["old_text", "new_text", "edits", "dry_run"]],
  ])(
    "what belongs at %s",
    (mark, names) => {
      const at = text.indexOf(`/*${mark}*/`);
      const found = editor.getCompletionsAtPosition(file, at, {})?.entries.map(({ name }) => name) ?? [];
      expect(found).toEqual(expect.arrayContaining([...names]));
      if (mark !== "tool") expect(found).not.toContain("openWorkspace");
    },
    120_000,
  );
});
