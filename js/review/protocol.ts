/**
 * The data that the review page and its server exchange: what waits, what was answered, which calls run, and the
 * rows of a change. There is no code here, so the page and the server can both import it.
 */

import type { ApprovalScope } from "../hooks/scope/scope.ts";

/** The permissions of a login. `watch` only sees, `answer` also answers, `manage` also changes rules. */
export type ReviewRole = "watch" | "answer" | "manage";

/** One path of a change, without its content. */
export interface ChangeSummary {
  /** The absolute path. */
  readonly path: string;
  readonly kind: "create" | "edit" | "delete" | "move" | "copy";
  readonly type: "file" | "dir" | "symlink" | "other";
  /** The absolute path from which it is moved or copied. */
  readonly from?: string;
  /** The new permission bits in octal, when the change sets them. */
  readonly mode?: string;
  /** The number of lines that are added. */
  readonly added: number;
  /** The number of lines that are removed. */
  readonly removed: number;
  /** The number of hunks. */
  readonly hunks: number;
  /** True when it can only be allowed as one, with all of its hunks. */
  readonly whole: boolean;
  /** True when it writes a text, which can be edited before it is written. */
  readonly hasText?: boolean;
  /** Set when nothing else of the text changes: the ends of its lines, or its white space. */
  readonly only?: "line ends" | "white space";
  /** The contents that are images which the page can show. */
  readonly images?: readonly ChangeSide[];
}

/** The content before a change, or after it. */
export type ChangeSide = "before" | "after";

/** A question that waits for an answer. */
export type ReviewQuestion = {
  readonly id: string;
  /** The time of the question, in milliseconds since 1970. */
  readonly askedAt: number;
  /** The question in a few words. Text in it that looks like a secret is hidden, as in {@link ChangeRows}. */
  readonly title: string;
  /** The canonical name of the tool. */
  readonly tool: string;
  readonly agent?: string;
  /** The id of the call in the history. */
  readonly callId?: string;
  /** Names the turn of the call. Questions of one turn have the same. */
  readonly turn?: string;
  /** True when a file has changed since the question was asked, so that it cannot be allowed. */
  readonly stale?: boolean;
  /** Why its change cannot be made on the present content, either, so that it can only be refused. */
  readonly conflict?: string;
  /** The id of the question that this one replaces, after the answer `look_again`. */
  readonly replaces?: string;
} & (
  | {
      readonly kind: "change";
      /** The digest that an answer must repeat. */
      readonly digest: string;
      readonly risk: "low" | "medium" | "high";
      /** Why the question does not show the whole change, so that it can only be refused. */
      readonly incomplete?: string;
      readonly changes: readonly ChangeSummary[];
      /** True when a text can be edited before it is written. */
      readonly canEdit?: boolean;
      /** True when a part can be allowed alone: a change, a hunk, or lines of one. */
      readonly hasParts: boolean;
      /** The number of people who have to allow this; absent where one is asked. */
      readonly needed?: number;
      /** The wider answers that may be given; absent where only this call can be allowed. */
      readonly wider?: WiderOffer;
    }
  | { readonly kind: "directory"; readonly dir: string; readonly access: "read" | "write" }
);

/**
 * What a wider answer may cover: the files of the question, a directory, every path, or the command of the question with
 * the same arguments in the same directory.
 */
export type WiderPlace = "files" | "directory" | "everywhere" | "command";

/** The wider answers that a question offers. */
export interface WiderOffer {
  readonly places: readonly WiderPlace[];
  /** The absolute paths that `files` covers. */
  readonly files: readonly string[];
  /** The deepest directory that contains them, which `directory` covers unless the answer names one above it. */
  readonly dir?: string;
  /** The command that `command` covers, and its directory, in words such as `npm test in /repo`. */
  readonly command?: string;
  /** The ends that an answer may name; `time` for a time in ISO 8601. */
  readonly ends: readonly ("turn" | "time" | "session" | "kept")[];
  /** The meaning of the end `session` in words, such as `until this workspace is closed`. */
  readonly sessionEnd: string;
}

/** A wider answer: the later calls of the same tool that are allowed without a question. */
export interface WiderChoice {
  readonly place: WiderPlace;
  /** A directory above that of the question, with the place `directory`. */
  readonly dir?: string | undefined;
  /** True to cover only the agent of the question. */
  readonly isAgentOnly: boolean;
  /** `turn`, `session`, `kept`, or a time in ISO 8601. */
  readonly until: string;
}

/** A wider answer to a question about a directory. Without one, what was asked is granted for the session. */
export interface GrantChoice {
  readonly access: "read" | "write";
  /** `session`, `kept`, or a time in ISO 8601. */
  readonly until: string;
}

/** The answer of `POST /review/scopes`: how many of the last calls that needed an approval a wider answer covers. */
export interface CoveredCount {
  readonly covered: number;
  readonly calls: number;
}

