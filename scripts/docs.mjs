// Writes the API pages: of TypeScript with typedoc into docs/api/js, of Rust with rustdoc into
// docs/api/rust.
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildTypeScript } from "./build.mjs";
import { npmProgram, runScript, root, runAndWait } from "./lib/run.mjs";

await runScript(async () => {
  // typedoc reads the declarations in dist, because only they have the descriptions of arguments.
  await buildTypeScript();
  rmSync(join(root, "docs/api"), { recursive: true, force: true });
  const readme = existsSync(join(root, "README.md")) ? "README.md" : "none";
  runAndWait(npmProgram("typedoc"), ["--readme", readme]);
  runAndWait("cargo", [
    "doc",
    "--no-deps",
    "-p",
    "filewright-core",
    "-p",
    "filewright-fs",
    "-p",
    "filewright-index",
  ]);
  cpSync(join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "doc"), join(root, "docs/api/rust"), {
    recursive: true,
  });
  console.log("docs/api/js/index.html\ndocs/api/rust/filewright_core/index.html");
});
