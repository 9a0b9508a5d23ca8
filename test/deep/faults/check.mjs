// The checks of a change whose system calls have failed.
import { changeOf } from "./changes.mjs";
import { differences, isTemporary, openCase } from "./case-directory.mjs";
import { make } from "./program.mjs";

const TEMPORARY = /\.filewright-/u;

/** The tools whose interrupted changes the next process takes back as a whole. */
const TAKEN_BACK_AS_A_WHOLE = new Set(["batch", "apply_patch", "undo", "rewind"]);
/** The calls by which an entry is looked at before it is removed. */
const LOOKS = /stat|open|getdents|readlink|fcntl/u;
/**
 * The reasons of errors after which the change may stay: its flush failed, or a file has two names. With a record it is
 * taken back at once, or by the next process where that fails; without a history there is no record.
 */
const MAY_STAY_REASONS = new Set(["flush", "two_names"]);

/** The check of one case. */
export class Case {
  #place;
  #setting;
  #after;
  #made;
  #endProgram;
  #wrong = [];

  /** `made` is what `Run` has seen of the change; `endProgram` ends the program that made it. */
  constructor(place, setting, { after, made, endProgram }) {
    this.#place = place;
    this.#setting = setting;
    this.#after = after;
    this.#made = made;
    this.#endProgram = endProgram;
  }

  /** Returns what is wrong. */
  async run() {
    const { answer, closed, tree } = this.#made;
    if (answer.ok !== true && answer.error === undefined) {
      this.#wrong.push(`no answer: ${JSON.stringify(answer).slice(0, 1000)}`);
      await this.#endProgram();
    } else this.#checkAnswer();
    if (closed.closed !== true) this.#wrong.push(`not closed: ${JSON.stringify(closed).slice(0, 1000)}`);
    if (closed.closed !== true || Object.keys(tree).some(isTemporary) || this.#needsRecovery())
      await this.#endProgram();
    await this.#checkNext();
    return this.#wrong;
  }

  #needsRecovery() {
    return this.#made.answer.error?.details?.rolled_back === false || this.#place.openRecords().length > 0;
  }

