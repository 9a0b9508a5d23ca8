/**
 * Tries what a store really does. That it accepts a condition does not mean that it compares it, nor that it does so
 * for several writers at once; and nothing else of the storage holds if it does not.
 */
import type { FilewrightError } from "filewright/files";
import { randomId, sha256, toJsonBytes } from "./codec.ts";
import type { CommitParts } from "./commit.ts";
import type { S3Reply } from "./request.ts";

/** The abilities of a store with conditions, as they were found. Snake case: they are printed. */
export interface S3Abilities {
  /** True when an object is created only where none is (`If-None-Match: *`). */
  readonly if_none_match: boolean;
  /** True when an object is replaced only if it has the entity tag (`If-Match`). */
  readonly if_match: boolean;
  /** True when an object is removed only if it has the entity tag. The storage does without it. */
  readonly if_match_on_delete: boolean;
  /** The status of a conditional write where nothing is: 404 or 412. */
  readonly absent_key: number;
  /** True when an unchanged object is not sent again (304). */
  readonly conditional_read: boolean;
  /** The largest number of writers, of several at once, that won one condition. Must be 1. */
  readonly race_winners: number;
  /** The reason why this store cannot be used. Absent when it can. */
  readonly refusal?: string;
}

/** The number of writers in a race, and of races for each condition. */
const WRITERS = 4;
const RACES = 10;
/** Answers that say that a condition did not hold. */
const UNMET = [404, 409, 412];
const NO_TAG = '"00000000000000000000000000000000"';

const isDone = ({ status }: S3Reply): boolean => status >= 200 && status < 300;
const isUnmet = ({ status }: S3Reply): boolean => UNMET.includes(status);

/** Tries one store with objects of its own, which are removed again. */
export async function probeServer(
  { keys, objects: { client } }: CommitParts,
  signal: AbortSignal | undefined,
): Promise<S3Abilities> {
  const own = randomId();
  const used = new Set<string>();
  const keyOf = (name: string): string => {
    const key = keys.trial(`${own}/${name}`);
    used.add(key);
    return key;
  };
  const put = async (
    name: string,
    text: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<S3Reply> => {
    const body = toJsonBytes(text);
    return client.send({
      method: "PUT",
      key: keyOf(name),
      body,
      sha256: await sha256(body),
      headers,
      accept: UNMET,
      signal,
    });
  };
  const read = async (name: string, headers: Readonly<Record<string, string>> = {}): Promise<S3Reply> =>
    client.send({ method: "GET", key: keyOf(name), headers, accept: [304, 404], signal });

  /**
   * Lets several writers try one condition, and returns how many won it. Each writes another content: entity tags
   * are often hashes, and a writer that leaves the content as it is does not change them.
   */
  const race = async (
    name: string,
    round: number,
    headers: Readonly<Record<string, string>>,
  ): Promise<number> => {
    const texts = Array.from({ length: WRITERS }, () => `${round} ${randomId()}`);
    const replies = await Promise.all(texts.map((text) => put(name, text, headers)));
    const winners = replies.filter(isDone).length;
    if (winners !== 1) return winners;
    const text = texts[replies.findIndex(isDone)];
    // A winner whose content is not there has won nothing.
    const { body } = await read(name);
    return new TextDecoder().decode(body) === JSON.stringify(text) ? 1 : WRITERS;
  };

  try {
    const first = await put("a", "1", { "if-none-match": "*" });
    const ifNoneMatch = isDone(first) && isUnmet(await put("a", "2", { "if-none-match": "*" }));
    const tag = (await read("a")).headers.get("etag");
    const stale = await put("a", "3", { "if-match": NO_TAG });
    const next = tag === null ? stale : await put("a", "4", { "if-match": tag });
    const ifMatch = isUnmet(stale) && isDone(next);
    const absent = await put("absent", "1", { "if-match": tag ?? NO_TAG });
    const present = (await read("a")).headers.get("etag");
    const unchanged = await read("a", { "if-none-match": present ?? NO_TAG });
    const removal = await client.send({
      method: "DELETE",
      key: keyOf("a"),
      headers: { "if-match": NO_TAG },
      accept: [...UNMET, 400, 501],
      signal,
    });
    const kept = (await read("a")).status === 200;
    let winners = 0;
    for (let round = 0; round < RACES && ifMatch && ifNoneMatch; round += 1) {
      winners = Math.max(winners, await race(`new-${round}`, round, { "if-none-match": "*" }));
      const etag = (await read(`new-${round}`)).headers.get("etag") ?? NO_TAG;
      winners = Math.max(winners, await race(`new-${round}`, round, { "if-match": etag }));
    }
    const abilities = {
      if_none_match: ifNoneMatch,
      if_match: ifMatch,
      if_match_on_delete: isUnmet(removal) && kept,
      absent_key: absent.status,
      conditional_read: unchanged.status === 304,
      race_winners: winners,
    };
    const refusal = refusalOf(abilities);
    return Object.freeze(refusal === undefined ? abilities : { ...abilities, refusal });
  } finally {
    const remove = (key: string): Promise<unknown> =>
      client.send({ method: "DELETE", key, accept: [404] }).catch((error: FilewrightError) => error);
    await Promise.all([...used].map(remove));
  }
}

/** Returns why a store with these abilities cannot be used; undefined when it can. */
function refusalOf(found: Omit<S3Abilities, "refusal">): string | undefined {
  if (!found.if_none_match) return "it creates an object where one is (If-None-Match)";
  if (!found.if_match) return "it replaces an object that has changed (If-Match)";
  if (!UNMET.includes(found.absent_key)) return "it replaces an object that is not there (If-Match)";
  if (found.race_winners > 1) return `${found.race_winners} of ${WRITERS} writers at once won one condition`;
  if (found.race_winners < 1) return "of several writers at once none ever won a condition";
  return undefined;
}
