/**
 * Installs the SDKs in `.cache/sdks` of the checkout and compiles the loops
 * there against their published types and ours. Nothing is installed again while
 * `package.json` in this folder stays as it is.
 *
 * With `FILEWRIGHT_SDKS=lowest` it takes the versions of `lowest.json` instead. A schedule does that (deep.yml).
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compilerScript } from "../../scripts/lib/run.mjs";
import { installed } from "../package/installed.ts";

const root = resolve(import.meta.dirname, "../..");
const lowest = process.env["FILEWRIGHT_SDKS"] === "lowest";
const home = join(root, lowest ? ".cache/sdks-lowest" : ".cache/sdks");

/** The messages of the compiler about each loop. */
type Complaints = Readonly<Record<string, readonly string[]>>;

/** The result of the preparation. */
export type Prepared =
  | { readonly ready: true; readonly complaints: Complaints }
  | { readonly ready: false; readonly why: string };

/** Installs and compiles. */
export function prepare(): Prepared {
  const why = installed(join(import.meta.dirname, lowest ? "lowest.json" : "package.json"), home);
  if (why !== undefined) return { ready: false, why };
  return { ready: true, complaints: compile() };
}

function compile(): Complaints {
  const link = join(home, "node_modules/filewright");
  if (!existsSync(link)) symlinkSync(root, link, "junction");
  for (const made of ["src", "out"]) rmSync(join(home, made), { recursive: true, force: true });
  cpSync(join(import.meta.dirname, "loops"), join(home, "src"), { recursive: true });
  // Examples find their SDK here.
  cpSync(join(root, "examples"), join(home, "examples"), { recursive: true });
  const compilerOptions = {
    target: "es2023",
    lib: ["ES2024", "ESNext.Disposable", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
    module: "nodenext",
    types: ["node"],
    rootDir: "src",
    outDir: "out",
    strict: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: false,
    // The SDKs' own types are not what is tested here.
    skipLibCheck: true,
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  const { stdout } = spawnSync(process.execPath, [compilerScript, "-p", home, "--pretty", "false"], {
    encoding: "utf8",
  });
  const found: Record<string, string[]> = {};
  for (const line of stdout.split("\n")) {
    const [, file] = /(?:^|\/)src\/([\w-]+)\.ts\(/.exec(line) ?? [];
    const loop = file ?? (line.startsWith("error TS") ? "scene" : undefined);
    if (loop !== undefined) found[loop] = [...(found[loop] ?? []), line];
  }
  return found;
}

/** The Node that runs a loop: of a major version, from npm where this one is another; undefined where there is none. */
export function nodeOf(major: number): string | undefined {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const binary = join(home, `node_modules/node${major}/bin/node`);
  return existsSync(binary) ? binary : undefined;
}

/** Runs one loop to its end and gives what it said. */
export function play(
  loop: string,
  node: string,
): { readonly steps: readonly string[]; readonly said: string } {
  const { stdout, stderr } = spawnSync(node, ["--no-warnings", join(home, `out/${loop}.js`)], {
    cwd: home,
    encoding: "utf8",
    timeout: 90_000,
    env: { PATH: process.env["PATH"], HOME: join(home, "home"), NODE_ENV: "test" },
  });
  const steps = stdout.split("\n").filter((line) => /^(ok |done)/.test(line));
  return { steps: steps.map((line) => line.replace(/^ok /, "")), said: `${stdout}\n${stderr}`.slice(-4000) };
}

/** Runs an example that needs an SDK and gives what it said. */
export function show(example: string, node: string): string {
  const { stdout, stderr } = spawnSync(node, ["--no-warnings", join(home, "examples", example)], {
    cwd: home,
    encoding: "utf8",
    timeout: 60_000,
    env: { PATH: process.env["PATH"], HOME: join(home, "home"), NODE_ENV: "test" },
  });
  return `${stdout}${stderr}`;
}
