// A proxy to a local server whose connections tests can cut: both ends stay open and receive nothing until it is restored.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type BreakableProxy = { port: number; cut(): void; restore(): void; silence(): void; close(): void };

export async function startBreakableProxy(targetPort: number): Promise<BreakableProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let buffered: [other: Socket, said: Buffer][] = [];
  const silencedSockets = new WeakSet<Socket>();
  const server = createServer((client) => {
    const upstream = connect(targetPort, "127.0.0.1");
    for (const [first, second] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(first);
      first.on("data", (bytes: Buffer) => {
        if (silencedSockets.has(first)) return;
        if (isCut) buffered.push([second, bytes]);
        else second.write(bytes);
      });
      first.on("error", () => second.destroy());
      first.on("close", () => {
        sockets.delete(first);
        second.destroy();
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => void (isCut = true),
    restore() {
      isCut = false;
      for (const [other, chunk] of buffered) if (!other.destroyed) other.write(chunk);
      buffered = [];
    },
    /** Silences open connections, like a firewall that dropped them. New connections work. */
    silence: () => sockets.forEach((socket) => silencedSockets.add(socket)),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
