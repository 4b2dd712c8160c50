// PostgreSQL databases, and proxies to them whose connections break on command. Both close after the test or file that opened them.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { inject } from "vitest";
import { closeAfterwards } from "./close-afterwards";
import { createDatabase } from "./postgres-server";

export type PostgresProxy = Awaited<ReturnType<typeof startPostgresProxy>>;

/** Creates an empty database on the shared server and returns its URL. */
export async function openTestDatabase(): Promise<string> {
  const { url, drop } = await createDatabase(inject("postgres"));
  closeAfterwards(drop);
  return url;
}

export async function startPostgresProxy(targetUrl: string) {
  const target = new URL(targetUrl);
  const clients = new Set<Socket>();
  let isCut = false;
  let lostQuery: { text: string; isSent: boolean } | undefined;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const closeBoth = () => {
      client.destroy();
      upstream.destroy();
      clients.delete(client);
    };
    for (const socket of [client, upstream]) socket.on("error", closeBoth).on("close", closeBoth);
    if (isCut) return closeBoth();
    clients.add(client);
    client.on("data", (bytes) => {
      const isLost = lostQuery !== undefined && bytes.includes(lostQuery.text);
      if (!isLost || lostQuery?.isSent) upstream.write(bytes);
      if (!isLost) return;
      lostQuery = undefined;
      client.destroy();
      // Bytes that were already written still arrive.
      upstream.end();
    });
    upstream.on("data", (bytes) => client.write(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(targetUrl);
  url.port = String(typeof address === "object" && address ? address.port : 0);
  const closeConnections = () => clients.forEach((socket) => socket.destroy());
  closeAfterwards(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    url: url.href,
    closeConnections,
    cut() {
      isCut = true;
      closeConnections();
    },
    restore: () => (isCut = false),
    dropResponseTo: (text: string) => (lostQuery = { text, isSent: true }),
    dropStatement: (text: string) => (lostQuery = { text, isSent: false }),
  };
}
