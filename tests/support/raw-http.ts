// Sends raw requests that no HTTP library would send.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

type RawConnection = { socket: Socket; received(): string };
export type RawResponse = { status: number; head: string; body: string };

/** Sends bytes unchanged. Resolves with everything received before the connection ended. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { socket, received } = openRaw(url);
  socket.write(bytes);
  await once(socket, "close");
  return received();
}

/** Opens a connection that the caller ends. `from`: a local source address. `isHalfOpen`: does not respond to FIN. */
export function openRaw(url: string, { from, isHalfOpen = false }: { from?: string; isHalfOpen?: boolean } = {}): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress: from, allowHalfOpen: isHalfOpen });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk));
  socket.on("error", () => undefined); // ended while sending; "close" follows
  return { socket, received: () => Buffer.concat(chunks).toString("utf8") };
}

export function parseRawResponse(text: string): RawResponse {
  const end = text.indexOf("\r\n\r\n");
  const [head, body] = end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 4)];
  return { status: Number(head.split(" ")[1]), head, body };
}
