/** The modules that an import of the package loads at once, and the errors where a part that is loaded later is missing. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");

/**
 * The largest static closures of entries on Node, minified, in kB (1,000 bytes), and their numbers of modules. A process
 * pays for each module as well: opening and compiling one takes 0.2 to 0.6 ms of processor time. Lower a limit when the
 * measured figure, which the test prints on failure, is lower; a part that few calls need is loaded by `lazily`.
 */
const LIMITS: readonly (readonly [entry: string, kilobytes: number, modules: number])[] = [
  ["dist/filewright.node.js", 539, 347],
  ["dist/workspace/index.node.js", 521, 337],
];

/** Beginnings of the paths of parts that no import of `filewright` loads at once. */
const LATER = [
  "backends/derived.js",
  "backends/node/node.node.js",
  "backends/overlay/",
  "backends/sandbox/sandbox-choice.node.js",
  "backends/transaction/transaction.js",
  "call/batch/",
  "call/change.js",
  "pipeline/wording/messages.js",
  "readers/archive/",
  "readers/image/",
  "readers/notebook/",
  "readers/office/",
  "readers/pdf.js",
  "storage/backend/",
  "storage/mirror/open.node.js",
  "tools/run/",
  "workspace/forks/",
  "workspace/past.js",
  "workspace/storage.js",
];

/** Returns the minified sizes in bytes of the modules that an import of an entry loads at once, by their paths in dist. */
async function staticClosure(entry: string): Promise<ReadonlyMap<string, number>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    outdir: "out",
    write: false,
    metafile: true,
    logLevel: "error",
  });
  const bytes = new Map<string, number>();
  for (const { inputs } of Object.values(metafile.outputs))
    for (const [path, { bytesInOutput }] of Object.entries(inputs))
      bytes.set(path, (bytes.get(path) ?? 0) + bytesInOutput);
  const found = new Map<string, number>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.set(path, bytes.get(path) ?? 0);
    for (const { path: next, kind } of metafile.inputs[path]?.imports ?? [])
      if (kind === "import-statement" && metafile.inputs[next] !== undefined) open.push(next);
  }
  return new Map([...found].map(([path, size]) => [path.replace(/^dist\//u, ""), size]));
}

describe("the import of an entry", () => {
  it.each(LIMITS)("of %s loads at most %i kB in %i modules at once", async (entry, kilobytes, modules) => {
    const closure = await staticClosure(entry);
    const size = [...closure.values()].reduce((sum, bytes) => sum + bytes, 0) / 1000;
    expect(size).toBeLessThanOrEqual(kilobytes);
    expect(closure.size).toBeLessThanOrEqual(modules);
    // A limit far above the figure would let it grow unnoticed.
    expect(size).toBeGreaterThan(kilobytes - 10);
  });

  it("loads no part that is for its first use", async () => {
    const paths = [...(await staticClosure("dist/filewright.node.js")).keys()];
    expect(paths.filter((path) => LATER.some((part) => path.startsWith(part)))).toEqual([]);
  });
});

it("an import of filewright opens no standard stream, of which the program may make something else", () => {
  const program = `const opened = [];
    for (const name of ["stdin", "stdout", "stderr"]) {
      const { get } = Object.getOwnPropertyDescriptor(process, name);
      Object.defineProperty(process, name, { get() { opened.push(name); return get.call(process); } });
    }
    await import(${JSON.stringify(pathToFileURL(join(root, "dist/filewright.node.js")).href)});
    const found = JSON.stringify(opened);
    console.log(found);`;
  const args = ["--input-type=module", "--no-warnings", "-e", program];
  expect(JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }))).toEqual([]);
});

/** Runs a module in a process in which files whose URL contains `missing` are not there, and returns what it prints. */
function runWithout(missing: string, code: string): unknown {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-loading-")));
  try {
    writeFileSync(join(base, "a.txt"), "alpha\n");
    const hooks = `export async function resolve(name, context, next) {
      const found = await next(name, context);
      if (found.url.includes(${JSON.stringify(missing)})) throw Object.assign(new Error("no such file: " + found.url), { code: "ENOENT" });
      return found;
    }`;
    const program = `import { register } from "node:module";
      register("data:text/javascript," + ${JSON.stringify(encodeURIComponent(hooks))});
      const { openWorkspace } = await import(${JSON.stringify(pathToFileURL(join(root, "dist/filewright.node.js")).href)});
      const ws = await openWorkspace({ root: ${JSON.stringify(base)}, history: false });
      ${code}
      await ws.close();`;
    const args = ["--input-type=module", "--no-warnings", "-e", program];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  } finally {
    rmSync(base, { recursive: true });
  }
}

describe("a part of the package whose file is missing", () => {
  it("is a failure of the call that needs it, with a code and without a path of the machine", () => {
    const found = runWithout(
      "/tools/run/grep.js",
      `const result = await ws.call("grep", { pattern: "alpha" });
       const read = await ws.call("read_file", { path: "a.txt" });
       console.log(JSON.stringify([result.ok, result.error.code, result.text, read.ok]));`,
    );
    expect(found).toEqual([
      false,
      "IO_ERROR",
      expect.stringMatching(/could not load its part for searches of contents/u),
      true,
    ]);
    expect(JSON.stringify(found)).not.toContain("dist/");
  });

  it("leaves a failure its code where it is the words of errors", () => {
    const found = runWithout(
      "/pipeline/wording/messages.js",
      `const { ok, error, text } = await ws.call("read_file", { path: "missing.txt" });
       console.log(JSON.stringify([ok, error.code, text]));`,
    );
    expect(found).toEqual([false, "NOT_FOUND", "Error: read_file failed with NOT_FOUND"]);
  });
});
