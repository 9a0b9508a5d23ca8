// A coverage provider for vitest, named in vitest.config.ts. It counts the lines that run in
// vitest's own processes, as vitest's V8 provider does, and in the processes and worker threads
// that tests start, such as the command and the servers.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import v8 from "@vitest/coverage-v8";
import { root } from "./run.mjs";

const COVERAGE_FOLDER = join(root, ".cache/coverage-children");

export default {
  ...v8,
  /** Called in a process of vitest's before the tests of a file: Node hands the variable on to every child. */
  startCoverage(options) {
    process.env.NODE_V8_COVERAGE = COVERAGE_FOLDER;
    return v8.startCoverage(options);
  },
  async getProvider() {
    const { V8CoverageProvider } = await import("@vitest/coverage-v8/dist/provider.js");
    const { coveredScriptsOfChildren } = await import("./coverage-children.mjs");
    class Provider extends V8CoverageProvider {
      async clean(clean = true) {
        await super.clean(clean);
        if (clean) rmSync(COVERAGE_FOLDER, { recursive: true, force: true });
        mkdirSync(COVERAGE_FOLDER, { recursive: true });
      }
      async generateCoverage(context) {
        const coverage = await super.generateCoverage(context);
        for await (const { url, functions, ...script } of coveredScriptsOfChildren(COVERAGE_FOLDER))
          coverage.merge(await this.remapCoverage(url, 0, script, functions));
        coverage.filter((file) => this.isIncluded(file));
        return coverage;
      }
    }
    return new Provider();
  },
};
