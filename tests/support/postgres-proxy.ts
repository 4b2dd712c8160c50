// A proxy to PostgreSQL whose connections break on command.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export type PostgresProxy = Awaited<ReturnType<typeof startPostgresProxy>>;

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
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
