// The same as a test, which Jest and Vitest run.
import * as filewright from "filewright";
import { steps } from "./steps.mjs";

test("the local disk", async () => {
  const { kind, answers } = await steps(filewright);
  expect(kind).toBe("native");
  expect(answers.slice(4)).toEqual([
    "const näh = 1;\r\nconst b = 3;\r\n",
    "const näh = 1;\r\nconst b = 2;\r\n",
    "OUTSIDE_ALLOWED",
  ]);
});
