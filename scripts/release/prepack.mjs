// Runs before `npm pack` of the checkout: builds what the tarball contains, and fails if the tarball would lack
// something or contain something else.
//
//   --publish   refuses: `npm publish` of the checkout would leave out the addons
import { pathToFileURL } from "node:url";
import { buildTypeScript } from "../build.mjs";
import { buildWasm } from "../build-wasm.mjs";
import { BuildError, runScript } from "../lib/run.mjs";
import { checkedContents } from "./contents.mjs";

/** Builds what the main package contains, and returns the checked paths of its files. */
export async function prepack() {
  await buildTypeScript();
  await buildWasm();
  return checkedContents();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(() => {
    if (process.argv.includes("--publish"))
      throw new BuildError("publish the tarballs that node scripts/release/pack.mjs makes, not the checkout");
    return prepack();
  });
}
