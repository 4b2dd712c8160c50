// A proxy to a local server that can be cut like a cable: both ends stay open and receive nothing until it is restored.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type Line = { port: number; cut(): void; mend(): void; forget(): void; bufferedBytes(): number; close(): void };

export async function startLine(to: number): Promise<Line> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let buffered: [other: Socket, said: Buffer][] = [];
  const forgotten = new WeakSet<Socket>();
  const server = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    for (const [first, second] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(first);
      first.on("data", (bytes: Buffer) => {
        if (forgotten.has(first)) return;
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
    mend() {
      isCut = false;
      for (const [other, chunk] of buffered) if (!other.destroyed) other.write(chunk);
      buffered = [];
    },
    /** Silences open connections, like a firewall that dropped them. New connections work. */
    forget: () => sockets.forEach((socket) => forgotten.add(socket)),
    bufferedBytes: () => buffered.reduce((sum, [, bytes]) => sum + bytes.length, 0),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
