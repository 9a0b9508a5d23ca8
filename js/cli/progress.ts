/** Shows the progress of long work on a terminal's standard error; removed when it ends. */
import process from "node:process";
import type { CallOptions } from "../workspace/index.ts";

/** The time before progress is shown. Milliseconds. */
const PROGRESS_DELAY_MS = 400;
const REDRAW_INTERVAL_MS = 100;

/** A progress display. */
export interface ShownProgress {
  readonly onProgress?: CallOptions["onProgress"];
  /** Hides the progress while a person is asked, because it would overwrite the question. */
  quietly<T>(ask: () => Promise<T>): Promise<T>;
  end(): void;
}

/** The counts of running work, as far as it has any. */
interface Counts {
  readonly done?: number;
  readonly total?: number | undefined;
  /** A further count, such as that of the matches found. */
  readonly message?: string | undefined;
}

/**
 * Returns one line about running work: its name, the number of finished files when known, what
 * else is counted, and the elapsed time.
 */
export function progressLine(what: string, { done, total, message }: Counts, milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return [
    what,
    ...(done === undefined ? [] : [`${done}${total === undefined ? "" : ` of ${total}`} files`]),
    ...(message === undefined ? [] : [message]),
    ...(seconds > 0 ? [`${seconds} s`] : []),
  ].join(" · ");
}

/** Shows the progress of `what`; `end` removes it. Does nothing without a terminal, or when `quiet`. */
export function showProgress(what: string, quiet: boolean): ShownProgress {
  const { stderr } = process;
  if (quiet || stderr.isTTY !== true || process.env["TERM"] === "dumb")
    return { quietly: (ask) => ask(), end: () => {} };
  const began = performance.now();
  let said = "";
  let latest: Counts = {};
  let questions = 0;
  const draw = (): void => {
    if (questions > 0) return;
    said = progressLine(what, latest, performance.now() - began);
    stderr.write(`\r\u001b[K${said.slice(0, (stderr.columns ?? 80) - 1)}`);
  };
  let timer: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    draw();
    timer = setInterval(draw, REDRAW_INTERVAL_MS);
  }, PROGRESS_DELAY_MS);
  return {
    onProgress(counts) {
      latest = counts;
    },
    async quietly(ask) {
      questions += 1;
      if (said !== "") stderr.write("\r\u001b[K");
      said = "";
      try {
        return await ask();
      } finally {
        questions -= 1;
      }
    },
    end() {
      clearTimeout(first);
      clearInterval(timer);
      if (said !== "") stderr.write("\r\u001b[K");
    },
  };
}
