// Seeds a million jobs of one user with mixed states, two thousand workflows and outputs of every kind, spread over four months.
import { assertSameRows, fillDatabase, prepareInsert } from "./fill-database";
import { createSeededRandom } from "./seeded-random";

/** Returns the number of workflows: one for each five hundred jobs. */
export const getWorkflowCount = (jobs: number) => Math.max(5, Math.floor(jobs / 500));
const START_MS = Date.parse("2026-06-01T00:00:00Z");
const MEAN_GAP_MS = 10_000;

const graph = JSON.stringify({
  "1": { class_type: "EmptyImage", inputs: { width: 512, height: 512, batch_size: 1, color: 255 } },
  "2": { class_type: "ImageScale", inputs: { image: ["1", 0], upscale_method: "lanczos", width: 256, height: 256, crop: "disabled" } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "bench" } },
});
const inputs = { prompt: graph, graph: "", extra_data: "{}", outputs_to_execute: '["3"]' };
const columns = [
  ...["id", "user_id", "state", "number", "workflow_id", "create_time", "update_time", "state_time", "start_time", "end_time"],
  ...["execution_time", "outputs_count", "has_image", "has_video", "has_audio", "preview", "error"],
];

/** The distributions of states and output kinds, in percent. No job is running, since a start would requeue it. */
const getState = (share: number, waiting: number) =>
  share < 100 * waiting ? "pending" : share < 82 ? "completed" : share < 92 ? "failed" : share < 97 ? "cancelled" : "pending";
const getKind = (share: number) => (share < 80 ? "image" : share < 92 ? "video" : share < 97 ? "audio" : "none");

export function createWorkflowId(index: number): string {
  return createSeededRandom(index + 1).uuid();
}

/** Shares of pending jobs in addition to the default three percent: `waiting` are spread anywhere, `queued` are the newest, as in a real queue. */
export function seedJobs(file: string, userName: string, count: number, { waiting = 0, queued = 0 } = {}): void {
  const random = createSeededRandom(20261121);
  const workflows = Array.from({ length: getWorkflowCount(count) }, (_, index) => createWorkflowId(index));
  fillDatabase(file, userName, "jobs_*", (database, userId) => {
    const insertJob = prepareInsert(database, "jobs", columns);
    const insertInputs = prepareInsert(database, "job_inputs", ["job_seq", "prompt", "graph", "extra_data", "outputs_to_execute"]);
    const insertResults = prepareInsert(database, "job_results", ["job_seq", "outputs", "messages", "meta"]);
    let at = START_MS;
    for (let number = 1; number <= count; number += 1) {
      // One in eight has the same time as the job before, so that there are ties to break.
      at += random.below(8) === 0 ? 0 : random.below(2 * MEAN_GAP_MS);
      const baseState = getState(random.below(100), waiting);
      const state = number > count * (1 - queued) ? "pending" : baseState;
      const kind = state === "completed" ? getKind(random.below(100)) : "none";
      const runMs = state === "completed" || state === "failed" ? 150 + random.below(2000) * (1 + random.below(30)) : 0;
      const startTime = runMs > 0 ? at + random.below(5000) : null;
      const file = { filename: `${random.hex(8)}.png`, subfolder: "", type: "output", display_name: `bench_${number}.png` };
      const job_seq = insertJob({
        ...{ id: random.uuid(), user_id: userId, state, number, workflow_id: random.pick(workflows), create_time: at },
        ...{
          update_time: at + runMs,
          state_time: at + runMs,
          start_time: startTime,
          end_time: startTime === null ? null : startTime + runMs,
        },
        ...{ execution_time: runMs, outputs_count: kind === "none" ? 0 : 1 },
        ...{ has_image: Number(kind === "image"), has_video: Number(kind === "video"), has_audio: Number(kind === "audio") },
        preview: kind === "none" ? null : JSON.stringify({ ...file, nodeId: "3", mediaType: "images" }),
        error: state === "failed" ? JSON.stringify({ exception_type: "ValueError", exception_message: "no", node_id: "2" }) : null,
      });
      insertInputs({ job_seq, ...inputs });
      if (state === "pending") continue;
      const outputs = kind === "none" ? "{}" : JSON.stringify({ "3": { images: [file] } });
      insertResults({ job_seq, outputs, messages: "[]", meta: "{}" });
    }
    database.prepare("UPDATE users SET last_number = ? WHERE id = ?").run(count, userId);
    const storedQuery = "SELECT user_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n > 0 AND workflow_id = ''";
    assertSameRows(
      database,
      storedQuery,
      "SELECT user_id, state, has_image, has_video, has_audio, count(*) FROM jobs GROUP BY 1, 2, 3, 4, 5",
    );
    const storedByWorkflow =
      "SELECT user_id, workflow_id, state, sum(n) FROM job_counts WHERE n > 0 AND workflow_id <> '' GROUP BY 1, 2, 3";
    assertSameRows(database, storedByWorkflow, "SELECT user_id, workflow_id, state, count(*) FROM jobs GROUP BY 1, 2, 3");
  });
}
