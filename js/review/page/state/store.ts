/**
 * The state of the page in the browser as plain data, and the actions that change it, so that every state can be drawn
 * from data alone. `reduce.ts` has the changes.
 *
 * The part that all pages share comes from the server (`../state.ts`). The rest is what this person does here: the
 * chosen question and hunks, an open dialog, and how the connection is.
 */
import type { ConnectionState } from "../../hub-connection.ts";
import type {
  ChangeRows,
  ReviewEvent,
  ReviewOutcome,
  ReviewRole,
  ReviewSnapshot,
  ReviewState,
} from "../../protocol.ts";
import type { WiderDraft, Widening } from "../../questions/wider-draft.ts";
import { EMPTY_STATE } from "../../state.ts";
import type { GroupAction, GroupPlan } from "../screens/group/group.ts";
import { FIRST_TIMELINE, type TimelineView } from "../screens/timeline/view.ts";
import type { LeftOutParts, LoadedRows } from "./choice.ts";
import type { AllowedPlace, Notice, UnknownAnswer } from "./notice.ts";

/** The screens of the page. */
export type Screen = "review" | "timeline" | "policy" | "search" | "activity";

/** The part that the narrow page shows, which has room for one. */
export type Pane = "waiting" | "change" | "live";

/** A call about which a person asks why it is refused. */
export interface AskedCall {
  readonly tool: string;
  /** The path, as the caller wrote it. */
  readonly path: string;
  readonly agent?: string;
  /** The error code with which it failed; absent for a call that was not made. */
  readonly code?: string;
  /** The name of the person who answered about it. */
  readonly by?: string;
}

/** The whole state of the page. */
export interface PageState {
  readonly connection: ConnectionState;
  /** Names the run of the server; empty before the first answer. */
  readonly run: string;
  readonly subject: string;
  /** The names of the attached workspaces. Screens ask about {@link workspace}. */
  readonly workspaces: readonly string[];
  /** The name of the chosen workspace; undefined for the first one. */
  readonly workspace: string | undefined;
  readonly version: string;
  readonly role: ReviewRole;
  readonly by: string;
  readonly review: ReviewState;
  readonly screen: Screen;
  /** The call that the screen "Policy" explains. */
  readonly asked: AskedCall | undefined;
  /** The approval or grant that the screen "Policy" shows. */
  readonly allowed: AllowedPlace | undefined;
  /** The view of the timeline. It stays while another screen is open. */
  readonly timeline: TimelineView;
  /** The file that the screen "Search" opens with. */
  readonly file: string | undefined;
  /** True after the key `g`, which another key follows that names a screen. */
  readonly isGoing: boolean;
  /** The id of the chosen question, which waits or is settled. */
  readonly chosen: string | undefined;
  /** The time at which the chosen question appeared, in milliseconds of the page's clock. */
  readonly chosenAt: number;
  /** True when the chosen question was the last one and is answered: the next one that is asked is chosen. */
  readonly goesOn: boolean;
  readonly rows: ReadonlyMap<string, LoadedRows>;
  /** The parts that are not chosen, by question. Everything else is chosen. */
  readonly leftOut: ReadonlyMap<string, LeftOutParts>;
  /** The rows that a person has seen of a question which was planned again, by the id of the new question. */
  readonly seen: ReadonlyMap<string, readonly ChangeRows[]>;
  /** The texts that a person has typed in place of the planned ones and not written, by question and change. */
  readonly drafts: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** True while the open editor has a text that was typed. */
  readonly isTyping: boolean;
  /** The number of the marked hunk among all of the chosen question. */
  readonly hunk: number;
  /** The number of the marked line in the marked hunk while lines are chosen; undefined while hunks are. */
  readonly line: number | undefined;
  readonly dialog: "refuse" | "edit" | "keys" | "wider" | "put-back" | "group" | undefined;
  /** The questions that the dialog "group" answers together, as they were when it opened. */
  readonly plan: GroupPlan | undefined;
  /** The choices with which the dialog "Wider…" opens; undefined for the narrowest. */
  readonly proposal: Partial<WiderDraft> | undefined;
  /** The reason of a refusal, as typed. */
  readonly reason: string;
  /** The last refusal that was sent from here, with its reason. */
  readonly refusal: { readonly id: string; readonly reason: string } | undefined;
  /** The id of the question whose answer is being sent. */
  readonly sending: string | undefined;
  /** The answer of which the server has not said whether it has it; until then nothing is answered. */
  readonly unknown: UnknownAnswer | undefined;
  readonly notice: Notice | undefined;
  readonly pane: Pane;
}

