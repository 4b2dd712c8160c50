// Enables metrics and traces if configured, before any server exists. Their packages are loaded only then.
import { setTelemetry } from "@/lib/shared/telemetry";

type TelemetrySettings = { metricsToken: string | undefined; traces: { serviceName: string | undefined } | undefined };

export async function startTelemetry({ metricsToken, traces }: TelemetrySettings, name: string): Promise<void> {
  if (metricsToken === undefined && !traces) return;
  const [metrics, tracing] = await Promise.all([
    metricsToken === undefined ? undefined : import("@/lib/shared/metrics").then(({ createMetrics }) => createMetrics()),
    traces && import("@/lib/shared/traces").then(({ createTraces }) => createTraces(traces.serviceName ?? name)),
  ]);
  setTelemetry({ metrics, traces: tracing });
}
