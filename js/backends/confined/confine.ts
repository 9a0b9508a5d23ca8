/**
 * Confines files: every path is resolved and checked before the inner files get it.
 *
 * Enumerations are walked here, over the inner `listDir`: links are never followed and denied
 * directories never entered. Searches are walks of what is shown, unless the inner files search as the policy allows.
 */
import {
  shortcutsOf,
  contentsOf,
  inheritShortcuts,
  type OwnSearches,
  provideShortcuts,
} from "../abilities.ts";
import { callChecks, checkCalls } from "../call-options.ts";
import { CompleteFiles, derived } from "../complete.ts";
import { PassingFiles } from "../delegating.ts";
import { LOCAL_TRANSFER_OPTIONS, LOCAL_WRITE_OPTIONS } from "../local/local-options.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { FilewrightError, makeError, type Signalled } from "../../engine/errors.ts";
import type { Page, PageRequest } from "../../engine/read.ts";
import type {
  FindQuery,
  FindResult,
  FuzzyQuery,
  FuzzyResult,
  SearchQuery,
  SearchResult,
} from "../../engine/search-types.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsEntry,
  FsStat,
  GlobRoot,
  ListOptions,
  LockHandle,
  LockOptions,
  MaybePromise,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TextOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import type { RemoveTreeOptions } from "../call-options.ts";
import type { TreePage, TreeRequest } from "../entry.ts";
import { backendError, ignoreCodes } from "../failure.ts";
import { lstatOrNull, statWithPath } from "../fallback/fallback.ts";
import { copyTree, moveEntry } from "../fallback/fallback-tree.ts";
import { filesBelow, globFiles } from "../fallback/walk-tree.ts";
import type { FileHash, Files } from "../files.ts";
import type { ChangedNode } from "../overlay/draft.ts";
import { type PathResolver, type FinalSymlink, makePathResolver } from "./path-resolver.ts";
import { CheckedFile } from "./checked-file.ts";
import { holdsSecret, mayHoldSecret, SECRET_HEAD_BYTES } from "./rules.ts";
import type { ContentProvider } from "../search/held.ts";
import { secret, secretContent } from "./outside.ts";
import { excludeOfWorktree } from "../walk/git-directory.ts";
import { hasTempName } from "../walk/temp-name.ts";
import { childOf, isWithin, normalise, parentOf, relativeTo } from "../paths.ts";
import { type Intent, type SandboxPolicy, withoutSecretFilter } from "../policy.ts";
import {
  checkCopy,
  checkLinkName,
  checkTree,
  type IsHiddenSecret,
  type TreeTask,
  visibleOnly,
} from "./tree-checks.ts";

/** The secrets that may be read. It is shared by confined files and their stages. */
interface GrantedSecrets {
  /** The real paths of the files. */
  paths: readonly string[];
  /** A text that only the same paths have. */
  key: string;
}

/**
 * Confines files to a policy. `like` are files that were confined here to the same policy and with which the inner ones
 * began, as those of a fork: the roots are then where they are there, and no call looks for them.
 */
export function confineFiles(inner: Files, policy: SandboxPolicy, like?: Files): ConfinedFiles {
  const known = like instanceof ConfinedFiles ? like.resolverFor(policy) : undefined;
  const opened = known?.then((resolver) => resolver.over(inner)) ?? makePathResolver(inner, policy);
  return new ConfinedFiles({ inner, policy, opened, granted: { paths: [], key: "[]" } });
}

/** The parts of confined files. */
interface Confinement {
  readonly inner: Files;
  readonly policy: SandboxPolicy;
  readonly opened: Promise<PathResolver>;
  readonly granted: GrantedSecrets;
}

const isGranted = ({ paths }: GrantedSecrets, real: string): boolean =>
  paths.some((one) => isWithin(real, one));

/** Returns true for an error that no other spelling of the path would change. */
const isOfRequest = (error: unknown): boolean =>
  error instanceof FilewrightError && (error.code === "CANCELLED" || error.code === "TOO_LARGE");

/** The options of a move or copy whose old entry may be set aside. */
type ChangeOptions = MoveOptions & Signalled;

