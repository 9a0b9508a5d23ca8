/**
 * What users get: the tarballs, installed by npm into an empty folder, offline, without scripts, on a machine
 * without Rust. Every state of the addon works, or says in one line what is missing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { holdSession } from "../../scripts/release/channels/session.mjs";
import { manifest, platform } from "../package/tarballs.ts";
import { addonPackage, cleanUp, environment, home, install, pack, run, withAddon } from "./project.ts";

const USES = resolve(import.meta.dirname, "../../scripts/release/use-package.mjs");

/** How the program of somebody else uses the package. Prints what it got as JSON. */
const PROGRAM = `
import { openWorkspace } from "filewright";
const ws = await openWorkspace(process.argv[2]);
await ws.writeFile({ path: "new.txt", content: "written\\n" });
const found = await ws.grep({ pattern: "hello" });
const { engine } = ws.capabilities();
await ws.close();
console.log(JSON.stringify({ matches: found.matches.map(({ path, text }) => path + ":" + text), engine: engine.kind, reason: engine.reason }));
`;

const installCommand = `npm install ${addonPackage}@${manifest.version}`;
let tarballs = { main: "", storage: "", addon: "" };
let project = "";
const served = join(home, "served");

beforeAll(() => {
  tarballs = pack();
  project = install("project", tarballs.main, tarballs.addon);
  mkdirSync(served);
  writeFileSync(join(served, "a.txt"), "hello\n");
  // The demonstration looks for a definition.
  writeFileSync(join(served, "b.js"), "export function greeting() {}\n");
});
afterAll(() => {
  cleanUp();
  if (tarballs.main !== "") rmSync(dirname(tarballs.main), { recursive: true, force: true });
});

/** Runs {@link PROGRAM} in a project. */
function use(folder: string, env: Readonly<Record<string, string>> = {}) {
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
  const { status, stdout, stderr } = run(folder, "node", ["program.mjs", served], env);
  expect(stderr).not.toContain(home);
  return { status, printed: status === 0 ? JSON.parse(stdout) : stdout, stderr };
}

/** Starts the server as a client's settings do, by `npx` in a folder. */
const serve = (folder: string, env: Readonly<Record<string, string>> = {}) =>
  holdSession(
    (directory) => ["/bin/sh", "-c", 'cd "$0" && exec npx --no filewright mcp "$1"', folder, directory],
    { ...environment, ...env },
  );

describe("the package of the storages", () => {
  const SERVED = ["--no", "filewright", "serve", "--storage", "s3+http://127.0.0.1:1/bucket", "--port", "0"];
  const KEYS = { FILEWRIGHT_TOKEN: "a-token-that-only-this-test-knows", AWS_ACCESS_KEY_ID: "access" };
  const env = { ...KEYS, AWS_SECRET_ACCESS_KEY: "secret-of-this-test" };

  test("is named by a server that needs it, with the command that installs it", () => {
    const { status, stderr } = run(project, "npx", SERVED, env);
    const remedy = `npm install @filewright/storage@${manifest.version} aws4fetch`;
    expect(stderr).toBe(`filewright: the package @filewright/storage is not installed; ${remedy}\n`);
    expect(status).toBe(1);
  });

  test("is found beside the main package, and shares its errors", () => {
    const folder = install("stored", tarballs.main, tarballs.addon, tarballs.storage);
    // The server gets as far as the package that signs, which is not installed.
    expect(run(folder, "npx", SERVED, env).stderr).toBe(
      "filewright: the package aws4fetch is not installed; npm install aws4fetch\n",
    );
    writeFileSync(
      join(folder, "refused.mjs"),
      `import { FilewrightError } from "filewright";
import { s3Storage } from "@filewright/storage/s3";
import { postgresStorage } from "@filewright/storage/postgres";
for (const open of [s3Storage, postgresStorage])
  await open({ bogus: 1 }).catch((error) => console.log(error instanceof FilewrightError, error.code));
`,
    );
    const { status, stdout } = run(folder, "node", ["refused.mjs"]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "true INVALID_ARGUMENT\n".repeat(2) });
  });

  test("is refused by npm beside another version of the main package", () => {
    const other = join(home, "other-version");
    mkdirSync(other);
    writeFileSync(join(other, "package.json"), JSON.stringify({ name: "filewright", version: "99.0.0" }));
    expect(() => install("mixed", `file:${other}`, tarballs.storage)).toThrow(/ERESOLVE/u);
  });
});

