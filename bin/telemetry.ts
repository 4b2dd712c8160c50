// Switches on what the settings ask for: metrics with a token, traces with somewhere to send them. Their packages are loaded only then.
import { type ServiceEnv } from "@/lib/service/env";
import { keepTelemetry } from "@/lib/shared/telemetry";

type Asked = Pick<ServiceEnv["settings"], "metricsToken" | "traces">;

/** Before any server is made. */
export async function startTelemetry({ metricsToken, traces }: Asked, name: string): Promise<void> {
  if (metricsToken === undefined && !traces) return;
  const [metrics, sent] = await Promise.all([
    metricsToken === undefined ? undefined : import("@/lib/shared/metrics").then(({ createMetrics }) => createMetrics()),
    traces && import("@/lib/shared/traces").then(({ createTraces }) => createTraces(traces.serviceName ?? name)),
  ]);
  keepTelemetry({ metrics, traces: sent });
}
