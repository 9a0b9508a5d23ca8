/**
 * The package beside what a project has already: npm accepts it beside any version of any SDK and of any module that it
 * imports, and the tools for the AI SDK fit every supported major version of it.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findTarballs } from "../../scripts/release/channels/tarballs.mjs";
import { compilerScript } from "../../scripts/lib/run.mjs";
import { packedTarballs } from "../package/tarballs.ts";
import { share } from "../support/share.ts";

type Packages = Readonly<Record<string, string>>;

const home = realpathSync(mkdtempSync(join(tmpdir(), "filewright-beside-")));
let tarball = "";
beforeAll(() => {
  tarball = findTarballs(packedTarballs()).main;
});
afterAll(() => {
  rmSync(home, { recursive: true, force: true });
  if (tarball !== "") rmSync(dirname(tarball), { recursive: true, force: true });
});

/** Installs packages and this one in a new project. Returns the exit status and what npm wrote. */
function installBeside(name: string, packages: Packages, ...options: readonly string[]) {
  const project = join(home, name.replaceAll(/\W+/gu, "-"));
  mkdirSync(project);
  const dependencies = { ...packages, filewright: `file:${tarball}` };
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
  );
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const { status, stdout, stderr } = spawnSync("npm", ["install", ...quiet, ...options], {
    cwd: project,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  return { project, status, said: `${stdout}${stderr}` };
}

/** Returns the version of a package that a project has at its top. */
function lockedVersion(project: string, name: string): string | undefined {
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly version?: string; readonly resolved?: string }>>;
  };
  const entry = lock.packages[`node_modules/${name}`];
  return entry?.version ?? (entry?.resolved && lock.packages[entry.resolved]?.version);
}

/** Projects as people have them, with old and new major versions. */
const PROJECTS: readonly (readonly [name: string, packages: Packages])[] = [
  ["AI SDK 5", { ai: "^5.0.0", zod: "^4.0.0" }],
  ["AI SDK 6", { ai: "^6.0.0", zod: "^4.0.0" }],
  ["AI SDK 7", { ai: "^7.0.0", zod: "^4.0.0" }],
  ["React 17", { react: "^17.0.0", "react-dom": "^17.0.0", yaml: "^1.10.0" }],
  ["React 18", { react: "^18.0.0", "react-dom": "^18.0.0", pg: "^7.18.0" }],
  ["React 19 before its release", { react: "19.0.0-rc.1", "react-dom": "19.0.0-rc.1" }],
  ["Vue 2", { vue: "^2.7.0", "prom-client": "^14.0.0", "@opentelemetry/api": "1.0.0" }],
  ["Vue 3.6 before its release", { vue: "3.6.0-beta.1", sharp: "^0.30.0", unpdf: "^0.10.0" }],
  ["OpenAI agents 0.1", { "@openai/agents": "^0.1.0" }],
  ["OpenAI agents 0.19", { "@openai/agents": "^0.19.0" }],
  ["LangChain 0.3", { langchain: "^0.3.0", "@langchain/core": "^0.3.0" }],
  ["Anthropic 0.20, Google 1", { "@anthropic-ai/sdk": "^0.20.0", "@google/genai": "^1.0.0" }],
  [
    "Anthropic 0.90, Claude agent 0.1",
    { "@anthropic-ai/sdk": "^0.90.0", "@anthropic-ai/claude-agent-sdk": "^0.1.0" },
  ],
];

test.for(share(PROJECTS, 4))("npm installs it beside %s", ([name, packages]) => {
  const { project, status, said } = installBeside(name, packages, "--package-lock-only");
  expect(said).not.toContain("ERESOLVE");
  expect(status, said).toBe(0);
  for (const [one, range] of Object.entries(packages)) {
    const [major] = range.replace(/^\D+/u, "").split(".");
    expect(lockedVersion(project, one), one).toMatch(new RegExp(`^${major}\\.`, "u"));
  }
});

/** Every package that an adapter is for or that a module of this package imports. */
const NAMES: readonly string[] = [
  ...["ai", "@openai/agents", "@anthropic-ai/sdk", "@anthropic-ai/claude-agent-sdk", "@google/genai"],
  ...["@google/adk", "@langchain/core", "langchain", "deepagents", "@mastra/core", "zod", "memfs"],
  ...["@opentelemetry/api", "aws4fetch", "pg", "prom-client", "react", "sharp", "unpdf", "vue", "yaml"],
  ...["@modelcontextprotocol/sdk", "typescript"],
];

