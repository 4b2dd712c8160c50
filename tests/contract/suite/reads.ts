// Steps that only read; the one thing they change is an asset's last access time.
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { toMilliseconds } from "@/lib/contract/times";
import { field, getItems, needed, number, type Step, text, UNKNOWN, UNKNOWN_ID } from "./steps";
import { demand, demandRefusal, read } from "./verdict";

const o = operations;

export const readSteps: readonly Step[] = [
  {
    operation: o.getUser,
    async run({ ask, call }) {
      const user = await ask(o.getUser);
      for (const [of, key] of [
        ["a missing key", null],
        ["an unknown key", "lightdesk-conformance-unknown-key"],
      ] as const)
        demandRefusal(await call(o.getUser, { key }), [401], of);
      return `the user is ${text(user, "status")}`;
    },
  },
  {
    operation: o.listJobs,
    async run({ ask, state }) {
      const response = await ask(o.listJobs, { query: { limit: 5, offset: 0 } });
      const jobs = getItems(response, "jobs");
      demand(jobs.length <= 5, `limit=5 was answered with ${jobs.length} jobs`);
      state.jobId = text(jobs[0], "id");
      state.endedJobId = text(
        jobs.find((job) => isTerminalWord(text(job, "status") ?? "")),
        "id",
      );
      const total = number(field(response, "pagination"), "total");
      if (total !== undefined) demand(total >= jobs.length, `total is ${total}, less than the page`);
    },
  },
  {
    operation: o.listJobs,
    async run({ ask, state }) {
      const items = getItems(await ask(o.listJobs, { query: { status: "completed", limit: 5 } }), "jobs");
      const unusualJob = items.find((job) => !["completed", "unknown"].includes(toJobState(text(job, "status") ?? "")));
      demand(unusualJob === undefined, `status=completed was answered with a job that is ${text(unusualJob, "status")}`);
      state.endedJobId = text(items[0], "id") ?? state.endedJobId;
      for (const sort_order of ["asc", "desc"]) {
        const jobs = getItems(await ask(o.listJobs, { query: { sort_by: "create_time", sort_order, limit: 20 } }), "jobs");
        const times = jobs.flatMap((job) => toMilliseconds(field(job, "create_time")) ?? []);
        const sorted = [...times].sort((a, b) => (sort_order === "asc" ? a - b : b - a));
        demand(times.join() === sorted.join(), `sort_order=${sort_order} was answered in another order`);
      }
    },
  },
  {
    operation: o.listJobs,
    async run({ call }) {
      demandRefusal(await call(o.listJobs, { query: { limit: 0 } }), [400, 422], "limit=0");
      demandRefusal(await call(o.listJobs, { query: { status: "no-such-state" } }), [400, 422], "an unknown status");
    },
  },
  {
    operation: o.getJob,
    async run({ ask, call, state }) {
      const job_id = needed(state.jobId, "job");
      const job = await ask(o.getJob, { params: { job_id } });
      demand(text(job, "id") === job_id, "the details are of another job");
      demandRefusal(await call(o.getJob, { params: { job_id: UNKNOWN_ID } }), UNKNOWN, "an unknown job");
    },
  },
  {
    operation: o.getJobStatus,
    async run({ ask, call, state }) {
      const job_id = needed(state.jobId, "job");
      demand(text(await ask(o.getJobStatus, { params: { job_id } }), "id") === job_id, "the status is of another job");
      demandRefusal(await call(o.getJobStatus, { params: { job_id: UNKNOWN_ID } }), UNKNOWN, "an unknown job");
    },
  },
  {
    operation: o.listHistory,
    async run({ ask }) {
      const entries = getItems(await ask(o.listHistory, { query: { max_items: 5, offset: 0 } }), "history");
      demand(entries.length <= 5, `max_items=5 was answered with ${entries.length} entries`);
    },
  },
  {
    operation: o.listAssets,
    async run({ ask, call, state }) {
      const response = await ask(o.listAssets, { query: { limit: 5, include_public: true } });
      const assets = getItems(response, "assets");
      demand(assets.length <= 5, `limit=5 was answered with ${assets.length} assets`);
      state.asset = assets[0];
      const [tag] = assets.flatMap((asset) => (Array.isArray(asset.tags) ? asset.tags : [])).filter((item) => !String(item).includes(","));
      if (typeof tag === "string") {
        const tagged = getItems(await ask(o.listAssets, { query: { include_tags: tag, limit: 5, include_public: true } }), "assets");
        demand(
          tagged.length > 0 && tagged.every((asset) => Array.isArray(asset.tags) && asset.tags.includes(tag)),
          "include_tags was answered with assets without the tag",
        );
      }
      demandRefusal(await call(o.listAssets, { query: { limit: 0, include_public: true } }), [400, 422], "limit=0");
    },
  },
  {
    operation: o.getAsset,
    async run({ ask, call, state }) {
      const id = needed(text(state.asset, "id"), "asset");
      demand(text(await ask(o.getAsset, { params: { id } }), "id") === id, "it is another asset");
      demandRefusal(await call(o.getAsset, { params: { id: UNKNOWN_ID } }), UNKNOWN, "an unknown asset");
    },
  },
  {
    operation: o.getTask,
    async run({ call }) {
      demandRefusal(await call(o.getTask, { params: { task_id: UNKNOWN_ID } }), UNKNOWN, "an unknown task");
    },
  },
  {
    operation: o.listUserdata,
    async run({ call, state }) {
      const response = await call(o.listUserdata, { query: { dir: "workflows/", recurse: true, split: false, full_info: true } });
      if (response.status === 404) return "the folder workflows/ does not exist";
      const files = read(o.listUserdata, response);
      const path = Array.isArray(files) ? text(files[0], "path") : undefined;
      state.userFile = path && (path.startsWith("workflows/") ? path : `workflows/${path}`);
    },
  },
];
