// Runs the code samples of the API reference against a service, unchanged except for placeholders.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { getApiReference } from "@/lib/contract/openapi/reference";
import { createSample } from "@/lib/contract/openapi/samples";
import { type Operation } from "@/lib/contract/operation";
import { asRecord, asString, createColorGraph, createPng, createWaitGraph, submitGraph, waitForEnd } from "../integration/service/support";
import { closeAfterwards } from "../support/close-afterwards";
import { requireProgram } from "../support/program";
import { openServiceProcess } from "../support/service-process";
import { createTemporaryFolder } from "../support/temporary-folder";

const documentedOperations = getApiReference().groups.flatMap(({ operations }) => operations.map(({ operation }) => operation));
/** The expected error codes of samples that name a host or a task that this service doesn't have. */
const refusedSamples = new Map([
  ["downloadAsset", "UNSUPPORTED_SOURCE"],
  ["getRemoteMetadata", "UNSUPPORTED_SOURCE"],
  ["getTask", "NOT_FOUND"],
  ["cancelTask", "NOT_FOUND"],
]);

describe("the samples of the API reference", async () => {
  const folder = createTemporaryFolder();
  const picture = createPng(16, 16);
  await Promise.all([writeFile(join(folder, "photo.png"), picture), writeFile(join(folder, "hello.json"), "{}")]);
  const { client, key, service } = await openServiceProcess();

  /** Creates the files and values for a sample's placeholders, and fills them in. */
  async function fillPlaceholders(sample: string): Promise<string> {
    const uploadImage = (name: string, fields: Record<string, string>, path: string) =>
      client.upload(picture, name, { type: "input", overwrite: "true", ...fields }, "image", path);
    if (/photo\.png|MASK_FILE/.test(sample)) await uploadImage("photo.png", {}, "/api/upload/image");
    if (/hello\.json|workflows/.test(sample))
      await client.call("POST", "/api/userdata/workflows%2Fhello.json", "{}", { "content-type": "application/octet-stream" });
    const valuesByPlaceholder = new Map([["TASK_ID", "00000000-0000-4000-8000-000000000000"]]);
    if (/ASSET_ID|HASH/.test(sample)) {
      const asset = asRecord((await client.upload(picture, "photo.png", { tags: '["portrait"]' })).body);
      valuesByPlaceholder.set("ASSET_ID", asString(asset.id)).set("blake3:HASH", asString(asset.asset_hash));
    }
    if (sample.includes("MASK_FILE")) {
      const original = { original_ref: '{"filename":"photo.png","type":"input"}' };
      valuesByPlaceholder.set("MASK_FILE", asString(asRecord((await uploadImage("mask.png", original, "/api/upload/mask")).body).name));
    }
    if (sample.includes("JOB_ID")) {
      const isCancelled = sample.includes("cancel");
      const jobId = await submitGraph(client, isCancelled ? createWaitGraph(20) : createColorGraph(1));
      if (!isCancelled) await waitForEnd(client, jobId);
      valuesByPlaceholder.set("JOB_ID", jobId);
    }
    return [...valuesByPlaceholder].reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), sample);
  }

  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_ENV: "test", LIGHTDESK_TOKEN: key };
  const sampleProcess = fork(resolve("tests/contract/sample-process.mjs"), { cwd: folder, env });
  closeAfterwards(async () => void sampleProcess.kill());

  /** Returns the sample's output, and whether it succeeded. */
  async function runSample(sample: { command: string } | { script: string }): Promise<{ isOk: boolean; text: string }> {
    sampleProcess.send(sample);
    const [result]: unknown[] = await once(sampleProcess, "message");
    const { isOk, text } = asRecord(result);
    return { isOk: isOk === true, text: asString(text) };
  }

  function expectAccepted(name: string, { isOk, text }: { isOk: boolean; text: string }): void {
    const code = refusedSamples.get(name);
    expect(isOk, text).toBe(code === undefined);
    if (code) expect(text).toContain(code);
  }

  it.each(documentedOperations.map((operation) => [operation.name, operation] as const))(
    "runs in curl and TypeScript for %s",
    async (name, operation) => {
      expectAccepted(name, await runSample({ command: await fillPlaceholders(createSample(operation, "curl", service.url)) }));
      const script = join(folder, `${name}.mjs`);
      await writeFile(script, await fillPlaceholders(createSample(operation, "typescript", service.url)));
      expectAccepted(name, await runSample({ script }));
    },
  );

  it("parses as Python", async (context) => {
    const python = await requireProgram("python3", context);
    const sources = documentedOperations.map((operation: Operation) => createSample(operation, "python", service.url));
    const script = "import ast, json, sys\nfor source in json.loads(sys.argv[1]): ast.parse(source)";
    expect(await promisify(execFile)(python, ["-c", script, JSON.stringify(sources)])).toEqual({ stdout: "", stderr: "" });
  });
});
