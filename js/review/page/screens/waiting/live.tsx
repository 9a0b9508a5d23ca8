/** The last calls. */
import type { JSX } from "preact";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import { isRefusal } from "../../../refusals.ts";
import type { ReviewCall } from "../../../protocol.ts";
import { actionOf, durationOf } from "../timeline/view.ts";
import type { ScreenProps } from "../props.ts";

/** The number of calls that are drawn. */
const MAX_SHOWN_CALLS = 50;

/** Draws the last calls, the newest first. */
export function LiveCalls({ state: { review }, effects }: ScreenProps): JSX.Element {
  const calls = review.calls.slice(-MAX_SHOWN_CALLS).reverse();
  const waiting = new Set(review.waiting.flatMap(({ callId }) => (callId === undefined ? [] : [callId])));
  return (
    <section class="live-calls" part="calls" aria-labelledby="live-head">
      <h2 id="live-head">Live</h2>
      {calls.length === 0 ? (
        <p class="none">No calls yet.</p>
      ) : (
        <div
          class="calls"
          role="log"
          aria-label="The last calls, the newest first"
          aria-live="off"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard.
          tabIndex={0}
        >
          {calls.map((call) => (
            <Call key={call.id} call={call} isWaiting={waiting.has(call.id)} effects={effects} />
          ))}
        </div>
      )}
    </section>
  );
}

interface CallProps extends Pick<ScreenProps, "effects"> {
  readonly call: ReviewCall;
  /** True when a question about it waits for an answer. */
  readonly isWaiting: boolean;
}

function Call({ call, isWaiting, effects }: CallProps): JSX.Element {
  const { tool, at, ok, code, message, ms, paths, agent, errorPath, by } = call;
  const path = paths[0] ?? errorPath;
  const asked = isRefusal(code) ? (errorPath ?? path) : undefined;
  return (
    <p class={ok === false ? "call failed" : "call"}>
      <time dateTime={new Date(at).toISOString()}>{timeOf(at)}</time>
      <SafeText class="call-tool" text={actionOf(call)} />
      <span class="call-path" title={path && visibleText(path)}>
        <SafeText class="call-agent" text={agent} />
        {path !== undefined && <SafeText class="call-name" text={path.slice(path.lastIndexOf("/") + 1)} />}
      </span>
      {ok !== false && (
        <span class="call-end">
          {ok === true ? durationOf(ms ?? 0) : isWaiting ? "waits for an answer" : "running"}
        </span>
      )}
      {ok === false && (
        <span class="call-error" title={message && visibleText(message)}>
          <span class="call-code">{code ?? "failed"}</span>
          {asked !== undefined && (
            <button
              type="button"
              class="why-link"
              aria-label={`Why was ${tool} refused?`}
              onClick={() =>
                effects.dispatch({
                  type: "why",
                  asked: {
                    tool,
                    path: asked,
                    ...(agent === undefined ? {} : { agent }),
                    ...(code === undefined ? {} : { code }),
                    ...(by === undefined ? {} : { by }),
                  },
                })
              }
            >
              why?
            </button>
          )}
          {message !== undefined && <SafeText text={firstLineOf(message)} />}
        </span>
      )}
    </p>
  );
}

function timeOf(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** Returns the first line of a message. Its element has the whole of it as a tooltip. */
function firstLineOf(message: string): string {
  const end = message.indexOf("\n");
  return end < 0 ? message : message.slice(0, end);
}
