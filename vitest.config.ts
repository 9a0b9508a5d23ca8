import { defineConfig } from "vitest/config";

const slow = "test/**/*.slow.test.ts";

export default defineConfig({
  test: {
    // `npm run coverage`: which lines no fast test runs; CI counts them as well. Also in the processes that
    // tests start, as the command line and the servers are.
    coverage: {
      provider: "custom",
      customProviderModule: "scripts/lib/coverage-provider.mjs",
      include: ["js/**/*.ts"],
      // Files of the browser's own, run in Chromium by slow tests (test/browser).
      exclude: ["js/backends/web/**"],
      reporter: ["text-summary", "json-summary", "html"],
      reportsDirectory: ".cache/coverage",
      reportOnFailure: true,
      thresholds: { lines: 95 },
    },
    projects: [
      { test: { name: "fast", include: ["test/**/*.test.ts"], exclude: [slow], testTimeout: 60_000 } },
      // Real processes, races and big files: minutes, not seconds.
      { test: { name: "slow", include: [slow], testTimeout: 120_000 } },
    ],
  },
});
