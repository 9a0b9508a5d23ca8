// Gets the packages on which ranked search is measured, from the registries of four languages, and
// keeps them in .cache/bench/knows.
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { root, runAndWait } from "../../scripts/lib/run.mjs";
import { Skip } from "./skip.mjs";

const FOLDER = join(root, ".cache/bench/knows");

const NPM =
  "rxjs@7.8.2 date-fns@4.1.0 effect@3.16.0 three@0.177.0 pdf-lib@1.17.1 mathjs@14.5.2 immer@10.1.1 fp-ts@2.16.10 ramda@0.30.1 express@5.1.0";
const PYPI =
  "flask==3.1.1 requests==2.32.4 aiohttp==3.12.9 httpx==0.28.1 rich==14.0.0 click==8.2.1 werkzeug==3.1.3 networkx==3.5 scrapy==2.13.1 celery==5.5.3 fastapi==0.115.12 pydantic==2.11.5";
const CRATES =
  "tokio=1.45.1 clap_builder=4.5.39 regex-automata=0.4.9 axum=0.8.4 itertools=0.14.0 petgraph=0.8.2";
const GO =
  "github.com/spf13/cobra@v1.9.1 github.com/gin-gonic/gin@v1.10.1 github.com/go-chi/chi/v5@v5.2.1 github.com/prometheus/client_golang@v1.22.0 github.com/spf13/viper@v1.20.1 gonum.org/v1/gonum@v0.16.0";

/** Unpacks each list of packages into a folder of its own; `work` is a folder for what the tools keep. */
const REGISTRIES = {
  npm(into, work) {
    for (const name of NPM.split(" ")) {
      runAndWait("npm", ["pack", "--silent", "--pack-destination", work, name]);
      const file = `${name.replace("@", "-")}.tgz`;
      unpack(join(work, file), join(into, name.split("@")[0]));
    }
  },
  pypi(into, work) {
    for (const name of PYPI.split(" ")) {
      const place = join(work, name.split("==")[0]);
      runAndWait("pip", ["download", "-q", "--no-deps", "--no-binary", ":all:", "-d", place, name]);
      unpack(join(place, readdirSync(place)[0]), join(into, name.split("==")[0]));
    }
  },
  crates(into, work) {
    mkdirSync(join(work, "src"), { recursive: true });
    const dependencies = CRATES.split(" ").map((one) => one.replace(/=(.*)/u, ' = "=$1"'));
    const head =
      '[package]\nname = "corpus"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\n';
    writeFileSync(join(work, "Cargo.toml"), head + dependencies.join("\n"));
    writeFileSync(join(work, "src/lib.rs"), "");
    runAndWait("cargo", ["vendor", "--quiet", "--versioned-dirs", join(work, "vendor")], { cwd: work });
    for (const one of CRATES.split(" "))
      cpSync(join(work, "vendor", one.replace("=", "-")), join(into, one.split("=")[0]), { recursive: true });
  },
  go(into, work) {
    writeFileSync(join(work, "go.mod"), "module corpus\ngo 1.22\n");
    const env = { ...process.env, GOMODCACHE: join(work, "modules"), GOFLAGS: "-mod=mod -modcacherw" };
    for (const one of GO.split(" ")) {
      runAndWait("go", ["mod", "download", one], { cwd: work, env });
      const name = one
        .replace(/\/v\d+@|@/u, "@")
        .split("@")[0]
        .split("/")
        .at(-1);
      cpSync(join(work, "modules", one), join(into, name), { recursive: true });
    }
  },
};

function unpack(file, into) {
  mkdirSync(into, { recursive: true });
  runAndWait("tar", ["xzf", file, "-C", into, "--strip-components=1"]);
}

/** Returns the folder of the packages, as `registry/package`. */
export function makeKnowsCorpus() {
  for (const [registry, get] of Object.entries(REGISTRIES)) {
    const into = join(FOLDER, registry);
    if (existsSync(join(into, ".complete"))) continue;
    const work = join(FOLDER, `.${registry}`);
    rmSync(into, { recursive: true, force: true });
    mkdirSync(into, { recursive: true });
    mkdirSync(work, { recursive: true });
    try {
      get(into, work);
    } catch (error) {
      throw new Skip(`the packages of ${registry} cannot be had: ${error.message}`);
    }
    rmSync(work, { recursive: true, force: true });
    writeFileSync(join(into, ".complete"), "");
  }
  return FOLDER;
}

/** The languages of files that are searched. */
export const LANGUAGES = {
  ".py": "py",
  ".ts": "js",
  ".tsx": "js",
  ".js": "js",
  ".mjs": "js",
  ".rs": "rs",
  ".go": "go",
};

/** Folders and files that a repository has twice or that are no code: builds, tests, examples, documents. */
const SKIPPED =
  /(^|\/)(node_modules|dist|build|lib\/cjs|lib\/esm|cjs|esm|\.git|vendor|examples?|tests?|__tests__|benchmarks?|docs?|docs_src|umd|bundles)(\/|$)|\.min\.|\.d\.(c|m)?ts$|(^|\/)test_[^/]*\.py$/u;

function* sourceFiles(folder, top = folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const shown = relative(top, path).split(sep).join("/");
    if (SKIPPED.test(shown)) continue;
    if (entry.isDirectory()) yield* sourceFiles(path, top);
    else if (entry.isFile() && extname(entry.name) in LANGUAGES && statSync(path).size < 400_000) yield shown;
  }
}

const sha256 = (text) => createHash("sha256").update(text).digest();

/** Returns the half to which a package belongs: `dev`, on which constants are chosen, or `held`. */
export const halfOf = (name) => (sha256(`filewright-knows-1\0${name}`)[0] < 128 ? "dev" : "held");

/** Returns the packages of a half with their files, as paths and lines. */
export function* packagesOf(corpus, half) {
  for (const registry of Object.keys(REGISTRIES).sort())
    for (const name of readdirSync(join(corpus, registry)).sort()) {
      const [id, folder] = [`${registry}/${name}`, join(corpus, registry, name)];
      if (name.startsWith(".") || halfOf(id) !== half) continue;
      const files = [...sourceFiles(folder)].map((path) => {
        return { path: `${id}/${path}`, lines: readFileSync(join(folder, path), "utf8").split("\n") };
      });
      yield { id, files: files.filter(({ lines }) => lines.length <= 12_000) };
    }
}
