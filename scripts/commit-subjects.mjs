// Checks the subjects of commits: `area: what changes`, at most 72 characters.
//
//   node scripts/commit-subjects.mjs                 checks the commits after the last one of the old
//                                                    style; merges may have any subject
//   node scripts/commit-subjects.mjs --message FILE  checks a message that is about to be committed, for
//                                                    the hook commit-msg
//
// A clone without the last commit of the old style is shallow and holds newer commits only, so all that
// it holds are checked; what lies before them cannot be, and the script says so.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { readArguments } from "./lib/arguments.mjs";
import { git, historyDepth } from "./lib/git-history.mjs";
import { BuildError, root, runScript } from "./lib/run.mjs";

/** The last commit whose subject was free. */
const LAST_FREE_COMMIT = "94dbea6ac225e653e411751b314e7272a1ecb817";

const MAX_LENGTH = 72;
const SUBJECT = /^[a-z][\w./-]*: \S/;
/** The prefix that git puts before the subject of a commit that a later rebase melts into another one. */
const AUTOSQUASH = /^(?:fixup|squash|amend)! /;

/** Returns what is wrong with the subject of a commit; undefined if nothing is. */
export function subjectFault(subject) {
  const length = [...subject].length;
  if (length > MAX_LENGTH) return `has ${length} characters; at most ${MAX_LENGTH} are allowed`;
  return SUBJECT.test(subject) ? undefined : "does not have the form 'area: what changes'";
}

/** Returns the subject of a message in an editor's file, as git takes it: its first paragraph, without comments. */
function subjectOfMessage(text) {
  const [message] = text.split(/^# -+ >8 -+$/m);
  const lines = message.split("\n").filter((line) => !line.startsWith("#"));
  return lines
    .join("\n")
    .trim()
    .split(/\n\s*\n/)[0]
    .replaceAll(/\s*\n\s*/g, " ");
}

/**
 * Returns a line of text for each fault of a message that is about to be committed.
 * @param {boolean} isMerge of a merge the subject is git's
 */
export function messageFaults(text, isMerge) {
  const subject = subjectOfMessage(text);
  // Git itself refuses an empty message.
  if (isMerge || subject === "") return [];
  const fault = subjectFault(subject.replace(AUTOSQUASH, ""));
  return fault === undefined ? [] : [`the subject '${subject}' ${fault}`];
}

/**
 * Checks the subjects of the commits of a checkout.
 * @param {string} lastFree the last commit whose subject was free
 * @returns {{ faults: string[], note: string }} `note` says what was checked
 */
export function subjectFaults(checkout, lastFree = LAST_FREE_COMMIT) {
  const depth = historyDepth(checkout);
  if (depth === "none") return { faults: [], note: "no subject is checked, because there is no git history" };
  const isKnown = git(checkout, "merge-base", "--is-ancestor", lastFree, "HEAD") !== undefined;
  const range = isKnown ? [`${lastFree}..HEAD`] : ["HEAD"];
  const lines = git(checkout, "log", "--no-merges", "--format=%h %s", ...range)
    .split("\n")
    .filter(Boolean);
  const faults = lines.flatMap((line) => {
    const [commit] = line.split(" ", 1);
    const subject = line.slice(commit.length + 1);
    const fault = subjectFault(subject);
    return fault === undefined ? [] : [`commit ${commit}: the subject '${subject}' ${fault}`];
  });
  const cut =
    depth === "shallow" && !isKnown ? "; earlier ones are missing, because the clone is shallow" : "";
  return { faults, note: `${lines.length} subjects of commits are checked${cut}` };
}

/** Throws a BuildError with all faults, if there are any. */
function refuse(faults) {
  if (faults.length > 0)
    throw new BuildError(
      `${faults.join("\n")}\nwrite 'area: what changes', for example 'bench: measure a call'`,
    );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    const flags = { "--message": { description: "checks a message", value: "FILE" } };
    const file = readArguments(process.argv.slice(2), flags).flags["--message"];
    if (file !== undefined) {
      const isMerge = git(root, "rev-parse", "--verify", "--quiet", "MERGE_HEAD") !== undefined;
      refuse(messageFaults(readFileSync(file, "utf8"), isMerge));
      return;
    }
    const { faults, note } = subjectFaults(root);
    console.log(note);
    refuse(faults);
  });
}
