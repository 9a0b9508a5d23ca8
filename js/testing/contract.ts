/**
 * The contract of a backend as named test cases: those of the eleven methods and of the optional ones, and the contract of
 * storages through `filesOf`. A backend that passes them works with every tool.
 */
import { ABILITIES } from "../backends/abilities.ts";
import { isFsBackend, type MaybePromise } from "../backends/backend.ts";
import type { FileAbilities } from "../backends/files.ts";
import {
  callback,
  choiceOf,
  flag,
  optionChecker,
  list,
  type Options,
  options as described,
  required,
  text,
} from "../schema/option.ts";
import { filesOf } from "../storage/files/files-of.ts";
import { contextOf, type ContractCase, type ContractSubject, seedTree } from "./backend/case.ts";
import { methodCases, readOnlyCase } from "./backend/methods.ts";
import { treeCases } from "./backend/trees.ts";
import { assertEqual, assertTrue, registerCases, type TestFunction } from "./case.ts";
import type { StorageSubject } from "./storage/case.ts";
import { storageCases, storageContract } from "./storage/contract.ts";

/** How the cases are run. */
export interface ContractOptions {
  /** The function `test` or `it` of your test framework. */
  readonly test: TestFunction;
  /** The abilities that the files must have. Cases of these are never skipped. Default: none. */
  readonly requires?: readonly (keyof FileAbilities)[] | undefined;
  /**
   * True when the backend refuses every change. Only cases that read are run then, on files that `seed` of
   * the subject creates. Default false.
   */
  readonly readOnly?: boolean | undefined;
  /**
   * The names of cases that the backend is known to fail, which are not run. Write the reason in a comment.
   * Default: none.
   */
  readonly except?: readonly string[] | undefined;
}

/**
 * The options of {@link backendContract}.
 *
 * @printed
 */
export const CONTRACT_OPTIONS: Options<ContractOptions> = described("ContractOptions", {
  test: required(callback()),
  requires: list(choiceOf(ABILITIES)),
  readOnly: flag(),
  except: list(text()),
});

const checkOptions = optionChecker("backendContract", CONTRACT_OPTIONS);

/** Every case of the contract that is not one of storages. */
export const contractCases: readonly ContractCase[] = Object.freeze([...methodCases, ...treeCases]);

/**
 * Registers the contract suite with a test framework.
 *
 * @example
 * import { test } from "node:test";
 * backendContract(() => ({ backend: new MyBackend(), root: "/" }), { test });
 */
export function backendContract(
  makeBackend: () => MaybePromise<ContractSubject>,
  options: ContractOptions,
): void {
  const { test, requires = [], except = [], readOnly = false } = checkOptions(options);
  const isOfStorage = (name: string): boolean => storageCases.some((one) => one.name === name);
  const reading = [...contractCases.filter(({ reads }) => reads), readOnlyCase];
  const cases = [firstCase(requires), ...(readOnly ? reading : contractCases)];
  const own = { test, except: except.filter((name) => !isOfStorage(name)) };
  registerCases(own, makeBackend, cases, async ({ needs = [], files = {}, run }, subject) => {
    const context = contextOf(subject);
    if (needs.some((name) => !context.backend.abilities[name])) return;
    if (subject.seed === undefined) await seedTree(context, files);
    else await subject.seed(files);
    await run(context);
  });
  if (readOnly) return;
  const makeStorage = async (): Promise<StorageSubject> => {
    const subject = await makeBackend();
    const storage = filesOf(subject.backend, { root: subject.root });
    return { storage, dispose: () => subject.dispose?.() };
  };
  storageContract(makeStorage, { test, except: except.filter(isOfStorage) });
}

function firstCase(requires: readonly (keyof FileAbilities)[]): ContractCase {
  return {
    name: "has the eleven methods and what it must have besides",
    run: async ({ given, backend, root }) => {
      assertTrue(isFsBackend(given), "isFsBackend() must be true");
      const missing = requires.filter((name) => !backend.abilities[name]);
      assertEqual(missing, [], "missing abilities");
      assertEqual((await backend.stat(root)).isDir, true, "the root is a directory");
      assertEqual(await backend.listDir(root), [], "the root is empty");
    },
  };
}
