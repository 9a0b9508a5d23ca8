/** A project of somebody else: an empty folder in which npm installs the tarballs, on a PATH without cargo. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { findTarballs } from "../../scripts/release/channels/tarballs.mjs";
import { packedTarballs, platform } from "../package/tarballs.ts";

/** What a program printed, and its exit status. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Everything that the tests put on the disk. */
export const home: string = realpathSync(mkdtempSync(join(tmpdir(), "filewright-installed-")));

/** The only folder on PATH: Node, npm, and what npm starts programs with. */
const bin = join(home, "bin");

/** The name of the package with the addon of this machine. */
export const addonPackage: string = `@filewright/native-${platform}`;

/** The environment of every program: nothing that a developer's shell has set, and an empty cache of npm. */
export const environment: Readonly<Record<string, string>> = {
  PATH: bin,
  HOME: join(home, "home"),
  npm_config_cache: join(home, "npm-cache"),
  npm_config_update_notifier: "false",
};

/**
 * Packs the checkout, and makes the folder of PATH, with `more` programs. Returns the paths of the tarballs of
 * the main package, of the storages and of the addon.
 */
export function pack(...more: readonly string[]): {
  readonly main: string;
  readonly storage: string;
  readonly addon: string;
} {
  for (const folder of [bin, environment["HOME"] as string]) mkdirSync(folder, { recursive: true });
  symlinkSync(process.execPath, join(bin, "node"));
  for (const program of ["npm", "npx", "sh", ...more]) symlinkSync(pathOf(program), join(bin, program));
  const tarballs = findTarballs(packedTarballs());
  const { main, storage, addons } = tarballs;
  return { main, storage, addon: addons.get(platform) as string };
}

/** Makes an empty project and installs in it, offline and without scripts. */
export function install(name: string, ...args: readonly string[]): string {
  const project = join(home, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const options = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stdout, stderr } = run(project, "npm", ["install", ...options, ...args]);
  if (status !== 0) throw new Error(`npm install failed: ${stdout}${stderr}`);
  return project;
}

/** Makes a copy of a project with another addon. */
export function withAddon(project: string, name: string, change: (folder: string) => void): string {
  const copy = join(home, name);
  cpSync(project, copy, { recursive: true, verbatimSymlinks: true });
  change(join(copy, "node_modules", addonPackage));
  return copy;
}

/** Runs a program of PATH in a folder. */
export function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Ended {
  const { status, stdout, stderr, error } = spawnSync(join(bin, command), args, {
    cwd,
    env: { ...environment, ...env },
    encoding: "utf8",
    timeout: 100_000,
  });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

/** Removes everything. */
export function cleanUp(): void {
  rmSync(home, { recursive: true, force: true });
}

function pathOf(program: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const folder of folders) {
    try {
      return realpathSync(join(folder, program));
    } catch {
      // It is in another folder.
    }
  }
  throw new Error(`${program} is not on PATH`);
}