/** Everything that changes the state of the page. `now` is the page's clock in milliseconds. */
export type PageAction =
  | { readonly type: "snapshot"; readonly snapshot: ReviewSnapshot; readonly now: number }
  | { readonly type: "event"; readonly event: ReviewEvent; readonly now: number }
  | { readonly type: "connection"; readonly connection: ConnectionState }
  | { readonly type: "rows"; readonly id: string; readonly rows: LoadedRows }
  /** Shows the secrets of the chosen question, or hides them again. */
  | { readonly type: "secrets" }
  | { readonly type: "choose"; readonly id: string; readonly now: number }
  | { readonly type: "step"; readonly by: 1 | -1; readonly now: number }
  | { readonly type: "hunk"; readonly hunk: number }
  /** Chooses or leaves out a part, all of a change by its number, or a line of a hunk. */
  | { readonly type: "toggle"; readonly key: string; readonly line?: number }
  /** Begins to choose lines of the hunk with this number, or ends it. */
  | { readonly type: "lines"; readonly hunk: number }
  | { readonly type: "line"; readonly hunk: number; readonly line: number }
  | {
      readonly type: "dialog";
      readonly dialog: PageState["dialog"];
      readonly proposal?: PageState["proposal"];
    }
  | GroupAction
  | { readonly type: "reason"; readonly reason: string }
  /** Something was typed into the editor. */
  | { readonly type: "typing" }
  /** The editor was closed. `text` is undefined for the planned one. */
  | {
      readonly type: "draft";
      readonly id: string;
      readonly change: number;
      readonly text: string | undefined;
    }
  | { readonly type: "sending"; readonly id: string }
  | {
      readonly type: "sent";
      readonly id: string;
      readonly outcome: ReviewOutcome;
      readonly now: number;
      /** True when the content was allowed that a person has written. */
      readonly isEdited?: boolean;
      /** The later calls or the directory that the answer allows, and how the policy names them. */
      readonly wider?: Widening & AllowedPlace;
    }
  | { readonly type: "failed"; readonly text: string }
  /** Something besides an answer was done in a dialog, or cannot be done. */
  | { readonly type: "done"; readonly text: string; readonly isFailure: boolean }
  | { readonly type: "dismiss" }
  /** Goes back to what this person answered last. */
  | { readonly type: "put-back"; readonly now: number }
  /** The connection broke while an answer was sent. */
  | { readonly type: "unknown"; readonly id: string }
  | { readonly type: "pane"; readonly pane: Pane }
  | { readonly type: "going"; readonly isGoing: boolean }
  | { readonly type: "screen"; readonly screen: Screen }
  | { readonly type: "why"; readonly asked: AskedCall }
  /** Shows an approval or a grant in the policy. */
  | { readonly type: "allowed"; readonly allowed: AllowedPlace }
  /** Shows a file with the agents that wrote its lines. */
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "workspace"; readonly workspace: string }
  | { readonly type: "timeline"; readonly change: Partial<TimelineView> };

/** The state before the server has answered. */
export const FIRST_STATE: PageState = {
  connection: "connecting",
  run: "",
  subject: "",
  workspaces: [],
  workspace: undefined,
  version: "",
  role: "watch",
  by: "",
  review: EMPTY_STATE,
  screen: "review",
  asked: undefined,
  allowed: undefined,
  file: undefined,
  timeline: FIRST_TIMELINE,
  isGoing: false,
  chosen: undefined,
  chosenAt: 0,
  goesOn: false,
  rows: new Map(),
  leftOut: new Map(),
  seen: new Map(),
  drafts: new Map(),
  isTyping: false,
  hunk: 0,
  line: undefined,
  dialog: undefined,
  plan: undefined,
  proposal: undefined,
  reason: "",
  refusal: undefined,
  sending: undefined,
  unknown: undefined,
  notice: undefined,
  pane: "waiting",
};

/** The time in milliseconds for which no key answers a question that has just appeared. */
export const KEY_GUARD_MS = 400;