/** Files under a policy. */
export class ConfinedFiles extends CompleteFiles {
  readonly #inner: Files;
  readonly #policy: SandboxPolicy;
  readonly #opened: Promise<PathResolver>;
  readonly #granted: GrantedSecrets;
  /** The verdicts about changed entries that searches show. */
  readonly #shown = new WeakMap<ChangedNode, boolean>();
  /** The moment that was confined last. */
  #moment: { readonly of: Files; readonly files: ConfinedFiles } | undefined;
  #twin: Files | undefined;

  constructor({ inner, policy, opened, granted }: Confinement) {
    // A move is a copy and a removal here where the inner files cannot move. Only a disk that confines itself sets aside.
    super({ ...inner.abilities, moves: true, asides: false });
    this.#inner = inner;
    this.#policy = policy;
    this.#opened = opened;
    this.#granted = granted;
    // An invalid policy is reported by the first call, not by an unhandled rejection.
    opened.catch(() => undefined);
    this.#inherit();
  }

  /** Takes the shortcuts of the inner files as far as the policy allows. */
  #inherit(): void {
    const { readAhead, enterStage } = shortcutsOf(this.#inner);
    inheritShortcuts(this, this.#inner, {
      passes: ["paths", "maxAnswerBytes", "stage"],
      drops: ["searchUnder", "moments", "refusesLinks", "checkNames", "confine", "recordedList", "keeper"],
      gives: {
        contents: this.#contents(),
        readAhead:
          readAhead &&
          (async (root) => readAhead(await (await this.#opened).resolve(root, "read", "follow"))),
        // The cursors of a search are made here.
        ownCursors: true,
        // That of the inner files would show what the policy hides.
        searchCode: async (roots, query) => {
          const then = await this.#atMoment(query);
          return then && (await derived()).searchCode(then, roots, query);
        },
        enterStage:
          enterStage &&
          ((stage) => {
            const inner = enterStage(stage);
            const opened = this.#opened.then((resolver) => resolver.over(inner));
            return new ConfinedFiles({ inner, policy: this.#policy, opened, granted: this.#granted });
          }),
      },
    });
  }

  /** Returns the contents of the inner files, if they have them, as the policy allows to search them. */
  #contents(): ContentProvider | undefined {
    const held = contentsOf(this.#inner);
    if (held === undefined) return undefined;
    const granted = this.#granted;
    return {
      ...held,
      view: `${held.view}${JSON.stringify(this.#policy)}`,
      // The secrets that may be read are a part of what a search sees.
      shape: () => `${held.shape()} ${granted.key}`,
      stamp: (path) => {
        const stamp = held.stamp(path);
        return stamp === undefined ? undefined : `${stamp} ${granted.key}`;
      },
      file: (path) =>
        this.#readable(path, async (real, mayBeSecret) => {
          const file = await held.file(real);
          return mayBeSecret ? new CheckedFile(file, path) : file;
        }),
    };
  }

  /** Returns where the roots are, for other files that began as these, under the same policy. */
  resolverFor(policy: SandboxPolicy): Promise<PathResolver> | undefined {
    return policy === this.#policy ? this.#opened : undefined;
  }

  /** Resolves a path and runs an operation of the inner files on it. */
  async #at<T>(
    path: string,
    intent: Intent,
    last: FinalSymlink,
    use: (real: string, resolver: PathResolver) => MaybePromise<T>,
  ): Promise<T> {
    const resolver = await this.#opened;
    const real = await resolver.resolve(path, intent, last);
    return withErrorPath(path, () => use(real, resolver));
  }

  /** Runs a write. With `ifAbsent` a link counts as present, so the path itself is checked and not the link's target. */
  #write<T>(
    path: string,
    options: WriteOptions | undefined,
    use: (real: string) => MaybePromise<T>,
  ): Promise<T> {
    return this.#at(path, "write", options?.ifAbsent === true ? "keep" : "follow", use);
  }

