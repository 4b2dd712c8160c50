// The worker that reads large responses.

import "server-only";
import { parentPort } from "node:worker_threads";
import { allOperations } from "@/lib/contract/operations";
import { type AnswerTask, parseToJson, type ReadJson } from "./answer-reader";
import { TooLargeAnswer } from "./read-body";

parentPort?.on("message", (task: AnswerTask) => {
  void read(task).then((result) => parentPort?.postMessage(result, result.ok ? [result.json.buffer] : []));
});

async function read({ bytes, operationName, options: options, only }: AnswerTask): Promise<ReadJson> {
  const operation = allOperations.find(({ name }) => name === operationName);
  if (!operation) throw new Error(`there is no operation ${operationName}`);
  try {
    return await parseToJson(bytes, { operation, ...options }, only);
  } catch (error) {
    if (error instanceof TooLargeAnswer) return { ok: false, reason: error.message, isTooLarge: true };
    throw error;
  }
}
