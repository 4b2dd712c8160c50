import { type Tone } from "@/components/ui/tone";
import { type ApiFailure } from "@/lib/browser/read-failure";

export const outcomes = [
  "cancelled",
  "stopped",
  "removed",
  "ranAgain",
  "stopping",
  "asked",
  "tooLate",
  "gone",
  "over",
  "notEnded",
  "unable",
  "secret",
  "noWorkflow",
  "missing",
  "refused",
  "unknown",
  "unsent",
  "failed",
  "notDone",
] as const;
export type Outcome = (typeof outcomes)[number];

/** By these people recognise a job; ids mean nothing to them. */
export type JobNames = { workflow?: string; label?: string; createdMs?: number };

export type ReceiptEntry = JobNames & {
  id: string;
  outcome: Outcome;
  newId?: string;
  failure?: ApiFailure;
  /** It runs together with this many others, and the service can only stop them all at once. */
  together?: number;
};

const done: ReadonlySet<Outcome> = new Set(["cancelled", "stopped", "removed", "ranAgain"]);
const bad: ReadonlySet<Outcome> = new Set(["refused", "unknown", "unsent", "failed"]);

export function toneOf(outcome: Outcome): Tone {
  return done.has(outcome) ? "ok" : bad.has(outcome) ? "bad" : "off";
}

/** Worth repeating: what surely was not done, and what may have been done if doing it twice is harmless. A job is never submitted twice. */
export function isWorthAgain({ outcome }: ReceiptEntry, act: "cancel" | "remove" | "runAgain"): boolean {
  return outcome === "failed" || outcome === "unsent" || outcome === "notDone" || (outcome === "unknown" && act !== "runAgain");
}

/** The first failure, for a line that has room for one sentence. */
export function causeOf(entries: readonly ReceiptEntry[]): ApiFailure | undefined {
  return entries.find(({ failure }) => failure)?.failure;
}
