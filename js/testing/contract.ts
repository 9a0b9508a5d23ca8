/**
 * The contract of a backend as named test cases. A backend that passes them works with every tool.
 *
 * The suite works with any test framework: pass it a function that takes a name and an async function. Cases
 * of optional capabilities are skipped on a backend without them, except those named by `requires`.
 */
import type { Capability, MaybePromise } from "../backends/backend.ts";
import { CAPABILITIES, isFsBackend } from "../backends/backend.ts";
import { childOf } from "../backends/paths.ts";
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
import { assertEqual, assertTrue, type Context, type ContractCase, type ContractSubject } from "./case.ts";
import { directoryCases } from "./directories.ts";
import { readOnlyCase, writingCases } from "./writing.ts";
import { linkCases } from "./links.ts";
import { readingCases } from "./reading.ts";
import { treeCases } from "./trees.ts";
import { versionCases } from "./versions.ts";

/** How the cases are run. */
export interface ContractOptions {
  /** The function `test` or `it` of your test framework. */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** The capabilities that the backend must have. Cases of these are never skipped. Default: none. */
  readonly requires?: readonly Capability[] | undefined;
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
  requires: list(choiceOf(CAPABILITIES)),
  readOnly: flag(),
  except: list(text()),
});

const checkOptions = optionChecker("backendContract", CONTRACT_OPTIONS);

/** Every case of the contract. */
export const contractCases: readonly ContractCase[] = Object.freeze([
  ...readingCases,
  ...writingCases,
  ...directoryCases,
  ...versionCases,
  ...linkCases,
  ...treeCases,
]);

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
  const unknown = except.filter((name) => !contractCases.some((one) => one.name === name));
  assertEqual(unknown, [], "names in `except` that are no cases");
  test("has the eleven methods and what it must have besides", () =>
    withSubject(makeBackend, async ({ backend, root }) => {
      assertTrue(isFsBackend(backend), "isFsBackend() must be true");
      const missing = requires.filter((name) => typeof backend[name] !== "function");
      assertEqual(missing, [], "missing capabilities");
      assertEqual((await backend.stat(root)).isDir, true, "the root is a directory");
      assertEqual(await backend.listDir(root), [], "the root is empty");
    }));
  for (const one of contractCases) {
    if (except.includes(one.name) || (readOnly && one.reads !== true)) continue;
    test(one.name, () =>
      withSubject(makeBackend, async (subject) => {
        if (one.needs?.some((name) => subject.backend[name] === undefined)) return;
        await one.run(contextOf(subject));
      }),
    );
  }
  if (readOnly)
    test(readOnlyCase.name, () =>
      withSubject(makeBackend, (subject) => readOnlyCase.run(contextOf(subject))),
    );
}

async function withSubject(
  makeBackend: () => MaybePromise<ContractSubject>,
  run: (subject: ContractSubject) => Promise<void>,
): Promise<void> {
  const subject = await makeBackend();
  try {
    await run(subject);
  } finally {
    await subject.dispose?.();
  }
}

function contextOf({ backend, root, seed }: ContractSubject): Context {
  const at = (path: string): string => childOf(root, path);
  return {
    backend,
    root,
    at,
    seed: async (files) => {
      if (seed !== undefined) return seed(files);
      for (const [path, content] of Object.entries(files)) {
        const cut = path.lastIndexOf("/");
        if (cut > 0) await backend.mkdir(at(path.slice(0, cut)));
        await backend.writeText(at(path), content);
      }
    },
  };
}
