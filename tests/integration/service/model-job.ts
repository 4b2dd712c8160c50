// A job with a model, which only runners can execute, and its output.
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { type TestService } from "@/tests/support/service";
import { createPng, type Json } from "./support";

export const createModelImage = (seed: number) => Buffer.from(createPng(16, 8, { seed }));

/** A graph that samples one image with a model and saves it. */
export function createModelGraph(model = "one.safetensors", seed = 1): Json {
  return {
    "1": { class_type: "LoadModel", inputs: { model } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "a house" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "house" } },
  };
}

export const createModelOutput: RunnerOptions["makeOutput"] = (node) =>
  node.class_type === "SaveImage" ? { files: [{ name: "house_00001_.png", bytes: createModelImage(1) }] } : { other: { text: ["said"] } };

/** Starts a runner that can run the job and adds it to the service. The caller closes the runner. */
export async function addRunner(service: TestService, label: string): Promise<RunnerServer> {
  const server = await startRunnerServer({ objectInfo: createGpuClasses(["one.safetensors"]), makeOutput: createModelOutput });
  const outcome = await service.service.runners.add({ address: server.address, label });
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return server;
}
