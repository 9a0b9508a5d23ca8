/**
 * Views: the storage as one call sees it, without the paths that the rules hide.
 *
 * When deny globs can express the hidden paths, a view is a confined backend with its own searches
 * and index. It is created once and shared by all calls with the same hidden paths. When an earlier
 * rule makes an exception to a later one, every entry is checked separately, which is slower.
 */
import type { Files } from "../backends/files.ts";
import type { CallRules, Decision } from "../policy/index.ts";
import { hidePaths } from "../backends/confined/hiding.ts";
import { isWithin } from "../backends/paths.ts";
import { enterStage } from "../backends/abilities.ts";
import type { Stage } from "../backends/transaction/stage.ts";

/** The maximum number of confined backends of one workspace. Further views check each entry, which is slower. */
const MAX_CONFINED_VIEWS = 16;

/** The rules that determine the view of a call. */
export interface ViewRequest {
  readonly rules: CallRules;
  /** The decisions that hide an entry. */
  readonly hidden: readonly Decision[];
  /** Real paths approved during the call, with everything below them; the list grows. */
  readonly approved?: readonly string[] | undefined;
}

/** The views of one workspace. */
export interface Views {
  /** Returns the workspace's storage as a call sees it. */
  of(request: ViewRequest): Files;
  /** Returns the views of what a stage has read and changed, with the same secrets. */
  on(stage: Stage): Views;
  /** Returns the workspace's storage without what these globs match; undefined where there are too many such views. */
  without(globs: readonly string[]): Files | undefined;
  /** Returns other storage, such as an overlay, as a call sees it. */
  over(storage: Files, request: ViewRequest): Files;
  /** The secrets that may be read in every view; undefined before any was granted. */
  readonly granted: readonly string[] | undefined;
  /** Allows reading exactly these secrets, in every view. */
  grantSecrets(paths: readonly string[]): void;
  /** Releases the resources of the views. */
  close(): Promise<void>;
}

/** Creates the views of a workspace. `confine` returns its storage with further deny globs. */
export function makeViews(base: Files, confine: (deny: readonly string[]) => Files): Views {
  const confined = new Map<string, Files>();
  let granted: readonly string[] | undefined;
  const over = (storage: Files, { rules, hidden, approved = [] }: ViewRequest): Files => {
    if (rules.globs(hidden)?.length === 0) return storage;
    const isApproved = (forms: readonly string[]): boolean =>
      approved.some((path) => isWithin(forms.at(-1) as string, path));
    return hidePaths(storage, {
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
  const of = (request: ViewRequest, on: (fs: Files) => Files = (fs) => fs): Files => {
    const globs = request.rules.globs(request.hidden);
    if (globs?.length === 0) return on(base);
    const view = globs === undefined || request.approved !== undefined ? undefined : without(globs);
    return view === undefined ? over(on(base), request) : on(view);
  };
  const without = (globs: readonly string[]): Files | undefined => {
    const key = JSON.stringify(globs);
    const known = confined.get(key);
    if (known !== undefined || confined.size >= MAX_CONFINED_VIEWS) return known;
    const made = confine(globs);
    if (granted !== undefined) made.grantSecrets(granted);
    confined.set(key, made);
    return made;
  };
  const views: Views = {
    over,
    without,
    get granted() {
      return granted;
    },
    of: (request) => of(request),
    on(stage) {
      const staged = new Map<Files, Files>();
      const enter = (fs: Files): Files => {
        const known = staged.get(fs) ?? enterStage(fs, stage);
        staged.set(fs, known);
        return known;
      };
      return {
        ...views,
        get granted() {
          return granted;
        },
        of: (request) => of(request, enter),
      };
    },
    grantSecrets(paths) {
      granted = paths;
      for (const fs of [base, ...confined.values()]) fs.grantSecrets(paths);
    },
    async close() {
      for (const fs of confined.values()) await fs.close();
      confined.clear();
    },
  };
  return views;
}
