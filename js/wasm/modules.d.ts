/** What runtimes at the edge make of an import of a module: it is compiled already. */
declare module "*.wasm" {
  const compiled: WebAssembly.Module;
  // biome-ignore lint/style/noDefaultExport: the form they have
  export default compiled;
}
