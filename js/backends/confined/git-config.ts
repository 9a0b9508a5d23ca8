/**
 * Reduces the config of a git repository to what git itself writes when it creates one. Everything
 * that names a program is removed: hooks, pagers, editors, filters, aliases, credential helpers,
 * file system monitors, includes.
 */

/** The allowed keys of each section without a subsection. */
const KEYS_OF_SECTION: Readonly<Record<string, readonly string[]>> = {
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
/** The allowed keys of each section with a subsection. */
const KEYS_OF_SUBSECTION: Readonly<Record<string, readonly string[]>> = {
  remote: ["url", "fetch", "pushurl"],
  branch: ["remote", "merge", "rebase", "pushremote"],
  submodule: ["url", "active"],
};
/** The keys whose value is the address of a repository, or may be one. */
const ADDRESS_KEYS = ["url", "pushurl", "remote", "pushremote"];

const SECTION_HEADER = /^\[\s*([\w.-]+)(?:\s+"((?:[^"\\\n]|\\.)*)")?\s*\]\s*(?:[#;].*)?$/u;
const VARIABLE_LINE = /^([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/u;

/**
 * Returns a configuration with only the keys that git itself writes. Any other line is removed, and so is a line
 * that continues on the next one.
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
    const section = SECTION_HEADER.exec(line);
    if (section !== null) {
      const [, name = "", subsection] = section;
      const list = (subsection === undefined ? KEYS_OF_SECTION : KEYS_OF_SUBSECTION)[name.toLowerCase()];
      allowed = list ?? [];
      header = line.replace(/\]\s*[#;].*$/u, "]");
      continue;
    }
    // Any other header begins a section that is not allowed.
    if (line.startsWith("[")) {
      allowed = [];
      continue;
    }
    const [, key = "", value] = VARIABLE_LINE.exec(line) ?? [];
    if (!allowed.includes(key.toLowerCase())) continue;
    const kept =
      value === undefined ||
      (isPlainValue(value) && (!ADDRESS_KEYS.includes(key.toLowerCase()) || isSafeAddress(value)));
    if (!kept) continue;
    if (header !== undefined) lines.push(header);
    header = undefined;
    lines.push(value === undefined ? `\t${key}` : `\t${key} = ${value}`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/**
 * Returns true for a value without quotes, escapes and comments. Values that git itself writes need these only for
 * unusual names.
 */
function isPlainValue(value: string): boolean {
  return /^[^"\\#;\p{Cc}]*$/u.test(value);
}

/** Returns true for an address that names no program (`ext::`) and cannot be taken for an option. */
function isSafeAddress(value: string): boolean {
  return !value.includes("::") && !value.startsWith("-");
}
