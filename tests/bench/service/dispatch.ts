// Measures the time from acknowledged to running on an idle service: from reading the response to the submission until the polled
// status is no longer pending. The figure includes the time of one poll.
import { randomInt } from "node:crypto";
import { percentile } from "../figures";
import { getJson, submitGraph, waitForEmptyQueue, withService } from "./client";
import { type BenchRow } from "./row";

const JOBS = 60;
const WARM_UP_JOBS = 5;

export function measureDispatch(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const delays: number[] = [];
    for (let index = -WARM_UP_JOBS; index < JOBS; index += 1) {
      const id = await submitGraph(service, {
        "1": { class_type: "Wait", inputs: { seconds: 0.05 } },
        "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
        "3": { class_type: "PrimitiveInt", inputs: { value: randomInt(2 ** 31) } },
      });
      const acknowledgedMs = performance.now();
      const isPending = async () => (await getJson<{ status: string }>(service, `/api/job/${id}/status`)).status === "pending";
      while (await isPending());
      if (index >= 0) delays.push(performance.now() - acknowledgedMs);
      await waitForEmptyQueue(service, 5);
    }
    const p95 = percentile(delays, 0.95);
    return [
      {
        name: "from acknowledged to running, idle",
        target: "under 20 ms",
        figure: `p95 ${p95.toFixed(1)} ms`,
        spread: `p50 ${percentile(delays, 0.5).toFixed(1)}, highest ${Math.max(...delays).toFixed(1)}`,
        meets: p95 < 20,
      },
    ];
  });
}
