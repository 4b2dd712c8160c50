// A job with a model, which only runners can execute, and its result.
import { gpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { type TestService } from "@/tests/support/service";
import { type Json, png } from "./support";

export const picture = (seed: number) => Buffer.from(png(16, 8, { seed }));

/** One picture by the model, with a text output. */
export function modelGraph(model = "one.safetensors", seed = 1): Json {
  return {
    "1": { class_type: "LoadModel", inputs: { model } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed, prompt: "a house" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "house" } },
  };
}

export const makes: RunnerOptions["makeOutput"] = (node) =>
  node.class_type === "SaveImage" ? { files: [{ name: "house_00001_.png", bytes: picture(1) }] } : { other: { text: ["said"] } };

/** Starts a runner that can run the job, and adds it to the service. The caller closes it. */
export async function addRunner(service: TestService, label: string): Promise<RunnerServer> {
  const server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makeOutput: makes });
  const outcome = await service.service.runners.add({ address: server.address, label });
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return server;
}
