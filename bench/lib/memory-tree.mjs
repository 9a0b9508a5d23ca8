// Measures searches for identifiers in a workspace of ten thousand files in memory. Uses nothing of
// Node, because a page in Chromium runs it too.

/** The maximum time of a search for an identifier that is not the first one, in milliseconds. */
export const MAX_WARM_SEARCH_MS = 5;
const FILE_COUNT = 10_000;
const ROUND_COUNT = 60;

const IDENTIFIER_WORDS = [
  "order",
  "client",
  "retry",
  "stream",
  "header",
  "buffer",
  "token",
  "cursor",
  "model",
  "route",
];
const wordByNumber = (n) => IDENTIFIER_WORDS[n % IDENTIFIER_WORDS.length];
const capitalize = (text) => text[0].toUpperCase() + text.slice(1);

/** Returns the identifier that the file with this number defines and the one before it imports. */
const identifierOfFile = (i) =>
  `${wordByNumber(i)}${capitalize(wordByNumber(i * 7 + 3))}${(i * 7919) % 99_991}`;

/** Returns the files by their paths: 2.5 kB of program text each, fifty in a directory. */
export function generateFiles() {
  const files = {};
  for (let i = 0; i < FILE_COUNT; i++) {
    const lines = [
      `import { ${identifierOfFile(i + 1)} } from "./next";`,
      `export function ${identifierOfFile(i)}(options) {`,
    ];
    for (let n = 0; n < 50; n++)
      lines.push(
        `  const ${wordByNumber(n)}${(i * 31 + n * 17) % 997} = compute(${(n * 7919) % 9973}, options.${wordByNumber(i + n)});`,
      );
    files[`/src/part${Math.floor(i / 500)}/room${Math.floor(i / 50)}/file${i}.ts`] =
      `${lines.join("\n")}\n}\n`;
  }
  return files;
}

/**
 * Returns the times in milliseconds of searches with an index (`ours`), and of searches that read
 * every file (`peer`).
 */
export async function measureSearches({ MemoryBackend, openWorkspace, grepBackend }) {
  const backend = new MemoryBackend(generateFiles());
  const workspace = await openWorkspace({ backend, root: "/" });
  const timed = async (search) => {
    const begun = performance.now();
    const { matches } = await search();
    const took = performance.now() - begun;
    if (matches.length !== 2) throw new Error(`found in ${matches.length} lines instead of two`);
    return took;
  };
  const ours = (i) => timed(() => workspace.grep({ pattern: identifierOfFile(i) }));
  const all = (i) => timed(() => grepBackend(backend, "/", { pattern: identifierOfFile(i), index: "off" }));
  try {
    // The second search builds the index. Further ones let V8 optimise the code.
    for (let i = 1; i < 40; i++) await ours(i * 3);
    const samples = [];
    for (let i = 1; i <= ROUND_COUNT; i++) samples.push(await ours(i * 151 + 2));
    return { ours: samples, peer: [await all(5), await all(7), await all(9)] };
  } finally {
    await workspace.close();
  }
}
