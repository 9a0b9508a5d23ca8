/**
 * How the methods of files work, and shortcuts by which the layers above them search faster, bound answers or join
 * changes. The files of a host have those of `NONE`.
 *
 * Files over other files decide about every shortcut in one call of {@link inheritShortcuts}. A new shortcut is therefore
 * a type error in each wrapper that has not decided about it.
 */
import type { Signalled } from "../engine/errors.ts";
import type {
  CodeSearchQuery,
  CodeSearchResult,
  FindQuery,
  FindResult,
  SearchQuery,
  SearchResult,
} from "../engine/search-types.ts";
import type { FileAbilities, Files } from "./files.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { ChangedNode } from "./overlay/draft.ts";
import type { ContentProvider } from "./search/held.ts";
import type { MomentOf } from "./search/moments.ts";
import type { BeginReadAhead } from "./search/read-ahead.ts";
import { type FileKeeper, NO_KEEPER } from "./transaction/file-keeper.ts";
import type { CommitRecorded } from "./transaction/recorded-list.ts";
import type { EnterStage, Stage } from "./transaction/stage.ts";

/**
 * The form of the paths of a backend: those of POSIX; those of a Windows disk; or those of POSIX with some directories
 * that ignore letter case. Then it is a function that returns true for such a directory.
 */
type PathForm = "posix" | "windows" | ((directory: string) => boolean);

/** Shortcuts past the methods of files. */
export interface Shortcuts {
  /** The indexed contents of a backend that knows all of its files. Searches read them by {@link contentsOf}. */
  readonly contents: ContentProvider | undefined;
  /** Begins to read files ahead, for searches, on a backend that reads many files in one step. */
  readonly readAhead: BeginReadAhead | undefined;
  /**
   * True when `grep` and `find` have the cursors of `js/engine/wire/cursor.ts` and the path order of this library, so
   * that an overlay goes on with the same cursor. The searches of any other backend may have cursors of their own.
   */
  readonly ownCursors: boolean;
  /** Returns searches that answer only what a policy allows; undefined where the files have to be walked. */
  readonly searchUnder: SearchUnder;
  /** The ranked search of the files, which answers only what they show; `searchCode` of `search/search-code.ts` calls it. */
  readonly searchCode: SearchCode;
  /** Returns the files as they are at one moment, which a confined backend searches instead of the storage. */
  readonly moments: MomentOf | undefined;
  /** The form of the paths. The rules of a policy compare names by it (`windows-paths.ts`). */
  readonly paths: PathForm;
  /**
   * True when a path is refused if one of its names is a link, or spelt in another way than stored. A confined backend
   * then need not look before it uses a path.
   */
  readonly refusesLinks: boolean;
  /** The maximum size of the text of an answer over the backend in UTF-8 bytes, from its policies. Infinity: none. */
  readonly maxAnswerBytes: number;
  /** The open stage or transaction that the changes made through the backend are part of. `transact` joins it. */
  readonly stage: Stage | undefined;
  /** Returns the same backend, with the same rules, over a stage of its storage. The function {@link enterStage} calls it. */
  readonly enterStage: EnterStage | undefined;
  /** Returns the function that makes a list of changes together with its record; undefined where there is none. */
  readonly recordedList: () => CommitRecorded | undefined;
  /** Keeps large files that a change sets aside, for an undo. */
  readonly keeper: FileKeeper;
  /** Refuses to read a file which the policy hides under another name. @throws OUTSIDE_ALLOWED, GRANT_DENIED */
  readonly checkNames: (path: string) => Promise<void>;
  /** Returns the same files under a policy that they enforce themselves, without a gap between check and use. */
  readonly confine: ((policy: SandboxPolicy) => Files) | undefined;
}

/** Searches below a real directory. Each returns undefined where the files have to be walked. */
export interface OwnSearches {
  grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult | undefined>;
  find(root: string, query: FindQuery & Signalled): Promise<FindResult | undefined>;
}

/** Finds the blocks below some directories that fit a question best; undefined where the files have to be walked. */
type SearchCode = (
  roots: readonly string[],
  query: CodeSearchQuery & Signalled,
) => Promise<CodeSearchResult | undefined>;

