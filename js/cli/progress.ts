/** Shows the progress of long work on standard error, if that is a terminal, and removes it at the end. */
import type { Program } from "../mcp/program.ts";
import type { CallOptions } from "../workspace/index.ts";

/** The time in milliseconds before the progress of a call is first shown. */
const PROGRESS_DELAY_MS = 400;
const REDRAW_INTERVAL_MS = 100;

/** Shows the progress of one call. */
export interface ShownProgress {
  readonly onProgress?: CallOptions["onProgress"];
  /** Runs `ask` while no progress is shown, because it would overwrite a question to the person. */
  quietly<T>(ask: () => Promise<T>): Promise<T>;
  end(): void;
}

/** The counts of running work, if it reports any. */
interface ProgressCounts {
  readonly done?: number;
  readonly total?: number | undefined;
  /** A further count as text, such as the number of matches. */
  readonly message?: string | undefined;
}

/**
 * Returns one line about running work: its name, the number of finished files if known, the further count,
 * and the elapsed time.
 */
export function progressLine(
  what: string,
  { done, total, message }: ProgressCounts,
  milliseconds: number,
): string {
  const seconds = Math.floor(milliseconds / 1000);
  return [
    what,
    ...(done === undefined ? [] : [`${done}${total === undefined ? "" : ` of ${total}`} files`]),
    ...(message === undefined ? [] : [message]),
    ...(seconds > 0 ? [`${seconds} s`] : []),
  ].join(" · ");
}

/**
 * Shows the progress of work named `what` until `end` is called. Shows nothing without a terminal, or when
 * `quiet`.
 */
export function showProgress(
  { stderr, env }: Pick<Program, "stderr" | "env">,
  what: string,
  quiet: boolean,
): ShownProgress {
  if (quiet || stderr.isTTY !== true || env["TERM"] === "dumb")
    return { quietly: (ask) => ask(), end: () => {} };
  const began = performance.now();
  let said = "";
  let latest: ProgressCounts = {};
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
