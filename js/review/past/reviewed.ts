/** The workspaces that a page shows, each with what the page has read of it, for as long as it is attached. */
import type { HistoryChange } from "../../pipeline/past/file-change.ts";
import { keepLast } from "../../schema/keep-last.ts";
import type { AgentWorkspace, Workspace } from "../../workspace/types.ts";
import type { ReviewHub } from "../hub.ts";
import type { LineTotals } from "./history-protocol.ts";

/** The name under which the page reads. It is in the feed and in the audit log. */
const READER = "review page";

/** The number of previews that are kept for one workspace, with the contents that they show. */
const MAX_KEPT_PREVIEWS = 4;
/** The number of calls of one workspace whose changes are kept, with their contents. */
const MAX_KEPT_CALLS = 3;
/** The number of calls of one workspace whose lines are counted. */
const MAX_KNOWN_COUNTS = 10_000;

/** The changes that a rewind, or an undo of some hunks, would make. */
export interface Preview {
  readonly digest: string;
  readonly changes: readonly HistoryChange[];
}

/** The changed lines of a past call, and the paths of which they are. */
export interface CountedCall {
  readonly totals: LineTotals | null;
  readonly paths: readonly string[];
}

/** An attached workspace, with what the page has read of it. */
export class ReviewedWorkspace {
  readonly workspace: Workspace;
  /** The previews of what would be taken back, by their digests: for their rows, and for the question about them. */
  readonly previews: Map<string, Preview> = new Map();
  /** The counted lines by the ids of calls. A past call stays as it was. */
  readonly counts: Map<string, CountedCall> = new Map();
  readonly #calls = new Map<string, Promise<readonly HistoryChange[]>>();
  #reader: Promise<AgentWorkspace> | undefined;

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  /** Returns the changes of a call. Those of the last calls are kept: a page reads their rows in several requests. */
  changes(callId: string): Promise<readonly HistoryChange[]> {
    const known = this.#calls.get(callId) ?? this.workspace.changes(callId);
    keepLast(this.#calls, callId, known, MAX_KEPT_CALLS);
    known.catch(() => this.#calls.get(callId) === known && this.#calls.delete(callId));
    return known;
  }

  /** Forgets what calls have changed: a content that was known may not be known any more. */
  forgetChanges(): void {
    this.#calls.clear();
  }

  /** Keeps a preview for a while. */
  keepPreview(preview: Preview): void {
    keepLast(this.previews, preview.digest, preview, MAX_KEPT_PREVIEWS);
  }

  /** Keeps the counted lines of a call. */
  keepCounted(callId: string, counted: CountedCall): void {
    keepLast(this.counts, callId, counted, MAX_KNOWN_COUNTS);
  }

  /** Returns the read-only agent through which the page searches and reads. */
  reader(): Promise<AgentWorkspace> {
    this.#reader ??= this.workspace.agent(READER, { access: { readOnly: true } }).catch((error: unknown) => {
      this.#reader = undefined;
      throw error;
    });
    return this.#reader;
  }
}

/** The attached workspaces of a hub. */
export class ReviewedWorkspaces {
  readonly #hub: ReviewHub;
  readonly #kept = new Map<string | undefined, ReviewedWorkspace>();

  constructor(hub: ReviewHub) {
    this.#hub = hub;
  }

  /** Returns the workspace with a name, or the first one; undefined when there is none. */
  of(name: string | undefined): ReviewedWorkspace | undefined {
    for (const [known, { workspace }] of this.#kept)
      if (this.#hub.workspace(known) !== workspace) this.#kept.delete(known);
    const kept = this.#kept.get(name);
    const workspace = this.#hub.workspace(name);
    if (kept !== undefined || workspace === undefined) return kept;
    const made = new ReviewedWorkspace(workspace);
    this.#kept.set(name, made);
    return made;
  }
}
