/**
 * A backend confined by a policy, over any other backend.
 *
 * A backend with `confine` enforces the policy itself: a check followed by an open leaves a gap
 * that only the opener can close. For the others `confine.ts` resolves every path, and the gap is
 * as wide as one call of theirs.
 */
import { optionChecker } from "../../schema/option.ts";
import { POLICY_OPTION } from "../option-schema.ts";
import {
  CAPABILITIES,
  type DeleteOptions,
  type FsBackend,
  type FsEntry,
  type FsStat,
  type ListOptions,
  type MaybePromise,
  type WriteOptions,
  type WriteResult,
} from "../backend.ts";
import { abilitiesOf, inheritAbilities } from "../abilities.ts";
import { confineBackend } from "./confine.ts";
import type { NamesOfFiles } from "../fallback/other-names.ts";
import type { SandboxPolicy } from "../policy.ts";
import type { RepositorySource } from "../walk/git-directory.ts";

const checkPolicy = optionChecker("SandboxedBackend", POLICY_OPTION);

/**
 * Confines a backend. The inner backend never sees the policy, unless it can
 * enforce one itself.
 *
 * @example
 * const backend = new SandboxedBackend(new MemoryBackend(), SandboxPolicy.workspaceOnly("/ws"));
 * await backend.readText("/etc/passwd"); // throws SandboxViolation
 */
export class SandboxedBackend implements FsBackend {
  readonly #confined: FsBackend;

  declare readonly read?: NonNullable<FsBackend["read"]>;
  declare readonly readLines?: NonNullable<FsBackend["readLines"]>;
  declare readonly hash?: NonNullable<FsBackend["hash"]>;
  declare readonly grep?: NonNullable<FsBackend["grep"]>;
  declare readonly find?: NonNullable<FsBackend["find"]>;
  declare readonly findFiles?: NonNullable<FsBackend["findFiles"]>;
  declare readonly listTree?: NonNullable<FsBackend["listTree"]>;
  declare readonly listPage?: NonNullable<FsBackend["listPage"]>;
  declare readonly rename?: NonNullable<FsBackend["rename"]>;
  declare readonly copyFile?: NonNullable<FsBackend["copyFile"]>;
  declare readonly lstat?: NonNullable<FsBackend["lstat"]>;
  declare readonly readLink?: NonNullable<FsBackend["readLink"]>;
  declare readonly symlink?: NonNullable<FsBackend["symlink"]>;
  declare readonly realpath?: NonNullable<FsBackend["realpath"]>;
  declare readonly chmod?: NonNullable<FsBackend["chmod"]>;
  declare readonly removeTree?: NonNullable<FsBackend["removeTree"]>;
  declare readonly copyTree?: NonNullable<FsBackend["copyTree"]>;
  declare readonly asidePath?: NonNullable<FsBackend["asidePath"]>;
  declare readonly sweep?: NonNullable<FsBackend["sweep"]>;
  declare readonly grantSecrets?: NonNullable<FsBackend["grantSecrets"]>;
  declare readonly trusted?: NonNullable<FsBackend["trusted"]>;
  declare readonly gitExclude?: NonNullable<RepositorySource["gitExclude"]>;
  declare readonly close?: NonNullable<FsBackend["close"]>;
  declare readonly lock?: NonNullable<FsBackend["lock"]>;
  declare readonly otherNames?: NonNullable<NamesOfFiles["otherNames"]>;

  constructor(inner: FsBackend, policy: SandboxPolicy);
  // The third argument is no part of the type: see `sandboxFork`.
  constructor(inner: FsBackend, policy: SandboxPolicy, parent?: unknown) {
    checkPolicy(policy);
    const like = parent instanceof SandboxedBackend ? parent.#confined : undefined;
    const confined = inner.confine?.(policy) ?? confineBackend(inner, policy, like);
    this.#confined = confined;
    for (const name of [...CAPABILITIES, "otherNames" as const, "gitExclude" as const]) {
      // A confined backend is not confined again: policies are combined by intersection.
      const method = (confined as FsBackend & NamesOfFiles & RepositorySource)[name];
      if (name === "confine" || method === undefined) continue;
      Object.defineProperty(this, name, {
        value: (method as (...args: never[]) => unknown).bind(confined),
        enumerable: true,
      });
    }
    const { paths, maxAnswerBytes } = abilitiesOf(inner);
    inheritAbilities(this, confined, {
      passes: ["contents", "readAhead", "ownCursors", "stage", "enterStage"],
      drops: ["answersOnlyAllowed", "moments", "momentSearch", "refusesLinks"],
      gives: {
        paths,
        maxAnswerBytes: Math.min(maxAnswerBytes, policy.maxOutputBytes ?? Number.POSITIVE_INFINITY),
      },
    });
  }

  /** Returns false for every path outside. */
  exists(path: string): MaybePromise<boolean> {
    return this.#confined.exists(path);
  }
  stat(path: string): MaybePromise<FsStat> {
    return this.#confined.stat(path);
  }
  readText(path: string, options?: { readonly encoding?: string }): MaybePromise<string> {
    return this.#confined.readText(path, options);
  }
  readBytes(path: string): MaybePromise<Uint8Array> {
    return this.#confined.readBytes(path);
  }
  writeText(
    path: string,
    content: string,
    options?: WriteOptions & { readonly encoding?: string },
  ): MaybePromise<WriteResult> {
    return this.#confined.writeText(path, content, options);
  }
  writeBytes(path: string, content: Uint8Array, options?: WriteOptions): MaybePromise<WriteResult> {
    return this.#confined.writeBytes(path, content, options);
  }
  delete(path: string, options?: DeleteOptions): MaybePromise<void> {
    return this.#confined.delete(path, options);
  }
  mkdir(
    path: string,
    options?: { readonly parents?: boolean; readonly existOk?: boolean },
  ): MaybePromise<void> {
    return this.#confined.mkdir(path, options);
  }
  listDir(path: string, options?: ListOptions): MaybePromise<readonly FsEntry[]> {
    return this.#confined.listDir(path, options);
  }
  iterFiles(root: string): AsyncIterable<string> | Iterable<string> {
    return this.#confined.iterFiles(root);
  }
  /** `root` defaults to the policy's working directory. */
  glob(pattern: string, options?: { readonly root?: string }): MaybePromise<readonly string[]> {
    return this.#confined.glob(pattern, options);
  }
}

/**
 * Confines the files of a fork to a policy. Where that is the policy of `parent`, the confined files that were forked,
 * the roots are not looked for again.
 */
export function sandboxFork(parent: FsBackend, inner: FsBackend, policy: SandboxPolicy): SandboxedBackend {
  const Sandboxed = SandboxedBackend as new (
    inner: FsBackend,
    policy: SandboxPolicy,
    parent: FsBackend,
  ) => SandboxedBackend;
  return new Sandboxed(inner, policy, parent);
}
