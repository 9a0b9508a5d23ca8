/**
 * Confines a backend: every path is resolved and checked before the inner backend gets it.
 *
 * Enumerations are walked here, over the inner `listDir`: links are never followed and denied
 * directories never entered. Searches and listings that the inner backend offers are asked, and each
 * path of their answers is judged (`judged.ts`).
 */
import { abilitiesOf, contentsOf, inheritAbilities, provideAbilities } from "../abilities.ts";
import { callChecks, checkCalls } from "../call-options.ts";
import { LOCAL_TRANSFER_OPTIONS, LOCAL_WRITE_OPTIONS } from "../local/local-options.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { FilewrightError, makeError } from "../../engine/errors.ts";
import type {
  FsBackend,
  FsEntry,
  FsStat,
  ListOptions,
  MaybePromise,
  MoveOptions,
  ReadOptions,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { backendError, ignoreCodes } from "../failure.ts";
import { chmodVia, lstatOrNull, lstatVia, readLinkVia, symlinkVia } from "../fallback/fallback.ts";
import { statToRead } from "../fallback/other-names.ts";
import {
  copyFileVia,
  copyTree,
  deleteVia,
  removeTreeVia,
  renameVia,
  type TransferOptions,
} from "../fallback/fallback-tree.ts";
import { filesBelow, globFiles } from "../fallback/walk-tree.ts";
import { type PathResolver, type FinalSymlink, makePathResolver } from "./path-resolver.ts";
import { CheckedFile } from "./checked-file.ts";
import { holdsSecret, mayHoldSecret, SECRET_HEAD_BYTES } from "./rules.ts";
import type { ContentProvider } from "../search/held.ts";
import { hashOfStorage, pageOfStorage } from "./judged-page.ts";
import { judgedSearches } from "./judged-searches.ts";
import { momentSearches } from "./moment-searches.ts";
import { secret, secretContent } from "./outside.ts";
import { excludeOfWorktree, type RepositorySource } from "../walk/git-directory.ts";
import { childOf, isWithin, normalise, parentOf, relativeTo } from "../paths.ts";
import { type Intent, type SandboxPolicy, withoutSecretFilter } from "../policy.ts";
import { checkCopy, checkLinkName, checkTree, type IsHiddenSecret, visibleOnly } from "./tree-checks.ts";

// A confined disk has options of its own; the other backends refuse them.
const CALL_CHECKS = callChecks("SandboxedBackend", LOCAL_WRITE_OPTIONS, LOCAL_TRANSFER_OPTIONS);

/** The secrets that may be read. It is shared by a backend and what its stages see of it. */
interface GrantedSecrets {
  /** The real paths of the files. */
  paths: readonly string[];
  /** A text that only the same paths have. */
  key: string;
}

const ROOTS: unique symbol = Symbol("roots");

/** What a confined backend has besides the contract. Only its owner sees it. */
export interface Confined {
  readonly [ROOTS]: Pick<Confinement, "policy" | "opened">;
}

/**
 * Confines a backend to a policy. `like` is a backend that {@link confineBackend} has confined to the same policy and
 * whose files the inner one began with, as those of a fork: the roots are then where they are there, and no call looks
 * for them.
 */
export function confineBackend(
  inner: FsBackend,
  policy: SandboxPolicy,
  like?: FsBackend & Partial<Confined>,
): FsBackend & Confined {
  const known = like?.[ROOTS];
  const opened =
    known?.policy === policy
      ? known.opened.then((resolver) => resolver.over(inner))
      : makePathResolver(inner, policy);
  return confineWith(inner, policy, opened, { paths: [], key: "[]" });
}

/**
 * Resolves the path of a file that is read. `mayBeSecret` is true where the content must be checked: the file may not be
 * read if it is a secret.
 * @throws FilewrightError for a path that may not be read
 */
type Readable = <T>(path: string, use: (real: string, mayBeSecret: boolean) => Promise<T>) => Promise<T>;

/** A backend that is confined, and by what. */
interface Confinement {
  readonly inner: FsBackend;
  readonly opened: Promise<PathResolver>;
  readonly policy: SandboxPolicy;
  readonly granted: GrantedSecrets;
  readonly readable: Readable;
}

const isGranted = ({ paths }: GrantedSecrets, real: string): boolean =>
  paths.some((one) => isWithin(real, one));

/** Gives a confined backend the abilities of the inner one as far as the policy allows. */
function confineAbilities(confined: FsBackend, of: Confinement): void {
  const { inner, opened, policy, granted } = of;
  const { readAhead, enterStage } = abilitiesOf(inner);
  inheritAbilities(confined, inner, {
    passes: ["paths", "maxAnswerBytes", "stage"],
    drops: ["answersOnlyAllowed", "moments", "momentSearch", "refusesLinks"],
    gives: {
      contents: confinedContents(of),
      readAhead:
        readAhead && (async (root) => readAhead(await (await opened).resolve(root, "read", "follow"))),
      // A confined backend makes the cursors itself, whatever the inner one has.
      ownCursors: true,
      enterStage:
        enterStage &&
        ((stage) => {
          const staged = enterStage(stage);
          return confineWith(
            staged,
            policy,
            opened.then((resolver) => resolver.over(staged)),
            granted,
          );
        }),
    },
  });
}

/** Returns the contents of the inner backend, if that has them, as a policy allows to search them. */
function confinedContents({ inner, policy, granted, readable }: Confinement): ContentProvider | undefined {
  const held = contentsOf(inner);
  if (held === undefined) return undefined;
  return {
    ...held,
    view: `${held.view}${JSON.stringify(policy)}`,
    // The secrets that may be read are a part of what a search sees.
    shape: () => `${held.shape()} ${granted.key}`,
    stamp: (path) => {
      const stamp = held.stamp(path);
      return stamp === undefined ? undefined : `${stamp} ${granted.key}`;
    },
    file: (path) =>
      readable(path, async (real, mayBeSecret) => {
        const file = await held.file(real);
        return mayBeSecret ? new CheckedFile(file, path) : file;
      }),
  };
}

function confineWith(
  inner: FsBackend,
  policy: SandboxPolicy,
  opened: Promise<PathResolver>,
  granted: GrantedSecrets,
): FsBackend & Confined {
  // An invalid policy is reported by the first call, not by an unhandled rejection.
  opened.catch(() => undefined);

  const at = async <T>(
    path: string,
    intent: Intent,
    last: FinalSymlink,
    use: (real: string, resolver: PathResolver) => MaybePromise<T>,
  ): Promise<T> => {
    const resolver = await opened;
    const real = await resolver.resolve(path, intent, last);
    return withErrorPath(path, () => use(real, resolver));
  };
  // With `ifAbsent` a link counts as present, so the path itself is checked and not the link's target.
  const write = <T>(
    path: string,
    options: WriteOptions | undefined,
    use: (real: string) => MaybePromise<T>,
  ): Promise<T> => at(path, "write", options?.ifAbsent === true ? "keep" : "follow", use);
  // Reading a secret needs a grant. Listing it does not.
  let twin: FsBackend | undefined;
  const kept: IsHiddenSecret = (real, resolver) =>
    resolver.rules.check(real).secret && !isGranted(granted, real);
  const readable: Readable = async (path, use) => {
    const readAt = async (real: string, resolver: PathResolver) => {
      if (kept(real, resolver) && (await lstatOrNull(inner, real))?.isFile === true) throw secret(path);
      const isOpen = policy.secrets !== "grant" || resolver.rules.check(real).opened;
      return use(real, !isOpen && !isGranted(granted, real));
    };
    return unlessLinked(await opened, path, readAt, () => at(path, "read", "follow", readAt));
  };
  /**
   * Runs a read of a file and refuses it if the content is a secret. `head` returns the beginning of the file,
   * from the result or by another read.
   */
  const content = <T>(
    path: string,
    use: (real: string) => MaybePromise<T>,
    head: (result: T, real: string) => MaybePromise<Uint8Array>,
  ): Promise<T> =>
    readable(path, async (real, mayBeSecret) => {
      const result = await use(real);
      if (mayBeSecret && holdsSecret(await head(result, real))) throw secretContent(path);
      return result;
    });
  const files = (root: string): AsyncGenerator<string> => visibleFiles(inner, root, opened);

  const copyFile = async (
    from: string,
    to: string,
    options: ChangeOptions | undefined,
    inTree: boolean,
  ): Promise<WriteResult> => {
    const resolver = await opened;
    const source = await resolver.resolve(from, "read", "follow");
    const { isDir } = await withErrorPath(from, () => statToRead(inner, source));
    if (isDir) throw backendError("IS_DIRECTORY", from);
    return write(to, { ifAbsent: options?.overwrite !== true }, async (real) => {
      if (kept(source, resolver) && !(inTree && resolver.rules.check(real).secret)) throw secret(from);
      if (options?.aside !== undefined && inner.copyFile !== undefined)
        return (await inner.copyFile(source, real, options)) ?? {};
      return copyFileVia(inner, source, real, options);
    });
  };

  const makeLink = (target: string, path: string, mayLeadOut: boolean): Promise<void> =>
    at(path, "write", "keep", async (real, resolver) => {
      if ((await lstatOrNull(inner, real)) !== null) throw backendError("ALREADY_EXISTS", path);
      checkLinkName(real, path, resolver);
      await inner.stat(parentOf(real));
      if (!mayLeadOut) resolver.checkLinkTarget(real, target);
      await symlinkVia(inner, target, real);
    });

  const backend: { -readonly [K in keyof FsBackend]: FsBackend[K] } & RepositorySource = {
    exists: async (path) => {
      try {
        return await at(path, "read", "follow", (real) => inner.exists(real));
      } catch (error) {
        if (error instanceof FilewrightError) return false;
        throw error;
      }
    },
    stat: (path) => at(path, "read", "follow", async (real) => statWithPath(await inner.stat(real), path)),
    readText: (path, options) =>
      content(
        path,
        (real) => inner.readText(real, options),
        // Text of another encoding differs from the bytes of the file; a secret in it reads the same.
        (text) => new TextEncoder().encode(text.slice(0, SECRET_HEAD_BYTES)),
      ),
    readBytes: (path) =>
      content(
        path,
        (real) => inner.readBytes(real),
        (bytes) => bytes,
      ),
    grantSecrets: (paths) =>
      void Object.assign(granted, { paths: [...paths], key: JSON.stringify([...paths].sort()) }),
    gitExclude: (path) => at(path, "read", "follow", (real) => excludeOfWorktree(inner, real)),
    trusted: () => (twin ??= confineBackend(inner, withoutSecretFilter(policy))),
    writeText: (path, content, options) =>
      write(path, options, (real) => inner.writeText(real, content, options)),
    writeBytes: (path, content, options) =>
      write(path, options, (real) => inner.writeBytes(real, content, options)),
    delete: async (path, options) => {
      const resolver = await opened;
      const real = await resolver.resolveForRemoval(path);
      const { ifVersion, aside } = options ?? {};
      await withErrorPath(path, () => deleteVia(inner, real, { ifVersion, aside }));
    },
    mkdir: (path, options) =>
      at(path, "write", "keep", async (real, resolver) => {
        // A link is no new directory, and one that leads out must not reveal whether its target exists.
        const link = (await lstatOrNull(inner, real))?.type === "symlink";
        if (!link) return inner.mkdir(real, options);
        const target = await resolver
          .resolve(path, "read", "follow")
          .catch(ignoreCodes("LOOP", "NOT_DIRECTORY", "NOT_FOUND"));
        const isDirectory = target !== undefined && (await lstatOrNull(inner, target))?.isDir === true;
        if (!isDirectory || options?.existOk === false) throw backendError("ALREADY_EXISTS", path);
      }),
    listDir: async (path, options) => {
      const list = (real: string, resolver: PathResolver) =>
        visibleEntries(inner, real, path, resolver, options);
      return unlessLinked(await opened, path, list, () => at(path, "read", "follow", list));
    },
    iterFiles: files,
    glob: async (pattern, options) => {
      const asked = options?.root ?? policy.cwd;
      await (await opened).resolve(asked, "read", "follow");
      const root = normalise(asked).path;
      return globFiles(files(root), root, pattern);
    },

    lstat: (path) =>
      at(path, "read", "keep", async (real) => statWithPath(await lstatVia(inner, real), path)),
    realpath: async (path) => {
      const resolver = await opened;
      try {
        return await resolver.resolve(path, "read", "follow");
      } catch (error) {
        // A path that is writable but not readable has a real path too.
        if (!(error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") || policy.readOnly)
          throw error;
        return resolver.resolve(path, "write", "follow");
      }
    },
    rename: (from, to, options) => renameChecked(inner, from, to, options, opened, kept),
    copyFile: (from, to, options) => copyFile(from, to, options, false),
    removeTree: async (path, options) => {
      const resolver = await opened;
      const real = await resolver.resolveForRemoval(path);
      return withErrorPath(path, async () => {
        await checkTree(inner, real, real, path, resolver, kept, options?.signal);
        return removeTreeVia(inner, real, options);
      });
    },
    copyTree: async (from, to, options) => {
      const resolver = await opened;
      const source = await resolver.resolve(from, "read", "keep");
      await withErrorPath(from, () => lstatVia(inner, source));
      const target = await resolver.resolve(to, "write", "keep");
      if ((await lstatOrNull(inner, source))?.type === "symlink") checkLinkName(target, to, resolver);
      // Checked before the first file is copied: a partial copy could contain files that may not be removed.
      await withErrorPath(to, () => checkCopy(inner, source, target, to, resolver, kept, options?.signal));
      // Within a tree, a secret may be copied to a path that is a secret again.
      const within: FsBackend = {
        ...backend,
        copyFile: (file, there, how) => copyFile(file, there, how, true),
        // A copied link keeps its target, as on a disk; one that then leads outside is refused when followed.
        ...(inner.symlink !== undefined && { symlink: (target, link) => makeLink(target, link, true) }),
      };
      provideAbilities(within, { stage: abilitiesOf(inner).stage }); // `copyTree` reads no other one.
      return copyTree(within, from, to, options);
    },
  };
  const { read, lock, sweep } = inner;
  /** Returns the beginning of a file, to see whether it is a secret. */
  const headOf = async (_: unknown, real: string): Promise<Uint8Array> =>
    read === undefined
      ? inner.readBytes(real)
      : ((await read.call(inner, real, { range: { start: 0, end: SECRET_HEAD_BYTES } }))?.bytes ??
        EMPTY_BYTES);
  if (inner.hash !== undefined) {
    backend.hash = (path, options) => content(path, (real) => hashOfStorage(inner, real, options), headOf);
  }
  if (inner.readLines !== undefined) {
    backend.readLines = (path, request) =>
      content(path, (real) => pageOfStorage(inner, real, request), headOf);
  }
  if (read !== undefined) {
    backend.read = (path, options) =>
      content(
        path,
        async (real) => {
          const result = await read.call(inner, real, options);
          return result && Object.freeze({ ...result, stat: statWithPath(result.stat, path) });
        },
        (result, real) => (result === null ? EMPTY_BYTES : readHead(inner, real, result, options)),
      );
  }
  if (lock !== undefined) {
    backend.lock = (path, options) =>
      at(path, "write", options.resolved ? "keep" : "follow", (real) => lock.call(inner, real, options));
  }
  if (sweep !== undefined) {
    backend.sweep = (path) => at(path, "write", "follow", (real) => sweep.call(inner, real));
  }
  if (inner.chmod !== undefined) {
    backend.chmod = (path, mode) => at(path, "write", "follow", (real) => chmodVia(inner, real, mode));
  }
  if (inner.readLink !== undefined) {
    backend.readLink = (path) => at(path, "read", "keep", (real) => readLinkVia(inner, real));
  }
  if (inner.symlink !== undefined) {
    // Refuses to create a link whose target is outside, unless `followSymlinks` is "any". Such links that exist already
    // are refused when a path is resolved.
    backend.symlink = (target, path) => makeLink(target, path, policy.followSymlinks === "any");
  }
  const walked = { ...backend };
  const confinement = { inner, opened, policy, granted, readable };
  for (const one of [backend, walked]) confineAbilities(one, confinement);
  const { moments } = abilitiesOf(inner);
  const secrets = (): readonly string[] => granted.paths;
  const searches =
    moments === undefined
      ? judgedSearches(inner, policy, opened, walked, secrets)
      : momentSearches(moments, (at) => confineBackend(at, policy), secrets);
  return Object.freeze(checkCalls(Object.assign(backend, searches, { [ROOTS]: confinement }), CALL_CHECKS));
}

/**
 * Reads at a path as it is given, where the storage itself refuses one with a link. Otherwise, and where that fails, it
 * is `resolved`: that follows its links, or finds the reason again.
 */
async function unlessLinked<T>(
  resolver: PathResolver,
  path: string,
  read: (real: string, resolver: PathResolver) => Promise<T>,
  resolved: () => Promise<T>,
): Promise<T> {
  const real = resolver.withoutLooking(path, "read");
  if (real === undefined) return resolved();
  try {
    return await read(real, resolver);
  } catch {
    return resolved();
  }
}

/** Returns the beginning of a file, of which the caller has read a range. */
async function readHead(
  inner: FsBackend,
  real: string,
  { bytes, stat }: VersionedBytes,
  { range }: ReadOptions = {},
): Promise<Uint8Array> {
  const start = range?.start ?? 0;
  if (
    start === 0 &&
    (bytes.length >= SECRET_HEAD_BYTES || bytes.length >= stat.size || !mayHoldSecret(bytes))
  )
    return bytes;
  const head = await inner.read?.(real, { range: { start: 0, end: SECRET_HEAD_BYTES } });
  return head?.bytes ?? (await inner.readBytes(real));
}

/** Returns the entries of a directory that are not denied, with the path that the caller gave. */
async function visibleEntries(
  inner: FsBackend,
  real: string,
  path: string,
  resolver: PathResolver,
  options: ListOptions | undefined,
): Promise<readonly FsEntry[]> {
  const asked = normalise(path).path;
  const visible = await visibleOnly(inner, resolver, real, resolver.nameOf(path)).listDir(real, options);
  if (asked === real) return Object.freeze([...visible]);
  return Object.freeze(visible.map((entry) => Object.freeze({ ...entry, path: childOf(asked, entry.name) })));
}

/** Yields the regular files below a directory that are not denied, with the path that the caller gave. */
async function* visibleFiles(
  inner: FsBackend,
  root: string,
  opened: Promise<PathResolver>,
): AsyncGenerator<string> {
  const resolver = await opened;
  const real = await resolver.resolve(root, "read", "follow");
  const asked = normalise(root).path;
  try {
    for await (const path of filesBelow(visibleOnly(inner, resolver, real, resolver.nameOf(root)), real))
      yield childOf(asked, relativeTo(path, real) as string);
  } catch (error) {
    throw errorWithPath(error, root);
  }
}

/** The options of a move or copy whose old entry may be set aside. */
type ChangeOptions = TransferOptions & MoveOptions;

async function renameChecked(
  inner: FsBackend,
  from: string,
  to: string,
  options: ChangeOptions | undefined,
  opened: Promise<PathResolver>,
  kept: IsHiddenSecret,
): Promise<WriteResult> {
  const resolver = await opened;
  const source = await resolver.resolveForRemoval(from);
  await withErrorPath(from, () => lstatVia(inner, source));
  const target = await resolver.resolveForRemoval(to);
  if (kept(source, resolver) && !resolver.rules.check(target).secret) throw secret(from);
  if ((await lstatOrNull(inner, source))?.type === "symlink") checkLinkName(target, to, resolver);
  await withErrorPath(from, () => checkTree(inner, source, target, from, resolver, kept, options?.signal));
  return withErrorPath(to, async () => {
    const { rename } = inner;
    // A move that sets the old entry aside must not be replaced by a copy, which would not do so.
    if (rename !== undefined && (options?.aside ?? options?.ifTargetVersion) !== undefined)
      return (await rename.call(inner, source, target, options)) ?? {};
    return renameVia(inner, source, target, options);
  });
}

/** Returns facts with the path that the caller gave. */
function statWithPath(stat: FsStat, path: string): FsStat {
  const asked = normalise(path).path;
  return stat.path === asked ? stat : Object.freeze({ ...stat, path: asked });
}

/** Runs an operation of the inner backend. Its errors name the path that the caller gave. */
async function withErrorPath<T>(path: string, run: () => MaybePromise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw errorWithPath(error, path);
  }
}

/** Returns an error with the path that the caller gave. */
function errorWithPath(error: unknown, path: string): unknown {
  if (!(error instanceof FilewrightError) || error.path === path) return error;
  const { code, message, hint, details, cause } = error;
  return makeError(code, message, { path, hint, details, cause });
}
