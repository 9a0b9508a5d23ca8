// Bundles the command with the npm packages that it uses into few files, so that Filewright has no
// dependencies to install, and a start reads two files instead of three hundred.
//
//   dist/mcp/protocol/sdk.js  the protocol's SDK, for the modules of the servers
//   dist/mcp/auth/jose.js     the check of signed tokens
//   dist/bin/*.js             the command and the drop-in server; scripts/release/modules.mjs makes those of the package
//   dist/cli/library.js       every entry for Node in one file, for the processes of tests; not in the package
//   dist/THIRD-PARTY.txt      whose code that is and that of the review page, and its licences
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, transform } from "esbuild";
import { root } from "./lib/run.mjs";

const COMMON_OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  // Optional packages, which are imported at run time if the user has installed them.
  external: ["sharp", "unpdf", "yaml", "@opentelemetry/api", "diff", "aws4fetch", "pg", "prom-client"],
  // Replaces the JSON Schema validator of the MCP SDK, a third of its size: Filewright checks the
  // answers of clients itself, and the SDK's is never called.
  plugins: [
    {
      name: "no-validator",
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
          path: "shims",
          namespace: "ours",
        }));
        onLoad({ filter: /^shims$/, namespace: "ours" }, () => ({
          contents:
            'import process from "node:process";\n' +
            "export class DefaultJsonSchemaValidator { getValidator() { return () => ({ valid: false, data: undefined, errorMessage: 'unchecked' }); } }\n" +
            "export { process };\n",
        }));
      },
    },
  ],
};

/**
 * Puts `@filewright/storage` into the bundles of the checkout, with the code of this package that it uses: an error of
 * another copy would be none of ours. In the published packages both load the same chunks.
 */
const STORAGE_PACKAGE = {
  name: "storage-package",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^filewright\/files$/ }, () => ({ path: join(root, "dist/files/index.node.js") }));
    onLoad({ filter: /[\\/]dist[\\/]mcp[\\/]storage[\\/]package\.js$/ }, () => ({
      contents: ["Postgres", "S3"]
        .map(
          (name) =>
            `export const import${name} = () => import("../../../packages/storage/dist/${name.toLowerCase()}/index.js");\n`,
        )
        .join(""),
    }));
  },
};

/**
 * Bundles the files that tsc has written into dist.
 *
 * @param {readonly string[]} pageInputs the files that the review page is made of, for their licences
 */
export async function bundleDependencies(pageInputs) {
  const protocol = await build({
    ...COMMON_OPTIONS,
    entryPoints: { "protocol/sdk": "dist/mcp/protocol/sdk.js", "auth/jose": "dist/mcp/auth/jose.js" },
    outdir: "dist/mcp",
    allowOverwrite: true,
  });
  rmSync(join(root, "dist/bin"), { recursive: true, force: true });
  await bundleCommand();
  await bundleLibrary();
  writeFileSync(join(root, "dist/cli/library.d.ts"), LIBRARY_TEXT);
  writeFileSync(
    join(root, "dist/THIRD-PARTY.txt"),
    licencesOf([...Object.keys(protocol.metafile.inputs), ...pageInputs]),
  );
}

/**
 * Whether the comments of a module are removed. Nobody reads them there: the declarations have those for users. They
 * are a fifth of the size of the modules.
 *
 * @param {string} path below dist, with `/`
 */
export const losesComments = (path) =>
  path.endsWith(".js") && !/^(?:(?:bin|wasm|native|cli|review\/page)\/|review\/elements\.js$)/u.test(path);

/**
 * Returns the code of a module without its comments, except those that bundlers read, in `import()`.
 *
 * @param {string} code
 * @param {import("esbuild").TransformOptions} options that do not change the code
 */
export const withoutComments = (code, options = {}) =>
  transform(code, { format: "esm", legalComments: "none", ...options });

/** Removes the comments of the modules in the dist of each package. */
export async function removeComments() {
  await Promise.all(["dist", "packages/storage/dist"].map((folder) => removeCommentsIn(join(root, folder))));
}

