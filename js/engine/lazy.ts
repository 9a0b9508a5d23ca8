/**
 * Parts of this package that an import of Filewright does not load, nor the modules that only they need: `lazily` loads a
 * part when it is first used, `lazilyEarly` also after a workspace was opened. Each part has one module as its front door.
 */
import { makeError } from "./errors.ts";

/** Loads a part, or returns the loaded one. */
type LoadPart<Part> = () => Promise<Part>;

/** The loads of the parts that most workspaces need. */
const early: LoadPart<unknown>[] = [];

/**
 * Returns a function that loads a part. `load` is the `import` itself, whose name bundlers must see. Each use after the
 * first has the loaded module at once. A failed load is asked for again by the next use; but Node keeps a failed `import`
 * for the life of the process.
 *
 * @throws FilewrightError IO_ERROR where the files of the package cannot be read
 */
export function lazily<Part extends object>(name: string, load: LoadPart<Part>): LoadPart<Part> {
  let loading: Promise<Part> | undefined;
  return () =>
    (loading ??= oneAtATime(load).catch((cause: unknown) => {
      loading = undefined;
      throw loadError(name, cause);
    }));
}

/** The last load that was asked for. */
let last: Promise<unknown> = Promise.resolve();

/** Loads a part after those that were asked for before: Jest fails where the modules of two loads meet. */
function oneAtATime<Part>(load: LoadPart<Part>): Promise<Part> {
  const mine = last.then(load);
  last = mine.catch(() => undefined);
  return mine;
}

/** Does the same for a part that a workspace loads once it is open ({@link loadEarly}), unless it was used before. */
export function lazilyEarly<Part extends object>(name: string, load: LoadPart<Part>): LoadPart<Part> {
  const part = lazily(name, load);
  early.push(part);
  return part;
}

/**
 * Loads the parts that most workspaces need. What a change, its undo and the words of an error need is there then, also
 * when the process can open no more files. The use of a part that could not be loaded tells why.
 */
export async function loadEarly(): Promise<void> {
  // One after another, so that the first call waits for one of them at most.
  for (const load of early) await load().catch(() => undefined);
}

/** Node's codes for a process, or a system, that has as many files open as it may have. */
const NO_DESCRIPTOR_CODES: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

function loadError(part: string, cause: unknown): Error {
  const isFull = NO_DESCRIPTOR_CODES.has((cause as { readonly code?: unknown } | undefined)?.code);
  const [reason, remedy] = isFull
    ? ["no more files can be opened", "raise the limit of open files (ulimit -n)"]
    : ["the files of the package are missing or cannot be read", "install filewright again"];
  return makeError("IO_ERROR", `Filewright could not load its part for ${part}: ${reason}`, {
    ...{ complete: true, cause, details: { part } },
    hint: `${remedy}, then restart the process`,
  });
}
