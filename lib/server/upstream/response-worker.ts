// Worker thread that parses large responses.

import "server-only";
import { parentPort } from "node:worker_threads";
import { allOperations } from "@/lib/contract/operations";
import { ResponseTooLargeError } from "./read-body";
import { type ParseTask, parseToJson, type ReadJson } from "./response-reader";

parentPort?.on("message", (task: ParseTask) => {
  void parseTask(task).then((result) => parentPort?.postMessage(result, result.ok ? [result.json.buffer] : []));
});

async function parseTask({ bytes, operationName, options, only }: ParseTask): Promise<ReadJson> {
  const operation = allOperations.find(({ name }) => name === operationName);
  if (!operation) throw new Error(`unknown operation ${operationName}`);
  try {
    return await parseToJson(bytes, { operation, ...options }, only);
  } catch (error) {
    if (error instanceof ResponseTooLargeError) return { ok: false, reason: error.message, isTooLarge: true };
    throw error;
  }
}
