// Uses each optional package through an installed Filewright, on files that the test has made. Runs in
// the folder where the packages are installed, and prints what came out as JSON.
import { trace } from "@opentelemetry/api";
import { openWorkspace } from "filewright";
import { openTelemetry } from "filewright/hooks";

const spans = [];
const span = { setAttributes() {}, setStatus() {}, end() {} };
const tracer = {
  startSpan(name) {
    spans.push(name);
    return span;
  },
};
trace.setGlobalTracerProvider({ getTracer: () => tracer });

const ws = await openWorkspace({ root: process.argv[2], observers: [await openTelemetry()] });
const pdf = await ws.readFile({ path: "a.pdf" });
const yaml = await ws.readFile({ path: "a.yaml", json_pointer: "/servers/1/port" });
const image = await ws.call("read_file", { path: "a.png" });
await ws.close();
console.log(JSON.stringify({ pdf: pdf.content, yaml: yaml.content, image: image.data?.image?.sent, spans }));
