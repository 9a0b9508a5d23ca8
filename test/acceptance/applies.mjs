// Which cases of the kit say something of a backend in memory: a rule, so that no
// list of failures can stand in for it. A case does not apply where it needs
//
//   an operating system   `requires` beyond links and a case-sensitive POSIX system
//   a disk                setup or files with modes, owners, times, holes, names that
//                         are no text, or anything but files, directories and links
//   another process       steps beyond calls, questions and what they come to; a file
//                         that is changed from outside, also while a question is asked
//   files outside it      the kit seeds a backend with the workspace, its sibling and the
//                         directory outside, and with nothing else
//   state on the disk     a grants file, a state directory, a command's sandbox
//   the process itself    its memory, its descriptors, its working directory
//   the machine itself    how long something takes, which the benches measure

const REQUIRES = new Set(["posix", "symlink", "case_sensitive_fs"]);
const SETUP = new Set(["file", "dir", "symlink", "many_files", "many_dirs"]);
const ON_DISK = [
  "mode",
  "owner",
  "mtime",
  "age_h",
  "sparse",
  "path_b64",
  "mount_tmpfs_kib",
  "mount_readonly",
];
const STEPS = ["call", "parallel", "foreign_tool", "list_tools", "sleep_ms", "check"];
const OF_PROCESS = ["rss_growth_mb", "median_ms", "nofile"];
const FILE_FACTS = ["mode", "owner", "nlink", "mtime"];

/** Why a case says nothing of a backend in memory; undefined where it does. */
export function whyNot(one) {
  const needs = (one.requires ?? []).find((name) => !REQUIRES.has(name));
  if (needs !== undefined) return `needs ${needs}`;
  if (one.alone === true) return "measures how long something takes";
  const operation = operations(one.setup ?? []).find(
    (op) => !SETUP.has(op.op) || ON_DISK.some((key) => op[key] !== undefined),
  );
  if (operation !== undefined) return "sets up what only a disk has";
  if (operations(one.setup ?? []).some(({ path = "" }) => /^(\.\.\/|\$[BS]\b)/.test(path)))
    return "sets up files beside the workspace";
  const { provider, permissions, confirm } = one.config ?? {};
  if (provider !== undefined) return "is about the sandbox of commands";
  if (permissions?.grants_file !== undefined) return "is about a file of grants";
  if ((confirm?.answers ?? []).some((answer) => answer.meanwhile !== undefined))
    return "changes files from outside";
  for (const step of one.steps ?? []) {
    if (!STEPS.some((name) => step[name] !== undefined)) return `has a step ${Object.keys(step)[0]}`;
    if (OF_PROCESS.some((key) => step[key] !== undefined)) return "measures the process";
  }
  if (JSON.stringify(one.steps ?? []).includes("$S")) return "looks at the state directory";
  const files = expectations(one).flatMap(({ files = {} }) => Object.values(files));
  if ([...files, ...Object.values(one.after_files ?? {})].some((file) => looksAtFacts(file)))
    return "looks at facts that only a disk has";
  return undefined;
}

function looksAtFacts(file) {
  return typeof file === "object" && file !== null && FILE_FACTS.some((key) => key in file);
}

function operations(list) {
  return list.flatMap((op) => [op, ...operations(op.entries ?? [])]);
}

function expectations(one) {
  const found = [];
  const look = (value) => {
    if (typeof value !== "object" || value === null) return;
    if (!Array.isArray(value) && value.files !== undefined) found.push(value);
    for (const inner of Object.values(value)) look(inner);
  };
  look(one.steps ?? []);
  return found;
}
