// Compares grep with ripgrep: random queries over random trees, by rows, line numbers and counts, and
// one query in a hundred over two real trees: our own crates, and an installed package.
//
// ripgrep runs with --crlf where matches lie within lines, since the carriage return of a CRLF is
// part of the line end here. Matches across lines are compared on trees of LF files.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";
import { flatGrepText } from "../../dist/tools/grep/text.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { root as checkout } from "../../scripts/lib/run.mjs";

const QUERIES_PER_TREE = 40;
/** Real trees, and how many of all queries go to them. */
const REAL_TREES = ["crates", "node_modules/@types"].map((path) => join(checkout, path));
const REAL_SHARE = 0.01;
const UNCUT = { outputBytes: 1 << 28, pageBytes: 1 << 28 };
const MAX_FAILURES = 20;
const WORDS = ["a", "b", "foo", "Foo", "FOO", "é", "É", "x1", "_k", "ß", "漢", "", " ", "\t", "m1", "(", "."];
const ATOMS = [
  ...["a", "b", "foo", "Foo", "é", ".", "\\s", "\\w", "\\W", "\\d", "[^a]", "[ab]", "\\b", " ", "x1", "\\."],
  "\\p{Lu}",
];
const REPEATS = ["", "", "", "*", "+", "?", "{2}"];
/** Patterns that match empty lines, or only those. */
const EMPTY_LINE_PATTERNS = ["^$", "^\\s*$", "^[ \\t]*$", "^y*$", "(^|y)$", "$", "^"];

/** @returns the text of one file */
function makeText(random, eols) {
  const eol = random.pick(eols);
  // One file in twelve is longer than a block that is searched at once.
  const isLong = random.chance(0.08);
  const filler = "x".repeat(60 + random.below(60));
  let text = "";
  for (let left = isLong ? 3_000 + random.below(3_000) : random.below(14); left > 0; left--) {
    const words = Array.from({ length: random.below(4) }, () => random.pick(WORDS));
    text += isLong && !random.chance(0.01) ? filler : words.join(random.pick(["", " "]));
    text += eol === "mixed" ? random.pick(["\n", "\r\n"]) : eol;
  }
  return random.chance(0.3) ? text.replace(/\r?\n$/u, "") : text;
}

function makeTree(random, root, eols) {
  for (let left = 1 + random.below(6); left > 0; left--) {
    const file = join(root, random.pick(["", "d/", "d/e/", "z/"]), `f${left}.txt`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, makeText(random, eols));
  }
}

function makePattern(random, acrossLines) {
  if (random.chance(0.15)) return random.pick(EMPTY_LINE_PATTERNS);
  const sequence = () => {
    const atoms = Array.from(
      { length: 1 + random.below(3) },
      () => random.pick(ATOMS) + random.pick(REPEATS),
    );
    if (acrossLines && random.chance(0.7))
      atoms.splice(random.below(atoms.length + 1), 0, random.pick(["\\n", "\\s+", "\\n+"]));
    return atoms.join("");
  };
  const pattern = random.chance(0.2) ? `${sequence()}|${sequence()}` : sequence();
  return (random.chance(0.1) ? "^" : "") + pattern + (random.chance(0.15) ? "$" : "");
}

/**
 * Returns true when ripgrep's own answer across lines would be wrong. After a match it searches a slice, at whose
 * beginning `^` and `\b` match, and it reports an empty match behind the last line feed, where no line is.
 */