// Packages of these versions are made here, because most of the versions do not exist yet.
test.for(["0.0.1", "0.99.0", "99.0.0", "99.0.0-beta.1"])(
  "npm installs it beside all packages in %s",
  (version) => {
    const packages: Record<string, string> = {};
    for (const name of NAMES) {
      const folder = join(home, `made-${version}`, name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version }));
      packages[name] = `file:${folder}`;
    }
    const { status, said } = installBeside(version, packages, "--package-lock-only", "--offline");
    expect(said).not.toContain("ERESOLVE");
    expect(status, said).toBe(0);
  },
);

test("the guide names its sizes", () => {
  const guide = readFileSync(resolve(import.meta.dirname, "../../docs/guides/deployment.md"), "utf8");
  const [, packed, unpacked] = /at most ([\d.]+) MB packed and ([\d.]+) MB unpacked/u.exec(guide) ?? [];
  const { stdout } = spawnSync("tar", ["-tzvf", tarball], { encoding: "utf8" });
  const sizes = stdout
    .trim()
    .split("\n")
    .map((line) => Number(line.split(/\s+/u)[2]));
  const total = sizes.reduce((sum, size) => sum + size, 0) / 1e6;
  expect(total).toBeLessThanOrEqual(Number(unpacked));
  expect(total).toBeGreaterThan(Number(unpacked) * 0.9);
  // npm compresses less than the program that a release uses.
  expect(statSync(tarball).size / 1e6).toBeLessThanOrEqual(Number(packed) * 1.07);
});

const COMPILER_OPTIONS = {
  target: "es2023",
  lib: ["ES2024", "ESNext.Disposable", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
  module: "nodenext",
  types: ["node"],
  typeRoots: [resolve(import.meta.dirname, "../../node_modules/@types")],
  outDir: "out",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  // The SDK's own types are not what is tested here.
  skipLibCheck: true,
};

// The lowest version of the table of tested versions, and the newest of the others. By day the first and the last.
describe.each(share(["5.0.0", "^6.0.0", "^7.0.0"], 2))("the tools for the AI SDK %s", (version) => {
  const major = version.replace("^", "").slice(0, 1);
  let project = "";
  let complaints = "";
  beforeAll(() => {
    const made = installBeside(`agent of ${major}`, { ai: version, zod: "^4.0.0" });
    expect(made.status, made.said).toBe(0);
    project = made.project;
    cpSync(join(import.meta.dirname, "ai-sdk/program.ts"), join(project, "program.ts"));
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["program.ts"] }),
    );
    const args = [compilerScript, "-p", project, "--pretty", "false"];
    complaints = spawnSync(process.execPath, args, { encoding: "utf8" }).stdout;
  });

  test("have its types", () => {
    expect(complaints).toBe("");
  });

  test("work in its loop, with text, an image and a refusal", () => {
    const program = join(project, "out/program.js");
    const { stdout, stderr } = spawnSync(process.execPath, [program, major], { encoding: "utf8" });
    expect(stdout, stderr).toMatch(/^\{/u);
    const { text, steps, offered, shown } = JSON.parse(stdout);
    expect({ text, steps }).toEqual({ text: "Done.", steps: 4 });
    expect(offered).toContainEqual(
      expect.objectContaining({
        name: "read_file",
        inputSchema: expect.objectContaining({ required: ["path"], additionalProperties: false }),
      }),
    );
    const [read, image, refused] = shown.map(([part]: { output: unknown }[]) => part?.output);
    expect(read).toMatchObject({ type: "text", value: expect.stringContaining("hello") });
    expect(JSON.stringify(image)).toMatch(/"mediaType":"image\/png"/u);
    expect(image.value[1]).toMatchObject({ type: { 5: "media", 6: "file-data", 7: "file" }[major] });
    expect(refused).toMatchObject({
      type: "error-text",
      value: expect.stringMatching(/^Error: [^:]*missing/u),
    });
    expect(stderr).not.toContain("Warning");
  });
});
