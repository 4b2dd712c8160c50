// Steps that read through extensions. An extension that the service doesn't have is reported as absent, which is not a failure.
import { operations } from "@/lib/contract/operations";
import { getField, getItems, getText, requireValue, type Step } from "./steps";
import { assertThat, NotTriedError } from "./verdict";

const ops = operations;
const plainReads = [
  ops.getQueueDepth,
  ops.listQueue,
  ops.getObjectInfo,
  ops.getFeatures,
  ops.listTasks,
  ops.getSystemStats,
  ops.listOlderHistory,
  ops.listModelFolders,
];

export const extensionReadSteps: readonly Step[] = [
  ...plainReads.map((operation): Step => ({ operation, run: async ({ request }) => void (await request(operation)) })),
  {
    operation: ops.listModels,
    async run({ request }) {
      const folders = await request(ops.listModelFolders);
      const [first] = Array.isArray(folders) ? folders : [];
      await request(ops.listModels, { params: { folder: typeof first === "string" ? first : "checkpoints" } });
    },
  },
  {
    operation: ops.listTags,
    async run({ request }) {
      const tags = getItems(await request(ops.listTags, { query: { limit: 5 } }), "tags");
      assertThat(tags.length <= 5, `limit=5 returned ${tags.length} tags`);
    },
  },
  {
    operation: ops.refineTags,
    run: async ({ request }) => void (await request(ops.refineTags, { query: { limit: 5, include_public: true } })),
  },
  {
    operation: ops.hasAssetHash,
    async run({ request, state }) {
      const hash = requireValue(getText(state.asset, "asset_hash"), "hash of an asset");
      await request(ops.hasAssetHash, { params: { hash } });
    },
  },
  {
    operation: ops.getAssetContent,
    async run({ request, state }) {
      await request(ops.getAssetContent, {
        params: { id: requireValue(getText(state.asset, "id"), "asset") },
        headers: { range: "bytes=0-0" },
      });
    },
  },
  {
    operation: ops.view,
    async run({ request, state }) {
      const filename = requireValue(getText(state.asset, "asset_hash"), "hash of an asset");
      await request(ops.view, { query: { filename }, headers: { range: "bytes=0-0" } });
    },
  },
  {
    operation: ops.listJobAssets,
    run: async ({ request, state }) =>
      void (await request(ops.listJobAssets, { params: { job_id: requireValue(state.endedJobId, "ended job") } })),
  },
  {
    operation: ops.getHistoryEntry,
    run: async ({ request, state }) =>
      void (await request(ops.getHistoryEntry, { params: { job_id: requireValue(state.endedJobId, "ended job") } })),
  },
  {
    operation: ops.getOlderHistoryEntry,
    run: async ({ request, state }) => {
      const job_id = requireValue(state.endedJobId, "ended job");
      const entry = getField(await request(ops.getOlderHistoryEntry, { params: { job_id } }), job_id);
      const prompt = getField(entry, "prompt");
      assertThat(Array.isArray(prompt) && prompt[1] === job_id, "prompt is not a list whose second item is the job's id");
    },
  },
  {
    operation: ops.getObjectInfoOf,
    run: async ({ request }) => {
      const info = await request(ops.getObjectInfoOf, { params: { class: "SaveImage" } });
      assertThat(getField(info, "SaveImage") !== undefined, "the class is not stored under its name");
    },
  },
  {
    operation: ops.readUserdata,
    run: async ({ request, state }) =>
      void (await request(ops.readUserdata, {
        params: { file: requireValue(state.userFile ?? state.created.userFile, "file of user data") },
      })),
  },
  {
    operation: ops.getRemoteMetadata,
    async run({ request, options }) {
      if (options.sourceUrl === undefined) throw new NotTriedError("needs --source-url");
      await request(ops.getRemoteMetadata, { query: { url: options.sourceUrl } });
    },
  },
];
