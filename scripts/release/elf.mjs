// Reads the facts of a Linux addon that decide where it loads, from the output of `readelf`.
import { runAndWait } from "../lib/run.mjs";
import { MIN_GLIBC } from "./targets.mjs";

/** What `readelf` calls the processors. */
const MACHINE_BY_ARCH = { x64: "Advanced Micro Devices X86-64", arm64: "AArch64" };

/** The libraries of the system that an addon may load, for each C library. */
const LIBRARIES_BY_LIBC = {
  gnu: [/^lib(?:c|m|dl|rt|pthread)\.so\.\d$/u, /^ld-linux[\w-]*\.so\.\d$/u],
  musl: [/^libc\.so$/u],
};

/** Returns what `readelf` prints about a file. */
export const readElf = (file) =>
  runAndWait("readelf", ["--wide", "--file-header", "--sections", "--dynamic", "--version-info", file], {
    capture: true,
    env: { LC_ALL: "C" },
  }).stdout;

/** Returns all matches of the first group. */
const allMatches = (text, pattern) => [...text.matchAll(pattern)].map(([, group]) => group);

/** Compares versions of any number of parts, such as `2.3.4` and `2.17`. */
const { compare } = new Intl.Collator("en", { numeric: true });

/**
 * Returns what makes an addon unfit for its platform, and a line that describes it.
 *
 * @param {string} text what {@link readElf} returns
 * @param {import("./targets.mjs").ReleaseTarget} target
 */
export function inspectElf(text, { arch, libc }) {
  const problems = [];
  const machine = /^\s*Machine:\s*(.*)$/mu.exec(text)?.[1];
  if (machine !== MACHINE_BY_ARCH[arch]) problems.push(`is for ${machine}, not for ${MACHINE_BY_ARCH[arch]}`);

  const libraries = allMatches(text, /\(NEEDED\)\s+Shared library: \[([^\]]+)\]/gu);
  const foreign = libraries.filter((name) => !LIBRARIES_BY_LIBC[libc].some((allowed) => allowed.test(name)));
  if (foreign.length > 0) problems.push(`needs ${foreign.join(", ")}, which not every system has`);
  // A shared library without any would use the symbols of whatever process loads it.
  if (libraries.length === 0) problems.push("needs no C library");

  const versions = [...new Set(allMatches(text, /\bGLIBC_(\d[\d.]*)/gu))].sort(compare);
  const newest = versions.at(-1);
  if (libc === "musl" && newest !== undefined) problems.push(`needs glibc ${newest}`);
  if (libc === "gnu" && newest === undefined) problems.push("has no versions of glibc's symbols");
  if (libc === "gnu" && newest !== undefined && compare(newest, MIN_GLIBC) > 0) {
    problems.push(`needs glibc ${newest}, and ${MIN_GLIBC} has to be enough`);
  }

  const symbols = allMatches(text, /^\s*\[\s*\d+\]\s+(\.symtab|\.debug_\w+)\s/gmu);
  if (symbols.length > 0) problems.push(`is not stripped: it contains ${symbols.join(", ")}`);
  const needs = `needs ${libraries.join(", ")}`;
  return { problems, description: newest === undefined ? needs : `${needs}; glibc ${newest}` };
}
