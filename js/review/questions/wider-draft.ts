/**
 * The choices of a wider answer, what they are in words, and what they offer: pure functions, for the dialog of the page
 * and for the terminal.
 */
import { effectsInWords } from "../../hooks/scope/effects.ts";
import { endInWords } from "./ends.ts";
import type {
  CoveredCount,
  GrantChoice,
  ReviewQuestion,
  ReviewRole,
  WiderChoice,
  WiderOffer,
  WiderPlace,
} from "../protocol.ts";

/** A question about a change, as far as a wider answer needs it. */
interface ChangeQuestion {
  readonly kind: "change";
  readonly tool: string;
  readonly agent?: string;
  readonly wider?: WiderOffer;
}

/** A question, as far as a wider answer needs it. */
export type WidenableQuestion =
  | ChangeQuestion
  | (Pick<ReviewQuestion & { readonly kind: "directory" }, "kind" | "dir" | "access" | "tool"> & {
      readonly agent?: string;
    });

/** The ends that the dialog lists. */
export type DraftEnd = "turn" | "session" | "time" | "kept";

/** The choices of the dialog, as far as they are made. */
export interface WiderDraft {
  readonly place: WiderPlace;
  /** A directory above that of the question. */
  readonly dir?: string | undefined;
  readonly isAgentOnly: boolean;
  /** The access that is granted, of a question about a directory. */
  readonly access: "read" | "write";
  readonly end: DraftEnd;
  /** The time of the end `time`, as the field for it has it: local, such as `2030-01-31T18:00`. */
  readonly time: string;
}

/** The time in milliseconds after which the end `time` comes unless another is chosen. */
const DEFAULT_TIME_MS = 3_600_000;

/** Returns the narrowest choices that a question offers. `now` is in milliseconds since 1970. */
export function narrowestDraft(question: WidenableQuestion, now: number): WiderDraft {
  const isChange = question.kind === "change";
  return {
    place: (isChange ? question.wider?.places[0] : undefined) ?? "files",
    isAgentOnly: question.agent !== undefined,
    access: isChange ? "read" : question.access,
    end: isChange ? "turn" : "session",
    time: localTimeOf(now + DEFAULT_TIME_MS),
  };
}

/** The part of an answer that lasts: it allows later calls, or a directory. */
export type Widening = { readonly wider: WiderChoice } | { readonly grant: GrantChoice };

/** Returns the answer for the choices; undefined where the time is none, or has passed. */
export function wideningOfDraft(
  question: WidenableQuestion,
  { place, dir, isAgentOnly, access, end, time }: WiderDraft,
  now: number,
): Widening | undefined {
  const at = new Date(time);
  if (end === "time" && !(at.getTime() > now)) return undefined;
  const until = end === "time" ? at.toISOString() : end;
  if (question.kind === "directory") return { grant: { access, until } };
  const above = place === "directory" && dir !== undefined ? { dir } : {};
  return { wider: { place, ...above, isAgentOnly, until } };
}

/** Returns what an answer to a question allows beyond its call, as a sentence. */
export function sentenceOf(question: WidenableQuestion, widening: Widening): string {
  if ("grant" in widening) {
    const { access, until } = widening.grant;
    const dir = question.kind === "directory" ? question.dir : "the directory";
    const what = access === "read" ? "Reading" : "Reading and writing";
    return `${what} in ${dir} and everything below it is allowed without a question, ${endInWords(until)}.`;
  }
  const { isAgentOnly, until } = widening.wider;
  const { sessionEnd } = (question as ChangeQuestion).wider ?? {};
  const who = isAgentOnly && question.agent !== undefined ? ` by ${question.agent}` : " by any agent";
  const place = placeInWords(question as ChangeQuestion, widening.wider);
  const end = endInWords(until, { sessionEnd });
  if (widening.wider.place === "command")
    return `Running exactly ${place}${who} is allowed without a question, ${end}. Other arguments and other directories are asked about.`;
  const besides = effectsInWords(question.tool);
  return `Later calls of ${question.tool}${besides}${who} are allowed without a question on ${place}, ${end}.`;
}

/** Returns the place of a wider answer in words, for the sentence. */
function placeInWords({ wider }: ChangeQuestion, { place, dir }: WiderChoice): string {
  if (place === "command") return wider?.command ?? "this command";
  if (place === "everywhere") return "every path of this workspace";
  if (place === "directory") return `everything below ${dir ?? wider?.dir ?? "/"}`;
  const [first = "", ...others] = wider?.files ?? [];
  return others.length === 0 ? first : `these ${others.length + 1} paths and no others`;
}

/** Returns the ends that a question offers, from the earliest to the latest. */
export function endsOf(question: WidenableQuestion): readonly DraftEnd[] {
  if (question.kind === "directory") return ["time", "session", "kept"];
  const offered = question.wider?.ends ?? [];
  return (["turn", "time", "session", "kept"] as const).filter((end) => offered.includes(end));
}

/** Returns why a login cannot choose an end; undefined if it can. */
export function whyNotEnd(role: ReviewRole, end: DraftEnd): string | undefined {
  return end === "kept" && role !== "manage" ? "needs a login that may manage" : undefined;
}

/** Returns a time as the field for it has it, in the time zone of the browser. */
function localTimeOf(at: number): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The places in words. */
export const PLACE_WORDS: Readonly<Record<WiderPlace, string>> = {
  files: "this file",
  directory: "this directory",
  everywhere: "this tool anywhere",
  command: "exactly this command",
};

/** The ends in words. */
export const END_WORDS: Readonly<Record<DraftEnd, string>> = {
  turn: "this turn",
  session: "this session",
  time: "until",
  kept: "always: kept in the rules file",
};

/** Returns a count of covered calls as a sentence. */
export function coveredSentence({ covered, calls }: CoveredCount): string {
  if (calls === 0) return "No call has needed an answer yet.";
  return calls === 1
    ? `Would have covered ${covered === 1 ? "" : "not "}the last call that needed an answer.`
    : `Would have covered ${covered} of the last ${calls} calls that needed an answer.`;
}
