import { defineConfig } from "vitest/config";

const slow = "test/**/*.slow.test.ts";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "fast", include: ["test/**/*.test.ts"], exclude: [slow], testTimeout: 20_000 } },
      // Real processes, races and big files: minutes, not seconds.
      { test: { name: "slow", include: [slow], testTimeout: 120_000 } },
    ],
  },
});
