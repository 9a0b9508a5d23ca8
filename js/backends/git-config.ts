/**
 * The config of a git repository, reduced to what git itself writes when it makes
 * one. Everything that names a program is left out: hooks, pagers, editors, filters,
 * aliases, credential helpers, file system monitors, includes.
 */

/** Sections without a subsection, and their keys. */
const PLAIN: Readonly<Record<string, readonly string[]>> = {
  core: [
    "repositoryformatversion",
    "filemode",
    "bare",
    "logallrefupdates",
    "ignorecase",
    "precomposeunicode",
    "symlinks",
  ],
  extensions: ["objectformat", "refstorage", "partialclone"],
};
/** Sections with a subsection, and their keys. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  remote: ["url", "fetch", "pushurl"],
  branch: ["remote", "merge", "rebase", "pushremote"],
  submodule: ["url", "active"],
};
/** Keys whose value is an address, or may be one. */
const ADDRESSES = ["url", "pushurl", "remote", "pushremote"];

const SECTION = /^\[\s*([\w.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]\s*(?:[#;].*)?$/u;
const VARIABLE = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/u;

/**
 * The same config with the keys of git's own alone. A line that is not plainly one of
 * them is left out, as is one that goes on over the next line.
 */
export function reduceGitConfig(text: string): string {
  const lines: string[] = [];
  let header: string | undefined;
  let allowed: readonly string[] = [];
  let continued = false;
  for (const raw of text.split(/\r?\n/u)) {
    const line = raw.trim();
    const whole = !continued;
    continued = line.endsWith("\\");
    if (!whole || continued) continue;
    const section = SECTION.exec(line);
    if (section !== null) {
      const [, name = "", subsection] = section;
      const list = (subsection === undefined ? PLAIN : NAMED)[name.toLowerCase()];
      allowed = list ?? [];
      header = line.replace(/\]\s*[#;].*$/u, "]");
      continue;
    }
    // Anything else in brackets begins a section that is not understood.
    if (line.startsWith("[")) {
      allowed = [];
      continue;
    }
    const [, key = "", value] = VARIABLE.exec(line) ?? [];
    if (!allowed.includes(key.toLowerCase())) continue;
    const kept =
      value === undefined || (isPlain(value) && (!ADDRESSES.includes(key.toLowerCase()) || isAddress(value)));
    if (!kept) continue;
    if (header !== undefined) lines.push(header);
    header = undefined;
    lines.push(value === undefined ? `\t${key}` : `\t${key} = ${value}`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** Without quotes, escapes and comments, which git's own values need only for odd names. */
function isPlain(value: string): boolean {
  return /^[^"\\#;\p{Cc}]*$/u.test(value);
}

/** Neither a transport that names a program (`ext::`) nor an option of one. */
function isAddress(value: string): boolean {
  return !value.includes("::") && !value.startsWith("-");
}
