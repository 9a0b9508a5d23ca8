/** Why a call is refused or allowed: every gate, and what the person who answers for the workspace can change. */
import type { WhyGate } from "../pipeline/why.ts";
import type { WhyQuestion } from "../pipeline/why.ts";
import type { Workspace } from "../workspace/types.ts";
import type { ExplainedCall, ExplainedGate } from "./policy-data.ts";

/** Explains the decision about a call. @throws FilewrightError for an unknown tool, and for an invalid question */
export async function explainCall(ws: Workspace, question: WhyQuestion): Promise<ExplainedCall> {
  const gates = await ws.why(question);
  const { tool, path, agent } = question;
  return {
    tool,
    path,
    ...(agent === undefined ? {} : { agent }),
    gates: gates.map(explainedGate),
  };
}

function explainedGate({ gate, verdict, because, configured, missing }: WhyGate): ExplainedGate {
  const remedy = verdict === "stops" || verdict === "depends" ? remedyOf(gate, configured) : undefined;
  return {
    gate,
    verdict,
    ...(because === undefined ? {} : { because }),
    configured,
    ...(remedy === undefined ? {} : { remedy }),
    ...(missing === undefined ? {} : { missing }),
  };
}

/** Returns what changes the verdict of a gate, as options of the workspace; undefined where nothing does. */
function remedyOf(gate: WhyGate["gate"], configured: string): string | undefined {
  switch (gate) {
    case "read-only":
      return "Open the workspace without readOnly, or with a root of the access write.";
    case "root":
      return "Add the directory to roots. A link that leads elsewhere needs access.followSymlinks.";
    case "deny":
      return "Take the glob that matches out of access.deny. Filewright's own files are always denied.";
    case "protected":
      return 'Allow the place, or have it asked about: access.places = { allow: ["…"] } or { ask: ["…"] }.';
    case "secret":
      return 'Set access.secrets = "allow", or permissions.mode = "prompt" to grant single files.';
    case "rules":
      return `Change ${configured}.`;
    case "grants":
      return "Grant the directory, or set permissions.ask, so that somebody is asked.";
    case "approver":
      return "Set confirm to a reviewer, such as the one of this page, or allow the call by a rule.";
    case "guard":
      return 'The agent can read the file first. guard = "warn" lets it write without that.';
    default:
      return undefined;
  }
}
