/** The declarations as users of the package meet them: without the DOM, strictly checked, and completed by an editor. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TOOLS } from "../../js/tools/index.ts";
import type { ObjectSchema, Schema } from "../../js/tools/lib/schema.ts";
import type { Tool } from "../../js/tools/lib/tool.ts";
import { WORKSPACE_OPTIONS } from "../../js/workspace/option-schema.ts";

const root = resolve(import.meta.dirname, "../..");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "filewright-types-")));
const file = join(dir, "server.ts");

beforeAll(() => {
  mkdirSync(join(dir, "node_modules/@types"), { recursive: true });
  symlinkSync(root, join(dir, "node_modules/filewright"), "junction");
  for (const name of ["@types/node", "undici-types"])
    symlinkSync(join(root, "node_modules", name), join(dir, "node_modules", name), "junction");
  // As a module of the standard, with `await` at its top.
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
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

/** A compiler's host with that one file. */
function withFile(text: string): ts.CompilerHost {
  const host = ts.createCompilerHost(OPTIONS);
  const read = host.getSourceFile;
  return {
    ...host,
    getCurrentDirectory: () => dir,
    fileExists: (path) => path === file || host.fileExists(path),
    getSourceFile: (path, version, ...rest) =>
      path === file
        ? ts.createSourceFile(path, text, {
            languageVersion: ts.ScriptTarget.ES2022,
            impliedNodeFormat: ts.ModuleKind.ESNext,
          })
        : read(path, version, ...rest),
  };
}

const ENTRIES = [
  "",
  "/workspace",
  "/readers",
  "/engine",
  "/diff",
  "/edit",
  "/backends",
  "/access",
  "/content",
  "/hooks",
  "/presets",
  "/wasm",
  "/workers",
  "/testing",
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
  const program = ts.createProgram([file], OPTIONS, withFile(text));
  const told = ts.getPreEmitDiagnostics(program).map(({ file: at, messageText }) => {
    const words = ts.flattenDiagnosticMessageText(messageText, " ");
    return `${at?.fileName.replace(dir, "")}: ${words}`;
  });
  expect(told).toEqual([]);
}, 120_000);

/** A first program; the test asks the editor's language service at each mark. */
const PROGRAM = `import { /*import*/openWorkspace } from "filewright";
const ws = await /*open*/openWorkspace({ root: "/repo", /*option*/limits: {} });
await ws./*method*/readFile({ path: "a" });
await ws./*call*/call(/*tool*/"grep", { /*argument*/pattern: "x" });
await ws.call("grep", { pattern: "x", case: /*value*/"smart" });
await ws.call("edit_file", { path: "a", /*edit*/old_text: "b", new_text: "c" });
await ws.editFile({ path: "a", edits: [{ /*nested*/old_text: "b", new_text: "c" }] });
const { /*content*/matches } = await ws.grep({ pattern: "x" });
const { /*files*/files } = await ws.grep({ pattern: "x", output: "files" });
const /*result*/result = await ws.call("grep", { pattern: "x", output: "count" });
export { files, matches, result };
`;

