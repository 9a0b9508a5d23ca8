/**
 * The official SDK of the Model Context Protocol: everything of it that we use.
 *
 * The one file that names the package. The build puts the package's code in its
 * place (`scripts/bundle.mjs`), so that nothing is installed with Filewright and
 * a server starts in a fraction of the time.
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