async function removeCommentsIn(folder) {
  const paths = readdirSync(folder, { recursive: true }).map((path) => path.replaceAll("\\", "/"));
  await Promise.all(
    paths.filter(losesComments).map(async (path) => {
      const file = join(folder, path);
      await writeFile(file, (await withoutComments(await readFile(file, "utf8"))).code);
    }),
  );
}

/** What the program of the command imports on demand, by the names of their bundles: a process loads one of them. */
const COMMAND_PARTS = {
  "run-command": "dist/cli/run.js",
  "run-doctor": "dist/cli/doctor/run.js",
  "run-mcp": "dist/mcp/run.js",
};

/** Leaves {@link COMMAND_PARTS} out of the bundle of the program. */
const COMMAND_PARTS_APART = {
  name: "command-parts",
  setup({ onResolve }) {
    onResolve({ filter: /\/run\.js$/ }, ({ path, importer, kind }) => {
      if (kind !== "dynamic-import" || relative(root, importer) !== join("dist", "cli", "main.node.js"))
        return;
      const found = join(dirname(importer), path);
      const [name] = Object.entries(COMMAND_PARTS).find(([, file]) => join(root, file) === found);
      return { path: `./${name}.js`, external: true };
    });
  },
};

/**
 * Bundles the command and the drop-in server, so that a start reads two files. Split wherever a command imports on demand,
 * it read 200 and took 0.5 s of the processor in place of 0.3, and tests start some hundred.
 *
 * @param {import("esbuild").BuildOptions} options that do not change what the bundles hold
 */
export function bundleCommand({ plugins = [], ...options } = {}) {
  return build({
    ...COMMON_OPTIONS,
    entryPoints: {
      filewright: "dist/cli/main.node.js",
      ...COMMAND_PARTS,
      "server-filesystem": "dist/mcp/server-filesystem.node.js",
    },
    outdir: "dist/bin",
    // Statements are not merged, because the coverage of a test run counts which of them ran
    // (scripts/lib/coverage-children.mjs).
    minify: false,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    plugins: [...COMMON_OPTIONS.plugins, STORAGE_PACKAGE, COMMAND_PARTS_APART, ...plugins],
    ...options,
  });
}

/** The library of {@link bundleLibrary}: what the processes of tests and measurements import. */
const LIBRARY_TEXT = [
  ...["", "presets/", "storage/", "testing/"].map((folder) => `../${folder}index.node.js`),
  ...["postgres", "s3"].map((name) => `../../packages/storage/dist/${name}/index.js`),
]
  .map((path) => `export * from "${path}";\n`)
  .join("");

/**
 * Bundles every entry for Node into one file. A process loads it in a third of the processor time that three hundred
 * modules take, and tests start some hundred processes.
 *
 * @param {import("esbuild").BuildOptions} options that do not change what the bundle holds
 */
export function bundleLibrary({ plugins = [], ...options } = {}) {
  return build({
    ...COMMON_OPTIONS,
    stdin: { contents: LIBRARY_TEXT, resolveDir: join(root, "dist/cli"), sourcefile: "library-entry.js" },
    outfile: "dist/cli/library.js",
    // As in the command, and names of classes are seen in errors.
    minify: false,
    minifyWhitespace: true,
    plugins: [...COMMON_OPTIONS.plugins, STORAGE_PACKAGE, ...plugins],
    ...options,
  });
}

/** Returns the licences of the npm packages that the input files belong to, as one text. */
function licencesOf(inputs) {
  const folders = new Set(
    inputs.map((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]).filter(Boolean),
  );
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const file = ["LICENSE", "LICENSE.md", "license"].map((one) => join(root, folder, one)).find(existsSync);
    const text = file === undefined ? "" : readFileSync(file, "utf8").trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `Parts of these packages are in this one.\n\n${parts.join("\n----\n\n")}`;
}
