// Runs in the worker thread for large answers: takes bytes and returns a masked value, or JSON in the interface's words.
// Guarantees: a service's answer is returned only after the key gate, the schema check and the masking; the parts that are only passed on
// are returned as written JSON. Must never: make a request.

import "server-only";
import { parentPort } from "node:worker_threads";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectOf } from "@/lib/contract/json/json";
import { TooManyExactNumbers } from "@/lib/contract/json/parse-json";
import { parseServiceJson } from "@/lib/contract/json/parse-json";
import { type Operation } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { placesInJob } from "@/lib/contract/secrets/secret-places";
import { nameInExtraData } from "@/lib/contract/workflow/workflow-name";
import { answeredOf, notesOf } from "../ledger/notes";
import { type Digest, type Done, takeApart, type Task } from "../upstream/large-answers";
import { wordings } from "../upstream/local-dialect/speak-local";
import { readBody, TOO_LARGE } from "../upstream/read-body";
import { EMBEDDED_BASE_URL } from "../upstream/send";
import { classesIn, classNamesIn } from "../workflows/seen-names";
import { filesShownIn, readsJobs } from "./job-files";

const address = Buffer.from(EMBEDDED_BASE_URL.replace(/^\w+:\/\//, ""));

parentPort?.on("message", (task: Task) => {
  void done(task).then((result) => parentPort?.postMessage(result, given(result)));
});

async function done(task: Task): Promise<Done> {
  return task.kind === "word" ? word(task) : read(task);
}

/** Buffers to transfer instead of copying. */
function given(result: Done): ArrayBuffer[] {
  const bytes = result.kind === "read" ? result.inParts?.json : result.ok ? result.json : undefined;
  return bytes?.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength ? [bytes.buffer] : [];
}

async function read({ bytes, operationName, how }: Extract<Task, { kind: "read" }>): Promise<Done> {
  const operation = allOperations.find(({ name }) => name === operationName);
  if (!operation) throw new Error(`there is no operation ${operationName}`);
  const isClean = !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(address);
  const body = await readBody(bytes, { operation, ...how });
  if (!body.ok) return { kind: "read", read: body, isClean };
  const value = maskSecrets(body.value, how.apiKey === undefined ? [] : [how.apiKey]);
  // Addresses of the embedded service are rewritten by the caller, so a value that contains one is returned whole.
  const { skipped } = body;
  if (!how.isPassedOn || !isClean) return { kind: "read", read: { ok: true, value, skipped }, isClean };
  const { rest, inParts } = takeApart(value);
  return { kind: "read", read: { ok: true, value: rest, skipped }, isClean, inParts, digest: digestOf(operation, value) };
}

function digestOf(operation: Operation, value: unknown): Digest {
  const { tells } = operation;
  const answered = tells && answeredOf(tells, value);
  const workflowName = tells === "job" ? nameInExtraData(objectOf(objectOf(value)?.workflow)?.extra_data) : undefined;
  return {
    notes: answered ? notesOf(answered) : [],
    workflowName,
    ...(readsJobs(operation) && { files: filesShownIn(value) }),
    ...(tells === "job" && { classes: classesIn(value), secretPlaces: placesInJob(value) }),
    ...(tells === "nodes" && { classNames: classNamesIn(value) }),
  };
}

function word({ answers, name, args }: Extract<Task, { kind: "word" }>): Done {
  const wording = wordings.find((one) => one.name === name);
  if (!wording) throw new Error(`there is no wording ${name}`);
  try {
    const value = wording.say(
      answers.map((bytes) => parseServiceJson(new TextDecoder().decode(bytes))),
      args as never, // the arguments that the other thread called the wording of this name with
    );
    return { kind: "word", ok: true, json: value === undefined ? undefined : new TextEncoder().encode(writeExactJson(value)) };
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError)
      return { kind: "word", ok: false, isJson: error instanceof z.ZodError };
    if (error instanceof TooManyExactNumbers) return { kind: "word", ok: false, why: TOO_LARGE };
    throw error;
  }
}
