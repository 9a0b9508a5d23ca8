/** The dialog that puts back what a call has changed. */
import type { JSX } from "preact";
import type { PastCall } from "../../../past/history-protocol.ts";
import type { ChangeRows } from "../../../protocol.ts";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import { ConfirmButtons, Dialog, useIsDrawn } from "../dialog.tsx";
import type { PageEffects } from "../props.ts";
import { useRows } from "./data.ts";
import { putBack } from "./put-back.ts";
import { actionOf, clockTime, reversalsOf, subjectOf, type TimelineView } from "./view.ts";
import { plural } from "../../../../engine/escape.ts";

/** The number of paths that are named. */
const MAX_NAMED = 50;

interface PutBackDialogProps {
  readonly entry: PastCall;
  /** The calls of the history, the newest first. */
  readonly entries: readonly PastCall[];
  readonly effects: PageEffects;
  show(change: Partial<TimelineView>): void;
}

/** Draws the dialog. */
export function PutBackDialog({ entry, entries, effects, show }: PutBackDialogProps): JSX.Element {
  const isDrawn = useIsDrawn();
  const { tool, time, paths, callId } = entry;
  const { pages } = useRows(effects, `history/${encodeURIComponent(callId)}/rows`);
  const later = laterCallOf(entry, entries);
  const action = actionOf(entry);
  const named = action === tool ? visibleText(tool) : `“${action}”`;
  const close = (): void => show({ dialog: undefined });
  const showEnd = (change: Partial<TimelineView>): void =>
    show(isDrawn() ? { ...change, dialog: undefined } : change);
  return (
    <Dialog title={`Put back ${named} of ${clockTime(time)}?`} onClose={close}>
      <p>These become as they were before this call. That can be put back, too.</p>
      <ul class="tl-named">
        {paths.slice(0, MAX_NAMED).map((path) => (
          <li key={path}>
            <SafeText text={path} /> <span class="quiet">{effectOn(path, pages)}</span>
          </li>
        ))}
        {paths.length > MAX_NAMED && <li class="quiet">and {paths.length - MAX_NAMED} more</li>}
      </ul>
      {later !== undefined && (
        <p class="hint">
          <SafeText text={`${actionOf(later)} ${subjectOf(later)} of ${clockTime(later.time)}`} /> came later.
          If it left anything in these paths, nothing is put back: put that call back first, or choose hunks
          of this one.
        </p>
      )}
      <ConfirmButtons onCancel={close} onConfirm={() => void putBack(effects, callId, showEnd)}>
        Put back {plural(paths.length, "path")}
      </ConfirmButtons>
    </Dialog>
  );
}

/** Returns what a put back does to a path, in words; undefined until its change is loaded, and for a plain edit. */
function effectOn(path: string, pages: readonly ChangeRows[]): string | undefined {
  // The paths of the history are relative to the root, those of the rows are not.
  const found = pages.find(({ change }) => change.path === path || change.path.endsWith(`/${path}`));
  switch (found?.change.kind) {
    case "create":
      return "is removed";
    case "delete":
      return "is created again";
    case "move":
      return "is moved back";
    default:
      return undefined;
  }
}

/** Returns the newest later call that changed a path of a call and was not taken back itself. */
function laterCallOf(entry: PastCall, entries: readonly PastCall[]): PastCall | undefined {
  const own = new Set(entry.paths);
  const reversals = reversalsOf(entries);
  const at = entries.findIndex(({ callId }) => callId === entry.callId);
  return entries
    .slice(0, Math.max(at, 0))
    .find(
      ({ callId, unrecorded, paths }) =>
        unrecorded !== true && !reversals.has(callId) && paths.some((path) => own.has(path)),
    );
}