/** Those who search files under a policy, and what it allows. */
interface Searcher {
  readonly policy: SandboxPolicy;
  /** The files as the policy shows them. */
  readonly walked: Files;
  /** Returns true when a changed entry is one that may be shown with its content. */
  readonly mayShow: (path: string, node: ChangedNode) => boolean;
  /** The real paths of the secrets that may be read. */
  readonly granted: readonly string[];
}

/** Returns the searches of some files as a policy allows them; undefined where they have to be walked. */
export type SearchUnder = (searcher: Searcher) => OwnSearches | undefined;

const NONE: Shortcuts = Object.freeze({
  contents: undefined,
  readAhead: undefined,
  ownCursors: false,
  searchUnder: () => undefined,
  searchCode: async () => undefined,
  moments: undefined,
  paths: "posix",
  refusesLinks: false,
  maxAnswerBytes: Number.POSITIVE_INFINITY,
  stage: undefined,
  enterStage: undefined,
  recordedList: () => undefined,
  keeper: NO_KEEPER,
  checkNames: async () => {},
  confine: undefined,
});

const NO_ABILITIES: FileAbilities = Object.freeze({
  conditions: false,
  ranges: false,
  links: false,
  modes: false,
  moves: false,
  asides: false,
  locks: false,
});

/** The names of {@link FileAbilities}. */
export const ABILITIES: readonly (keyof FileAbilities)[] = Object.freeze(
  Object.keys(NO_ABILITIES) as (keyof FileAbilities)[],
);

let known: (of: object) => Shortcuts | undefined;
let give: (to: Able, all: Shortcuts) => void;

/**
 * Files that say what they can do. Shortcuts belong to the object: neither a copy, nor an object made with it as
 * prototype, nor a proxy of a host gets them unnoticed, because it may have replaced a method that they bypass.
 */
export abstract class Able {
  /** How the files work. */
  readonly abilities: FileAbilities;
  #shortcuts: Shortcuts = NONE;

  static {
    known = (of) => (#shortcuts in of ? of.#shortcuts : undefined);
    give = (to, all) => {
      to.#shortcuts = Object.freeze(all);
    };
  }

  constructor(abilities: Partial<FileAbilities> = {}) {
    this.abilities = Object.freeze({ ...NO_ABILITIES, ...abilities });
  }
}

/** Returns the shortcuts of files. */
export function shortcutsOf(files: object): Shortcuts {
  return known(files) ?? NONE;
}

/** Gives files shortcuts of their own. They keep those that they were given before. */
export function provideShortcuts(files: Able, own: Partial<Shortcuts>): void {
  give(files, { ...shortcutsOf(files), ...own });
}

/** The decision of a wrapper about each shortcut. */
interface Inheritance<P extends keyof Shortcuts, D extends keyof Shortcuts> {
  /** The shortcuts of the inner files that are those of the wrapper, too. */
  readonly passes: readonly P[];
  /** The shortcuts that the wrapper does not have. Only the type reads them. */
  readonly drops: readonly D[];
  /** The shortcuts that the wrapper has in its own way: all others. */
  readonly gives: Omit<Shortcuts, P | D>;
}

/** Gives a wrapper its shortcuts. `inner` are the files that it wraps; undefined for one over several. */
export function inheritShortcuts<
  P extends keyof Shortcuts = never,
  D extends Exclude<keyof Shortcuts, P> = never,
>(wrapper: Able, inner: object | undefined, { passes, gives }: Inheritance<P, D>): void {
  const of = inner === undefined ? NONE : shortcutsOf(inner);
  const own: Partial<Record<keyof Shortcuts, unknown>> = { ...NONE, ...gives };
  for (const name of passes) own[name] = of[name];
  give(wrapper, own as unknown as Shortcuts);
}

/** Returns the contents of files; undefined when searches must read them. */
export function contentsOf(files: object): ContentProvider | undefined {
  const { contents } = shortcutsOf(files);
  return contents?.intact() === true ? contents : undefined;
}

/** Returns files over what a stage has read and changed; the files themselves when their storage has no stages. */
export function enterStage(files: Files, stage: Stage): Files {
  return shortcutsOf(files).enterStage?.(stage) ?? files;
}
