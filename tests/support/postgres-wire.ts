// A connection to a PostgreSQL that breaks on command.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export type Wire = Awaited<ReturnType<typeof openWire>>;

export async function openWire(to: string) {
  const target = new URL(to);
  const open = new Set<Socket>();
  let isCut = false;
  let lostQuery: { text: string; isSent: boolean } | undefined;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
      open.delete(client);
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
    if (isCut) return end();
    open.add(client);
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
  const url = new URL(to);
  url.port = String(typeof address === "object" && address ? address.port : 0);
  const breakNow = () => open.forEach((socket) => socket.destroy());
  return {
    url: url.href,
    breakNow,
    cut() {
      isCut = true;
      breakNow();
    },
    mend: () => (isCut = false),
    loseAnswerOf: (text: string) => (lostQuery = { text, isSent: true }),
    loseStatement: (text: string) => (lostQuery = { text, isSent: false }),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
