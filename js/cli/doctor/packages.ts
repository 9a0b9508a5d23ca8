/** Checks the optional packages that add features: installed, new enough, and importable. */
import { messageOf } from "../../engine/thrown.ts";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  installableName,
  OPTIONAL_PACKAGES,
  type OptionalPackageName,
} from "../../schema/optional-packages.ts";
import type { Check } from "./check.ts";

/** The optional packages that every command may use. */
const CHECKED_PACKAGES = [
  "sharp",
  "unpdf",
  "yaml",
  "@opentelemetry/api",
] as const satisfies readonly OptionalPackageName[];

/** Returns true for the name of a package that {@link checkPackages} checks. */
export function isOptionalPackage(name: string): boolean {
  return (CHECKED_PACKAGES as readonly string[]).includes(name);
}

const requireFrom = createRequire(import.meta.url);

/** Checks the optional packages. None of them prevents work. */
export function checkPackages(): readonly { readonly name: string; run(): Promise<Check> }[] {
  return CHECKED_PACKAGES.map((name) => ({ name, run: () => checkPackage(name) }));
}

async function checkPackage(name: OptionalPackageName): Promise<Check> {
  const { adds, least } = OPTIONAL_PACKAGES[name];
  const install = `run: npm install ${installableName({ name, least })}`;
  const version = installedVersion(name);
  if (version === undefined) return { name, status: "absent", message: `not installed: ${adds}` };
  if (isOlder(version, least))
    return {
      name,
      status: "warning",
      message: `${version} is too old, ${least} or later is needed: ${adds}`,
      remedy: install,
    };
  try {
    await import(name);
    return { name, status: "ok", message: `${version}: ${adds}` };
  } catch (error) {
    const why = messageOf(error).split("\n")[0] ?? "";
    return {
      name,
      status: "warning",
      message: `${version} is installed and does not load (${why})`,
      remedy: install,
    };
  }
}

/** Returns the version of an installed package; undefined when it is not installed. */
function installedVersion(name: string): string | undefined {
  for (const folder of requireFrom.resolve.paths(name) ?? []) {
    try {
      const text = readFileSync(join(folder, name, "package.json"), "utf8");
      return (JSON.parse(text) as { version?: string }).version ?? "0.0.0";
    } catch {
      // The next folder is tried.
    }
  }
  try {
    return requireFrom.resolve(name) === "" ? undefined : "0.0.0";
  } catch {
    return undefined;
  }
}

/** Compares two versions by their numbers. */
export function isOlder(version: string, least: string): boolean {
  const [own, wanted] = [version, least].map((text) =>
    (/\d+(?:\.\d+)*/u.exec(text)?.[0] ?? "0").split(".").map(Number),
  ) as [number[], number[]];
  for (let at = 0; at < wanted.length; at += 1)
    if ((own[at] ?? 0) !== (wanted[at] ?? 0)) return (own[at] ?? 0) < (wanted[at] ?? 0);
  return false;
}
