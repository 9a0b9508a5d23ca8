/** Reads that leave out a content which the caller has, by its hash. */
import { hashOf } from "../../backends/fallback/fallback.ts";
import { fromEngine } from "../../engine/errors.ts";
import type { Page } from "../../engine/read.ts";
import type { Location } from "../../policy/index.ts";
import { normalizeHash, readPage } from "../lib/contents.ts";
import type { Call } from "../lib/tool.ts";

/** The facts about a file whose content is left out. */
export type UnchangedFacts = Pick<
  Page,
  "size" | "encoding" | "eol" | "bom" | "mime" | "totalLines" | "version"
> & {
  readonly hash: string;
};

/**
 * Returns the facts about a file whose present content has one of some hashes, as a caller writes them; undefined for any
 * other. The hash is that of the content at one moment of the call, never one that was remembered.
 */
export async function factsIfKnown(
  call: Call,
  at: Location,
  known: readonly string[],
): Promise<UnchangedFacts | undefined> {
  if (known.length === 0) return undefined;
  const facts = await lookAt(call, at);
  const hash = facts.hash ?? (await hashOf(call.fs, at.path, call.signal));
  return known.map(normalizeHash).includes(hash) ? { ...facts, hash } : undefined;
}

/** Returns what a page of one line tells about a file, also about one that is not text. */
async function lookAt(
  call: Call,
  at: Location,
): Promise<Omit<UnchangedFacts, "hash"> & { hash: string | null }> {
  try {
    return await readPage(call, at, { maxLines: 1 });
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code !== "BINARY_FILE") throw error;
    const { mime = "application/octet-stream", size = 0 } = error.details as { mime?: string; size?: number };
    return { mime, size, encoding: "binary", eol: null, bom: false, totalLines: null, hash: null };
  }
}

/** Returns true when the guard counts something of a content as read. */
export function isRecorded({ seen }: Call, { path }: Location, hash: string): boolean {
  return seen.recall(path)?.hash === hash || seen.recallEarlier(path).has(hash);
}
