// For a server that must be told its port because it announces another address than its own.
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to connections and to servers that ask for any port: those may be taken a moment later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
    } catch {
      continue; // something listens on it already
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
