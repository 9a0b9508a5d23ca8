/** Notifies the observers of an undo by the host, as of a call of an agent. */
import { FilewrightError } from "../../engine/errors.ts";
import { newCallId } from "../../journal/index.ts";
import { Facts } from "../facts.ts";
import { runObserved } from "../observe.ts";
import { toErrorData, type ToolResult } from "../result.ts";
import type { Session } from "../session.ts";

/** An undo whose observers are told. */
export interface ObservedUndo {
  /** The id of the undo in the history. */
  readonly callId: string;
  /** What its observers are told. */
  readonly facts: Facts;
}

/** Runs an undo and notifies the observers of it as of a call of the tool `undo`. Throws every error of the undo. */
export async function runObservedUndo<T>(
  session: Session,
  { undone, by }: { readonly undone: string; readonly by: string | undefined },
  undo: (observed: ObservedUndo) => Promise<T>,
): Promise<T> {
  const { agent } = session.caller;
  const { all: observers } = session.observers;
  const callId = newCallId();
  const about = {
    tool: "undo",
    ...(agent === undefined ? {} : { agent }),
    call_id: callId,
    ...(by === undefined ? {} : { by }),
  };
  let made: T | undefined;
  let failure: FilewrightError | undefined;
  const facts = new Facts();
  facts.tell({ what: "undid", call: undone });
  await runObserved(observers, { about, changes: true }, facts, async (): Promise<ToolResult> => {
    const shared = { text: "", display: "" };
    const meta = (undoable: boolean) => ({
      duration_ms: performance.now() - facts.started,
      truncated: false,
      undoable,
    });
    try {
      made = await undo({ callId, facts });
      return { ...shared, ok: true, data: undefined, meta: meta(true) };
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      failure = error;
      return { ...shared, ok: false, error: toErrorData(error), meta: meta(false) };
    }
  });
  if (failure !== undefined) throw failure;
  return made as T;
}
