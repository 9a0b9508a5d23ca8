// Measures searches of contents in this process, confined to a root, against a ripgrep process.
import { compareShortCalls, compareLongRuns, assertSameResult } from "../lib/measure.mjs";
import { makeLinuxTree, makeSmallTree } from "../lib/corpora.mjs";
import { runRipgrep } from "../lib/ripgrep.mjs";

export const title =
  "grep: complete results as objects, against a ripgrep 15 process whose output is collected";

const namedQueries = (full) => [
  ["a rare literal", full ? "pm_runtime_get_if_in_use" : "tryGetModuleNameFromFile", { regex: false }],
  ["a literal that is nowhere", "zqxj_absent_everywhere", { regex: false }],
  ["an identifier as a word", full ? "ext4_inode_info" : "createProgram", { word: true, regex: false }],
  ["letters of either case", full ? "PM_Resume" : "TYPESCRIPT", { case: "insensitive", regex: false }],
  [
    "alternatives",
    full ? "EXPORT_SYMBOL_NS|kmem_cache_zalloc|usb_put_intf" : "isAsyncIterable|emitHelper|subMonths",
  ],
  [
    "a regex with a literal",
    full ? "static\\s+int\\s+\\w+_probe\\(struct usb_" : "function\\s+is\\w+Declaration\\(",
  ],
  ["a regex without one", "[0-9]{4}-[0-9]{2}-[0-9]{2}"],
  ["a class of letters", "[A-Z][a-z]+[A-Z]{3}[a-z]+"],
  [
    "lines of one kind of file",
    full ? "MODULE_LICENSE" : "export declare",
    { glob: full ? "*.c" : "*.d.ts" },
  ],
  ["a common word", "return", { regex: false }],
];

function ripgrepArguments([, pattern, options = {}]) {
  return [
    ...(options.regex === false ? ["--fixed-strings"] : []),
    ...(options.word ? ["--word-regexp"] : []),
    ...(options.case === "insensitive" ? ["--ignore-case"] : []),
    ...(options.glob ? [`--glob=${options.glob}`] : []),
    "--no-heading",
    "--with-filename",
    "--line-number",
    "-e",
    pattern,
    ".",
  ];
}

export async function* rows({ load, full }) {
  const { LocalBackend, SandboxPolicy } = await load("index.node.js");
  const tree = full ? makeLinuxTree() : makeSmallTree();
  const backend = new LocalBackend({ policy: SandboxPolicy.readOnly(tree) });
  const grep = (pattern, options) => backend.grep(tree, { pattern, maxLineChars: 0, ...options });

  for (const query of namedQueries(full)) {
    const [name, pattern, options] = query;
    const ours = async () => (await grep(pattern, options)).matches;
    const peer = () => runRipgrep(tree, ripgrepArguments(query));
    const found = await ours();
    assertSameLines(name, found, await peer());
    const rounds = found.length > 100_000 ? 3 : 5;
    yield {
      name: `${name} (${found.length.toLocaleString("en")})`,
      goal: 1 / 1.2,
      ...(await compareLongRuns(ours, peer, { rounds })),
    };
  }
  const limited = () => grep("return", { regex: false, maxResults: 100 });
  assertSameResult("hits", (await limited()).matches.length, 100);
  const all = ripgrepArguments(["", "return", { regex: false }]);
  const complete = await compareLongRuns(limited, () => runRipgrep(tree, all), { rounds: 3 });
  yield { name: "a common word, limit 100", goal: 50, peer: "ripgrep to its end", ...complete };
  const killed = await compareShortCalls(limited, () => runRipgrep(tree, all, { lines: 100 }), { rounds: 3 });
  yield { name: "a common word, limit 100", peer: "ripgrep killed after 100 lines", ...killed };
}

/** Fails if the matching lines differ. Their order is ignored, because ripgrep's varies. */
function assertSameLines(name, matches, output) {
  const ours = matches.map(({ path, line, text }) => `${path}:${line}:${text}`).sort();
  const theirs = output
    .split("\n")
    .filter((line) => line !== "" && !/: binary file matches|WARNING: stopped searching binary/.test(line))
    .map((line) => line.replace(/^\.\//, "").replace(/\r$/, ""))
    .sort();
  const missing = someMissingLines(theirs, ours);
  const extra = someMissingLines(ours, theirs);
  assertSameResult(
    `lines of "${name}"`,
    { count: ours.length, missing, extra },
    { count: theirs.length, missing: [], extra: [] },
  );
}

function someMissingLines(from, other) {
  const known = new Set(other);
  return from.filter((line) => !known.has(line)).slice(0, 3);
}
