// The bytes of a request from the socket, without a web stream, which copies each one. At most a mebibyte waits.
import { type ServerResponse } from "node:http";
import { type Readable } from "node:stream";

const MAX_WAITING_BYTES = 1024 * 1024;

export function incomingBody(incoming: Readable, outgoing: Pick<ServerResponse, "headersSent">): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => startReading(incoming, outgoing) };
}

function startReading(incoming: Readable, outgoing: Pick<ServerResponse, "headersSent">): AsyncIterator<Uint8Array> {
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let over: { error?: Error } | undefined;
  let wake: () => void = () => undefined;

  const onData = (chunk: Uint8Array) => {
    if (outgoing.headersSent) return;
    waiting.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_WAITING_BYTES) incoming.pause();
    wake();
  };
  const end = (error?: Error) => {
    incoming.off("data", onData);
    over ??= error ? { error } : {};
    wake();
  };
  incoming.on("data", onData);
  incoming.once("end", () => end());
  incoming.once("error", end);
  incoming.once("close", () =>
    end(incoming.readableEnded ? undefined : new Error("The connection was closed before the end of the body.")),
  );

  return {
    async next() {
      while (waiting.length === 0 && !over) await new Promise<void>((resolve) => (wake = resolve));
      const value = waiting.shift();
      if (value === undefined) {
        if (over?.error) throw over.error;
        return { done: true, value: undefined };
      }
      bytes -= value.byteLength;
      if (bytes < MAX_WAITING_BYTES / 2 && incoming.isPaused() && !over) incoming.resume();
      return { done: false, value };
    },
  };
}
