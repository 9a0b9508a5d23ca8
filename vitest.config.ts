import { defineConfig } from "vitest/config";
import { builtModules, packageSources } from "./test/support/built-modules.ts";

const slow = "test/**/*.slow.test.ts";
/**
 * Run by the scheduled workflow only: replays of all recorded answers, of which the fast tests replay a share, and faults
 * that the comparison of packages must find.
 */
const nightly = ["test/differential/*.slow.test.ts", "test/scripts/versus.slow.test.ts"];
/** Slow tests that need the machine to themselves: they make races, or measure memory or how long others wait. */
const alone = [
  "test/attack/crowd.slow.test.ts",
  "test/attack/races-served.slow.test.ts",
  "test/attack/races.slow.test.ts",
  "test/backends/local.slow.test.ts",
  "test/browser/workers.slow.test.ts",
  "test/requirements/002.slow.test.ts",
];
/**
 * Slow tests that pack the package, or install what it is bundled with and run by. They share the folders where these are
 * kept (in .cache), so one process runs them, beside that of the other slow tests.
 */
const packed = [
  "test/installed/**/*.slow.test.ts",
  "test/package/{mcpb,package-lint,wheel}.slow.test.ts",
  "test/runtimes/**/*.slow.test.ts",
];
/** Slow tests that install SDKs and other packages from npm, each in a folder of its own. They wait for the registry. */
const foreign = [
  "test/mcp/incumbent.slow.test.ts",
  "test/package/{examples,peers/*}.slow.test.ts",
  "test/scripts/**/*.slow.test.ts",
  "test/sdks/**/*.slow.test.ts",
];
/**
 * Tests that start a server, a process or a pseudo-terminal for nearly each case, or make thousands of files. CI runs them
 * beside the slow tests.
 */
const processes = [
  "test/approvals/shared-state.test.ts",
  "test/attack/advisories.test.ts",
  "test/attack/special.test.ts",
  "test/backends/bind-mounts.test.ts",
  "test/backends/odd-files.test.ts",
  "test/backends/large/**/*.test.ts",
  "test/backends/node-session.test.ts",
  "test/backends/node-threads.test.ts",
  "test/cli/approve-page.test.ts",
  "test/cli/approve-watch.test.ts",
  "test/cli/completion.test.ts",
  "test/cli/doctor.test.ts",
  "test/cli/process.test.ts",
  "test/cli/terminal.test.ts",
  "test/commands/**/*.test.ts",
  "test/differential/**/*.test.ts",
  "test/engine/load.test.ts",
  "test/engine/unloading.test.ts",
  "test/hooks/at-terminal.test.ts",
  "test/mcp/start.test.ts",
  "test/places/**/*.test.ts",
  "test/requirements/002-kernel.test.ts",
  "test/mcp/orphan.test.ts",
  "test/review/shared/processes.test.ts",
  "test/sandbox/**/*.test.ts",
  "test/serving/**/*.test.ts",
  "test/storage/mirror/parity.test.ts",
  "test/storage/mirror/postgres.test.ts",
  "test/storage/postgres/**/*.test.ts",
  "test/storage/replicas.test.ts",
  "test/storage/s3/**/*.test.ts",
  "test/workspace/commands.test.ts",
  "test/workspace/forks/git.test.ts",
  "test/workspace/history/undo-table/undo-table.test.ts",
  "test/workspace/open-many.test.ts",
  "test/workspace/sandbox-choice.test.ts",
  "test/workspace/state-directory.test.ts",
];
/**
 * Tests of what is published: declarations, documents, licences, modules of the tarball. Many compile or bundle the whole
 * package, so CI runs them once beside the checks, and `npm test` does not.
 */
const published = [
  "test/options/docs.test.ts",
  "test/package/**/*.test.ts",
  "test/scripts/release-licences.test.ts",
  "test/scripts/release-modules.test.ts",
];

/**
 * A process runs many files: most of a short file's time went into loading js/ once more. So a test puts back what it
 * changes of the process.
 */
