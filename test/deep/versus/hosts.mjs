// The functions that a host gives a workspace, made from plain data: reviewers, hooks, observers and readers of events.
import { chosenParts } from "./steps.mjs";

/** Builds the answer of a reviewer to one question. */
function replyTo({ outcome, text, parts, scope, final, foreignDigest, reason }, details) {
  const payload = { by: "ana", ...(reason === undefined ? {} : { reason }) };
  if (outcome === "proceed_parts")
    Object.assign(payload, { parts: chosenParts(details.changes, parts), digest: details.digest });
  if (outcome === "modify_with_editor") {
    const files = details.changes.filter(({ type, kind }) => type === "file" && kind !== "delete");
    if (files.length > 1) payload.contents = files.slice(0, 2).map(({ path }) => ({ path, content: text }));
    else payload.newContent = text;
    payload.final = final;
  }
  if (scope !== undefined) payload.scope = scope;
  if (foreignDigest) payload.digest = `sha256:${"1".repeat(64)}`;
  return { outcome, payload };
}

/** A reviewer who answers one question after the other, and the first again after the last. */
function reviewerOf(replies, note, { place, isTogether }) {
  let asked = 0;
  return async (details) => {
    note("question", details);
    if (isTogether()) return { outcome: "proceed_once" };
    const reply = replies[asked++ % replies.length];
    for (const act of reply.acts ?? []) await place.foreign(act);
    if (reply.stale) note("stale", await details.isStale?.());
    if (reply.throws) throw new Error("the reviewer is not there");
    return reply.silent ? { outcome: "unknown" } : replyTo(reply, details);
  };
}

/**
 * Returns the functions for the options of a workspace.
 *
 * @param {object} hosts what the session says about reviewer, hooks and observers
 * @param {(kind: string, value: unknown) => void} note records what the function was given
 * @param {{ place: object, isTogether: () => boolean }} run the files, for changes while a question is open, and
 *   whether several calls run at once: then every question gets the same answer, because their order is not promised
 */
export function hostFunctions(hosts, note, { place, isTogether }) {
  const options = {};
  if (hosts.replies !== undefined) options.confirm = reviewerOf(hosts.replies, note, { place, isTogether });
  if (hosts.grants !== undefined) {
    let granted = 0;
    options.permissions = {
      mode: "prompt",
      ask: async (question) => {
        note("directory", question);
        if (isTogether()) return { answer: "yes" };
        return hosts.grants[granted++ % hosts.grants.length];
      },
    };
  }
  if (hosts.hooks !== undefined) options.hooks = hosts.hooks.map((hook) => hookOf(hook, note, isTogether));
  if (hosts.observe !== undefined) {
    const { hashes } = hosts.observe;
    options.observers = [
      {
        hashes,
        begin: (begin) => {
          note("begin", begin);
          return undefined;
        },
        end: (end) => note("end", end),
      },
    ];
  }
  if (hosts.notify) options.notify = (event) => note("event", event);
  if (hosts.onHookError) options.onHookError = (error) => note("hook error", error);
  return options;
}

function hookOf({ stage, tool, reply, throws, previews, every = 1 }, note, isTogether) {
  let runs = 0;
  return {
    stage,
    tool,
    async run(context) {
      const { tool_name, called_as, args, result } = context;
      note(`hook ${stage}`, { tool_name, called_as, args, result });
      if (isTogether() || runs++ % every !== 0) return undefined;
      if (previews && context.preview !== undefined)
        note("preview", await context.preview().catch((error) => error));
      if (throws) throw new Error("the hook failed");
      return reply;
    },
  };
}
