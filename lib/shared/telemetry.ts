// Metrics and traces of this process, if enabled. Stored on globalThis because the bundler can load a module several times.

import { type Metrics } from "./metrics";
import { type SpanParent, type Traces } from "./traces";

export type Telemetry = { metrics?: Metrics; traces?: Traces };

const TELEMETRY_KEY = Symbol.for("lightdesk.telemetry");
const DISABLED: Telemetry = {};

export function getTelemetry(): Telemetry {
  const telemetry: Telemetry | undefined = Reflect.get(globalThis, TELEMETRY_KEY);
  return telemetry ?? DISABLED;
}

export function setTelemetry(telemetry: Telemetry | undefined): void {
  Reflect.set(globalThis, TELEMETRY_KEY, telemetry);
}

type Observation<T> = {
  spanName: string;
  attributes?: Readonly<Record<string, string | number>>;
  parent?: SpanParent;
  getOutcome(result: T): string;
  getStatus?(result: T): number;
  recordMetrics(metrics: Metrics, outcome: string, seconds: number): void;
};

export async function observe<T>(observation: Observation<T>, run: () => Promise<T>): Promise<T> {
  const { metrics, traces } = getTelemetry();
  if (!metrics && !traces) return run();
  const { spanName, attributes, parent, getOutcome, getStatus, recordMetrics } = observation;
  const startedAt = performance.now();
  const span = traces?.startSpan(spanName, { kind: "inside", parent, attributes });
  let outcome = "error";
  let status: number | undefined;
  try {
    const result = await (span ? span.run(run) : run());
    outcome = getOutcome(result);
    status = getStatus?.(result);
    return result;
  } finally {
    if (metrics) recordMetrics(metrics, outcome, (performance.now() - startedAt) / 1000);
    span?.end({ outcome, ...(status !== undefined && { status }) }, outcome !== "error");
  }
}
