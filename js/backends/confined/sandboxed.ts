/**
 * Files confined by a policy, over any backend.
 *
 * A disk enforces the policy itself: a check followed by an open leaves a gap that only the opener can close. For the
 * others `confine.ts` resolves every path, and the gap is as wide as one call of theirs.
 */
import { shortcutsOf, inheritShortcuts } from "../abilities.ts";
import type { FsBackend } from "../backend.ts";
import { PassingFiles } from "../delegating.ts";
import type { Files } from "../files.ts";
import { asFiles } from "../host-files.ts";
import { POLICY_OPTION } from "../option-schema.ts";
import type { SandboxPolicy } from "../policy.ts";
import { optionChecker } from "../../schema/option.ts";
import { confineFiles } from "./confine.ts";

const checkPolicy = optionChecker("SandboxedBackend", POLICY_OPTION);

/**
 * Confines a backend. The inner backend never sees the policy, unless it can
 * enforce one itself.
 *
 * @example
 * const backend = new SandboxedBackend(new MemoryBackend(), SandboxPolicy.workspaceOnly("/ws"));
 * await backend.readText("/etc/passwd"); // throws SandboxViolation
 */
export class SandboxedBackend extends PassingFiles {
  readonly #confined: Files;

  constructor(inner: FsBackend, policy: SandboxPolicy);
  // The third argument is no part of the type: see `sandboxFork`.
  constructor(given: FsBackend, policy: SandboxPolicy, parent?: unknown) {
    checkPolicy(policy);
    const inner = asFiles(given);
    const like = parent instanceof SandboxedBackend ? parent.#confined : undefined;
    const confined = shortcutsOf(inner).confine?.(policy) ?? confineFiles(inner, policy, like);
    super(confined);
    this.#confined = confined;
    const { paths, maxAnswerBytes } = shortcutsOf(inner);
    inheritShortcuts(this, confined, {
      passes: ["contents", "readAhead", "ownCursors", "searchCode", "stage", "enterStage", "keeper"],
      // Confined files are not confined again: policies are combined by intersection.
      drops: ["searchUnder", "moments", "refusesLinks", "checkNames", "confine", "recordedList"],
      gives: {
        paths,
        maxAnswerBytes: Math.min(maxAnswerBytes, policy.maxOutputBytes ?? Number.POSITIVE_INFINITY),
      },
    });
  }
}

/**
 * Confines the files of a fork to a policy. Where that is the policy of `parent`, the confined files that were forked,
 * the roots are not looked for again.
 */
export function sandboxFork(parent: Files, inner: Files, policy: SandboxPolicy): SandboxedBackend {
  const Sandboxed = SandboxedBackend as new (
    inner: FsBackend,
    policy: SandboxPolicy,
    parent: Files,
  ) => SandboxedBackend;
  return new Sandboxed(inner, policy, parent);
}
