// Steps that read through extensions. An extension that the service lacks counts as absent, which is no fault.
import { operations } from "@/lib/contract/operations";
import { field, getItems, needed, type Step, text } from "./steps";
import { demand, NotTried } from "./verdict";

const o = operations;
const plainReads = [
  o.getQueueDepth,
  o.listQueue,
  o.getObjectInfo,
  o.getFeatures,
  o.listTasks,
  o.getSystemStats,
  o.listOlderHistory,
  o.listModelFolders,
];

export const extensionReadSteps: readonly Step[] = [
  ...plainReads.map((operation): Step => ({ operation, run: async ({ ask }) => void (await ask(operation)) })),
  {
    operation: o.listModels,
    async run({ ask }) {
      const folders = await ask(o.listModelFolders);
      const [first] = Array.isArray(folders) ? folders : [];
      await ask(o.listModels, { params: { folder: typeof first === "string" ? first : "checkpoints" } });
    },
  },
  {
    operation: o.listTags,
    async run({ ask }) {
      const tags = getItems(await ask(o.listTags, { query: { limit: 5 } }), "tags");
      demand(tags.length <= 5, `limit=5 was answered with ${tags.length} tags`);
    },
  },
  { operation: o.refineTags, run: async ({ ask }) => void (await ask(o.refineTags, { query: { limit: 5, include_public: true } })) },
  {
    operation: o.hasAssetHash,
    async run({ ask, state }) {
      const hash = needed(text(state.asset, "asset_hash"), "hash of an asset");
      await ask(o.hasAssetHash, { params: { hash } });
    },
  },
  {
    operation: o.getAssetContent,
    async run({ ask, state }) {
      await ask(o.getAssetContent, { params: { id: needed(text(state.asset, "id"), "asset") }, headers: { range: "bytes=0-0" } });
    },
  },
  {
    operation: o.view,
    async run({ ask, state }) {
      const filename = needed(text(state.asset, "asset_hash"), "hash of an asset");
      await ask(o.view, { query: { filename }, headers: { range: "bytes=0-0" } });
    },
  },
  {
    operation: o.listJobAssets,
    run: async ({ ask, state }) =>
      void (await ask(o.listJobAssets, { params: { job_id: needed(state.endedJobId, "job that has ended") } })),
  },
  {
    operation: o.getHistoryEntry,
    run: async ({ ask, state }) =>
      void (await ask(o.getHistoryEntry, { params: { job_id: needed(state.endedJobId, "job that has ended") } })),
  },
  {
    operation: o.getOlderHistoryEntry,
    run: async ({ ask, state }) => {
      const job_id = needed(state.endedJobId, "job that has ended");
      const entry = field(await ask(o.getOlderHistoryEntry, { params: { job_id } }), job_id);
      const prompt = field(entry, "prompt");
      demand(Array.isArray(prompt) && prompt[1] === job_id, "prompt is no list with the job's id at its second place");
    },
  },
  {
    operation: o.getObjectInfoOf,
    run: async ({ ask }) => {
      const info = await ask(o.getObjectInfoOf, { params: { class: "SaveImage" } });
      demand(field(info, "SaveImage") !== undefined, "the class is not under its name");
    },
  },
  {
    operation: o.readUserdata,
    run: async ({ ask, state }) =>
      void (await ask(o.readUserdata, { params: { file: needed(state.userFile ?? state.own.userFile, "file of user data") } })),
  },
  {
    operation: o.getRemoteMetadata,
    async run({ ask, options }) {
      if (options.sourceUrl === undefined) throw new NotTried("needs --source-url");
      await ask(o.getRemoteMetadata, { query: { url: options.sourceUrl } });
    },
  },
];
