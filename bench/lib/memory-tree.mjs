// Ten thousand files in memory, and a workspace over them that is searched for
// identifiers. No Node here: a page in Chromium runs it as well.

/** What a search for an identifier may take when it is not the first (milliseconds). */
export const WARM_MS = 5;
const FILES = 10_000;
const ROUNDS = 60;

const WORDS = ["order", "client", "retry", "stream", "header", "buffer", "token", "cursor", "model", "route"];
const word = (n) => WORDS[n % WORDS.length];
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The identifier that a file defines, and the one after it uses. */
const named = (i) => `${word(i)}${capital(word(i * 7 + 3))}${(i * 7919) % 99_991}`;

/** Files by path: 2.5 kB of program text each, in directories of fifty. */
export function tree() {
  const files = {};
  for (let i = 0; i < FILES; i++) {
    const lines = [`import { ${named(i + 1)} } from "./next";`, `export function ${named(i)}(options) {`];
    for (let n = 0; n < 50; n++)
      lines.push(
        `  const ${word(n)}${(i * 31 + n * 17) % 997} = compute(${(n * 7919) % 9973}, options.${word(i + n)});`,
      );
    files[`/src/part${Math.floor(i / 500)}/room${Math.floor(i / 50)}/file${i}.ts`] =
      `${lines.join("\n")}\n}\n`;
  }
  return files;
}

/** Times of warm searches, and of searches that read every file. Milliseconds. */
export async function searches({ MemoryBackend, openWorkspace, grepBackend }) {
  const backend = new MemoryBackend(tree());
  const workspace = await openWorkspace({ backend, root: "/" });
  const timed = async (search) => {
    const begun = performance.now();
    const { matches } = await search();
    const took = performance.now() - begun;
    if (matches.length !== 2) throw new Error(`found in ${matches.length} lines instead of two`);
    return took;
  };
  const ours = (i) => timed(() => workspace.grep({ pattern: named(i) }));
  const all = (i) => timed(() => grepBackend(backend, "/", { pattern: named(i), index: "off" }));
  try {
    // The second search signs what it reads. Then V8 has its time to optimise.
    for (let i = 1; i < 40; i++) await ours(i * 3);
    const samples = [];
    for (let i = 1; i <= ROUNDS; i++) samples.push(await ours(i * 151 + 2));
    return { ours: samples, peer: [await all(5), await all(7), await all(9)] };
  } finally {
    await workspace.close();
  }
}
