/** The answers of the server in the states of the screen "Policy". */
import type { ExplainedCall, ExplainedGate, ShownPolicy } from "../../../../js/review/policy-data.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";

/** The gates of calls in their order, with the options that configure them. */
const GATES: readonly (readonly [gate: string, configured: string])[] = [
  ["hooks", "hooks"],
  ["read-only", "readOnly, access.readOnly"],
  ["root", "root, roots, access.read, access.write, access.followSymlinks"],
  ["deny", "access.deny, permissions.grantsFile, stateDir"],
  ["protected", "access.protect, access.places"],
  ["temporary", "none: names of Filewright's own files"],
  ["rules", "rules"],
  ["secret", "access.secrets, access.places, permissions"],
  ["grants", "permissions"],
  ["default", "confirm, requireApproval, hooks"],
  ["places", "access.places"],
  ["approvals", "approvals, the answers of reviewers"],
  ["approver", "confirm, hooks"],
  ["guard", "guard, preset"],
];

/** Returns the answer about a call that one gate stops. */
function stoppedAt(tool: string, path: string, stop: Partial<ExplainedGate>): ExplainedCall {
  const at = GATES.findIndex(([gate]) => gate === stop.gate);
  return {
    tool,
    path,
    gates: GATES.map(([gate, configured], index) =>
      index === at
        ? { gate, verdict: "stops" as const, configured, ...stop }
        : { gate, verdict: index < at ? ("passes" as const) : ("not reached" as const), configured },
    ),
  };
}

/** The answer of each gate when it stops a call. */
const STOPS: readonly (readonly [tool: string, path: string, stop: Partial<ExplainedGate>])[] = [
  [
    "write_file",
    "src/a.ts",
    {
      gate: "read-only",
      because: "The directory is read-only.",
      remedy: "Open the workspace without readOnly, or with a root of the access write.",
    },
  ],
  [
    "read_file",
    "../other/notes.md",
    {
      gate: "root",
      because: "It is outside of the allowed directories.",
      remedy: "Add the directory to roots. A link that leads elsewhere needs access.followSymlinks.",
    },
  ],
  [
    "read_file",
    "vault/key",
    {
      gate: "deny",
      because: "It is outside of the allowed directories.",
      remedy: "Take the glob that matches out of access.deny. Filewright's own files are always denied.",
    },
  ],
  [
    "write_file",
    ".git/hooks/pre-commit",
    {
      gate: "protected",
      because: "Git runs the files below this directory.",
      remedy: 'Allow the place, or have it asked about: access.places = { allow: ["…"] } or { ask: ["…"] }.',
    },
  ],
  [
    "delete",
    "dist/\u202egpj.exe",
    { gate: "rules", configured: "rules[2]", because: "rules[2] says deny.", remedy: "Change rules[2]." },
  ],
  [
    "read_file",
    ".env",
    {
      gate: "secret",
      because: "The file is a secret. Reading it needs a grant of its own.",
      remedy: 'Set access.secrets = "allow", or permissions.mode = "prompt" to grant single files.',
    },
  ],
  [
    "write_file",
    "data/exports/2026.csv",
    {
      gate: "grants",
      because: "/repo/data/exports was not granted.",
      remedy: "Grant the directory, or set permissions.ask, so that somebody is asked.",
      missing: [{ dir: "/repo/data/exports", access: "write" }],
    },
  ],
  [
    "write_file",
    "src/b.ts",
    {
      gate: "approver",
      because: "write_file needs an approval here, and there is nobody to ask.",
      remedy: "Set confirm to a reviewer, such as the one of this page, or allow the call by a rule.",
    },
  ],
];

const POLICY: ShownPolicy["policy"] = {
  cwd: "/repo",
  read: ["/repo", "/data"],
  write: ["/repo"],
  deny: ["vault", "**/*.pem"],
  readOnly: false,
  followSymlinks: "inside",
  protect: true,
  secrets: "grant",
  permissions: "prompt",
  guard: "refuse",
  decidedBy: ["policy", "rules", "grants", "default", "places", "approvals", "approver", "guard"],
  rules: [],
};

const EMPTY: ShownPolicy = {
  policy: POLICY,
  tools: ["read_file", "write_file", "edit_file", "delete"],
  grants: [],
  approvals: [],
};

const RULES: ShownPolicy["policy"]["rules"] = [
  { list: 0, index: 0, tool: "write_file", path: "docs/**", decision: "allow", hits: 128 },
  {
    list: 0,
    index: 1,
    tool: "run_command",
    args: '{"command":"npm test"}',
    decision: "allow",
    hits: 31,
  },
  { list: 0, index: 2, tool: "delete", decision: "deny", hits: 2 },
  { list: 0, index: 3, tool: "*", path: "**/migrations/**", decision: "ask", hits: 4 },
  { list: 1, index: 0, tool: "<img src=x>", path: "a\u202eb/</code>", decision: "deny", hits: 0 },
];

