// A program that uses the local disk, as an ES module.
import * as filewright from "filewright";
import { steps } from "./steps.mjs";

steps(filewright).then((done) => console.log(JSON.stringify(done)));
