// Reads a request's bytes from the socket, without a web stream, which copies each chunk. Buffers at most a mebibyte.
import { type ServerResponse } from "node:http";
import { type Readable } from "node:stream";

const MAX_WAITING_BYTES = 1024 * 1024;

export function readIncomingBody(incoming: Readable, outgoing: Pick<ServerResponse, "headersSent">): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => startReading(incoming, outgoing) };
}

function startReading(incoming: Readable, outgoing: Pick<ServerResponse, "headersSent">): AsyncIterator<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let ending: { error?: Error } | undefined;
  let wake: () => void = () => undefined;

  const onData = (chunk: Uint8Array) => {
    if (outgoing.headersSent) return;
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_WAITING_BYTES) incoming.pause();
    wake();
  };
  const finish = (error?: Error) => {
    incoming.off("data", onData);
    ending ??= error ? { error } : {};
    wake();
  };
  incoming.on("data", onData);
  incoming.once("end", () => finish());
  incoming.once("error", finish);
  incoming.once("close", () =>
    finish(incoming.readableEnded ? undefined : new Error("The connection was closed before the end of the body.")),
  );

  return {
    async next() {
      while (chunks.length === 0 && !ending) await new Promise<void>((resolve) => (wake = resolve));
      const value = chunks.shift();
      if (value === undefined) {
        if (ending?.error) throw ending.error;
        return { done: true, value: undefined };
      }
      bytes -= value.byteLength;
      if (bytes < MAX_WAITING_BYTES / 2 && incoming.isPaused() && !ending) incoming.resume();
      return { done: false, value };
    },
  };
}
