/**
 * The contract of a storage as named test cases. A storage that passes them works with every tool and with
 * replicas that write at once.
 */
import type { MaybePromise } from "../../backends/backend.ts";
import { isStorage } from "../../storage/storage.ts";
import {
  callback,
  choiceOf,
  list,
  optionChecker,
  type Options,
  options as described,
  required,
  text,
} from "../../schema/option.ts";
import { assertEqual, assertTrue } from "../case.ts";
import { commitCases } from "./commits.ts";
import { conditionCases } from "./conditions.ts";
import { forkCases } from "./forks.ts";
import { readingCases } from "./reading.ts";
import { sharedCases } from "./shared.ts";
import {
  contextOf,
  type NeededFact,
  type StorageCapability,
  type StorageCase,
  type StorageContext,
  type StorageSubject,
} from "./case.ts";

/** The optional methods whose cases can be required. */
const STORAGE_CAPABILITIES: readonly StorageCapability[] = Object.freeze([
  "statMany",
  "lockAll",
  "snapshot",
  "fork",
  "merge",
  "drop",
  "history",
  "readContents",
  "records",
]);

/** How the cases of storages are run. */
export interface StorageContractOptions {
  /** The function `test` or `it` of your test framework. */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** The optional methods that the storage must have. Cases of these are never skipped. Default: none. */
  readonly requires?: readonly StorageCapability[] | undefined;
  /**
   * The names of cases that the storage is known to fail, which are not run. Write the reason in a comment.
   * Default: none.
   */
  readonly except?: readonly string[] | undefined;
}

/**
 * The options of {@link storageContract}.
 *
 * @printed
 */
export const STORAGE_CONTRACT_OPTIONS: Options<StorageContractOptions> = described("StorageContractOptions", {
  test: required(callback()),
  requires: list(choiceOf(STORAGE_CAPABILITIES)),
  except: list(text()),
});

const checkOptions = optionChecker("storageContract", STORAGE_CONTRACT_OPTIONS);

/** Every case of the contract of storages. */
export const storageCases: readonly StorageCase[] = Object.freeze([
  ...readingCases,
  ...commitCases,
  ...conditionCases,
  ...forkCases,
  ...sharedCases,
]);

/**
 * Registers the contract of storages with a test framework.
 *
 * @example
 * import { test } from "node:test";
 * storageContract(async () => ({ storage: await openMyStorage() }), { test });
 */
export function storageContract(
  makeStorage: () => MaybePromise<StorageSubject>,
  options: StorageContractOptions,
): void {
  const { test, requires = [], except = [] } = checkOptions(options);
  const unknown = except.filter((name) => !storageCases.some((one) => one.name === name));
  assertEqual(unknown, [], "names in `except` that are no cases");
  test("storage: has the six methods and what it must have besides, and passes its probe", () =>
    withSubject(makeStorage, async (context) => {
      const { storage, facts } = context;
      assertTrue(isStorage(storage), "isStorage() must be true");
      assertEqual(
        requires.filter((name) => storage[name] === undefined),
        [],
        "missing methods",
      );
      assertEqual(facts.cas, true, "the fact cas");
      const { entries, top } = await storage.list({ limit: 10 });
      assertEqual([entries, top?.type], [[], "dir"], "the storage is empty after the probe");
    }));
  for (const one of storageCases) {
    if (except.includes(one.name)) continue;
    test(one.name, () =>
      withSubject(makeStorage, async (context) => {
        if (await isApplicable(one, context)) await one.run(context);
      }),
    );
  }
}

async function isApplicable(
  { needs = [], facts = [] }: StorageCase,
  context: StorageContext,
): Promise<boolean> {
  if (needs.some((name) => context.storage[name] === undefined)) return false;
  const has = async (fact: NeededFact): Promise<boolean> =>
    fact === "changes"
      ? (await context.storage.changes(null, { limit: 0 })).gap !== true
      : context.facts[fact];
  for (const fact of facts) if (!(await has(fact))) return false;
  return true;
}

async function withSubject(
  makeStorage: () => MaybePromise<StorageSubject>,
  run: (context: StorageContext) => Promise<void>,
): Promise<void> {
  const subject = await makeStorage();
  try {
    const facts = await subject.storage.probe({ mode: "trust" });
    await run(contextOf(subject, facts));
  } finally {
    await subject.dispose?.();
  }
}
