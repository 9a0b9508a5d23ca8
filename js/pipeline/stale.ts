/**
 * Watches what a question shows while a person thinks: the real paths of the call and the versions of its entries. It
 * only tells; the change itself compares them again right before it is made.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { Confirmation } from "../hooks/confirm.ts";

/** The shortest time between two looks, in milliseconds. A look that takes long is followed by a longer pause. */
const LOOK_INTERVAL_MS = 1000;
/** The least share of the time without a look, as a multiple of the time of the last one. */
const PAUSE_PER_LOOK = 10;

/** The functions of a question by which a reviewer learns that it is outdated. */
export type StaleFunctions = Required<Pick<Confirmation, "isStale" | "onStale" | "conflict">>;

/**
 * Returns the functions for one question, which read nothing until they are called. `assertUnchanged` rejects when what
 * is shown differs from what is there. `tryAgain` rejects when the change cannot be planned on what is there now. While
 * it rejects, each look tries it again, because the caller may have read the file meanwhile.
 */
export function staleFunctionsOf(
  assertUnchanged: () => Promise<void>,
  tryAgain: () => Promise<unknown>,
): StaleFunctions {
  /** The state once the shown content has changed: it stays outdated, even when the content is as it was again. */
  let known: { readonly conflict: string | undefined } | undefined;
  /** The attempt that is under way. */
  let trying: Promise<true> | undefined;
  const hasChanged = async (): Promise<boolean> => {
    try {
      await assertUnchanged();
      return false;
    } catch {
      // A content that cannot be read any more is no longer the one that was shown, either.
      return true;
    }
  };
  /** Tries the change once, so that a person learns before the answer whether looking again helps. */
  const explain = async (): Promise<true> => {
    let conflict: string | undefined;
    try {
      await tryAgain();
    } catch (error) {
      conflict = error instanceof FilewrightError ? error.message : "The change cannot be planned again.";
    }
    known = { conflict };
    trying = undefined;
    return true;
  };
  const isStale = async (): Promise<boolean> => {
    if (known === undefined && !(await hasChanged())) return false;
    if (known !== undefined && known.conflict === undefined) return true;
    trying ??= explain();
    return trying;
  };
  return {
    isStale,
    conflict: () => known?.conflict,
    onStale(listener) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let isEnded = false;
      let told: typeof known;
      const lookLater = (ms: number): void => {
        timer = setTimeout(() => void look(), ms);
        (timer as { unref?(): void }).unref?.();
      };
      const look = async (): Promise<void> => {
        const began = performance.now();
        const stale = await isStale();
        if (isEnded) return;
        if (stale) {
          const isNews = told === undefined || told.conflict !== known?.conflict;
          told = known;
          if (isNews) listener();
          if (told?.conflict === undefined) return;
        }
        lookLater(Math.max(LOOK_INTERVAL_MS, PAUSE_PER_LOOK * (performance.now() - began)));
      };
      lookLater(LOOK_INTERVAL_MS);
      return () => {
        isEnded = true;
        clearTimeout(timer);
      };
    },
  };
}
