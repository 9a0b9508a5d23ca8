// Errors injected into the system calls of a change: the change is made or not, and the answer is true.
//
// A case: a program makes a change under strace, which injects an errno into the n-th call of one name in each thread, or
// into every one from there on. The answer is compared with the tree: after an answer without an error the change is there;
// after an error everything is as before, or the error names the paths that could not be restored. Then this process opens
// the same state and recovers from the record that the change has left, if any: the tree is as before or as after, with no
// temporary file. The history has no change that is not there, and has one that the answer says can be undone. If the change
// is there, its undo gives the tree before; if not, making it again succeeds.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { CHANGES, changeOf } from "./faults/changes.mjs";
import { Case } from "./faults/check.mjs";
import { ERRORS } from "./faults/errors.mjs";
import { CaseDirectory } from "./faults/case-directory.mjs";
import { countsOf, Program, traced } from "./faults/traced.mjs";

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "errors of the system calls of a change: it is made or not, and the answer is true",
  count: 20_000,
  share: 12,
  takes: "a case as a failure printed it",
  async run({ seed, count, operand, isOver }) {
    if (spawnSync("strace", ["-V"]).status !== 0) return { cases: 0, failures: ["strace is not installed"] };
    const run = new Run(seededRandom(seed));
    try {
      if (operand !== undefined) await run.replay(JSON.parse(operand));
      else await run.many(count, isOver);
    } finally {
      await run.close();
    }
    console.log(run.summary());
    return { cases: run.cases, failures: run.failures };
  },
};

/** The errors after which a call is repeated. They are injected once only, since the repetitions would never end. */
const RETRIED = new Set(["EINTR", "EAGAIN"]);
const DISKS = ["native", "native", "node"];
const DURABILITIES = ["atomic", "durable", "none"];
/** The number of cases of one setting before another is drawn. */
const CASES_PER_SETTING = 40;
/** The number of times that a given case is made. */
const TURNS_OF_A_CASE = 50;
/** The number of cases after which a program is replaced, whatever they may have left in it. */
const CASES_PER_PROGRAM = 200;

class Run {
  cases = 0;
  failures = [];
  #random;
  #program;
  #used = 0;
  #surveys = new Map();
  #outcomes = new Map();

  constructor(random) {
    this.#random = random;
  }

  /** Makes cases of one change after another, each time in another setting. */
  async many(count, isOver) {
    const most = Math.min(CASES_PER_SETTING, Math.ceil(count / 4));
    let kinds = [];
    do {
      if (kinds.length === 0) kinds = this.#random.shuffle([...Object.keys(CHANGES), ...this.#batches()]);
      const setting = this.#setting(kinds.pop());
      const { counts } = await this.#survey(setting);
      const calls = [...counts].filter(([call]) => call in ERRORS);
      for (let turn = 0; turn < most && this.cases < count && !isOver(); turn++)
        await this.one({ ...setting, ...this.#fault(this.#random.pick(calls)) });
    } while (this.cases < count && !isOver());
  }

  /** Draws one of the moments of a call, and how it fails. */
  #fault([call, moments]) {
    const errno = this.#random.pick(ERRORS[call]);
    const on = !RETRIED.has(errno) && this.#random.chance(0.3);
    return { call, n: 1 + this.#random.below(moments), errno, on };
  }

  /**
   * Makes a printed case several times: strace counts by thread, and which thread makes a call varies, so that one run may
   * miss the fault.
   */
  async replay(one) {
    for (let turn = 0; turn < TURNS_OF_A_CASE && this.failures.length === 0; turn++) await this.one(one);
  }

  #batches() {
    return Array.from({ length: 12 }, () => `batch:${this.#random.below(2 ** 31)}`);
  }

  #setting(kind) {
    const { first, mark, disk } = changeOf(kind);
    const needsHistory = first !== undefined || mark === true;
    return {
      kind,
      disk: disk ?? this.#random.pick(DISKS),
      durability: this.#random.pick(DURABILITIES),
      history: needsHistory || this.#random.chance(0.8),
    };
  }

