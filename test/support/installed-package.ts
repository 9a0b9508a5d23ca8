/** The built command as an installed package has it, with the parts of a broken installation left out or replaced. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { platformName } from "../../scripts/lib/platform.mjs";

const root = resolve(import.meta.dirname, "../..");
/** The platform of this machine, as the packages of addons name it. */
export const PLATFORM: string = platformName();
/** The version of the package. */
export const VERSION: string = (
  JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
).version;

const ADDON = join(root, `dist/native/filewright.${PLATFORM}.node`);
/** An addon that loads. */
export const WORKING_ADDON = `module.exports = { ...require(${JSON.stringify(ADDON)}), version: () => ${JSON.stringify(VERSION)} };`;
/** True when the WebAssembly module is built. */
export const hasWasm: boolean = existsSync(join(root, "dist/wasm/filewright.cjs"));

/** The parts of an installation. */
export interface Installation {
  /** The code of the main file of the addon's package; undefined where the package is not installed. */
  readonly addon?: string | undefined;
  /** `built`: as it is built; `missing`; or the content of its glue. Default `built`. */
  readonly wasm?: string;
  /** The version and the main file of other packages, by name. */
  readonly packages?: Readonly<Record<string, readonly [version: string, code: string]>>;
}

/** Makes an installation in a temporary directory, which everybody may read. */
export function install({ addon, wasm = "built", packages = {} }: Installation): {
  readonly command: string;
  readonly remove: () => void;
} {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-installed-")));
  const home = join(base, "node_modules/filewright");
  mkdirSync(join(home, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(home, "package.json"));
  cpSync(join(root, "dist/bin"), join(home, "dist/bin"), { recursive: true });
  if (wasm === "built") symlinkSync(join(root, "dist/wasm"), join(home, "dist/wasm"));
  else if (wasm !== "missing") {
    mkdirSync(join(home, "dist/wasm"));
    writeFileSync(join(home, "dist/wasm/filewright.cjs"), wasm);
  }
  const own = addon === undefined ? [] : [[`@filewright/native-${PLATFORM}`, [VERSION, addon]] as const];
  for (const [name, [version, code]] of [...Object.entries(packages), ...own]) {
    const folder = join(base, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, main: "index.cjs" }));
    writeFileSync(join(folder, "index.cjs"), code);
  }
  // Tests run it as another user.
  chmodSync(base, 0o755);
  return {
    command: join(home, "dist/bin/filewright.js"),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