describe("both packages", () => {
  test("are all that is installed, and there is no compiler", () => {
    expect(readdirSync(join(project, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "@filewright",
      "filewright",
    ]);
    expect(readdirSync(join(project, "node_modules/@filewright"))).toEqual([`native-${platform}`]);
    expect(existsSync(join(environment["PATH"] as string, "cargo"))).toBe(false);
  });

  test("run a program natively, and say nothing", () => {
    expect(use(project)).toEqual({
      status: 0,
      printed: { matches: ["a.txt:hello"], engine: "native" },
      stderr: "",
    });
    expect(readFileSync(join(served, "new.txt"), "utf8")).toBe("written\n");
  });

  test("npx filewright mcp: a client lists tools, reads and writes", async () => {
    const session = await serve(project);
    expect(session).toMatchObject({ version: manifest.version, written: "written\n" });
    expect(session.read).toContain("served");
    expect(session.access).toContain("native");
    expect(session.tools).toEqual(expect.arrayContaining(["read_file", "grep", "edit_file", "undo"]));
    expect(session.errors).not.toContain("without the native addon");
  });

  test("npx filewright demo", () => {
    const { status, stdout, stderr } = run(project, "npx", ["--no", "filewright", "demo", served]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("Engine: native");
  });

  test.each([
    ["natively", undefined, "native"],
    ["on WebAssembly", "wasm", "wasm"],
  ])("pass the contract suite %s", (_, engine, kind) => {
    const { status, stdout, stderr } = run(
      project,
      "node",
      [USES, join(project, "node_modules/filewright")],
      engine === undefined ? {} : { FILEWRIGHT_ENGINE: engine },
    );
    expect(status, stderr).toBe(0);
    const trial = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(trial.failures).toEqual([]);
    expect(trial.engine).toBe(kind);
    expect(trial.contract.passed).toBe(trial.contract.cases);
    expect(trial.contract.cases).toBeGreaterThanOrEqual(75);
    expect(trial.uses.passed).toBe(trial.uses.cases);
  });
});

/** A state of an installation in which no addon loads. */
interface State {
  readonly make: () => string;
  readonly env?: Readonly<Record<string, string>>;
  /** The reason, and the command that mends it. */
  readonly says: readonly string[];
}

const STATES: Readonly<Record<string, State>> = {
  "FILEWRIGHT_ENGINE=wasm": {
    make: () => project,
    env: { FILEWRIGHT_ENGINE: "wasm" },
    says: ["FILEWRIGHT_ENGINE=wasm", "unset FILEWRIGHT_ENGINE"],
  },
  "--omit=optional": {
    make: () => install("omitted", "--omit=optional", tarballs.main),
    says: [`the package ${addonPackage} is not installed`, "--omit=optional", installCommand],
  },
  "an addon of another version": {
    make: () =>
      withAddon(project, "older", (folder) => {
        writeFileSync(
          join(folder, "older.js"),
          `module.exports = { ...require("./filewright.${platform}.node"), version: () => "0.0.9" };`,
        );
        writeFileSync(join(folder, "package.json"), '{ "main": "older.js" }');
      }),
    says: [`is of version 0.0.9, filewright of ${manifest.version}`, installCommand],
  },
  "a broken addon": {
    make: () =>
      withAddon(project, "broken", (folder) => {
        writeFileSync(join(folder, `filewright.${platform}.node`), "no addon\n");
      }),
    says: [`the addon of the package ${addonPackage} does not load`, installCommand],
  },
};

describe.each(Object.entries(STATES))("%s", (_, { make, env, says }) => {
  let folder = "";
  beforeAll(() => {
    folder = make();
  });

  test("a program runs on WebAssembly, and knows why", () => {
    const { status, printed } = use(folder, env);
    expect(status).toBe(0);
    expect(printed).toMatchObject({ matches: ["a.txt:hello"], engine: "wasm" });
    expect(printed.reason).toContain(says[0]);
  });

  test("the command says it in one line, with the remedy", () => {
    const args = ["--no", "filewright", "grep", "hello", "--root", served];
    const { status, stdout, stderr } = run(folder, "npx", args, env);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "a.txt:1:hello\n" });
    expect(stderr).toMatch(/^filewright: running without the native addon.*\n$/u);
    for (const part of says) expect(stderr).toContain(part);
    expect(stderr).not.toContain(home);
  });

  test("a server serves, and says it to its client", async () => {
    const session = await serve(folder, env);
    expect(session).toMatchObject({ version: manifest.version, written: "written\n" });
    expect(session.access).toContain("wasm");
    for (const part of says) expect(session.errors).toContain(part);
  });

  test("doctor names the reason", () => {
    const { stdout } = run(folder, "npx", ["--no", "filewright", "doctor"], env);
    expect(stdout).toContain(says[0]);
  });

  test("what needs the addon is refused with the remedy", () => {
    const { status, stderr } = run(
      folder,
      "node",
      [
        "--input-type=module",
        "-e",
        'import { openWorkspace } from "filewright"; await openWorkspace({ root: ".", engine: "native" });',
      ],
      env,
    );
    expect(status).toBe(1);
    expect(stderr).toContain("UNSUPPORTED_PLATFORM");
    for (const part of says) expect(stderr).toContain(part);
  });
});