describe("an editor", () => {
  let editor: ts.LanguageService;
  beforeAll(() => {
    editor = service(PROGRAM);
    return async () => editor.dispose();
  });
  const place = (mark: string): number => {
    const at = PROGRAM.indexOf(`/*${mark}*/`);
    expect(at).toBeGreaterThan(0);
    const after = at + mark.length + 4;
    return PROGRAM[after] === '"' ? after + 1 : after;
  };
  const textOf = (parts: readonly ts.SymbolDisplayPart[] | undefined): string =>
    ts.displayPartsToString([...(parts ?? [])]);

  /** Returns the completions at a mark: its own members, without the globals. */
  const offered = (mark: string): readonly string[] => {
    const found = editor.getCompletionsAtPosition(file, place(mark), {})?.entries ?? [];
    return found.filter(({ kind }) => kind !== ts.ScriptElementKind.keyword).map(({ name }) => name);
  };
  const documentation = (mark: string, name: string): string =>
    textOf(
      editor.getCompletionEntryDetails(file, place(mark), name, {}, undefined, {}, undefined)?.documentation,
    );
  const hover = (mark: string): { readonly type: string; readonly text: string } => {
    const info = editor.getQuickInfoAtPosition(file, place(mark));
    return { type: textOf(info?.displayParts), text: textOf(info?.documentation) };
  };
  const schemaOf = (name: string): ObjectSchema =>
    (TOOLS.find((tool) => tool.name === name) as Tool).inputSchema;

  test("the program compiles", () => {
    expect(editor.getSemanticDiagnostics(file).map(({ messageText }) => messageText)).toEqual([]);
  }, 120_000);

  test("completes tools, methods and values", () => {
    expect(offered("tool")).toEqual(expect.arrayContaining(TOOLS.map(({ name }) => name)));
    expect(offered("method")).toMatchInlineSnapshot(`
      [
        "accessInfo",
        "agent",
        "applyPatch",
        "approvals",
        "batch",
        "blame",
        "call",
        "capabilities",
        "changes",
        "changesSince",
        "close",
        "copy",
        "delete",
        "diff",
        "drain",
        "editFile",
        "findFiles",
        "findSymbol",
        "fork",
        "fs",
        "glob",
        "grants",
        "grep",
        "history",
        "keep",
        "listDirectory",
        "lock",
        "mark",
        "marks",
        "mkdir",
        "move",
        "outline",
        "policy",
        "readFile",
        "readManyFiles",
        "recovery",
        "rewind",
        "searchCode",
        "stat",
        "tools",
        "undo",
        "unreviewed",
        "why",
        "writeFile",
      ]
    `);
    expect([...offered("value")].sort()).toEqual(["insensitive", "sensitive", "smart"]);
  });

  test("completes the arguments of a tool, each with its description", () => {
    const { properties } = schemaOf("grep");
    const names = Object.keys(properties);
    expect([...offered("argument")].sort()).toEqual([...names].sort());
    for (const name of names)
      expect(documentation("argument", name)).toContain(descriptionOf(properties[name]));
  });

  test("completes the arguments of a tool that takes one edit or several", () => {
    const { path: _path, new_text: _text, ...others } = schemaOf("edit_file").properties;
    const names = Object.keys(others);
    expect([...offered("edit")].sort()).toEqual([...names].sort());
    expect(names.filter((name) => documentation("edit", name) === "")).toEqual([]);
  });

  test("completes the options of openWorkspace, each with its description", () => {
    const names = offered("option");
    expect(names).toEqual(
      expect.arrayContaining(["access", "confirm", "guard", "hooks", "preset", "readOnly", "rules"]),
    );
    expect(names.filter((name) => documentation("option", name) === "")).toEqual([]);
  });

  test.each([
    ["nothing", "openWorkspace({ /*here*/ });"],
    ["half a name", "openWorkspace({ ro/*here*/ });"],
    ["an option and half a name", 'openWorkspace({ root: "/repo", ac/*here*/ });'],
    ["an unknown option", "openWorkspace({ rot: 1, /*here*/ });"],
    ["an option of another type", "openWorkspace({ root: 5, /*here*/ });"],
    ["no end", 'openWorkspace({ root: "/repo",\n/*here*/\n'],
  ])("completes nothing but options of openWorkspace after %s", (_what, call) => {
    const text = `import { openWorkspace } from "filewright";\nvoid ${call}`;
    const other = service(text);
    const found = other.getCompletionsAtPosition(file, text.indexOf("/*here*/"), {})?.entries ?? [];
    const names = found.filter(({ kind }) => kind !== ts.ScriptElementKind.keyword).map(({ name }) => name);
    const options = Object.keys(WORKSPACE_OPTIONS.schema.properties ?? {});
    expect(names.filter((name) => !options.includes(name) && name !== "undefined")).toEqual([]);
    expect(names.length).toBeGreaterThan(options.length - 3);
    other.dispose();
  });

  test("shows what a method, an argument and an option are for", () => {
    const { description } = TOOLS.find(({ name }) => name === "read_file") as Tool;
    expect(plain(hover("method").text)).toBe(description);
    expect(hover("argument").text).toBe(descriptionOf(schemaOf("grep").properties["pattern"]));
    const edits = schemaOf("edit_file").properties["edits"]?.items?.properties ?? {};
    expect(hover("nested").text).toBe(descriptionOf(edits["old_text"]));
    expect({
      open: hover("open"),
      option: hover("option"),
      call: hover("call").text,
    }).toMatchInlineSnapshot(`
      {
        "call": "Runs a tool. Rejects only with what a hook raised; every failure is a result.",
        "open": {
          "text": "Opens a workspace: everything a model may do with files below the roots.",
          "type": "(alias) openWorkspace(options: WorkspaceOptions): Promise<Workspace> (+2 overloads)
      import openWorkspace",
        },
        "option": {
          "text": "The limits of one call: bytes that it may read, keep in memory and return, and times.",
          "type": "(property) WorkspaceOptions.limits?: Partial<WorkspaceLimits> | undefined",
        },
      }
    `);
  });

  test("shows what a search gives, by its output", () => {
    const types = ["content", "files", "result"].map((mark) => hover(mark).type);
    expect(types).toMatchInlineSnapshot(`
      [
        "const matches: readonly GrepMatch[]",
        "const files: readonly string[]",
        "const result: ToolResult<GrepCountData>",
      ]
    `);
  });
});

