import { defineConfig } from "vitest/config";
import { leastLines } from "./scripts/lib/coverage.mjs";

const slow = "test/**/*.slow.test.ts";

export default defineConfig({
  test: {
    // `npm run coverage`: which lines no fast test runs; CI counts them as well.
    coverage: {
      provider: "v8",
      include: ["js/**/*.ts"],
      exclude: [
        // Run as processes, which are not counted: the command line, the servers, and the terminal's approver.
        "js/cli/**",
        "js/mcp/**",
        "js/hooks/terminal.node.ts",
        // Run in Chromium, which is not counted: files of the browser's own (test/browser).
        "js/backends/web/**",
      ],
      reporter: ["text-summary", "json-summary", "html"],
      reportsDirectory: ".cache/coverage",
      reportOnFailure: true,
      thresholds: { lines: leastLines() },
    },
    projects: [
      { test: { name: "fast", include: ["test/**/*.test.ts"], exclude: [slow], testTimeout: 60_000 } },
      // Real processes, races and big files: minutes, not seconds.
      { test: { name: "slow", include: [slow], testTimeout: 120_000 } },
    ],
  },
});