/**
 * The answers that the page can give. `allow_parts` allows the chosen parts only. `look_again` has the call planned
 * again on the present content, and asked about by another question.
 */
export type ReviewOutcome = "allow" | "allow_parts" | "refuse" | "look_again";

/** The chosen lines of one hunk. */
export interface ChosenLines {
  /** The number of the hunk, from 0. */
  readonly hunk: number;
  /** The numbers of its removed and added lines, from 0, in ascending order. Unchanged lines are counted too. */
  readonly rows: readonly number[];
}

/** The chosen hunks of one change. A change that is made as one is chosen when it is named. */
export interface ChosenHunks {
  /** The number of the change in its question, from 0. */
  readonly change: number;
  /** The numbers of its hunks, from 0, in ascending order. */
  readonly hunks: readonly number[];
  /** Hunks of which only some lines are chosen. */
  readonly lines?: readonly ChosenLines[] | undefined;
}

/** A content that a person has written in place of the planned one. */
export interface EditedContent {
  /** The number of the change in its question, from 0. */
  readonly change: number;
  readonly text: string;
}

/** The answer of `GET /review/approvals/ID/changes/N/content`. */
export interface ChangeContent {
  /** The text before the change; empty where there is none. */
  readonly before: string;
  /** The planned text. */
  readonly text: string;
}

/** The body of `POST /review/approvals/ID`. */
export interface ReviewAnswer {
  readonly outcome: ReviewOutcome;
  /** The digest of the question that was drawn; required for a change. */
  readonly digest?: string | undefined;
  /** The chosen parts, with `allow_parts`. Nothing of a change that they do not name is made. */
  readonly parts?: readonly ChosenHunks[] | undefined;
  /** The contents to write in place of the planned ones, with `allow`. Other files are written as planned. */
  readonly edits?: readonly EditedContent[] | undefined;
  /** With `edits`: true to have the change asked about again with these contents, before it is made. Default false. */
  readonly asksAgain?: boolean | undefined;
  /** The reason of a refusal, for the model. */
  readonly reason?: string | undefined;
  /** With `allow`: the later calls that are allowed, too. */
  readonly wider?: WiderChoice | undefined;
  /** With `allow`, about a directory: what is granted. */
  readonly grant?: GrantChoice | undefined;
}

/** The answer of `POST /review/approvals/ID`. */
export interface TakenAnswer {
  readonly answered: true;
  /** The later calls that a wider answer allows, by which the policy lists it. */
  readonly scope?: ApprovalScope | undefined;
}

/** A question that does not wait any more. */
export interface SettledQuestion {
  readonly question: ReviewQuestion;
  /** `withdrawn`: the caller has given up, or the question was answered elsewhere without saying how. */
  readonly outcome: ReviewOutcome | "withdrawn";
  /** The name of the person who answered. */
  readonly by?: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  /** True when the answer also allowed later calls. */
  readonly isWider?: true;
  /** The reason of a refusal, which its caller was told. */
  readonly reason?: string;
}

/** A call that runs or has ended. */
export interface ReviewCall {
  readonly id: string;
  readonly tool: string;
  readonly agent?: string;
  /** The time of its beginning, in milliseconds since 1970. */
  readonly at: number;
  /** The absolute paths that its arguments named; empty while it runs. */
  readonly paths: readonly string[];
  /** Absent while it runs. */
  readonly ok?: boolean;
  /** The error code of a failure. */
  readonly code?: string;
  /** The message of its error, cut after 300 characters. */
  readonly message?: string;
  /** True for a call that has ended and of a tool that changes files. */
  readonly changes?: true;
  /** True for a call that has ended and is unreviewed itself, or may have taken back unreviewed ones. */
  readonly changesUnreviewed?: true;
  /** Its duration in milliseconds; absent while it runs. */
  readonly ms?: number;
  /** The path that its error is about, as the caller wrote it. */
  readonly errorPath?: string;
  /** The name of the person who answered the question about it. */
  readonly by?: string;
}

/** An event, with a number that is one more than that of the event before it. */
export type ReviewEvent = { readonly seq: number } & (
  | { readonly type: "asked"; readonly question: ReviewQuestion }
  | {
      readonly type: "answered";
      readonly id: string;
      readonly outcome: ReviewOutcome;
      readonly by: string;
      readonly at: number;
      /** True when the answer also allows later calls. */
      readonly isWider?: true;
      /** The reason of a refusal, which its caller was told. */
      readonly reason?: string;
    }
  | { readonly type: "withdrawn"; readonly id: string; readonly at: number }
  | { readonly type: "stale"; readonly id: string; readonly conflict?: string }
  /** The subject of the review or its workspaces are others now; see {@link ReviewSnapshot}. */
  | { readonly type: "subject"; readonly subject: string; readonly workspaces: readonly string[] }
  /** The history has changed without a call, as by an undo or a mark. */
  | { readonly type: "history" }
  | { readonly type: "call.begin"; readonly call: ReviewCall }
  | { readonly type: "call.end"; readonly call: ReviewCall }
);

