/**
 * The recording of {@link messages}: what the transports answered when each had a JSON-RPC of its own, and what
 * they answer since they share `js/rpc`.
 *
 * `json-rpc.jsonl` has a header with the seed and the digests of all answers, then one line for each way in which
 * the answers differed before, with all its messages by their index, then 500 more messages one by one.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The transports, in the order of recorded answers. */
export const TRANSPORTS = ["stdio", "http", "inProcess"] as const;
export type Transport = (typeof TRANSPORTS)[number];
/** An answer for each transport; empty where none came. */
export type Answers = Readonly<Record<Transport, string>>;

/** The first line. */
export interface Header {
  readonly seed: number;
  readonly count: number;
  readonly messages: string;
  /** The digests of all answers of each transport. */
  readonly before: Answers;
  readonly now: Answers;
}

/** Messages that the transports answered alike before, apart from the identifier. */
export interface Disagreement {
  readonly example: string;
  readonly before: Answers;
  readonly now: Answers;
  readonly rows: readonly number[];
}

/** One message. */
export interface Row {
  readonly row: number;
  readonly text: string;
  readonly before: Answers;
  readonly now: Answers;
}

export const RECORDING: string = join(import.meta.dirname, "json-rpc.jsonl");

/** Reads the recording. */
export function readRecording(): {
  readonly header: Header;
  readonly disagreements: readonly Disagreement[];
  readonly rows: readonly Row[];
} {
  const [header, ...rest] = readFileSync(RECORDING, "utf8").trim().split("\n");
  const lines = rest.map((line) => JSON.parse(line) as Disagreement | Row);
  return {
    header: JSON.parse(header ?? "") as Header,
    disagreements: lines.filter((line): line is Disagreement => "rows" in line),
    rows: lines.filter((line): line is Row => "row" in line),
  };
}

/** Returns the digest of texts. */
export function digestOf(texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex");
}
