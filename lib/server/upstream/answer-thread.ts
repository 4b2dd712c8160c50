// What runs in the thread for large answers: bytes in, a masked value out.
// Guarantees: what it hands back has passed the gate for the key, the schema and the masking. Must never: speak to anybody else.

import "server-only";
import { parentPort } from "node:worker_threads";
import { maskSecrets } from "@/lib/contract/mask-secrets";
import { allOperations } from "@/lib/contract/operations";
import { type ReadBody, readBody, type ToRead } from "./read-body";
import { EMBEDDED_BASE_URL } from "./send";

export type ToReader = Omit<ToRead, "operation"> & { bytes: Uint8Array; operationName: string };
export type FromReader = { read: ReadBody; isClean: boolean };

const address = Buffer.from(EMBEDDED_BASE_URL.replace(/^\w+:\/\//, ""));

parentPort?.on("message", ({ bytes, operationName, ...how }: ToReader) => {
  void answer(bytes, operationName, how).then((told) => parentPort?.postMessage(told));
});

async function answer(bytes: Uint8Array, operationName: string, how: Omit<ToRead, "operation">): Promise<FromReader> {
  const operation = allOperations.find(({ name }) => name === operationName);
  if (!operation) throw new Error(`there is no operation ${operationName}`);
  const isClean = !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(address);
  const read = await readBody(bytes, { operation, ...how });
  if (!read.ok) return { read, isClean };
  return { read: { ok: true, value: maskSecrets(read.value, how.apiKey === undefined ? [] : [how.apiKey]) }, isClean };
}