const SHARED_PROCESS = { isolate: false };
/** Against a hang, not a measure of time: other programs may keep the machine busy. `expect.poll` waits 1 s by default. */
const POLLING = { expect: { poll: { timeout: 30_000 } } };
/** Tests that run at once wait for processes and clocks, and use no processor meanwhile. */
const CONCURRENCY = { maxConcurrency: 20 };
const TIMEOUTS = { testTimeout: 60_000, hookTimeout: 60_000, ...CONCURRENCY, ...POLLING };
/**
 * Slow tests and those of processes run beside others, and the addon of CI is optimised little: one of 65 s took 120 s
 * once.
 */
const SLOW_TIMEOUTS = { testTimeout: 300_000, hookTimeout: 300_000, ...POLLING };

/**
 * CI sets the variable, where dist/ is fresh: its tests load what is published. Elsewhere, and to count covered lines, tests
 * load the sources.
 */
const BUILT =
  process.env["FILEWRIGHT_TEST_BUILT"] === "1"
    ? { plugins: [builtModules(import.meta.dirname)], deps: { external: [/\/dist\//] } }
    : { plugins: [packageSources(import.meta.dirname)], deps: {} };
const SETUP = { setupFiles: ["test/support/setup.ts"], server: { deps: BUILT.deps } };

export default defineConfig({
  test: {
    // One file of tests starts in 6 s in place of 9.
    experimental: { fsModuleCache: true, fsModuleCachePath: ".cache/vitest" },
    // `npm run coverage`: which lines no fast test runs; CI counts them as well. Also in the processes that
    // tests start, as the command line and the servers are.
    coverage: {
      provider: "custom",
      customProviderModule: "scripts/lib/coverage-provider.mjs",
      include: ["js/**/*.ts", "packages/*/src/**/*.ts"],
      // Files of the browser's own, run in Chromium by slow tests (test/browser).
      exclude: ["js/backends/web/**", "js/review/page/**"],
      reporter: ["text-summary", "json-summary", "html"],
      reportsDirectory: ".cache/coverage",
      reportOnFailure: true,
      thresholds: { lines: 95 },
    },
    projects: [
      {
        plugins: BUILT.plugins,
        test: {
          name: "fast",
          globalSetup: "test/support/temporary-files.ts",
          include: ["test/**/*.test.ts"],
          exclude: [slow, ...published, ...processes],
          ...SHARED_PROCESS,
          ...SETUP,
          ...TIMEOUTS,
        },
      },
      {
        plugins: BUILT.plugins,
        test: {
          name: "processes",
          include: processes,
          exclude: [slow],
          ...SHARED_PROCESS,
          ...SETUP,
          ...SLOW_TIMEOUTS,
        },
      },
      {
        plugins: BUILT.plugins,
        test: {
          name: "published",
          include: published,
          exclude: [slow],
          ...SHARED_PROCESS,
          ...SETUP,
          ...TIMEOUTS,
        },
      },
      // Real processes, races and big files: minutes, not seconds.
      {
        plugins: BUILT.plugins,
        test: {
          name: "slow",
          include: [slow],
          exclude: [...alone, ...packed, ...foreign, ...nightly],
          ...SHARED_PROCESS,
          ...SETUP,
          ...SLOW_TIMEOUTS,
        },
      },
      {
        plugins: BUILT.plugins,
        test: {
          name: "packed",
          include: packed,
          exclude: nightly,
          ...SHARED_PROCESS,
          ...SETUP,
          ...SLOW_TIMEOUTS,
        },
      },
      {
        plugins: BUILT.plugins,
        test: {
          name: "foreign",
          include: foreign,
          exclude: nightly,
          ...SHARED_PROCESS,
          ...SETUP,
          ...SLOW_TIMEOUTS,
        },
      },
      {
        plugins: BUILT.plugins,
        test: { name: "nightly", include: nightly, ...SETUP, ...SLOW_TIMEOUTS },
      },
      {
        plugins: BUILT.plugins,
        test: { name: "alone", include: alone, ...SETUP, ...SLOW_TIMEOUTS },
      },
    ],
  },
});
