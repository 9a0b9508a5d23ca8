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
import { assertEqual, assertTrue, registerCases, type TestFunction } from "../case.ts";
import { commitCases } from "./commits.ts";
import { conditionCases } from "./conditions.ts";
import { forkCases } from "./forks.ts";
import { readingCases } from "./reading.ts";
import { sharedCases } from "./shared.ts";
import {
  contextOf,
  NEEDED_FACTS,
  type StorageCapability,
  type StorageCase,
  type StorageContext,
  type StorageSubject,
} from "./case.ts";

/** The optional methods whose cases can be required. */
const STORAGE_CAPABILITIES: readonly StorageCapability[] = [
  ...(["statMany", "lockAll", "snapshot", "fork", "merge", "drop"] as const),
  ...(["history", "readContents", "records"] as const),
];

/** How the cases of storages are run. */
export interface StorageContractOptions {
  /** The function `test` or `it` of your test framework. */
  readonly test: TestFunction;
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
  const checked = checkOptions(options);
  const cases = [firstCase(checked.requires ?? []), ...storageCases];
  registerCases(checked, makeStorage, cases, async (one, subject) => {
    const context = contextOf(subject, await subject.storage.probe({ mode: "trust" }));
    if (await isApplicable(one, context)) await one.run(context);
  });
}

function firstCase(requires: readonly StorageCapability[]): StorageCase {
  return {
    needs: [],
    name: "storage: has the six methods and what it must have besides, and passes its probe",
    run: async ({ storage, facts }) => {
      assertTrue(isStorage(storage), "isStorage() must be true");
      const missing = requires.filter((name) => storage[name] === undefined);
      assertEqual(missing, [], "missing methods");
      assertEqual(facts.cas, true, "the fact cas");
      const { entries, top } = await storage.list({ limit: 10 });
      assertEqual([entries, top?.type], [[], "dir"], "the storage is empty after the probe");
    },
  };
}

async function isApplicable({ needs }: StorageCase, { storage, facts }: StorageContext): Promise<boolean> {
  for (const need of needs) {
    const fact = NEEDED_FACTS.find((one) => one === need);
    if (fact !== undefined && !facts[fact]) return false;
    if (fact === undefined && storage[need as StorageCapability | "changes"] === undefined) return false;
  }
  return !needs.includes("changes") || (await storage.changes(null, { limit: 0 })).gap !== true;
}