const FULL: ShownPolicy = {
  ...EMPTY,
  policy: { ...POLICY, rules: RULES },
  grants: [
    {
      dir: "/repo/data/exports",
      access: "write",
      granted_at: "2026-11-27T11:58:02.000Z",
      expires: "2026-11-27T12:58:02.000Z",
      by: "ana",
    },
    { dir: "/data", access: "read", granted_at: "2026-11-20T09:00:00.000Z" },
  ],
  approvals: [
    {
      id: "approval-1",
      covers: "edit_file on src/pay/** by main",
      scope: { tool: "edit_file", path: "src/pay/**", agent: "main", until: "turn" },
      granted_at: "2026-11-27T12:01:00.000Z",
      by: "ana",
    },
    {
      id: "approval-2",
      covers: "write_file on /repo/docs/**",
      scope: { tool: "write_file", path: "/repo/docs/**", until: "session" },
      granted_at: "2026-11-27T11:40:00.000Z",
      by: "ben",
    },
    {
      id: "approval-3",
      covers: "every tool on docs/** by writer",
      scope: { tool: "*", path: "docs/**", agent: "writer", until: "kept" },
      granted_at: "2026-11-02T08:30:00.000Z",
    },
  ],
};

const OFF: ShownPolicy = {
  ...EMPTY,
  policy: {
    ...POLICY,
    read: null,
    write: [],
    deny: [],
    readOnly: true,
    permissions: "off",
    followSymlinks: "any",
    protect: false,
    secrets: "allow",
    guard: "off",
  },
};

/** The states with the name of the gate that stops the call, and the call. */
const STOPPED_CALLS: readonly (readonly [gate: string, tool: string, path: string])[] = STOPS.map(
  ([tool, path, { gate = "" }]) => [gate, tool, path],
);

/** The answers by path. A path behind the name of a state and a colon is that of this state only. */
export const POLICY_ANSWERS: Readonly<Record<string, object>> = {
  policy: FULL,
  "policy/approvals/revoke": { revoked: true },
  "policy-empty:policy": EMPTY,
  "policy-read-only:policy": OFF,
  ...Object.fromEntries(
    STOPS.map(([tool, path, stop]) => [
      `why?${new URLSearchParams({ tool, path })}`,
      stoppedAt(tool, path, stop),
    ]),
  ),
};

/** The steps of a person that lead to these states. */
export const POLICY_STEPS: Readonly<Record<string, readonly (readonly [selector: string])[]>> = {
  ...Object.fromEntries(STOPS.map(([, , { gate }]) => [`why-${gate}`, [[".gate.stops"]]])),
  policy: [[".table-frame"]],
  "policy-empty": [[".access"]],
  "policy-read-only": [[".access"]],
  "policy-watching": [[".allowed"]],
  "policy-failed": [[".bar.failure"]],
  "policy-allowed": [[".allowed li.shown"]],
  "policy-ended": [[".allowed-status"]],
  "revoke-dialog": [[".allowed button"], ["dialog[open] p"]],
  revoked: [[".allowed button"], ["dialog[open] button.allow"], [".allowed-status:not(:empty)"]],
  "grant-dialog": [[".grant button"], ["dialog[open] select"]],
};

/** Returns the states of the policy. `ready` is the page with the policy open. */
export function policyStates(ready: PageState): Readonly<Record<string, PageState>> {
  const open: PageState = { ...ready, role: "manage", workspaces: ["/repo"] };
  return {
    policy: open,
    "policy-empty": open,
    "policy-read-only": open,
    "policy-watching": { ...open, role: "watch", by: "guest" },
    "policy-failed": { ...open, asked: { tool: "stat", path: "unknown" } },
    "policy-allowed": {
      ...open,
      allowed: { scope: { tool: "write_file", path: "/repo/docs/**", until: "session" } },
    },
    "policy-ended": { ...open, allowed: { scope: { tool: "delete", path: "**", until: "turn" } } },
    "revoke-dialog": open,
    revoked: open,
    ...Object.fromEntries(
      STOPPED_CALLS.map(([gate, tool, path]) => [`why-${gate}`, { ...open, asked: { tool, path } }]),
    ),
    "grant-dialog": { ...open, asked: { tool: "write_file", path: "data/exports/2026.csv" } },
    "why-watching": {
      ...open,
      role: "watch",
      by: "guest",
      asked: { tool: "write_file", path: "data/exports/2026.csv", code: "GRANT_DENIED", by: "ana" },
    },
  };
}