  /** Makes one case: a setting, the name of the system call, which of them fails, its error, and whether all after it do. */
  async one({ call, n, errno, on, ...setting }) {
    const { after } = await this.#survey(setting);
    const when = on ? `${n}+` : `${n}`;
    const filters = [`trace=${call}`, `inject=${call}:error=${errno}:when=${when}`];
    const what = JSON.stringify({ ...setting, call, n, errno, on });
    const place = new CaseDirectory(changeOf(setting.kind));
    try {
      const made = await this.#make(place, setting, filters);
      const injected = made.lines.filter((line) => line.includes("(INJECTED)"));
      const shown = injected.slice(0, 4).map((line) => line.slice(0, 300));
      // strace does not make a call that it injects an error into: a failed close leaves a descriptor, and with it a lock.
      if (call === "close" && injected.length > 0) await this.#end();
      const check = new Case(
        place,
        { ...setting, on },
        { after, made: { ...made, injected }, endProgram: () => this.#end() },
      );
      const wrong = await check.run();
      this.#count(injected.length === 0 ? "without a fault" : made.answer.ok ? "made" : "refused");
      if (wrong.length > 0)
        this.#fail([what, ...wrong, `answer ${JSON.stringify(made.answer).slice(0, 600)}`, ...shown]);
    } finally {
      place.remove();
    }
    this.cases++;
  }

  #fail(lines) {
    this.failures.push(lines.join("\n  "));
  }

  #count(name) {
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + 1);
  }

  /** Makes a change without a fault, once for each setting. Returns what it leaves, and its system calls. */
  async #survey(setting) {
    const key = JSON.stringify(setting);
    const known = this.#surveys.get(key);
    if (known !== undefined) return known;
    const place = new CaseDirectory(changeOf(setting.kind));
    try {
      const made = await this.#make(place, setting, ["trace=%file,%desc"]);
      if (made.answer.ok !== true) throw new Error(`${key} failed: ${JSON.stringify(made)}`.slice(0, 2000));
      const survey = { counts: countsOf(made.lines), after: place.tree() };
      this.#surveys.set(key, survey);
      return survey;
    } finally {
      place.remove();
    }
  }

  /** Makes the change of a setting under strace. Returns the trees before and after it, the answers, and the trace. */
  async #make(place, setting, filters) {
    const change = changeOf(setting.kind);
    const program = await this.#ready(setting);
    const opened = await program.ask(openOf(place, setting));
    if (opened.opened !== true) throw new Error(`not opened: ${JSON.stringify(opened)}`);
    const before = place.tree();
    let answer;
    let tree;
    let closed;
    const lines = await traced(program, join(place.base, "trace"), filters, async () => {
      answer = await program.ask({ change: change.call });
      tree = place.tree();
      closed = await program.ask({ close: true });
    });
    return { before, answer, tree, closed, lines };
  }

  /** Returns a program that has loaded the modules of a change. */
  async #ready({ kind, disk }) {
    if (this.#used >= CASES_PER_PROGRAM) await this.#end();
    this.#used++;
    this.#program ??= new Program();
    const program = this.#program;
    const shape = `${disk} ${kind.split(":")[0]}`;
    if (program.warm.has(shape)) return program;
    program.warm.add(shape);
    const change = changeOf(kind);
    const place = new CaseDirectory(change);
    const setting = { kind, disk, durability: "atomic", history: true };
    for (const command of [openOf(place, setting), { change: change.call }, { close: true }])
      await program.ask(command);
    place.remove();
    return program;
  }

  async #end() {
    await this.#program?.kill();
    this.#program = undefined;
    this.#used = 0;
  }

  summary() {
    return [...this.#outcomes].map(([name, count]) => `${name} ${count}`).join(", ");
  }

  close() {
    return this.#end();
  }
}

function openOf({ root, stateDir }, { kind, disk, durability, history }) {
  return { open: { options: { disk, root, stateDir, durability, history }, change: changeOf(kind) } };
}
