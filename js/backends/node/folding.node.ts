/**
 * Finds out whether a directory of the disk finds a name in any letter case, as the disks of macOS and Windows do, and on
 * Linux WSL, shares of Windows, FAT, Docker Desktop and directories with the attribute `casefold`.
 *
 * The names in the directory tell without a change: one of them is looked up in the other letter case. Where no name has
 * a letter, a file is made for a moment, or the name of the directory tells itself. What cannot be found out counts as
 * folding: rules then cover more than their spelling, never less.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, opendirSync, unlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The number of names of a directory that are looked at. */
const MAX_TRIED_NAMES = 64;

/** Returns true for a directory that finds a name in any letter case. With `mayWrite` a file may be made in it for this. */
export function foldsCase(given: string, mayWrite: boolean): boolean {
  let directory = given;
  // A root may not be there yet: the directory in which it will be made tells.
  while (!isThere(directory) && dirname(directory) !== directory) directory = dirname(directory);
  return (
    foldsKnownNames(directory) ?? (mayWrite ? foldsNewName(directory) : undefined) ?? foldsOwnName(directory)
  );
}

/** Tries the names in a directory; undefined where none of them tells. */
function foldsKnownNames(directory: string): boolean | undefined {
  try {
    const open = opendirSync(directory);
    try {
      for (let tries = 0; tries < MAX_TRIED_NAMES; tries++) {
        const entry = open.readSync();
        if (entry === null) return undefined;
        const folds = foldsName(directory, entry.name);
        if (folds !== undefined) return folds;
      }
    } finally {
      open.closeSync();
    }
  } catch {
    // It cannot be listed.
  }
  return undefined;
}

/**
 * Returns true for a name that leads to the same file in the other letter case; undefined for a name without letters, one
 * that has gone, and where the other name leads to another file.
 */
function foldsName(directory: string, name: string): boolean | undefined {
  const other = inOtherCase(name);
  if (other === name) return undefined;
  try {
    const [own, found] = [name, other].map((one) => lstatSync(join(directory, one), { bigint: true }));
    return own?.ino === found?.ino && own?.dev === found?.dev ? true : undefined;
  } catch {
    return isThere(join(directory, name)) ? false : undefined;
  }
}

function foldsNewName(directory: string): boolean | undefined {
  const name = `probe-${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(join(directory, name), "", { mode: 0o600, flag: "wx" });
  } catch {
    return undefined;
  }
  try {
    return isThere(join(directory, name.toUpperCase()));
  } finally {
    try {
      unlinkSync(join(directory, name));
    } catch {
      // Another process removed it.
    }
  }
}

/** Tries the names of a directory and of those above it on the same disk. */
function foldsOwnName(directory: string): boolean {
  try {
    const { dev } = lstatSync(directory);
    for (let at = directory; dirname(at) !== at && lstatSync(dirname(at)).dev === dev; at = dirname(at)) {
      const folds = foldsName(dirname(at), basename(at));
      if (folds !== undefined) return folds;
    }
  } catch {
    // It cannot be looked at.
  }
  return true;
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns a name with each ASCII letter in the other letter case. */
function inOtherCase(name: string): string {
  return name.replace(/[A-Za-z]/gu, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));
}