/** An event before it has its number. */
export type UnnumberedEvent = ReviewEvent extends infer Event
  ? Event extends ReviewEvent
    ? Omit<Event, "seq">
    : never
  : never;

/** Everything that the page shows, after the event with the number `seq`. */
export interface ReviewState {
  readonly seq: number;
  /** The number of the last event that may have changed the history. */
  readonly history: number;
  /** The number of the last event that may have changed which calls are unreviewed. */
  readonly unreviewed: number;
  /** The questions that wait, the oldest first. */
  readonly waiting: readonly ReviewQuestion[];
  /** The last questions that do not wait any more, the oldest first. */
  readonly settled: readonly SettledQuestion[];
  /** The last calls, the oldest first. */
  readonly calls: readonly ReviewCall[];
}

/** The answer of `GET /review/state`. */
export interface ReviewSnapshot {
  /** Names this run of the server. The numbers of events begin again with each run. */
  readonly run: string;
  readonly version: string;
  /** The subject of the review, such as the served directories. */
  readonly subject: string;
  /** The names of the attached workspaces. */
  readonly workspaces: readonly string[];
  readonly role: ReviewRole;
  /** The name under which this login answers. */
  readonly by: string;
  readonly state: ReviewState;
}

/** One hunk. Its lines are one text, because a parser reads one long text much faster than many short ones. */
export interface PackedHunk {
  /** The number of the first line before and after the change, from 1, as in a unified diff. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly oldLines: number;
  readonly newLines: number;
  /** The lines without their ends, separated by LF. Each begins with a space, `+`, `-` or `\`, as in a unified diff. */
  readonly lines: string;
  /** Present where the lines have text that looks like a secret: another one for other lines, hidden or not. */
  readonly tag?: string;
}

/** The answer of `GET /review/approvals/ID/changes/N`. */
export interface ChangeRows {
  /** The digest of the question that the rows belong to. */
  readonly digest: string;
  readonly change: ChangeSummary;
  /** The number of the first hunk in `hunks`, from 0. */
  readonly from: number;
  readonly hunks: readonly PackedHunk[];
  /** The number of the hunk at which the next page begins; absent for the last page. */
  readonly next?: number;
  /** Lines about what has no hunks: arguments, or bytes of a binary content in hexadecimal. */
  readonly details: readonly string[];
  /**
   * The number of values that look like secrets and are hidden here. Each is one character in place of its text: U+FDD0
   * for less than 16 characters, U+FDD1 for less than 40, U+FDD2 for more. With `secrets=shown` nothing is hidden.
   */
  readonly hidden?: number;
}

/** The body of `POST /review/search`. */
export interface SearchRequest {
  /** `text` searches contents, `names` searches paths by some of their letters. */
  readonly kind: "text" | "names";
  readonly query: string;
  /** The directory that is searched. Default: the working directory. */
  readonly path?: string | undefined;
  /** A glob of the searched files, for `text`. */
  readonly glob?: string | undefined;
  /** True when the query is a regular expression, for `text`. Default false. */
  readonly regex?: boolean | undefined;
  /** Default `smart`: capital letters count when the query has some. */
  readonly case?: "sensitive" | "insensitive" | "smart" | undefined;
}

/** A place that a search has found. */
export interface FoundPlace {
  /** The path, as the workspace displays it. */
  readonly path: string;
  /** The line, from 1; absent for a name. */
  readonly line?: number;
  /** The line without its end, or a part of it around the match; secrets are hidden, as in {@link ChangeRows}. */
  readonly text?: string;
}

/** The answer of `POST /review/search`. */
export interface FoundPlaces {
  readonly places: readonly FoundPlace[];
  /** The number of all places that are known. */
  readonly total: number;
  /** False when there may be more places than these. */
  readonly isComplete: boolean;
}

/** The answer of `GET /review/files?path=`: a page of lines. Which call wrote them is at `/review/files/blame`. */
export interface FileLines {
  readonly path: string;
  /** The lines with their own ends. */
  readonly content: string;
  /** The number of the first line, from 1. */
  readonly from: number;
  /** The number of lines of the file; null where that is not known. */
  readonly total: number | null;
  /** The size in bytes. */
  readonly size: number;
  /** The encoding in words, with the line ends. */
  readonly encoding: string;
  /** `sha256:` of the content. */
  readonly hash?: string;
  /** The line at which the next page begins; absent for the last page. */
  readonly next?: number;
  /** The number of values that are hidden, as in {@link ChangeRows}. */
  readonly hidden?: number;
}
