/** System directories and files that commands need, and those that they must not read. */
import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { homeDirectory } from "../home.node.ts";
import { isWithin } from "../paths.ts";
import type { CommandPolicy } from "./sandbox.ts";

/** The directories of a system's programs, libraries and settings. */
const SYSTEM_DIRECTORIES = [
  "/bin",
  "/etc",
  "/gnu/store",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix",
  "/opt",
  "/sbin",
  "/sys",
  "/usr",
];

/** The files of `/etc` that contain credentials. Root can read them even without capabilities. */
const PRIVATE_SYSTEM_FILES = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/sudoers",
  "/etc/sudoers.d",
  "/etc/ssl/private",
  "/etc/wireguard",
  "/etc/NetworkManager/system-connections",
];

/**
 * Returns the directories that commands read in addition to the roots of a workspace: those of the
 * system and those of the programs on the search path. The directory above a `bin` counts when it
 * is a program's own, not the home directory or `.local`.
 */
export function systemDirectories(): readonly string[] {
  const home = homeDirectory() ?? "/";
  const shared = new Set([home, `${home}/.local`, "/"]);
  const programs = [...(process.env["PATH"] ?? "").split(":"), dirname(process.execPath)]
    .filter((place) => place.startsWith("/"))
    .flatMap((place) => {
      const real = realPathOrNone(place);
      if (real === undefined || real === home || real === "/") return [];
      const above = dirname(real);
      return real.endsWith("/bin") && !shared.has(above) ? [above] : [real];
    });
  return [
    ...new Set([...SYSTEM_DIRECTORIES.filter((place) => realPathOrNone(place) !== undefined), ...programs]),
  ];
}

/**
 * Returns the readable directories of commands within a policy: the system, the policy's, and
 * more; null for everything.
 */
export function readsWithin(
  policy: CommandPolicy | undefined,
  extra: readonly string[] | null | undefined,
): readonly string[] | null {
  const read = policy === undefined ? [] : policy.read;
  if (read === null || extra === null) return null;
  return [...systemDirectories(), ...read, ...(extra ?? [])];
}

/** Returns the files and directories outside the roots that no command reads. */
export function privateFiles(): readonly string[] {
  let keys: string[] = [];
  try {
    keys = readdirSync("/etc/ssh").filter((name) => name.endsWith("_key"));
  } catch {
    // No SSH server is installed.
  }
  return [...PRIVATE_SYSTEM_FILES, ...keys.map((name) => `/etc/ssh/${name}`)].filter((path) =>
    pathExists(path),
  );
}

/** Returns the home directories to search for secrets. */
export function homeDirectories(): readonly string[] {
  const homes = [homeDirectory() ?? "/", "/root"].flatMap((home) => realPathOrNone(home) ?? []);
  return [...new Set(homes)].filter((home) => home !== "/");
}

/**
 * Returns true when commands that read these directories have their home directory: as a whole, or
 * in part by an entry for one of its hidden files. Otherwise they get an empty one, because
 * programs fail where settings exist and are unreadable.
 */
export function hasHome(reads: readonly string[] | null): boolean {
  const home = realPathOrNone(homeDirectory() ?? "/");
  if (home === undefined || reads === null) return true;
  return reads.some((path) => isWithin(home, path) || path.startsWith(`${home}/.`));
}

/** Returns the target of a link, or undefined for any other path. */
export function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns what exists at a path. A link is not followed and counts as a file, as every entry but a directory. */
export function entryKind(path: string): "directory" | "file" | "missing" {
  try {
    return lstatSync(path).isDirectory() ? "directory" : "file";
  } catch {
    return "missing";
  }
}

/** Returns the real path, or undefined where nothing exists. */
export function realPathOrNone(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the paths that are in one list and in, or below an entry of, the other. */
export function commonDirectories(a: readonly string[], b: readonly string[]): readonly string[] {
  const common = a.flatMap((x) => b.flatMap((y) => (isWithin(x, y) ? [x] : isWithin(y, x) ? [y] : [])));
  return [...new Set(common)];
}

function pathExists(path: string): boolean {
  return entryKind(path) !== "missing";
}
