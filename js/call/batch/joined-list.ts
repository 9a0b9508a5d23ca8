/**
 * The operations of a batch as one list, which the disk makes in one job. They are one where nobody was asked, each is
 * planned as a list of its own and changes nothing that another one names, and all together are a list (`listedChanges`): in
 * its turn each would be the same change. Every other batch is made operation by operation, and so is one whose list failed
 * and was taken back.
 */
import { shortcutsOf } from "../../backends/abilities.ts";
import { isWithin } from "../../backends/paths.ts";
import type {
  CommitList,
  ListedChange,
  ListOptions,
  ListOutcome,
} from "../../backends/transaction/recorded-list.ts";
import { applyGuarded } from "../../pipeline/guard.ts";
import type { Change } from "../../tools/change/change.ts";
import { listedChanges } from "../../tools/change/list.ts";
import type { AnyChangingTool, Answer, Call, Proposal } from "../../tools/lib/tool.ts";
import { approvedOf, judgedOf, type Operation } from "./operations.ts";

/** One operation of a joined list. */
interface Part {
  readonly operation: Operation;
  readonly plan: Proposal<unknown>;
  readonly call: Call;
  /** The index of its first change in the list. */
  readonly from: number;
}

/** The operations of a batch as one list. */
export interface JoinedList {
  readonly parts: readonly Part[];
  readonly list: readonly ListedChange[];
}

/** The answers of operations that are made. */
type Answers = ReadonlyMap<Operation, Answer<unknown>>;

/**
 * Returns operations as one list, made of the plans of their trial; undefined where they cannot be one. The plans were made
 * without a lock, as that of a single call, and their changes carry the versions that were read.
 */
export function joinOperations(operations: readonly Operation[]): JoinedList | undefined {
  const parts: Part[] = [];
  const changes: Change[] = [];
  for (const operation of operations) {
    const { call: judged, admitted } = judgedOf(operation);
    const fs = admitted.view();
    // A view of less than all files makes its changes itself.
    if (operation.tool.kind !== "change" || shortcutsOf(fs).recordedList() === undefined) return undefined;
    const call: Call = { ...judged, fs };
    const plan = approvedOf(operation)?.plan;
    if (plan?.kind !== "changes") return undefined;
    parts.push({ operation, plan, call, from: changes.length });
    changes.push(...plan.changes);
  }
  const list = listedChanges(changes);
  return list === undefined || !areIndependent(parts) ? undefined : { parts, list };
}

/** Makes a joined list: `commit` makes the whole list, of which each operation gets the results of its changes. Returns the answers of its operations. @throws the error of one of them */
export async function makeJoined({ parts }: JoinedList, commit: CommitList): Promise<Answers> {
  const joint = new JointCommit(parts, commit);
  const running: Promise<Answer<unknown>>[] = [];
  for (const [at, part] of parts.entries()) {
    const one = makePart(part, joint.commitOf(at, running.at(-1)));
    one.catch((error: unknown) => joint.fail(error));
    running.push(one);
  }
  const made = await Promise.allSettled(running);
  const answers = new Map<Operation, Answer<unknown>>();
  for (const [at, { operation }] of parts.entries()) {
    const one = made[at] as PromiseSettledResult<Answer<unknown>>;
    if (one.status === "rejected") throw one.reason;
    answers.set(operation, one.value);
  }
  return answers;
}

function makePart({ operation, plan, call }: Part, commit: CommitList): Promise<Answer<unknown>> {
  const { meant } = operation;
  const tool = operation.tool as AnyChangingTool;
  const change = { ...judgedOf(operation), tool, args: meant.args, call: { ...call, commit } };
  return applyGuarded(change, plan);
}

/**
 * The commit of a joined list: it is made once all operations have passed their checks, of which each asks for it once or
 * fails. Their options are the same.
 */
class JointCommit {
  readonly #parts: readonly Part[];
  readonly #made: Promise<ListOutcome>;
  #begin: (options: ListOptions) => void = () => undefined;
  #refuse: (error: unknown) => void = () => undefined;
  #waiting = 0;

  constructor(parts: readonly Part[], commit: CommitList) {
    this.#parts = parts;
    const begun = new Promise<ListOptions>((begin, refuse) => {
      this.#begin = begin;
      this.#refuse = refuse;
    });
    this.#made = begun.then(commit);
    // The operations that wait for it report its error; there may be none.
    this.#made.catch(() => undefined);
  }

  /** Lets the operations that wait fail, because one of them has. */
  fail(error: unknown): void {
    this.#refuse(error);
  }

  /**
   * Returns the commit of one operation, which is done when the whole list is, and the operation before it has ended: they
   * take their notes one after the other.
   */
  commitOf(at: number, before: Promise<unknown> | undefined): CommitList {
    return async (options) => {
      this.#waiting += 1;
      if (this.#waiting === this.#parts.length) this.#begin(options);
      const made = await this.#made;
      await before?.catch(() => undefined);
      const { from, plan } = this.#parts[at] as Part;
      const count = plan.changes.length;
      if ("results" in made) return { results: made.results.slice(from, from + count) };
      if (made.at >= from && made.at < from + count) return { at: made.at - from, error: made.error };
      throw made.error;
    };
  }
}

/** Returns true where no operation changes what another one names, nor anything above or below it. */
function areIndependent(parts: readonly Part[]): boolean {
  const changed = parts.map(({ plan }) => plan.changes.flatMap(changedBy));
  const named = parts.map(({ call, plan }) => [
    ...call.locations.map(({ path }) => path),
    ...plan.changes.flatMap(namedBy),
  ]);
  return changed.every((own, at) =>
    named.every((others, other) => at === other || !own.some((path) => meets(path, others))),
  );
}

function changedBy(change: Change): readonly string[] {
  if (change.do === "put") return [change.path, change.target];
  return change.do === "move" ? [change.path, change.from] : [change.path];
}

function namedBy(change: Change): readonly string[] {
  return change.do === "copy" ? [change.path, change.from] : changedBy(change);
}

function meets(path: string, others: readonly string[]): boolean {
  return others.some((other) => isWithin(path, other) || isWithin(other, path));
}
