/**
 * Parts of an audit log. A part is a run of whole lines as they are in the file, so that the hash chains of the lines
 * can still be verified.
 */

/** A time in milliseconds since 1970: calls that began at `from` or later, and before `to`. */
export interface AuditRange {
  readonly from: number;
  readonly to: number;
}

const LF = 0x0a;

/**
 * Returns the part of a log from its first to its last call in a range. Lines are in the order in which calls ended, so
 * a few between them may be of calls that began before or after.
 *
 * @param exportLog reads the log from its beginning; called twice
 */
export async function* extractOfLog(
  exportLog: () => AsyncIterable<Uint8Array>,
  range: AuditRange,
): AsyncGenerator<Uint8Array> {
  const { start, end } = await boundsOf(exportLog(), range);
  let at = 0;
  for await (const block of exportLog()) {
    const from = Math.max(0, start - at);
    const to = Math.min(block.length, end - at);
    if (to > from) yield block.subarray(from, to);
    at += block.length;
    if (at >= end) return;
  }
}

/** Returns the offsets of the first byte of the first line in a range, and after the last one. */
async function boundsOf(
  blocks: AsyncIterable<Uint8Array>,
  { from, to }: AuditRange,
): Promise<{ readonly start: number; readonly end: number }> {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let [lineStart, at, start, end] = [0, 0, -1, 0];
  for await (const block of blocks) {
    let next = 0;
    for (let lf = block.indexOf(LF); lf >= 0; lf = block.indexOf(LF, next)) {
      const line = [...parts, block.subarray(next, lf)].map((part) => decoder.decode(part, { stream: true }));
      const time = timeOfLine(line.join("") + decoder.decode());
      parts = [];
      next = lf + 1;
      if (time >= from && time < to) {
        if (start < 0) start = lineStart;
        end = at + next;
      }
      lineStart = at + next;
    }
    if (next < block.length) parts.push(block.slice(next));
    at += block.length;
  }
  return { start: Math.max(0, start), end };
}

/** Returns the time of a record; NaN for a line that is none. */
function timeOfLine(line: string): number {
  try {
    return Date.parse(String((JSON.parse(line) as { readonly at?: unknown }).at));
  } catch {
    return Number.NaN;
  }
}
