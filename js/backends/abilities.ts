/**
 * The abilities of a backend: facts that the public contract `FsBackend` does not show, by which the layers above it
 * search faster, bound answers or join its changes. A host's own backend has those of `NONE`.
 *
 * A backend that wraps another one decides about every ability in one call of {@link inheritAbilities}. A new ability is
 * therefore a type error in each wrapper that has not decided about it.
 */
import type { FsBackend } from "./backend.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { ContentProvider } from "./search/held.ts";
import type { MomentOf, MomentSearch } from "./search/moments.ts";
import type { BeginReadAhead } from "./search/read-ahead.ts";
import type { EnterStage, Stage } from "./transaction/stage.ts";

/**
 * The form of the paths of a backend: those of POSIX; those of a Windows disk; or those of POSIX with some directories
 * that ignore letter case. Then it is a function that returns true for such a directory.
 */
type PathForm = "posix" | "windows" | ((directory: string) => boolean);

/** The abilities and facts of a backend besides its methods. */
export interface Abilities {
  /** The indexed contents of a backend that knows all of its files. Searches read them by {@link contentsOf}. */
  readonly contents: ContentProvider | undefined;
  /** Begins to read files ahead, for searches, on a backend that reads many files in one step. */
  readonly readAhead: BeginReadAhead | undefined;
  /**
   * True when `grep` and `find` have the cursors of `js/engine/wire/cursor.ts` and the path order of this library, so
   * that an overlay goes on with the same cursor. The searches of any other backend may have cursors of their own.
   */
  readonly ownCursors: boolean;
  /**
   * Returns true when `grep` and `find` answer only what a policy allows, so that a confined backend does not judge
   * their answers path by path again. It is asked before each search.
   */
  readonly answersOnlyAllowed: (policy: SandboxPolicy) => boolean;
  /** Returns the files as they are at one moment, which a confined backend searches instead of the storage. */
  readonly moments: MomentOf | undefined;
  /** Searches a moment by a copy of its files on this machine. */
  readonly momentSearch: MomentSearch | undefined;
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
}

const NONE: Abilities = Object.freeze({
  contents: undefined,
  readAhead: undefined,
  ownCursors: false,
  answersOnlyAllowed: () => false,
  moments: undefined,
  momentSearch: undefined,
  paths: "posix",
  refusesLinks: false,
  maxAnswerBytes: Number.POSITIVE_INFINITY,
  stage: undefined,
  enterStage: undefined,
});

/**
 * The abilities by the identity of the backend, so that neither a copy, nor an object made with it as prototype, nor a
 * proxy of a host gets them unnoticed: it may have replaced a method that they bypass.
 */
const abilitiesByBackend = new WeakMap<object, Abilities>();

/** Returns the abilities of a backend. */
export function abilitiesOf(backend: object): Abilities {
  return abilitiesByBackend.get(backend) ?? NONE;
}

/** Gives a backend abilities of its own. It keeps those that it was given before. */
export function provideAbilities(backend: object, own: Partial<Abilities>): void {
  abilitiesByBackend.set(backend, Object.freeze({ ...abilitiesOf(backend), ...own }));
}

/** The decision of a wrapper about each ability. */
interface Inheritance<P extends keyof Abilities, D extends keyof Abilities> {
  /** The abilities of the inner backend that are those of the wrapper, too. */
  readonly passes: readonly P[];
  /** The abilities that the wrapper does not have. Only the type reads them. */
  readonly drops: readonly D[];
  /** The abilities that the wrapper has in its own way: all others. */
  readonly gives: Omit<Abilities, P | D>;
}

/** Gives a wrapper its abilities. `inner` is the backend that it wraps; undefined for one over several. */
export function inheritAbilities<
  P extends keyof Abilities = never,
  D extends Exclude<keyof Abilities, P> = never,
>(wrapper: object, inner: object | undefined, { passes, gives }: Inheritance<P, D>): void {
  const known = (inner && abilitiesByBackend.get(inner)) ?? NONE;
  const own: Partial<Record<keyof Abilities, unknown>> = { ...NONE, ...gives };
  for (const name of passes) own[name] = known[name];
  abilitiesByBackend.set(wrapper, Object.freeze(own as unknown as Abilities));
}

/** Returns the contents of a backend; undefined when searches must read its files. */
export function contentsOf(backend: FsBackend): ContentProvider | undefined {
  const { contents } = abilitiesOf(backend);
  return contents?.intact() === true ? contents : undefined;
}

/** Returns a backend over what a stage has read and changed; the backend itself when its storage has no stages. */
export function enterStage(backend: FsBackend, stage: Stage): FsBackend {
  return abilitiesOf(backend).enterStage?.(stage) ?? backend;
}
