/** The versions of a file: any two are compared, and an earlier one can be restored. */
import type { JSX } from "preact";
import type { PastCalls } from "../../../past/history-protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { useRows } from "./data.ts";
import { PastDiff } from "./past-diff.tsx";
import { useTimelineKeys } from "./timeline-keys.ts";
import { comparedVersions, type FileVersion, NOW, versionsOf } from "./versions.ts";
import { actionOf, clockTime, type ShownFile, type TimelineView } from "./view.ts";

interface VersionsViewProps extends ScreenProps {
  readonly file: ShownFile;
  readonly past: PastCalls;
  show(change: Partial<TimelineView>): void;
}

/** Draws the versions. */
export function VersionsView({ file, past, state, effects, show }: VersionsViewProps): JSX.Element {
  const { path } = file;
  const versions = versionsOf(past.entries, path);
  const { before, after } = comparedVersions(versions, file);
  const query = `path=${encodeURIComponent(path)}&before=${encodeURIComponent(before ?? "")}&after=${encodeURIComponent(after ?? "")}`;
  const isSame = before === after;
  // Each change of the history may have changed the present content of the file.
  const moment = before === NOW || after === NOW ? `&moment=${state.review.history}` : "";
  const rows = useRows(
    effects,
    before === undefined || isSame ? undefined : `files/compare?${query}${moment}`,
  );
  const why = whyNotPermitted(state, "manage");
  const close = (): void => show({ file: undefined, hunk: 0 });
  useTimelineKeys(effects, { Escape: close });
  return (
    <article class="question" aria-labelledby="tl-versions">
      <header class="question-head">
        <h2 id="tl-versions">
          Versions of <SafeText text={path} />
        </h2>
      </header>
      <div class="tl-versions">
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col">Version</th>
              <th scope="col">
                <span class="unseen">Restore</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.map((version) => (
              <tr key={version.id}>
                <td>
                  <input
                    type="radio"
                    name="tl-before"
                    aria-label={`Compare from: ${nameOf(version)}`}
                    checked={version.id === before}
                    onChange={() => show({ file: { path, before: version.id, after }, hunk: 0 })}
                  />
                </td>
                <td>
                  <input
                    type="radio"
                    name="tl-after"
                    aria-label={`Compare to: ${nameOf(version)}`}
                    checked={version.id === after}
                    onChange={() => show({ file: { path, before, after: version.id }, hunk: 0 })}
                  />
                </td>
                <td>
                  <SafeText text={nameOf(version)} />
                </td>
                <td>
                  {version.next !== undefined && (
                    <button
                      type="button"
                      disabled={why !== undefined}
                      title={why}
                      aria-label={`Restore: ${nameOf(version)}`}
                      onClick={() =>
                        show({
                          rewind: {
                            to: version.next?.callId ?? "",
                            label: nameOf(version),
                            paths: [path],
                            restored: path,
                          },
                          hunk: 0,
                        })
                      }
                    >
                      Restore…
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {before === undefined ? (
        <p class="empty">No call in the history has changed this file.</p>
      ) : isSame ? (
        <p class="empty">From and To are the same version.</p>
      ) : (
        <PastDiff rows={rows} hunk={state.timeline.hunk} effects={effects} show={show} />
      )}
      <footer class="answers">
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
        <span class="spacer" />
        <button type="button" onClick={() => effects.dispatch({ type: "file", path })}>
          Who wrote these lines
        </button>
      </footer>
    </article>
  );
}

/** Returns the name of a version in words. */
function nameOf({ id, by, next }: FileVersion): string {
  if (id === NOW) return "as it is now";
  if (by === undefined)
    return `before ${next === undefined ? "" : actionOf(next)} of ${clockTime(next?.time ?? "")}`;
  const agent = by.agent === undefined ? "" : ` by ${by.agent}`;
  return `${clockTime(by.time)} ${actionOf(by)}${agent}`;
}
