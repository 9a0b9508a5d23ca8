/** The approvals of an agent in records: one record for each approval, so that it holds in every process that reads it. */
import type { GlobBases } from "../policy/rule-globs.ts";
import { FilewrightError } from "../engine/errors.ts";
import { isPlainName } from "../records/names.ts";
import { type KeptRecords, type ListedRecord, listAll } from "../records/records.ts";
import type { LastingOutcome } from "./scope/offer.ts";
import { type ApprovalScope, compileStoredScope, type ScopedWork, type ScopeMatcher } from "./scope/scope.ts";

/** An approval that lasts beyond its call. */
export interface Approval {
  /** The id that `revoke` takes. */
  readonly id: string;
  /** The outcome that it allows. */
  readonly outcome: LastingOutcome;
  /** Which calls it covers. */
  readonly scope: ApprovalScope;
  /** The turn with which it ends, when its scope says `turn`. */
  readonly turn?: string;
  /** A description of the scope. */
  readonly label: string;
  /** When it was given, in ISO 8601. */
  readonly granted_at: string;
  /** When it ends, in ISO 8601; absent when no time ends it. */
  readonly expires?: string;
  /** The person who gave it. */
  readonly by?: string;
}

/** Records in which approvals are kept. */
export interface ApprovalPlace {
  readonly records: KeptRecords;
  /** Returns the kind of the records of an agent. The workspace itself is the agent `""`. */
  kindOf(agent: string): string;
}

/** An approval as it was read, with its scope once that was compiled. */
interface KnownApproval {
  readonly approval: Approval;
  readonly rev: string;
  matcher?: ScopeMatcher;
}

/** The approvals of one agent in one place, as they were when they were read last. */
export class ApprovalList {
  readonly #records: KeptRecords;
  readonly #kind: string;
  readonly #now: () => number;
  readonly #bases: GlobBases | undefined;
  #known: readonly KnownApproval[] = [];

  constructor(
    { records, kindOf }: ApprovalPlace,
    agent: string,
    now: () => number,
    bases: GlobBases | undefined,
  ) {
    this.#records = records;
    this.#kind = kindOf(agent);
    this.#now = now;
    this.#bases = bases;
  }

  /** Reads what other processes have approved or revoked. */
  async load(): Promise<void> {
    const found = await listAll(this.#records, this.#kind);
    const before = new Map(this.#known.map((known, place) => [known.approval.id, { known, place }]));
    const placeOf = ({ approval }: KnownApproval): number => before.get(approval.id)?.place ?? before.size;
    this.#known = found
      .flatMap((record) => knownOf(record, before.get(record.id)?.known) ?? [])
      .sort((one, other) => timeOf(one) - timeOf(other) || placeOf(one) - placeOf(other));
  }

  /** Forgets what was read, so that it allows nothing. */
  forget(): void {
    this.#known = [];
  }

  /** Returns the approvals that have not ended, the oldest first. */
  inForce(): readonly Approval[] {
    return this.#known.map(({ approval }) => approval).filter((one) => this.#isInForce(one));
  }

  /** Returns the first approval that has not ended, is usable and whose scope covers some work; undefined for none. */
  covering(work: ScopedWork, isUsable: (approval: Approval) => boolean): Approval | undefined {
    return this.#known.find(
      (one) => this.#isInForce(one.approval) && isUsable(one.approval) && this.#matcherOf(one)(work),
    )?.approval;
  }

  /** Returns an approval that was read; undefined if there is none with this id. */
  find(id: string): Approval | undefined {
    return this.#known.find(({ approval }) => approval.id === id)?.approval;
  }

  async add(approval: Approval): Promise<void> {
    const { id, expires } = approval;
    const forMs = expires === undefined ? undefined : Date.parse(expires) - this.#now();
    // An approval that has expired allows nothing, so it is not stored.
    if (forMs === undefined || forMs > 0) await this.#records.put(this.#kind, id, approval, { forMs });
  }

  /** Removes an approval. Returns false if there is none with this id. */
  async remove(id: string): Promise<boolean> {
    // The name of a record cannot be any text, so what cannot be the id of an approval is not looked up.
    if (typeof id !== "string" || !isPlainName(id)) return false;
    if ((await this.#records.get(this.#kind, id)) === null) return false;
    await this.#records.remove(this.#kind, id);
    return true;
  }

  #isInForce({ expires }: Approval): boolean {
    return expires === undefined || Date.parse(expires) > this.#now();
  }

  #matcherOf(one: KnownApproval): ScopeMatcher {
    one.matcher ??= compileStoredScope(one.approval.scope, this.#bases) ?? COVERS_NOTHING;
    return one.matcher;
  }
}

/** Returns the approval of a record: the one that was read `before`, where it is the same. */
function knownOf(
  { id, value, rev }: ListedRecord,
  before: KnownApproval | undefined,
): KnownApproval | undefined {
  if (before?.rev === rev) return before;
  const approval = approvalOf(id, value);
  return approval && { approval, rev };
}

const COVERS_NOTHING: ScopeMatcher = () => false;

function timeOf({ approval }: KnownApproval): number {
  return Date.parse(approval.granted_at);
}

/** Returns the approval of a record; undefined for a value that is none, which covers nothing. */
function approvalOf(id: string, value: unknown): Approval | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const approval = value as Approval;
  const isTimed = Number.isFinite(Date.parse(approval.granted_at));
  return approval.id === id && isTimed ? Object.freeze({ ...approval }) : undefined;
}

/** Reads a list. What cannot be read allows nothing; `mustRead` throws its error. */
export async function loadKept(list: ApprovalList, mustRead: boolean): Promise<void> {
  try {
    await list.load();
  } catch (error) {
    if (mustRead || !(error instanceof FilewrightError)) throw error;
    list.forget();
  }
}
