// Runs before `npm pack` of the main package and of @filewright/storage: builds what the tarballs contain, and fails
// if one would lack something or contain something else.
//
//   --publish   refuses: `npm publish` of the checkout would leave out the addons
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildTypeScript } from "../build.mjs";
import { buildWasm } from "../build-wasm.mjs";
import { BuildError, root, runScript } from "../lib/run.mjs";
import { checkedContents, checkedStorageContents } from "./contents.mjs";
import { assertLicences, linkedCrates, withCrates } from "./licences.mjs";

/** Builds what both packages contain, and returns the checked paths of their files. */
export async function prepack() {
  await buildTypeScript();
  await buildWasm();
  addLicencesOfModules();
  return { main: checkedContents(), storage: checkedStorageContents() };
}

/** Adds the licences of the crates in the WebAssembly modules to those of the npm packages in the command. */
function addLicencesOfModules() {
  const file = join(root, "dist/THIRD-PARTY.txt");
  const text = withCrates(
    readFileSync(file, "utf8"),
    linkedCrates("filewright-wasm", "wasm32-unknown-unknown"),
  );
  for (const name of ["filewright_bg.wasm", "filewright_edit_bg.wasm"])
    assertLicences(join(root, "dist/wasm", name), text);
  writeFileSync(file, text);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    if (process.argv.includes("--publish"))
      throw new BuildError("publish the tarballs that node scripts/release/pack.mjs makes, not the checkout");
    return prepack();
  });
}
