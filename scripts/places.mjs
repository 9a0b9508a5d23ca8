// Writes docs/reference/places.md, the table of protected and secret places: `node
// scripts/places.mjs`. test/places/table.test.ts fails if the page is stale.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { runScript, root } from "./lib/run.mjs";

const PAGE_SECTIONS = [
  [
    "refuse",
    "Never written",
    "Another program runs these files, or reads them as configuration, without a further action of a person. Tools never write them; reading is allowed.",
  ],
  [
    "ask",
    "Asked about",
    "These are edited in ordinary work, but they decide which programs run. If `confirm` is set a person is asked, even if a rule allows the tool. Otherwise the file is written, and `data.warnings` and the text say so.",
  ],
  ["allow", "Exceptions: written", "These match a row above and are written like other files."],
  [
    "secret",
    "Not read",
    "The content is not read or searched, and not copied to a place where it could be read, unless a person grants that file.",
  ],
  ["readable", "Exceptions: read", "These match a row above and are read like other files."],
];

/** Returns the text of the page for these rows of the table. */
export function placesPage(rows) {
  const parts = PAGE_SECTIONS.map(([decision, title, about]) => {
    const own = rows.filter((row) => row.decision === decision);
    const lines = own.map(({ pattern, reason }) => `| ${inlineCode(pattern)} | ${reason} |`);
    return [`## ${title}`, "", about, "", "| place | why |", "|---|---|", ...lines].join("\n");
  });
  return `${PAGE_HEAD}\n${parts.join("\n\n")}\n`;
}

const inlineCode = (text) => `\`${text.replaceAll("|", "\\|")}\``;

const PAGE_HEAD = `# Protected and secret places

Printed from \`crates/core/src/pattern/policy/table.rs\` by \`node scripts/places.mjs\`.

A pattern is one or more names separated by \`/\`. It matches at any depth below a root, in any letter case; with a leading \`/\` it matches from the root of the file system. \`*\` stands for any part of one name, \`{a,b}\` for \`a\` or \`b\`. A match covers everything below it; a pattern that ends in \`/**\` covers only the entries below. If the last name has a \`*\`, it must begin or end with three literal characters. The path of a root itself is never matched, since the host chose it.

Change the table row by row with \`access.places\`:

\`\`\`ts
await openWorkspace({
  root: "/repo",
  access: {
    places: {
      allow: [".vscode/settings.json"], // written without a question
      ask: [".husky"], // asked about instead of refused
      refuse: ["deploy/prod"], // never written
      secret: ["*.token"], // not read
      readable: [".env.*"], // read like other files
    },
  },
});
\`\`\`

\`allow\` and \`readable\` must match a row of the table; others are refused with INVALID_ARGUMENT, since they are probably misspelt. \`access.protect: false\` turns the protection off, \`access.secrets: "allow"\` the secrets.

In addition to the table:

- A directory that git treats as a repository (\`HEAD\` with \`objects\` and \`refs\`, or \`HEAD\` with \`commondir\`), under any name: no tool creates one, or changes its configuration and hooks.
- Paths that the configuration of a repository names: \`core.hooksPath\`, \`core.fsmonitor\`, \`include.path\`, \`includeIf\` and the directory that a \`.git\` file points to. It is read when the workspace opens, for the repositories of its roots and the user's own git configuration; for a repository below a root it is read when a path in it is written.
- Files that contain only a key, under any name: PEM, OpenSSH, PGP, PuTTY and age private keys, and Google's service accounts. Searches leave them out as if nothing in them matched.
`;

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await runScript(async () => {
    const { placeRows } = await import(pathToFileURL(join(root, "dist/policy/index.node.js")).href);
    writeFileSync(join(root, "docs/reference/places.md"), placesPage(placeRows()));
  });
}
