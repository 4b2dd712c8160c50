// A service with runners, and jobs with a model, which only runners can execute.
import { type ServiceOptions } from "@/lib/service/index";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions, type RunnerServer } from "@/tests/support/runner-server";
import { startRunnerServer } from "@/tests/support/servers";
import { createClient, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
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

const createModelOutput: RunnerOptions["makeOutput"] = (node) =>
  node.class_type === "SaveImage" ? { files: [{ name: "house_00001_.png", bytes: createModelImage(1) }] } : { other: { text: ["said"] } };

type AddedRunner = Partial<RunnerOptions> & {
  models?: readonly string[];
  slots?: number;
  /** Called before the service reads the runner's classes. */
  prepare?: (server: RunnerServer) => void;
};

/** Starts a service whose user ada has a client and a key. */
export async function startRunnerService(settings: Partial<ServiceOptions> = {}) {
  const limits = { runnerCheckMs: 100, runnerLeaseMs: 700, runnerUnresponsiveMs: 60_000, concurrency: 1 };
  const service = await startService({ ...limits, ...settings });
  const { key } = await service.service.keys.createKey("ada");
  // A restarted service has other runners.
  const getRunners = () => service.service.runners;
  const readRunner = async (label = "GPU") => (await getRunners().list()).find((runner) => runner.label === label);
  const getId = async (label: string) => (await readRunner(label))?.id ?? "";
  return {
    service,
    key,
    client: createClient((request) => service.service.fetch(request), key),
    readRunner,
    /** Starts a runner that can run the job and adds it to the service. */
    async addRunner(label = "GPU", { models = ["one.safetensors"], slots, prepare, ...options }: AddedRunner = {}): Promise<RunnerServer> {
      const server = await startRunnerServer({ objectInfo: createGpuClasses(models), makeOutput: createModelOutput, ...options });
      prepare?.(server);
      const outcome = await getRunners().add({ address: server.address, label, ...(slots !== undefined && { slots }) });
      if (!outcome.ok) throw new Error(outcome.failure.message);
      return server;
    },
    changeRunner: async (label: string, state: "ready" | "paused" | "draining") => getRunners().change(await getId(label), { state }),
    removeRunner: async (label: string) => getRunners().remove(await getId(label)),
  };
}

export const waitUntilRunning = (server: RunnerServer) => until("the job runs on the runner", () => server.queue().running !== undefined);
