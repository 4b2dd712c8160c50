// Finds a free port for servers that can't choose one, because they announce another address.
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral port range, where the port could be taken before the server listens. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
    } catch {
      continue; // in use
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