  /** Reading a secret needs a grant. Listing it does not. */
  readonly #isHidden: IsHiddenSecret = (real, resolver) =>
    resolver.rules.check(real).secret && !isGranted(this.#granted, real);

  /**
   * Resolves the path of a file that is read. `mayBeSecret` is true where the content must be checked: the file may not
   * be read if it is a secret.
   * @throws FilewrightError for a path that may not be read
   */
  #readable<T>(path: string, use: (real: string, mayBeSecret: boolean) => Promise<T>): Promise<T> {
    return this.#readAt(path, async (real, resolver) => {
      if (this.#isHidden(real, resolver) && (await lstatOrNull(this.#inner, real))?.isFile === true)
        throw secret(path);
      const isOpen = this.#policy.secrets !== "grant" || resolver.rules.check(real).opened;
      return use(real, !isOpen && !isGranted(this.#granted, real));
    });
  }

  /**
   * Reads at a path as it is given, where the inner files themselves refuse one with a link. Otherwise, and where that
   * fails, the path is resolved: that follows its links, or finds the reason again.
   */
  async #readAt<T>(path: string, read: (real: string, resolver: PathResolver) => Promise<T>): Promise<T> {
    const resolver = await this.#opened;
    const real = resolver.withoutLooking(path, "read");
    if (real !== undefined) {
      try {
        return await read(real, resolver);
      } catch (error) {
        if (isOfRequest(error)) throw error;
        // Resolved below.
      }
    }
    return this.#at(path, "read", "follow", read);
  }

