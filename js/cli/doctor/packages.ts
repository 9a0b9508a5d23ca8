/** Checks the optional packages that add features: installed, new enough, and importable. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Check } from "./check.ts";

/** The optional packages, each with the feature that it adds. */
export const FEATURE_BY_PACKAGE: Readonly<Record<string, string>> = {
  sharp: "shrinks images that are too large for a model",
  unpdf: "reads the text of PDF files",
  yaml: "reads single values of YAML files",
  "@opentelemetry/api": "sends spans",
};

const requireFrom = createRequire(import.meta.url);

/** Returns the range of versions of a package that this one is tested with, such as `^2.4.0`. */
function testedRange(name: string): string {
  // The relative path is the same from js/cli/doctor, dist/cli/doctor and, with one folder less, dist/bin.
  for (const path of ["../../../package.json", "../../package.json"]) {
    try {
      const { name: own, peerDependencies = {} } = requireFrom(path) as {
        readonly name?: string;
        readonly peerDependencies?: Readonly<Record<string, string>>;
      };
      if (own === "filewright") return peerDependencies[name] ?? "";
    } catch {
      // The next path is tried.
    }
  }
  return "";
}

/** Checks one optional package. None of them prevents work. */
export async function checkPackage(name: string): Promise<Check> {
  const adds = FEATURE_BY_PACKAGE[name] ?? "";
  const range = testedRange(name);
  const install = `run: npm install ${name}${range === "" || range.includes(" ") ? "" : `@${range.replace(/^[\^>=]+/u, "")}`}`;
  const version = installedVersion(name);
  if (version === undefined) return { name, status: "absent", message: `not installed: ${adds}` };
  const least = /[\d.]+/u.exec(range)?.[0];
  if (least !== undefined && isOlder(version, least))
    return {
      name,
      status: "warning",
      message: `${version} is too old, ${range} is needed: ${adds}`,
      remedy: install,
    };
  try {
    await import(name);
    return { name, status: "ok", message: `${version}: ${adds}` };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
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
