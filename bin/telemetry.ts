// Switches on metrics with a token, traces with a target. Their packages are loaded only then.
import { keepTelemetry } from "@/lib/shared/telemetry";

type Asked = { metricsToken: string | undefined; traces: { serviceName: string | undefined } | undefined };

/** Call it before any server is made. */
export async function startTelemetry({ metricsToken, traces }: Asked, name: string): Promise<void> {
  if (metricsToken === undefined && !traces) return;
  const [metrics, sent] = await Promise.all([
    metricsToken === undefined ? undefined : import("@/lib/shared/metrics").then(({ createMetrics }) => createMetrics()),
    traces && import("@/lib/shared/traces").then(({ createTraces }) => createTraces(traces.serviceName ?? name)),
  ]);
  keepTelemetry({ metrics, traces: sent });
}
