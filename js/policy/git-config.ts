/**
 * Parses configuration files of git, for the paths that their values contain. The syntax is the one of `git help
 * config`.
 */

/** One variable of a configuration file. */
export interface GitVariable {
  /** `section.name` or `section.subsection.name`; section and name are in lower case. */
  readonly key: string;
  /** The value as text; `true` for a name without `=`. */
  readonly value: string;
}

/** The maximum length of a configuration file, in UTF-16 units. A longer one counts as empty. */
const MAX_CONFIG_LENGTH = 1 << 20;
const SECTION_HEADER = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const VARIABLE_NAME = /^([A-Za-z][A-Za-z0-9-]*)\s*/;
const GIT_ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/**
 * Returns the variables of a file in their order. A line with a syntax error is skipped. Empty for a text that is
 * too long.
 */
export function parseGitConfig(text: string): readonly GitVariable[] {
  const variables: GitVariable[] = [];
  if (text.length > MAX_CONFIG_LENGTH) return variables;
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  let section = "";
  for (let index = 0; index < lines.length; index++) {
    let line = (lines[index] as string).trim();
    const head = SECTION_HEADER.exec(line);
    if (head !== null) {
      const [whole, name = "", subsection] = head;
      section = name.toLowerCase();
      if (subsection !== undefined) section += `.${subsection.replace(/\\(.)/g, "$1")}`;
      line = line.slice(whole.length).trim();
    }
    const named = VARIABLE_NAME.exec(line);
    if (named === null || section === "") continue;
    const key = `${section}.${(named[1] as string).toLowerCase()}`;
    const rest = line.slice(named[0].length);
    if (!rest.startsWith("=")) {
      variables.push({ key, value: "true" });
      continue;
    }
    let value = rest.slice(1);
    // A backslash at the end joins the next line.
    while (/(?:^|[^\\])(?:\\\\)*\\$/.test(value) && index + 1 < lines.length) {
      value = value.slice(0, -1) + (lines[++index] as string);
    }
    variables.push({ key, value: readValue(value) });
  }
  return variables;
}

/** A part of a written value: an escape, a quotation mark, the begin of a comment, whitespace, or other characters. */
const VALUE_PARTS = /\\(.?)|"|[#;]|\s+|[^\\"#;\s]+/gsu;

/** Returns a written value without quotes, escapes, a trailing comment and surrounding whitespace. */
function readValue(written: string): string {
  let value = "";
  let isQuoted = false;
  /** The length up to which the value is kept: whitespace at its end counts only inside quotes. */
  let kept = 0;
  for (const [part, escaped] of written.matchAll(VALUE_PARTS)) {
    if (!isQuoted && /^[#;]/u.test(part)) break;
    const isSpace = !isQuoted && part.trim() === "";
    if (isSpace && value === "") continue;
    if (part === '"') isQuoted = !isQuoted;
    else value += textOfPart(part, escaped);
    if (!isSpace) kept = value.length;
  }
  return value.slice(0, kept);
}

function textOfPart(part: string, escaped: string | undefined): string {
  return escaped === undefined ? part : (GIT_ESCAPES[escaped] ?? escaped);
}
