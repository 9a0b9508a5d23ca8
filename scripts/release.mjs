// Prepares a release.
//
//   npm run release -- VERSION     writes the version to every file that has it
//   npm run release -- --check     fails unless all those files agree
//   npm run release -- --notes     prints the section of CHANGELOG.md for the version
//   npm run release -- --rehearse  builds, packs and tries what the release workflow publishes
//
// It commits, tags and publishes nothing. .github/workflows/release.yml publishes, when a tag is pushed.
import { pathToFileURL } from "node:url";
import { flagLines, readArguments } from "./lib/arguments.mjs";
import { BuildError, root, runScript } from "./lib/run.mjs";
import { checkedVersion, prepareRelease, readReleaseNotes } from "./release/prepare.mjs";
import { rehearse } from "./release/rehearsal.mjs";

/** @type {Readonly<Record<string, import("./lib/arguments.mjs").Flag>>} */
const FLAGS = {
  "--check": { description: "only checks that every file has the same version" },
  "--notes": { description: "prints the section of CHANGELOG.md for the version of package.json" },
  "--rehearse": { description: "builds, packs and tries what would be published; publishes nothing" },
  "--built": { description: "with --rehearse: takes the addons of an earlier rehearsal" },
  "--tag": { value: "NAME", description: "with --check or --notes: the tag has to be v and that version" },
  "--help": { description: "prints this text" },
};
const USAGE_TEXT = `npm run release -- VERSION | --check | --notes | --rehearse\n${flagLines(FLAGS)}`;

/** The flags of which one is given instead of a version. */
const MODES = ["--check", "--notes", "--rehearse", "--help"];

/**
 * Returns what the arguments ask for.
 *
 * @param {readonly string[]} given without the program and the script
 * @returns {{ mode: string, version?: string, tag?: string, built: boolean }} `mode` is one of `MODES`, or `prepare` with a version
 * @throws BuildError for anything else
 */
export function readReleaseArguments(given) {
  const { flags, rest } = readArguments(given, FLAGS);
  const modes = [...MODES.filter((name) => flags[name]), ...rest.map(() => "prepare")];
  if (modes.length !== 1) {
    throw new BuildError(`give one version, or one of ${MODES.join(", ")}\n${USAGE_TEXT}`);
  }
  const [mode] = modes;
  const tag = flags["--tag"];
  if (tag !== undefined && mode !== "--check" && mode !== "--notes") {
    throw new BuildError("--tag goes with --check or --notes");
  }
  const built = flags["--built"] === true;
  if (built && mode !== "--rehearse") throw new BuildError("--built goes with --rehearse");
  return { mode, tag, built, version: rest[0] };
}

function run({ mode, version, tag, built }) {
  if (mode === "--help") console.log(USAGE_TEXT);
  else if (mode === "--check") console.log(`every file has the version ${checkedVersion(root, tag)}`);
  else if (mode === "--notes") console.log(readReleaseNotes(root, checkedVersion(root, tag)));
  else if (mode === "--rehearse") rehearse({ built });
  else {
    const files = prepareRelease(root, version);
    console.log(`${version} is in ${files.join(", ")}; next:`);
    console.log("  npm run release -- --rehearse");
    console.log(`  git commit --all --message 'Release ${version}' && git tag v${version}`);
    console.log(`  git push --atomic origin HEAD v${version}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => run(readReleaseArguments(process.argv.slice(2))));
}