  /**
   * Runs a read of a file and refuses it if the content is a secret. `head` returns the beginning of the content that was
   * read.
   */
  #content<T>(
    path: string,
    use: (real: string) => MaybePromise<T>,
    head: (result: T, real: string) => MaybePromise<Uint8Array>,
  ): Promise<T> {
    return this.#readable(path, async (real, mayBeSecret) => {
      const result = await use(real);
      if (mayBeSecret && holdsSecret(await head(result, real))) throw secretContent(path);
      return result;
    });
  }

  /**
   * Runs a read of a file whose result has a version, and refuses it if the content is a secret. Where the inner files
   * read a file as a whole, or it was replaced before its beginning was read, `derive` reads the content here, once.
   */
  async #unchanged<T extends { readonly version?: string | undefined }>(
    path: string,
    use: (real: string) => Promise<T>,
    derive: () => Promise<T>,
  ): Promise<T> {
    const found = await this.#readable(path, async (real, mayBeSecret) => {
      if (!mayBeSecret) return use(real);
      if (!this.#inner.abilities.ranges) return undefined;
      const result = await use(real);
      const head = await headOf(this.#inner, real, result.version).catch(ignoreCodes("CONFLICT"));
      if (head !== undefined && holdsSecret(head)) throw secretContent(path);
      return head && result;
    });
    return found ?? derive();
  }

  override async exists(path: string): Promise<boolean> {
    try {
      return await this.#at(path, "read", "follow", (real) => this.#inner.exists(real));
    } catch (error) {
      if (error instanceof FilewrightError) return false;
      throw error;
    }
  }
  stat(path: string): Promise<FsStat> {
    return this.#at(path, "read", "follow", async (real) => statWithPath(await this.#inner.stat(real), path));
  }
  override lstat(path: string): Promise<FsStat> {
    return this.#at(path, "read", "keep", async (real) => statWithPath(await this.#inner.lstat(real), path));
  }
  override readText(path: string, options?: TextOptions): Promise<string> {
    return this.#content(
      path,
      (real) => this.#inner.readText(real, options),
      // Text of another encoding differs from the bytes of the file; a secret in it reads the same.
      (text) => new TextEncoder().encode(text.slice(0, SECRET_HEAD_BYTES)),
    );
  }
  override readBytes(path: string): Promise<Uint8Array> {
    return this.#content(
      path,
      (real) => this.#inner.readBytes(real),
      (bytes) => bytes,
    );
  }
  read(path: string, options?: ReadOptions): Promise<VersionedBytes | null> {
    return this.#content(
      path,
      async (real) => {
        const result = await this.#inner.read(real, options);
        return result && Object.freeze({ ...result, stat: statWithPath(result.stat, path) });
      },
      (result, real) => (result === null ? EMPTY_BYTES : readHead(this.#inner, real, result, options)),
    );
  }
  override readLines(path: string, request: PageRequest & Signalled): Promise<Page> {
    return this.#unchanged(
      path,
      (real) => this.#inner.readLines(real, request),
      () => super.readLines(path, request),
    );
  }
  override hash(path: string, options?: Signalled): Promise<FileHash> {
    return this.#unchanged(
      path,
      (real) => this.#inner.hash(real, options),
      () => super.hash(path, options),
    );
  }
  override readLink(path: string): Promise<string> {
    return this.#at(path, "read", "keep", (real) => this.#inner.readLink(real));
  }
  override async realpath(path: string): Promise<string> {
    const resolver = await this.#opened;
    try {
      return await resolver.resolve(path, "read", "follow");
    } catch (error) {
      // A path that is writable but not readable has a real path too.
      if (!(error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") || this.#policy.readOnly)
        throw error;
      return resolver.resolve(path, "write", "follow");
    }
  }
  override gitExclude(directory: string): Promise<Uint8Array | undefined> {
    return this.#at(directory, "read", "follow", (real) => excludeOfWorktree(this.#inner, real));
  }
  override otherNames(path: string): Promise<readonly string[]> {
    return this.#at(path, "read", "follow", (real) => this.#inner.otherNames(real));
  }

  listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    return this.#readAt(path, async (real, resolver) => {
      const listed = visibleOnly(this.#inner, resolver, real, resolver.nameOf(path));
      return entriesAsAsked(await listed.listDir(real, options), real, path);
    });
  }
  override iterFiles(root: string): AsyncGenerator<string> {
    return visibleFiles(this.#inner, root, this.#opened);
  }
  override async glob(pattern: string, options?: GlobRoot): Promise<readonly string[]> {
    const asked = options?.root ?? this.#policy.cwd;
    await (await this.#opened).resolve(asked, "read", "follow");
    const root = normalise(asked).path;
    return globFiles(this.iterFiles(root), root, pattern);
  }

  writeBytes(path: string, content: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
    return this.#write(path, options, (real) => this.#inner.writeBytes(real, content, options));
  }
  override writeText(
    path: string,
    content: string,
    options?: WriteOptions & TextOptions,
  ): Promise<WriteResult> {
    return this.#write(path, options, (real) => this.#inner.writeText(real, content, options));
  }
  async delete(path: string, options?: DeleteOptions): Promise<void> {
    const real = await (await this.#opened).resolveForRemoval(path);
    const { ifVersion, aside } = options ?? {};
    await withErrorPath(path, () => this.#inner.delete(real, { ifVersion, aside }));
  }
  mkdir(path: string, options?: MkdirOptions): Promise<void> {
    return this.#at(path, "write", "keep", async (real, resolver) => {
      // A link is no new directory, and one that leads out must not reveal whether its target exists.
      const link = (await lstatOrNull(this.#inner, real))?.type === "symlink";
      if (!link) return this.#inner.mkdir(real, options);
      const target = await resolver
        .resolve(path, "read", "follow")
        .catch(ignoreCodes("LOOP", "NOT_DIRECTORY", "NOT_FOUND"));
      const isDirectory = target !== undefined && (await lstatOrNull(this.#inner, target))?.isDir === true;
      if (!isDirectory || options?.existOk === false) throw backendError("ALREADY_EXISTS", path);
    });
  }
  override async rename(from: string, to: string, options?: ChangeOptions): Promise<WriteResult> {
    const inner = this.#inner;
    const resolver = await this.#opened;
    const source = await resolver.resolveForRemoval(from);
    await withErrorPath(from, () => inner.lstat(source));
    const target = await resolver.resolveForRemoval(to);
    if (this.#isHidden(source, resolver) && !resolver.rules.check(target).secret) throw secret(from);
    if ((await lstatOrNull(inner, source))?.type === "symlink") checkLinkName(target, to, resolver);
    const task = this.#treeTask(resolver, { source, target, path: from, signal: options?.signal });
    await withErrorPath(from, () => checkTree(task));
    // A move that sets the old entry aside must not be replaced by a copy, which would not do so.
    const isOneStep = (options?.aside ?? options?.ifTargetVersion) !== undefined;
    return withErrorPath(to, () =>
      isOneStep ? inner.rename(source, target, options) : moveEntry(inner, source, target, options),
    );
  }
  override copyFile(from: string, to: string, options?: ChangeOptions): Promise<WriteResult> {
    return this.#copyFile(from, to, options, false);
  }
  async #copyFile(
    from: string,
    to: string,
    options: ChangeOptions | undefined,
    inTree: boolean,
  ): Promise<WriteResult> {
    const inner = this.#inner;
    const resolver = await this.#opened;
    const source = await resolver.resolve(from, "read", "follow");
    const { isDir } = await withErrorPath(from, async () => {
      await shortcutsOf(inner).checkNames(source);
      return inner.stat(source);
    });
    if (isDir) throw backendError("IS_DIRECTORY", from);
    return this.#write(to, { ifAbsent: options?.overwrite !== true }, async (real) => {
      if (this.#isHidden(source, resolver) && !(inTree && resolver.rules.check(real).secret))
        throw secret(from);
      return inner.copyFile(source, real, options);
    });
  }
  /**
   * Refuses to create a link whose target is outside, unless `followSymlinks` is "any". Such links that exist already are
   * refused when a path is resolved.
   */
  override symlink(target: string, path: string): Promise<void> {
    return this.#makeLink(target, path, this.#policy.followSymlinks === "any");
  }
  #makeLink(target: string, path: string, mayLeadOut: boolean): Promise<void> {
    return this.#at(path, "write", "keep", async (real, resolver) => {
      if ((await lstatOrNull(this.#inner, real)) !== null) throw backendError("ALREADY_EXISTS", path);
      checkLinkName(real, path, resolver);
      await this.#inner.stat(parentOf(real));
      if (!mayLeadOut) resolver.checkLinkTarget(real, target);
      await this.#inner.symlink(target, real);
    });
  }
  override chmod(path: string, mode: number): Promise<void> {
    return this.#at(path, "write", "follow", (real) => this.#inner.chmod(real, mode));
  }
  override async removeTree(path: string, options?: RemoveTreeOptions): Promise<TreeCounts> {
    const inner = this.#inner;
    const resolver = await this.#opened;
    const real = await resolver.resolveForRemoval(path);
    const task = this.#treeTask(resolver, { source: real, target: real, path, signal: options?.signal });
    return withErrorPath(path, async () => {
      await checkTree(task);
      return inner.removeTree(real, options);
    });
  }
  override async copyTree(from: string, to: string, options?: CopyTreeOptions): Promise<TreeCounts> {
    const inner = this.#inner;
    const resolver = await this.#opened;
    const source = await resolver.resolve(from, "read", "keep");
    await withErrorPath(from, () => inner.lstat(source));
    const target = await resolver.resolve(to, "write", "keep");
    if ((await lstatOrNull(inner, source))?.type === "symlink") checkLinkName(target, to, resolver);
    // Checked before the first file is copied: a partial copy could contain files that may not be removed.
    const task = this.#treeTask(resolver, { source, target, path: to, signal: options?.signal });
    await withErrorPath(to, () => checkCopy(task));
    return copyTree(this.#withinTree(), from, to, options);
  }
  #treeTask(
    resolver: PathResolver,
    paths: Pick<TreeTask, "source" | "target" | "path" | "signal">,
  ): TreeTask {
    return { inner: this.#inner, resolver, isHidden: this.#isHidden, ...paths };
  }
  /** Returns these files for the copy of a tree. */
  #withinTree(): Files {
    const within = new PassingFiles(this);
    const { stage } = shortcutsOf(this.#inner);
    provideShortcuts(within, { stage }); // The copy reads no other one.
    return Object.assign(within, {
      // Within a tree, a secret may be copied to a path that is a secret again.
      copyFile: (from: string, to: string, how?: ChangeOptions) => this.#copyFile(from, to, how, true),
      // A copied link keeps its target, as on a disk; one that then leads outside is refused when followed.
      symlink: (target: string, link: string) => this.#makeLink(target, link, true),
    });
  }

  override sweep(path: string): Promise<void> {
    return this.#at(path, "write", "follow", (real) => this.#inner.sweep(real));
  }
  override lock(path: string, options: LockOptions): Promise<LockHandle> {
    const last = options.resolved === true ? "keep" : "follow";
    return this.#at(path, "write", last, (real) => this.#inner.lock(real, options));
  }
  override grantSecrets(paths: readonly string[]): void {
    Object.assign(this.#granted, { paths: [...paths], key: JSON.stringify([...paths].sort()) });
  }
  override trusted(): Files {
    this.#twin ??= confineFiles(this.#inner, withoutSecretFilter(this.#policy));
    return this.#twin;
  }

  /** Returns the files of the moment that a search is about; undefined where there is only the present. */
  async #atMoment({ signal }: Signalled): Promise<ConfinedFiles | undefined> {
    const { moments } = shortcutsOf(this.#inner);
    if (moments === undefined) return undefined;
    const of = await moments({ signal });
    // The moment is confined like the files themselves, so its walk checks each entry, and counts nothing denied.
    if (this.#moment?.of !== of) this.#moment = { of, files: confineFiles(of, this.#policy) };
    this.#moment.files.grantSecrets(this.#granted.paths);
    return this.#moment.files;
  }

  /** Returns the searches of the inner files below a place; undefined where the place has to be walked. */
  async #ownSearches(
    root: string,
  ): Promise<{ readonly real: string; readonly own: OwnSearches } | undefined> {
    const { searchUnder } = shortcutsOf(this.#inner);
    const resolver = await this.#opened;
    const real = await resolver.resolve(root, "read", "follow");
    // A directory that is named by a link is checked by both names, and a single file by its content.
    if (resolver.nameOf(root) !== real || !(await this.stat(root)).isDir) return undefined;
    const mayShow = (path: string, node: ChangedNode): boolean => {
      const isShown = this.#shown.get(node) ?? this.#isPlain(path, node, resolver);
      this.#shown.set(node, isShown);
      return isShown;
    };
    const granted = this.#granted.paths;
    const own = searchUnder({ policy: this.#policy, walked: this, mayShow, granted });
    return own && { real, own };
  }

  /** Returns true for a changed entry that is neither denied, a secret, a link nor content that is still elsewhere. */
  #isPlain(path: string, node: ChangedNode, resolver: PathResolver): boolean {
    if (!resolver.mayRead(path) || hasTempName(path, "/") || node.type === "symlink") return false;
    if (node.type === "dir") return true;
    if (resolver.rules.check(path).secret || !(node.content instanceof Uint8Array)) return false;
    return this.#policy.secrets !== "grant" || !holdsSecret(node.content.subarray(0, SECRET_HEAD_BYTES));
  }

  override async grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult> {
    const then = await this.#atMoment(query);
    if (then !== undefined) return then.grep(root, query);
    const found = await this.#ownSearches(root);
    return (await found?.own.grep(found.real, query)) ?? super.grep(root, query);
  }
  override async find(root: string, query: FindQuery & Signalled): Promise<FindResult> {
    const then = await this.#atMoment(query);
    if (then !== undefined) return then.find(root, query);
    const found = await this.#ownSearches(root);
    return (await found?.own.find(found.real, query)) ?? super.find(root, query);
  }
  override async findFiles(root: string, query: Omit<FuzzyQuery, "rank"> & Signalled): Promise<FuzzyResult> {
    return (await this.#atMoment(query))?.findFiles(root, query) ?? super.findFiles(root, query);
  }
  override async listTree(root: string, request: TreeRequest): Promise<TreePage> {
    return (await this.#atMoment(request))?.listTree(root, request) ?? super.listTree(root, request);
  }
}

// Confined files may be a disk, which has options of its own; the other files refuse them.
checkCalls(
  ConfinedFiles.prototype,
  callChecks("SandboxedBackend", LOCAL_WRITE_OPTIONS, LOCAL_TRANSFER_OPTIONS),
);

/** Returns the beginning of a file, of which the caller has read a range. */
async function readHead(
  inner: Files,
  real: string,
  { bytes, stat, version }: VersionedBytes,
  { range }: ReadOptions = {},
): Promise<Uint8Array> {
  if (range === undefined) return bytes;
  const isHead = bytes.length >= SECRET_HEAD_BYTES || bytes.length >= stat.size || !mayHoldSecret(bytes);
  return (range.start ?? 0) === 0 && isHead ? bytes : headOf(inner, real, version);
}

/** Returns the beginning of a file. @throws CONFLICT if it has not the version that was read: another was put there */
async function headOf(inner: Files, real: string, version: string | undefined): Promise<Uint8Array> {
  const head = await inner.read(real, { range: { start: 0, end: SECRET_HEAD_BYTES } });
  if (head?.version !== version)
    throw backendError("CONFLICT", real, "the file was replaced while it was read; read it again");
  return head?.bytes ?? EMPTY_BYTES;
}

/** Returns the entries of a directory at a real path with the path that the caller gave. */
function entriesAsAsked(entries: readonly FsEntry[], real: string, path: string): readonly FsEntry[] {
  const asked = normalise(path).path;
  if (asked === real) return Object.freeze([...entries]);
  return Object.freeze(entries.map((entry) => Object.freeze({ ...entry, path: childOf(asked, entry.name) })));
}

/** Yields the regular files below a directory that are not denied, with the path that the caller gave. */
async function* visibleFiles(
  inner: Files,
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
