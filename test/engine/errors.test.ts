/** How an exception of an engine becomes an error with a code. */
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { FilewrightError, fromEngine } from "../../js/engine/errors.ts";

const JSON_OF_CORE = JSON.stringify({ code: "NOT_FOUND", message: "no such file" });

describe("an exception of the engine", () => {
  it("is read when its class is of another realm, as under Jest", () => {
    const thrown: unknown = runInNewContext(`new Error(${JSON.stringify(JSON_OF_CORE)})`);
    expect(thrown).not.toBeInstanceOf(Error);
    expect(fromEngine(thrown)).toMatchObject({ code: "NOT_FOUND", message: "no such file" });
  });

  it.for([null, "text", new Error("{"), { message: 1 }])("is INTERNAL when it is %s", (thrown) => {
    const error = fromEngine(thrown);
    expect(error).toBeInstanceOf(FilewrightError);
    expect(error).toMatchObject({ code: "INTERNAL", cause: thrown });
  });

  it("is INTERNAL when it is undefined", () => {
    expect(fromEngine(undefined)).toMatchObject({ code: "INTERNAL" });
  });
});
