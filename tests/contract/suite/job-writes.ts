// Steps that submit a job, wait for it, and change the queue and the history only by that job's id.
import { parseFailure } from "@/lib/contract/failure";
import { isTerminalStatus } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { getField, getText, LABEL, poll, requireValue, type Step, UNKNOWN_ID } from "./steps";
import { assertRefusal, assertThat, NotTriedError, parseResponse } from "./verdict";

const ops = operations;

/** Creates a tiny picture of a random color, so that no result is cached. */
function createGraph() {
  const color = Math.floor(Math.random() * 0xffffff);
  return {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: LABEL } },
  };
}

export const jobWriteSteps: readonly Step[] = [
  {
    operation: ops.submitPrompt,
    writes: true,
    async run({ call, state }) {
      const invalidResponse = await call(ops.submitPrompt, { body: { prompt: { "1": { class_type: "NoSuchNodeClass", inputs: {} } } } });
      const response = await call(ops.submitPrompt, {
        body: { prompt: createGraph(), extra_data: { extra_pnginfo: { workflow: { name: LABEL } } } },
      });
      if (response.status === 400)
        throw new NotTriedError(
          `the service refused a graph of EmptyImage and SaveImage: ${parseFailure(response, response.text).message}`,
        );
      state.created.jobId = getText(parseResponse(ops.submitPrompt, response), "prompt_id");
      // A service may also accept the graph and fail the job.
      assertThat([400, 200].includes(invalidResponse.status), `an unknown class returned ${invalidResponse.status}`);
      assertRefusal(await call(ops.submitPrompt, { body: {} }), [400, 422], "a missing prompt");
    },
  },
  {
    operation: ops.getJob,
    writes: true,
    async run(tools) {
      const job_id = requireValue(tools.state.created.jobId, "created job");
      const job = await poll(tools, ops.getJob, { params: { job_id } }, (item) => isTerminalStatus(getText(item, "status") ?? ""));
      tools.state.jobId = job_id;
      tools.state.endedJobId = job_id;
      assertThat(getField(job, "outputs") !== undefined, "an ended job has no outputs");
      return `the job ended as ${getText(job, "status")}`;
    },
  },
  {
    operation: ops.manageQueue,
    writes: true,
    async run({ request, call }) {
      const deleted = getField(await request(ops.manageQueue, { body: { delete: [UNKNOWN_ID] } }), "deleted");
      assertThat(deleted === undefined || (Array.isArray(deleted) && deleted.length === 0), "an unknown id was deleted");
      await call(ops.manageQueue, { body: { delete: [] } });
    },
  },
  {
    operation: ops.cancelJob,
    writes: true,
    async run({ request, call, state }) {
      const job_id = requireValue(state.created.jobId, "created job");
      const response = await call(ops.cancelJob, { params: { job_id } });
      if (response.status !== 409) await request(ops.cancelJob, { params: { job_id } });
    },
  },
  {
    operation: ops.cancelOneJob,
    writes: true,
    async run({ call, state }) {
      const response = await call(ops.cancelOneJob, { params: { job_id: requireValue(state.created.jobId, "created job") } });
      if (response.status !== 409) parseResponse(ops.cancelOneJob, response);
    },
  },
  {
    operation: ops.freeMemory,
    writes: true,
    run: async ({ request }) => void (await request(ops.freeMemory, { body: {} })),
  },
  {
    operation: ops.cancelJobs,
    writes: true,
    async run({ call, state }) {
      const response = await call(ops.cancelJobs, { body: { job_ids: [requireValue(state.created.jobId, "created job")] } });
      if (response.status !== 409) parseResponse(ops.cancelJobs, response);
    },
  },
  {
    operation: ops.interrupt,
    writes: true,
    async run({ request, options }) {
      if (!options.interrupt) throw new NotTriedError("it may stop other jobs; needs --interrupt");
      await request(ops.interrupt);
    },
  },
];

export const jobCleanupSteps: readonly Step[] = [
  {
    operation: ops.manageHistory,
    writes: true,
    async run({ request, state }) {
      await request(ops.manageHistory, { body: { delete: [state.created.jobId ?? UNKNOWN_ID] } });
    },
  },
];
