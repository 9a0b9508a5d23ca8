/** All recorded paths with links; the fast test asks for a share of them. */
import { test } from "vitest";
import { expectRecordedAnswers } from "./links-record.ts";

test("recorded paths get the recorded answers", () => expectRecordedAnswers(() => true), 300_000);