  #expect(tree, expected, when) {
    const paths = differences(tree, expected);
    const shown = paths.map((path) => `${path}: ${tree[path]} instead of ${expected[path]}`).join("; ");
    if (paths.length > 0) this.#wrong.push(`${when}: ${shown.slice(0, 600)}`);
    return paths.length === 0;
  }

  /** Compares the answer with the tree. */
  #checkAnswer() {
    const { answer, before, tree } = this.#made;
    if (answer.ok) {
      this.#expect(tree, this.#after, "answered as made");
      return;
    }
    const { rolled_back, not_restored = [], reason } = answer.error.details ?? {};
    // Without a record, such a change stays, and the error says so.
    if (MAY_STAY_REASONS.has(reason) && !this.#setting.history) return;
    if (rolled_back !== false) {
      this.#expect(tree, before, "answered as not made");
      return;
    }
    const unnamed = this.#unnamed(tree);
    if (unnamed.length > 0) this.#wrong.push(`told ${not_restored}, and left ${unnamed}`);
  }

  /** Returns the paths at which a tree differs from the one before, and that the error has not named. */
  #unnamed(tree) {
    const { before, answer } = this.#made;
    const named = answer.error.details.not_restored.map((path) => path.replace(`${this.#place.root}/`, ""));
    const isNamed = (path) =>
      named.some((one) => one === path || path.startsWith(`${one}/`) || one.startsWith(`${path}/`));
    return differences(tree, before).filter((path) => !isNamed(path));
  }

  /** Opens the state in this process, and compares what is there then. */
  async #checkNext() {
    const { root, stateDir } = this.#place;
    const { kind, on, ...options } = this.#setting;
    const ws = await openCase({ ...options, root, stateDir });
    try {
      this.#checkRecovery(ws.recovery, on);
      const { isThere, isAsExpected } = this.#found(kind);
      const records = this.#place.openRecords();
      if (records.length > 0) this.#wrong.push(`records are left: ${records}`);
      if (isAsExpected && options.history) await this.#checkHistory(ws, isThere);
      if (isAsExpected && !isThere) await this.#makeAgain(ws, changeOf(kind));
      await this.#checkLeft(ws);
    } finally {
      await ws.close();
    }
  }

  #checkRecovery(recovery, on) {
    const { conflicts, problem, damaged, ignored } = recovery;
    // With `on`, the rollback of the program may have stopped half-way: the recovery then takes its steps for changes of others.
    const isConflict = conflicts.length > 0 && !on;
    if (isConflict || problem !== undefined || damaged > 0 || ignored > 0)
      this.#wrong.push(`the recovery: ${JSON.stringify(recovery)}`);
  }

  /** Compares the tree after the recovery. Returns whether the change is there, and whether the tree is as expected. */
  #found(kind) {
    const { answer, before } = this.#made;
    const tree = this.#place.tree();
    const { rolled_back, reason } = answer.error?.details ?? {};
    // A change may keep its first step if the rollback failed, as after a crash; the error must have said so.
    const isTold = answer.error === undefined || rolled_back === false || MAY_STAY_REASONS.has(reason);
    const isThere = answer.ok === true || (isTold && differences(tree, before).length > 0);
    const expected = isThere ? this.#after : before;
    const mayBeHalf = rolled_back === false && !TAKEN_BACK_AS_A_WHOLE.has(changeOf(kind).call.tool);
    const isAsExpected =
      mayBeHalf && this.#unnamed(tree).length === 0
        ? differences(tree, expected).length === 0
        : this.#expect(tree, expected, "after the recovery");
    return { isThere, isAsExpected };
  }

  /**
   * Writes a file beside each temporary entry, by which the workspace removes the entries of ended processes, and reports
   * those that remain.
   */
  async #checkLeft(ws) {
    const temporary = () => Object.keys(this.#place.tree()).filter(isTemporary);
    const above = new Set(temporary().map((path) => path.slice(0, path.search(TEMPORARY))));
    for (const directory of above) await ws.call("write_file", { path: `${directory}probe`, content: "" });
    const left = temporary().filter((path) => !this.#isKnown(path));
    if (left.length > 0) this.#wrong.push(`temporary entries are left: ${left}`);
  }

  /**
   * Returns true for an entry that was set aside, and whose removal the fault may have prevented: a sweep removes it after
   * seven days. That is not decided exactly: any failed removal counts, and with `on` every fault.
   */
  #isKnown(path) {
    const aside = /\.filewright-[^/]*-kept/u.exec(path)?.[0];
    const isOfRemoval = (line) => /unlink|rmdir/u.test(line) || (LOOKS.test(line) && line.includes(aside));
    return aside !== undefined && (this.#setting.on || this.#made.injected.some(isOfRemoval));
  }

  /** Compares the history with the tree, and takes back a change that can be undone. */
  async #checkHistory(ws, isThere) {
    const { answer, before } = this.#made;
    const { first = [], settled = [] } = changeOf(this.#setting.kind);
    const history = await ws.history();
    const added = history.length - first.length - settled.length;
    if (added !== 0 && added !== (isThere ? 1 : 0))
      this.#wrong.push(`the history has ${history.length} changes`);
    if (!isThere || answer.meta?.undoable === false) return;
    if (answer.meta?.undoable === true && history[0]?.callId !== answer.meta.call_id)
      this.#wrong.push(`the history begins with ${JSON.stringify(history[0])}`);
    else if (added > 0) {
      await ws.undo(history[0].callId);
      this.#expect(this.#place.tree(), before, "after the undo");
    }
  }

  /** Makes a change that was refused. */
  async #makeAgain(ws, { call, first }) {
    const history = first === undefined ? [] : await ws.history();
    const { ok, text, error } = await make(ws, call, history.map(({ callId }) => callId).reverse());
    if (ok) this.#expect(this.#place.tree(), this.#after, "made again");
    else this.#wrong.push(`not made again: ${text ?? JSON.stringify(error)}`);
  }
}
