// Steps that submit a job of their own, follow it, and change queue and history by that job's id only.
import { parseFailure } from "@/lib/contract/failure";
import { isTerminalWord } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { field, LABEL, needed, poll, type Step, text, UNKNOWN_ID } from "./steps";
import { demand, demandRefusal, NotTried, read } from "./verdict";

const o = operations;

/** A tiny picture of a random colour, so that no cache has it. */
function graph() {
  const color = Math.floor(Math.random() * 0xffffff);
  return {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: LABEL } },
  };
}

export const jobWriteSteps: readonly Step[] = [
  {
    operation: o.submitPrompt,
    writes: true,
    async run({ call, state }) {
      const bad = await call(o.submitPrompt, { body: { prompt: { "1": { class_type: "NoSuchNodeClass", inputs: {} } } } });
      const response = await call(o.submitPrompt, {
        body: { prompt: graph(), extra_data: { extra_pnginfo: { workflow: { name: LABEL } } } },
      });
      if (response.status === 400)
        throw new NotTried(`the service refused a graph of EmptyImage and SaveImage: ${parseFailure(response, response.text).message}`);
      state.own.jobId = text(read(o.submitPrompt, response), "prompt_id");
      // A service may also accept the graph and fail the job.
      demand([400, 200].includes(bad.status), `an unknown class answered ${bad.status}`);
      demandRefusal(await call(o.submitPrompt, { body: {} }), [400, 422], "no prompt");
    },
  },
  {
    operation: o.getJob,
    writes: true,
    async run(tools) {
      const job_id = needed(tools.state.own.jobId, "job of its own");
      const job = await poll(tools, o.getJob, { params: { job_id } }, (item) => isTerminalWord(text(item, "status") ?? ""));
      tools.state.jobId = job_id;
      tools.state.endedJobId = job_id;
      demand(field(job, "outputs") !== undefined, "a job that has ended has no outputs");
      return `its job ended as ${text(job, "status")}`;
    },
  },
  {
    operation: o.manageQueue,
    writes: true,
    async run({ ask, call }) {
      const deleted = field(await ask(o.manageQueue, { body: { delete: [UNKNOWN_ID] } }), "deleted");
      demand(deleted === undefined || (Array.isArray(deleted) && deleted.length === 0), "an unknown id was deleted");
      await call(o.manageQueue, { body: { delete: [] } });
    },
  },
  {
    operation: o.cancelJob,
    writes: true,
    async run({ ask, call, state }) {
      const job_id = needed(state.own.jobId, "job of its own");
      const response = await call(o.cancelJob, { params: { job_id } });
      if (response.status !== 409) await ask(o.cancelJob, { params: { job_id } });
    },
  },
  {
    operation: o.cancelOneJob,
    writes: true,
    async run({ call, state }) {
      const response = await call(o.cancelOneJob, { params: { job_id: needed(state.own.jobId, "job of its own") } });
      if (response.status !== 409) read(o.cancelOneJob, response);
    },
  },
  {
    operation: o.freeMemory,
    writes: true,
    run: async ({ ask }) => void (await ask(o.freeMemory, { body: {} })),
  },
  {
    operation: o.cancelJobs,
    writes: true,
    async run({ call, state }) {
      const response = await call(o.cancelJobs, { body: { job_ids: [needed(state.own.jobId, "job of its own")] } });
      if (response.status !== 409) read(o.cancelJobs, response);
    },
  },
  {
    operation: o.interrupt,
    writes: true,
    async run({ ask, options }) {
      if (!options.interrupt) throw new NotTried("it may stop jobs that are not the suite's; needs --interrupt");
      await ask(o.interrupt);
    },
  },
];

export const jobCleaningSteps: readonly Step[] = [
  {
    operation: o.manageHistory,
    writes: true,
    async run({ ask, state }) {
      await ask(o.manageHistory, { body: { delete: [state.own.jobId ?? UNKNOWN_ID] } });
    },
  },
];
