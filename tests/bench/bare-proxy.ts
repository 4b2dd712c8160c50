// A minimal reverse proxy: forwards each request with undici and counts the requests. Runs as a separate process, with the service's
// URL as its argument.
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { request as sendUpstream } from "undici";

/** Returns the number of forwarded requests since the last read. */
const COUNT_PATH = "/bench-proxy-count";

const [target = ""] = process.argv.slice(2);
let count = 0;

const server = createServer((request, response) => {
  const path = request.url ?? "/";
  if (path === COUNT_PATH) {
    response.end(String(count));
    count = 0;
    return;
  }
  count += 1;
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  sendUpstream(target + path, { method: request.method, headers, body: hasBody ? request : null }).then(
    ({ statusCode, headers: responseHeaders, body }) => {
      response.writeHead(statusCode, responseHeaders);
      pipeline(body, response, () => undefined);
    },
    () => response.destroy(),
  );
});
server.listen(0, "127.0.0.1", () => {
  const { port }: AddressInfo = Object(server.address());
  process.stdout.write(`Proxy: http://127.0.0.1:${port}\n`);
});
process.once("SIGTERM", () => process.exit(0));
