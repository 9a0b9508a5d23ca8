/**
 * Views: the storage as one call sees it, without what the rules keep from it.
 *
 * Where deny globs can say what is kept, a view is a confined backend of its
 * own, with its own searches and index, made once and shared by all calls that
 * see the same. Where an earlier rule takes something out of a later one, every
 * entry is decided by itself, which is slower.
 */
import type { CallRules, Decision } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { hiding } from "../backends/hiding.ts";
import { isWithin } from "../backends/paths.ts";

/** Limits the confined backends of one workspace; calls beyond it have every entry decided by itself. */
const MAX_CONFINED = 16;

/** What a call sees. */
export interface ViewRequest {
  readonly rules: CallRules;
  /** The decisions that keep an entry out of sight. */
  readonly hidden: readonly Decision[];
  /** Real paths that were asked about and allowed, with everything below them; grows during the call. */
  readonly approved?: readonly string[] | undefined;
}

/** The views of one workspace. */
export interface Views {
  /** The workspace's storage as a call sees it. */
  of(request: ViewRequest): FsBackend;
  /** Other storage, such as an overlay, as a call sees it. */
  over(storage: FsBackend, request: ViewRequest): FsBackend;
  /** Lets these secrets be read in every view, and no others any more. */
  grantSecrets(paths: readonly string[]): void;
  /** Gives back what the views hold. */
  close(): Promise<void>;
}

/** Makes the views of a workspace. `confine`: its storage with more deny globs. */
export function makeViews(base: FsBackend, confine: (deny: readonly string[]) => FsBackend): Views {
  const confined = new Map<string, FsBackend>();
  let granted: readonly string[] | undefined;
  const over = (storage: FsBackend, { rules, hidden, approved = [] }: ViewRequest): FsBackend => {
    if (rules.globs(hidden)?.length === 0) return storage;
    const isApproved = (forms: readonly string[]): boolean =>
      approved.some((path) => isWithin(forms.at(-1) as string, path));
    return hiding(storage, {
      hides(forms) {
        const decision = rules.decide(forms);
        return (
          decision !== undefined && hidden.includes(decision) && !(decision === "ask" && isApproved(forms))
        );
      },
      mayShowBelow: (real) =>
        rules.globs(hidden) === undefined || approved.some((path) => isWithin(path, real)),
    });
  };
  return {
    over,
    of(request) {
      const globs = request.rules.globs(request.hidden);
      if (globs?.length === 0) return base;
      if (globs === undefined || request.approved !== undefined) return over(base, request);
      const key = JSON.stringify(globs);
      const known = confined.get(key);
      if (known !== undefined) return known;
      if (confined.size >= MAX_CONFINED) return over(base, request);
      const made = confine(globs);
      if (granted !== undefined) made.grantSecrets?.(granted);
      confined.set(key, made);
      return made;
    },
    grantSecrets(paths) {
      granted = paths;
      for (const fs of [base, ...confined.values()]) fs.grantSecrets?.(paths);
    },
    async close() {
      for (const fs of confined.values()) await fs.close?.();
      confined.clear();
    },
  };
}
