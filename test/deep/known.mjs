// 64 agents read, write and look for changes in files that other programs write as well.
//
// A case is one step of one agent or program. A model knows what each agent has read. It fails where an answer says
// that a file is unchanged which has changed, or the other way round, and where `stat`, `read_file` or `changes_since`
// miss a change, or tell one that is none.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const AGENTS = 64;
const FILES = 24;
/** The lines of a file, and the texts that they have: few, so that contents come back. */
const [LINES, TEXTS] = [12, 3];

const sha256 = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "64 agents and foreign writers: no false `unchanged`, no missed change",
  count: 10_000,
  share: 400,
  async run({ seed, count, isOver }) {
    const { openWorkspace } = await import("../../dist/cli/library.js");
    const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-known-")));
    const root = join(base, "ws");
    const failures = [];
    let cases = 0;
    try {
      const world = new World(root, seededRandom(seed));
      const ws = await openWorkspace({ root, stateDir: join(base, "state"), knows: true, guard: "off" });
      const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => ws.agent(`agent ${n}`)));
      const known = agents.map(() => new Map());
      while (cases < count && failures.length < 5 && !isOver()) {
        const at = world.below(AGENTS);
        const fault = await world.step(agents[at], known[at]);
        if (fault !== undefined) failures.push(`--seed ${seed}, step ${cases}, agent ${at}: ${fault}`);
        cases += 1;
      }
      await ws.close();
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
    return { cases, failures };
  },
};

/** The files, and the steps. */
class World {
  #root;
  #random;
  /** The content of each file. */
  #files = new Map();
  /** The contents that files had, whose hashes are sent as known. */
  #past = [];

  constructor(root, random) {
    this.#root = root;
    this.#random = random;
    mkdirSync(root);
    for (let n = 0; n < FILES; n++) this.#write(`file-${n}.txt`, this.#content());
  }

  below(most) {
    return this.#random.below(most);
  }

  #content() {
    return Array.from({ length: LINES }, (_, n) => `${n} text ${this.below(TEXTS)}\n`).join("");
  }

  /** Returns a content with one line of another text, or one line fewer. */
  #edited(content) {
    const lines = content.split(/(?<=\n)/u);
    const at = this.below(lines.length);
    if (this.below(8) === 0) lines.splice(at, 1);
    else lines[at] = `${at} text ${this.below(TEXTS)}\n`;
    return lines.join("");
  }

  #set(name, content) {
    this.#files.set(name, content);
    this.#past.push(content);
  }

  #write(name, content) {
    writeFileSync(join(this.#root, name), content);
    this.#set(name, content);
  }

  /** Makes one step; `known` has the contents that the agent has read. Returns what is wrong. */
  async step(agent, known) {
    const name = `file-${this.below(FILES)}.txt`;
    const now = this.#files.get(name);
    const steps = [
      () => this.#foreign(name, now),
      () => this.#foreign(name, now),
      () => this.#read(agent, known, name),
      () => this.#read(agent, known, name),
      () => this.#readKnown(agent, known, name),
      () => this.#look(agent, known, name),
      () => this.#writeBy(agent, known, name),
      () => this.#changes(agent, known),
    ];
    return steps[this.below(steps.length)]();
  }

  /** Another program writes, at times with the times of the file before, or the same content again. */
  #foreign(name, now) {
    const path = join(this.#root, name);
    const { atime, mtime } = statSync(path);
    this.#write(name, this.below(6) === 0 ? now : this.#edited(now));
    if (this.below(3) === 0) utimesSync(path, atime, mtime);
    return undefined;
  }

  #wrongChanged(known, name, changed) {
    const before = known.get(name);
    const isChanged = before !== undefined && before !== this.#files.get(name);
    if (isChanged === (changed !== undefined)) return undefined;
    return isChanged ? `${name}: a change was missed` : `${name}: '${changed}' is no change`;
  }

  async #read(agent, known, name) {
    const data = await agent.readFile({ path: name });
    const fault = this.#wrongChanged(known, name, data.changed);
    known.set(name, this.#files.get(name));
    return fault ?? (data.content === this.#files.get(name) ? undefined : `${name}: another content`);
  }

  async #readKnown(agent, known, name) {
    const content = this.below(2) === 0 ? this.#files.get(name) : this.#past[this.below(this.#past.length)];
    const data = await agent.readFile({ path: name, known_hash: sha256(content) });
    const isUnchanged = content === this.#files.get(name);
    if (data.unchanged !== true) known.set(name, this.#files.get(name));
    if ((data.unchanged === true) !== isUnchanged) return `${name}: unchanged is ${data.unchanged}`;
    return undefined;
  }

  async #look(agent, known, name) {
    return this.#wrongChanged(known, name, (await agent.stat({ path: name })).changed);
  }

  async #writeBy(agent, known, name) {
    const content = this.#edited(this.#files.get(name));
    await agent.writeFile({ path: name, content });
    this.#set(name, content);
    known.set(name, content);
    return undefined;
  }

  async #changes(agent, known) {
    const { files } = await agent.changesSince({ max_tokens: 100_000 });
    const told = files.map(({ path }) => path).sort();
    const changed = [...known].filter(([name, content]) => content !== this.#files.get(name));
    const wanted = changed.map(([name]) => name).sort();
    if (told.join() !== wanted.join()) return `changes of ${told.join(", ")}; they are ${wanted.join(", ")}`;
    // What is shown counts as read.
    for (const { path, first_line: rest } of files)
      if (rest === undefined) known.set(path, this.#files.get(path));
    return undefined;
  }
}
