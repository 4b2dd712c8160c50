// Steps that only read. They change nothing but an asset's last access time.
import { isTerminalStatus, toJobState } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { toMilliseconds } from "@/lib/contract/times";
import { getField, getItems, getNumber, getText, requireValue, type Step, UNKNOWN_ID, UNKNOWN_ID_STATUSES } from "./steps";
import { assertRefusal, assertThat, parseResponse } from "./verdict";

const ops = operations;

export const readSteps: readonly Step[] = [
  {
    operation: ops.getUser,
    async run({ request, call }) {
      const user = await request(ops.getUser);
      for (const [subject, key] of [
        ["a missing key", null],
        ["an unknown key", "lightdesk-conformance-unknown-key"],
      ] as const)
        assertRefusal(await call(ops.getUser, { key }), [401], subject);
      return `the user is ${getText(user, "status")}`;
    },
  },
  {
    operation: ops.listJobs,
    async run({ request, state }) {
      const response = await request(ops.listJobs, { query: { limit: 5, offset: 0 } });
      const jobs = getItems(response, "jobs");
      assertThat(jobs.length <= 5, `limit=5 returned ${jobs.length} jobs`);
      state.jobId = getText(jobs[0], "id");
      state.endedJobId = getText(
        jobs.find((job) => isTerminalStatus(getText(job, "status") ?? "")),
        "id",
      );
      const total = getNumber(getField(response, "pagination"), "total");
      if (total !== undefined) assertThat(total >= jobs.length, `total is ${total}, less than the page`);
    },
  },
  {
    operation: ops.listJobs,
    async run({ request, state }) {
      const items = getItems(await request(ops.listJobs, { query: { status: "completed", limit: 5 } }), "jobs");
      const unexpectedJob = items.find((job) => !["completed", "unknown"].includes(toJobState(getText(job, "status") ?? "")));
      assertThat(unexpectedJob === undefined, `status=completed returned a job that is ${getText(unexpectedJob, "status")}`);
      state.endedJobId = getText(items[0], "id") ?? state.endedJobId;
      for (const sort_order of ["asc", "desc"]) {
        const jobs = getItems(await request(ops.listJobs, { query: { sort_by: "create_time", sort_order, limit: 20 } }), "jobs");
        const times = jobs.flatMap((job) => toMilliseconds(getField(job, "create_time")) ?? []);
        const sorted = [...times].sort((a, b) => (sort_order === "asc" ? a - b : b - a));
        assertThat(times.join() === sorted.join(), `sort_order=${sort_order} returned another order`);
      }
    },
  },
  {
    operation: ops.listJobs,
    async run({ call }) {
      assertRefusal(await call(ops.listJobs, { query: { limit: 0 } }), [400, 422], "limit=0");
      assertRefusal(await call(ops.listJobs, { query: { status: "no-such-state" } }), [400, 422], "an unknown status");
    },
  },
  {
    operation: ops.getJob,
    async run({ request, call, state }) {
      const job_id = requireValue(state.jobId, "job");
      const job = await request(ops.getJob, { params: { job_id } });
      assertThat(getText(job, "id") === job_id, "the details belong to another job");
      assertRefusal(await call(ops.getJob, { params: { job_id: UNKNOWN_ID } }), UNKNOWN_ID_STATUSES, "an unknown job");
    },
  },
  {
    operation: ops.getJobStatus,
    async run({ request, call, state }) {
      const job_id = requireValue(state.jobId, "job");
      assertThat(getText(await request(ops.getJobStatus, { params: { job_id } }), "id") === job_id, "the status belongs to another job");
      assertRefusal(await call(ops.getJobStatus, { params: { job_id: UNKNOWN_ID } }), UNKNOWN_ID_STATUSES, "an unknown job");
    },
  },
  {
    operation: ops.listHistory,
    async run({ request }) {
      const entries = getItems(await request(ops.listHistory, { query: { max_items: 5, offset: 0 } }), "history");
      assertThat(entries.length <= 5, `max_items=5 returned ${entries.length} entries`);
    },
  },
  {
    operation: ops.listAssets,
    async run({ request, call, state }) {
      const response = await request(ops.listAssets, { query: { limit: 5, include_public: true } });
      const assets = getItems(response, "assets");
      assertThat(assets.length <= 5, `limit=5 returned ${assets.length} assets`);
      state.asset = assets[0];
      const [tag] = assets.flatMap((asset) => (Array.isArray(asset.tags) ? asset.tags : [])).filter((item) => !String(item).includes(","));
      if (typeof tag === "string") {
        const tagged = getItems(await request(ops.listAssets, { query: { include_tags: tag, limit: 5, include_public: true } }), "assets");
        assertThat(
          tagged.length > 0 && tagged.every((asset) => Array.isArray(asset.tags) && asset.tags.includes(tag)),
          "include_tags returned assets without the tag",
        );
      }
      assertRefusal(await call(ops.listAssets, { query: { limit: 0, include_public: true } }), [400, 422], "limit=0");
    },
  },
  {
    operation: ops.getAsset,
    async run({ request, call, state }) {
      const id = requireValue(getText(state.asset, "id"), "asset");
      assertThat(getText(await request(ops.getAsset, { params: { id } }), "id") === id, "the response is another asset");
      assertRefusal(await call(ops.getAsset, { params: { id: UNKNOWN_ID } }), UNKNOWN_ID_STATUSES, "an unknown asset");
    },
  },
  {
    operation: ops.getTask,
    async run({ call }) {
      assertRefusal(await call(ops.getTask, { params: { task_id: UNKNOWN_ID } }), UNKNOWN_ID_STATUSES, "an unknown task");
    },
  },
  {
    operation: ops.listUserdata,
    async run({ call, state }) {
      const response = await call(ops.listUserdata, { query: { dir: "workflows/", recurse: true, split: false, full_info: true } });
      if (response.status === 404) return "the folder workflows/ does not exist";
      const files = parseResponse(ops.listUserdata, response);
      const path = Array.isArray(files) ? getText(files[0], "path") : undefined;
      state.userFile = path && (path.startsWith("workflows/") ? path : `workflows/${path}`);
    },
  },
];
