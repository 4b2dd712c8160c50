import { type ComfyServer, createComfyServer, type ExchangeFailure } from "@/lib/comfyui/http";
import { type RunnerProblem } from "@/lib/contract/connections";
import { asNumber, asText, isObject } from "@/lib/contract/json/json";
import { runnerAddressSchema, type RunnerFacts } from "@/lib/contract/runners/runners";
import { failed, ok, type Result } from "@/lib/shared/result";

const MAX_DEVICES = 64;

type Catalogue = Record<string, unknown>;
type Problem = { code: RunnerProblem; message: string };

export async function readHealth(server: ComfyServer): Promise<Result<Omit<RunnerFacts, "classes">, ExchangeFailure>> {
  const stats = await server.getStats();
  if (!stats.ok) return stats;
  const queue = await server.getQueue();
  if (!queue.ok) return queue;
  const { system, devices } = stats.value;
  return ok({
    version: asText(system.comfyui_version)?.slice(0, 100) ?? null,
    devices: (Array.isArray(devices) ? devices : [])
      .filter(isObject)
      .slice(0, MAX_DEVICES)
      .map((device) => ({
        name: (asText(device.name) ?? "").slice(0, 200),
        type: (asText(device.type) ?? "").slice(0, 40),
        vramTotal: asNumber(device.vram_total) ?? null,
        vramFree: asNumber(device.vram_free) ?? null,
      })),
    queue: { running: queue.value.queue_running.length, pending: queue.value.queue_pending.length },
  });
}

export type CheckedRunner = { address: string; facts: RunnerFacts; catalogue: Catalogue };

export async function checkRunner(rawAddress: string, timeoutMs?: number): Promise<Result<CheckedRunner, Problem>> {
  const addressResult = runnerAddressSchema.safeParse(rawAddress);
  if (!addressResult.success)
    return failed({ code: "not_reachable", message: `The address ${addressResult.error.issues[0]?.message ?? "cannot be read"}.` });
  const address = addressResult.data;
  const server = createComfyServer(address);
  const health = await readHealth(createComfyServer(address, undefined, timeoutMs));
  if (!health.ok) return failed(await toProblem(server, health.failure));
  const catalogue = await server.getCatalogue();
  if (!catalogue.ok) return failed(await toProblem(server, catalogue.failure));
  // Required to read back the outputs of an ended job.
  const history = await server.getHistoryEntry(`${"0".repeat(8)}-0000-4000-8000-${"0".repeat(12)}`);
  if (!history.ok) return failed({ code: "too_old", message: "It has no history per job. Update the server." });
  return ok({ address, facts: { ...health.value, classes: Object.keys(catalogue.value).length }, catalogue: catalogue.value });
}

/** A service with keys serves some paths without one. Its response to /api/user identifies it. */
async function toProblem(server: ComfyServer, { code, message }: ExchangeFailure): Promise<Problem> {
  if (code !== "not_a_server" && code !== "cloud_service") return { code, message };
  const user = await server.request("/api/user");
  if (code !== "cloud_service" && (user.ok || (user.failure.status !== 401 && user.failure.status !== 403))) return { code, message };
  return { code: "cloud_service", message: "This is a service with users and keys, not a plain server. Add it as a connection instead." };
}
