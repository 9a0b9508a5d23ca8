/** The options of the calls of a storage, and their check around the methods of every engine of this package. */
import {
  type CheckedCall,
  checkMethods,
  anything,
  anyText,
  callback,
  choice,
  flag,
  integer,
  list,
  type OptionalOption,
  optionChecker,
  type Options,
  options,
  required,
  type Rows,
  signalOption,
} from "../schema/option.ts";
import { FilewrightError } from "../engine/errors.ts";
import { checkLimit } from "../records/check.ts";
import type { RecordOp } from "../records/records.ts";
import { checkCommitOptions, checkStoredPath } from "./check.ts";
import type { CommitOptions, Expect } from "./commit.ts";
import type { Actor, ReadManyOptions, StorageCall } from "./entry.ts";
import type { MergeOfForkOptions, PlannedMerge } from "./merged.ts";
import type { LockAllOptions, LockPath, PastRequest } from "./shared.ts";
import type { ChangesOptions, ForkOptions, ListRequest, ProbeOptions } from "./storage.ts";

const CALL: Rows<StorageCall> = { signal: signalOption };

const ACTOR: Options<Actor> = options("Actor", {
  agent: anyText(),
  tool: anyText(),
  callId: anyText(),
  undoOf: anyText(),
});

/** A value that the engines check themselves. */
const own = <T>(): OptionalOption<T> => anything() as OptionalOption<T>;

const COMMIT: Options<CommitOptions> = options("CommitOptions", {
  ...CALL,
  expect: list(own<Expect>()),
  key: anyText(),
  actor: ACTOR,
  token: own<bigint>(),
  release: flag(),
  records: list(own<RecordOp>()),
});

const READ_MANY: Options<ReadManyOptions> = options("ReadManyOptions", {
  ...CALL,
  bodies: flag(),
  maxBytes: own<number>(),
  at: anyText(),
});

const LIST: Options<ListRequest> = options("ListRequest", {
  ...CALL,
  prefix: anyText(),
  depth: own<number>(),
  after: anyText(),
  limit: required(own<number>()),
  at: anyText(),
});

const MERGE: Options<MergeOfForkOptions> = options("MergeOfForkOptions", {
  ...CALL,
  key: anyText(),
  actor: ACTOR,
  favour: choice("ours", "theirs"),
  review: callback(),
  planned: own<PlannedMerge>(),
});

const LOCK_ALL: Options<LockAllOptions> = options("LockAllOptions", {
  ...CALL,
  timeoutMs: required(integer(0)),
  forMs: integer(0),
  read: list(anyText()),
  maxBytes: own<number>(),
});

const PAST: Options<PastRequest> = options("PastRequest", {
  ...CALL,
  version: anyText(),
  key: anyText(),
  agent: anyText(),
  before: anyText(),
  changes: flag(),
  limit: required(own<number>()),
});

const PLAIN: Options<StorageCall> = options("StorageCall", CALL);
const CHANGES: Options<ChangesOptions> = options("ChangesOptions", {
  ...CALL,
  limit: required(own<number>()),
});
const FORK: Options<ForkOptions> = options("ForkOptions", { ...CALL, at: anyText() });
const PROBE: Options<ProbeOptions> = options("ProbeOptions", { ...CALL, mode: choice("full", "trust") });

function checkList({ prefix = "/", depth = 1, limit }: ListRequest): void {
  checkStoredPath(prefix);
  checkLimit(limit);
  if (!(depth >= 1)) throw new FilewrightError("INVALID_ARGUMENT", "depth must be at least 1");
}

const checkLocked = (_: unknown, paths: readonly LockPath[]): void => {
  for (const { path } of paths) checkStoredPath(path);
};

/**
 * The options of each call: their place among the arguments, whether they are required, their table, and a check of
 * what the table does not say.
 */
const CALLS: Readonly<
  Record<
    string,
    readonly [
      at: 0 | 1,
      isRequired: boolean,
      table: Pick<Options<unknown>, "schema">,
      more?: (given: never, first: never) => void,
    ]
  >
> = {
  probe: [0, false, PROBE],
  readMany: [1, false, READ_MANY],
  list: [0, true, LIST, checkList],
  changes: [1, true, CHANGES, ({ limit }: ChangesOptions) => checkLimit(limit, 0)],
  commit: [1, false, COMMIT, checkCommitOptions],
  statMany: [1, false, PLAIN],
  lockAll: [1, true, LOCK_ALL, checkLocked],
  snapshot: [0, false, PLAIN],
  fork: [1, false, FORK],
  merge: [1, false, MERGE, ({ key }: MergeOfForkOptions) => checkCommitOptions({ key })],
  drop: [0, false, PLAIN],
  history: [0, true, PAST, ({ limit }: PastRequest) => checkLimit(limit)],
  readContents: [1, false, PLAIN],
};

/**
 * Replaces the methods of a storage by ones that check their options first: a misspelt name, a wrong type or an
 * unknown value is INVALID_ARGUMENT. For a class it is given the prototype; `name` begins the refusals.
 */
export function checkStorageCalls(target: object, name: string): void {
  const calls: Record<string, CheckedCall> = {};
  for (const [method, [at, isRequired, table, more]] of Object.entries(CALLS)) {
    const check = optionChecker(`${name}.${method}`, table);
    // What is given goes on as it is: a planned merge is known by its identity.
    calls[method] = {
      at,
      isRequired,
      check: (given, args) => {
        check(given);
        more?.(given as never, args[0] as never);
        return given;
      },
    };
  }
  checkMethods(target, calls);
}
