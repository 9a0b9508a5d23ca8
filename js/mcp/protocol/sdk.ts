/**
 * The parts that we use of the official SDK of the Model Context Protocol.
 *
 * This is the only file that names the package. The build replaces it with the package's code
 * (`scripts/bundle.mjs`), so that Filewright installs no dependency and a server starts in a fraction of the
 * time.
 */
export {
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  parseJSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
export { serveStdio } from "@modelcontextprotocol/server/stdio";
