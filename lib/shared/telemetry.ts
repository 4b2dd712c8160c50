// The metrics and traces of this process, if they are on. On globalThis, because the bundler loads one module several times.

import { type Metrics } from "./metrics";
import { type Parent, type Traces } from "./traces";

export type Telemetry = { metrics?: Metrics; traces?: Traces };

const place = Symbol.for("lightdesk.telemetry");
const none: Telemetry = {};

export function telemetry(): Telemetry {
  const kept: Telemetry | undefined = Reflect.get(globalThis, place);
  return kept ?? none;
}

export function keepTelemetry(kept: Telemetry | undefined): void {
  Reflect.set(globalThis, place, kept);
}

type Observed<T> = {
  name: string;
  attributes?: Readonly<Record<string, string | number>>;
  parent?: Parent;
  outcomeOf(result: T): string;
  statusOf?(result: T): number;
  measured(metrics: Metrics, outcome: string, seconds: number): void;
};

export async function observed<T>(what: Observed<T>, run: () => Promise<T>): Promise<T> {
  const { metrics, traces } = telemetry();
  if (!metrics && !traces) return run();
  const { name, attributes, parent, outcomeOf, statusOf, measured } = what;
  const begun = performance.now();
  const span = traces?.begin(name, { kind: "inside", parent, attributes });
  let outcome = "error";
  let status: number | undefined;
  try {
    const result = await (span ? span.within(run) : run());
    outcome = outcomeOf(result);
    status = statusOf?.(result);
    return result;
  } finally {
    if (metrics) measured(metrics, outcome, (performance.now() - begun) / 1000);
    span?.end({ outcome, ...(status !== undefined && { status }) }, outcome !== "error");
  }
}