/** Ends of comments inside a comment are broken up. */
const plain = (text: string): string => text.replaceAll("*\\/", "*/");

const descriptionOf = (schema: Schema | undefined): string => schema?.description ?? "no description";

test("the front door has at most twenty names, values and types together", () => {
  const editor = service('import { /*here*/ } from "filewright";\n');
  const found = editor.getCompletionsAtPosition(file, "import { ".length, {})?.entries ?? [];
  // `type` is a word of the language.
  const names = found.map(({ name }) => name).filter((name) => name !== "type");
  expect(names.length).toBeLessThanOrEqual(20);
  expect([...names].sort()).toMatchInlineSnapshot(`
    [
      "AgentOptions",
      "AgentWorkspace",
      "CallOptions",
      "Code",
      "Files",
      "FilewrightError",
      "FsBackend",
      "FsPermissionError",
      "MemoryBackend",
      "SandboxViolation",
      "ToolArgs",
      "ToolData",
      "ToolDefinition",
      "ToolName",
      "ToolResult",
      "Workspace",
      "WorkspaceOptions",
      "openWorkspace",
      "resolveMentions",
      "toolsFor",
    ]
  `);
}, 120_000);

describe("every method, argument and result has a description", () => {
  /** Members of these types, and of the types of their members, that say nothing. */
  function silent(types: string): readonly string[] {
    const text = `import type { Workspace } from "filewright";\nexport type All = ${types};\n`;
    const host = withFile(text);
    const program = ts.createProgram([file], OPTIONS, host);
    const checker = program.getTypeChecker();
    const [module] = [checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile)];
    const all = checker.getExportsOfModule(module as ts.Symbol)[0] as ts.Symbol;
    const found = new Set<string>();
    const seen = new Set<ts.Type>();
    const visit = (type: ts.Type, at: string): void => {
      if (seen.has(type) || at.split(".").length > 6) return;
      seen.add(type);
      const parts = type.isUnionOrIntersection()
        ? type.types
        : checker.isArrayType(type)
          ? checker.getTypeArguments(type as ts.TypeReference)
          : [];
      for (const part of parts) visit(part, at);
      if (parts.length > 0) return;
      for (const member of type.getProperties()) {
        const [declaration] = member.declarations ?? [];
        if (declaration === undefined || !declaration.getSourceFile().fileName.includes("/filewright/"))
          continue;
        const where = `${at}.${member.name}`;
        if (member.getDocumentationComment(checker).length === 0) found.add(where);
        const own = checker.getTypeOfSymbol(member);
        // `definePreset` makes a preset: users never write its members.
        if (member.name !== "preset") visit(own, where);
        for (const signature of own.getCallSignatures()) {
          for (const parameter of signature.parameters)
            visit(checker.getTypeOfSymbol(parameter), `${where}(${parameter.name})`);
          visit(awaited(signature.getReturnType()), `${where}()`);
        }
      }
    };
    const awaited = (type: ts.Type): ts.Type => checker.getAwaitedType(type) ?? type;
    visit(checker.getDeclaredTypeOfSymbol(all), "");
    return [...found];
  }

  test("of the workspace", () => {
    expect(silent("Workspace")).toEqual([]);
  }, 120_000);
});
