/** Places in the history: the ids of changing calls, and the timestamps of their commits. */

/** Matches the id of a call, which is part of a file name. */
const CALL_ID_FORM = /^[0-9a-z]{1,20}-[0-9a-z]{1,40}$/u;

/** Returns true for a text that can be the id of a call. */
export function isCallId(text: string): boolean {
  return CALL_ID_FORM.test(text);
}

/** Random bytes for many ids, drawn at once: every call has an id, and few are ever used. */
const randomBytePool = new Uint8Array(6 * 128);
let usedPoolBytes = randomBytePool.length;

/** Returns the id of a new call. Later ids sort after earlier ones. */
export function newCallId(): string {
  if (usedPoolBytes === randomBytePool.length) {
    crypto.getRandomValues(randomBytePool);
    usedPoolBytes = 0;
  }
  let tail = "";
  for (const end = usedPoolBytes + 6; usedPoolBytes < end; usedPoolBytes++)
    tail += HEX_OF_BYTE[randomBytePool[usedPoolBytes] as number];
  return `${Date.now().toString(36).padStart(9, "0")}-${tail}`;
}

const HEX_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/**
 * The least distance between two timestamps of one process, in milliseconds: a double can hold a thousand timestamps
 * in each millisecond.
 */
export const TIMESTAMP_STEP_MS: number = 1 / 1024;

/** The last timestamp that this process has given out. */
let lastTimestamp = 0;

/**
 * Returns the present time in milliseconds since 1970. Each result is later than the one before, so that two changes
 * within one millisecond have an order.
 */
export function nextTimestamp(): number {
  lastTimestamp = Math.max(Date.now(), lastTimestamp + TIMESTAMP_STEP_MS);
  return lastTimestamp;
}

/** Returns the last timestamp that this process has given out or noted, in milliseconds since 1970. */
export function lastMoment(): number {
  return lastTimestamp;
}

/** Notes the timestamp of a commit that the disk made: later ones are after it. */
export function noteMoment(moment: number): void {
  lastTimestamp = Math.max(lastTimestamp, moment);
}