function isBeyondRipgrep(pattern) {
  // Not the sign of a class: `[^a]`.
  if (/(?<!\[)\^|\\b/u.test(pattern)) return true;
  try {
    return new RegExp(pattern, "mu").test("");
  } catch {
    return true; // JavaScript does not know such a pattern, so whether it matches nothing is not known.
  }
}

function makeQuery(random, multiline, withWords) {
  let pattern = makePattern(random, multiline);
  while (multiline && isBeyondRipgrep(pattern)) pattern = makePattern(random, multiline);
  return {
    pattern,
    multiline,
    case: random.pick(["sensitive", "insensitive", "smart"]),
    word: withWords && random.chance(0.15),
    before: random.pick([0, 0, 1, 3]),
    after: random.pick([0, 0, 1, 3]),
    output: random.pick(["content", "content", "content", "count", "files"]),
  };
}

/** The words and the whole lines of a few files below a directory. */
function sample(random, root) {
  const [words, lines] = [new Set(), new Set()];
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (let left = 40; left > 0; left--) {
    const file = random.pick(files);
    const text = readFileSync(join(file.parentPath ?? file.path, file.name), "utf8");
    for (const word of text.match(/[A-Za-z_]{3,}/gu) ?? []) words.add(word);
    for (const line of text.split("\n")) if (line.length < 80) lines.add(line);
  }
  return { words: [...words], lines: [...lines] };
}

/** A query such as people ask of code. */
function makeRealQuery(random, { words, lines }) {
  const [one, other] = [random.pick(words), random.pick(words)];
  const escapeRegex = (text) => text.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&");
  const multiline = random.chance(0.4);
  const pattern = multiline
    ? random.pick([
        `${one}[^\\n]*\\n\\s*${other}`,
        `\\{\\n\\s*${one}`,
        `${one}\\(\\n`,
        `;\\n\\n+[a-z]+ ${one}`,
        `${one}\\s+${other}`,
        `(?s)${one}.{0,60}${other}`,
      ])
    : random.pick([
        ...[
          one,
          `${one}\\w*`,
          `^\\s*${one}`,
          `${one}\\s*\\(`,
          `${one}.*${other}`,
          `${one}|${other}`,
          `${one}$`,
        ],
        ...[
          `\\b${one}\\b`,
          escapeRegex(random.pick(lines)) || one,
          `[^a-z]${one}[^a-z]`,
          random.pick(EMPTY_LINE_PATTERNS),
        ],
      ]);
  return {
    pattern,
    multiline,
    case: random.pick(["sensitive", "insensitive", "smart"]),
    word: false,
    before: random.pick([0, 0, 1, 3]),
    after: random.pick([0, 0, 1, 3]),
    output: multiline
      ? random.pick(["content", "content", "files"])
      : random.pick(["content", "content", "count", "files"]),
  };
}

/**
 * Paths are separated by a NUL, so that the files can be put in the order of their paths as wholes: ripgrep
 * sorts name by name, with `a/b` before `a.txt`.
 *
 * @returns {string[] | undefined} the rows; undefined where the pattern does not compile
 */
function askRipgrep(root, query) {
  const flags = ["--no-config", "--no-heading", "-nH", "--sort", "path", "--color", "never", "-uu", "--null"];
  flags.push("--no-context-separator", query.multiline ? "-U" : "--crlf");
  flags.push({ sensitive: "-s", insensitive: "-i", smart: "-S" }[query.case]);
  if (query.word) flags.push("-w");
  if (query.output === "count") flags.push("-c");
  else if (query.output === "files") flags.push("-l");
  else flags.push("-B", String(query.before), "-A", String(query.after));
  const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 };
  const { status, stdout } = spawnSync("rg", [...flags, "-e", query.pattern, "."], options);
  if (status === 2) return undefined;
  const end = query.output === "files" ? "\0" : "\n";
  const rows = stdout.split(end).slice(0, -1);
  const parts = rows.map((row) => {
    const [path, ...rest] = row.replace(/^\.\//u, "").split("\0");
    return { path, rest: rest.join("\0").replace(/\r$/u, "") };
  });
  parts.sort((one, other) => (one.path < other.path ? -1 : Number(one.path > other.path)));
  if (query.output === "files") return parts.map(({ path }) => path);
  if (query.output === "count") return parts.map(({ path, rest }) => `${path}:${rest}`);
  // Behind the number of a line stands the sign that also stands before it.
  return parts.map(({ path, rest }) => `${path}${/^\d+(.)/u.exec(rest)?.[1]}${rest}`);
}

/** @returns {Promise<string[] | undefined>} the rows; undefined where the pattern does not compile */
async function askWorkspace(ws, query) {
  const all = { respect_ignore: false, max_results: 1_000_000, max_line_chars: 0 };
  const result = await ws.call("grep", { ...query, ...all });
  if (!result.ok) return result.error.code === "INVALID_REGEX" ? undefined : [`error: ${result.text}`];
  const { matches, counts, files } = result.data;
  if (files !== undefined) return files;
  if (counts !== undefined) return counts.map(({ path, count }) => `${path}:${count}`);
  return matches.length === 0 ? [] : flatGrepText(result.data, result.text).split("\n");
}

/** @returns {string | undefined} the first difference of two answers */
function differ(theirs, ours) {
  if (JSON.stringify(theirs) === JSON.stringify(ours)) return undefined;
  if (theirs === undefined || ours === undefined)
    return `ripgrep ${theirs?.length ?? "refuses"}, ours ${ours?.length ?? "refuses"}`;
  const at = Array.from(theirs.length > ours.length ? theirs : ours).findIndex(
    (_, row) => theirs[row] !== ours[row],
  );
  const [one, other] = [theirs[at], ours[at]].map((row) => JSON.stringify(row?.slice(0, 120)));
  return `row ${at}: ripgrep ${one} of ${theirs.length}, ours ${other} of ${ours.length}`;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "grep against ripgrep: rows, line numbers and counts of random queries",
  count: 20_000,
  share: 1_200,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    const version = spawnSync("rg", ["--version"], { encoding: "utf8" }).stdout ?? "";
    const major = Number(/ripgrep (\d+)/u.exec(version)?.[1] ?? 0);
    if (major === 0) return { cases: 0, failures: ["ripgrep is not installed"] };
    const failures = [];
    let cases = 0;
    for (const root of REAL_TREES) {
      const text = sample(random, root);
      const ws = await openWorkspace({
        root,
        index: random.pick(["auto", "off"]),
        limits: UNCUT,
      });
      for (let left = Math.ceil((count * REAL_SHARE) / REAL_TREES.length); left > 0 && !isOver(); left--) {
        const query = makeRealQuery(random, text);
        const difference = differ(askRipgrep(root, query), await askWorkspace(ws, query));
        cases += 1;
        if (difference !== undefined) failures.push(`tree ${root}, ${JSON.stringify(query)}: ${difference}`);
      }
      await ws.close();
    }
    while (cases < count && !isOver() && failures.length < MAX_FAILURES) {
      const root = mkdtempSync(join(tmpdir(), "filewright-ripgrep-"));
      const onlyLf = random.chance(0.5);
      makeTree(random, root, onlyLf ? ["\n"] : ["\n", "\r\n", "mixed"]);
      const index = random.pick(["auto", "off"]);
      const ws = await openWorkspace({ root, index, limits: UNCUT });
      let ok = true;
      for (let left = QUERIES_PER_TREE; left > 0 && cases < count; left--) {
        // ripgrep 13 has other word boundaries than later versions.
        const query = makeQuery(random, onlyLf && random.chance(0.5), major >= 14);
        const difference = differ(askRipgrep(root, query), await askWorkspace(ws, query));
        cases += 1;
        if (difference === undefined) continue;
        ok = false;
        failures.push(`tree ${root}, ${JSON.stringify(query)}: ${difference}`);
      }
      await ws.close();
      if (ok) rmSync(root, { recursive: true });
    }
    return { cases, failures };
  },
};
