// A call to a service in metrics and traces: by the operation's name and its outcome, never by connection or address.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { own } from "@/lib/contract/json/own";
import { type Operation } from "@/lib/contract/operation";
import { type Result } from "@/lib/shared/result";
import { observed } from "@/lib/shared/telemetry";

const outcomes: Readonly<Record<string, string>> = {
  UPSTREAM_UNREACHABLE: "unreachable",
  UPSTREAM_UNREADABLE: "unreadable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_REFUSED_KEY: "key refused",
  RATE_LIMITED: "rate limited",
  CLIENT_GONE: "given up",
};

export function observedCall<T extends { status: number }>(
  { name }: Operation,
  call: () => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  return observed(
    {
      name: `call ${name}`,
      attributes: { operation: name },
      outcomeOf: (result) =>
        result.ok ? "ok" : (own(outcomes, result.failure.code) ?? (result.failure.status >= 500 ? "error" : "refused")),
      statusOf: (result) => (result.ok ? result.value : result.failure).status,
      measured(metrics, outcome, seconds) {
        metrics.count("lightdesk_upstream_calls_total", { operation: name, outcome });
        metrics.observe("lightdesk_upstream_call_duration_seconds", { operation: name }, seconds);
      },
    },
    call,
  );
}
