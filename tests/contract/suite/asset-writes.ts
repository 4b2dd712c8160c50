// Steps that make, change and remove assets of their own.
import { operations } from "@/lib/contract/operations";
import { field, LABEL, needed, number, poll, type Step, text, UNKNOWN_ID } from "./steps";
import { demand, demandRefusal, NotTried } from "./verdict";

const o = operations;
const content = `${LABEL} ${crypto.randomUUID()}`;

function form(part: string, name: string, bytes: BlobPart, type: string, fields: Readonly<Record<string, string>>): FormData {
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  body.append(part, new Blob([bytes], { type }), name);
  return body;
}

/** An opaque white picture of one pixel, with alpha. */
const pixel = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=="),
  (letter) => letter.charCodeAt(0),
);

export const assetWriteSteps: readonly Step[] = [
  {
    operation: o.uploadAsset,
    writes: true,
    async run({ ask, state }) {
      const upload = () => form("file", `${LABEL}.txt`, content, "text/plain", { tags: JSON.stringify([LABEL]), user_metadata: "{}" });
      const first = await ask(o.uploadAsset, { body: upload() });
      state.own.asset = { ...(typeof first === "object" ? first : {}) };
      demand(number(first, "size") === content.length, `${content.length} bytes were stored as ${number(first, "size")}`);
      demand(field(first, "created_new") === true, "new content did not answer created_new true");
      const secondUpload = await ask(o.uploadAsset, { body: upload() });
      demand(
        field(secondUpload, "created_new") === false && text(secondUpload, "id") === text(first, "id"),
        "the same content did not answer the existing asset",
      );
    },
  },
  {
    operation: o.createAssetFromHash,
    writes: true,
    async run({ ask, call, state }) {
      const hash = needed(text(state.own.asset, "asset_hash"), "asset of its own");
      const asset = await ask(o.createAssetFromHash, { body: { hash, tags: [LABEL] } });
      demand(text(asset, "asset_hash") === hash, "it is an asset of other content");
      const unknown = { hash: `blake3:${"0".repeat(64)}`, tags: [LABEL] };
      demandRefusal(await call(o.createAssetFromHash, { body: unknown }), [404], "an unknown hash");
      demandRefusal(await call(o.createAssetFromHash, { body: { hash: "no hash", tags: [LABEL] } }), [400, 422], "what is no hash");
    },
  },
  {
    operation: o.addTags,
    writes: true,
    async run({ ask, call, state }) {
      const id = needed(text(state.own.asset, "id"), "asset of its own");
      const change = await ask(o.addTags, { params: { id }, body: { tags: [`${LABEL}-tag`] } });
      const total = field(change, "total_tags");
      demand(Array.isArray(total) && total.includes(`${LABEL}-tag`), "total_tags lacks what was added");
      demandRefusal(await call(o.addTags, { params: { id }, body: { tags: [] } }), [400, 422], "no tag at all");
      demandRefusal(await call(o.addTags, { params: { id: UNKNOWN_ID }, body: { tags: [LABEL] } }), [404, 403], "an unknown asset");
    },
  },
  {
    operation: o.removeTags,
    writes: true,
    async run({ ask, state }) {
      const id = needed(text(state.own.asset, "id"), "asset of its own");
      const total = field(await ask(o.removeTags, { params: { id }, body: { tags: [`${LABEL}-tag`] } }), "total_tags");
      demand(Array.isArray(total) && !total.includes(`${LABEL}-tag`), "total_tags holds what was removed");
    },
  },
  {
    operation: o.editAsset,
    writes: true,
    async run({ ask, state }) {
      const id = needed(text(state.own.asset, "id"), "asset of its own");
      await ask(o.editAsset, { params: { id }, body: { name: `${LABEL}-renamed.txt` } });
      demand(text(await ask(o.getAsset, { params: { id } }), "name") === `${LABEL}-renamed.txt`, "the name did not change");
    },
  },
  {
    operation: o.uploadImage,
    writes: true,
    async run({ ask, state }) {
      state.own.imageName = text(
        await ask(o.uploadImage, { body: form("image", `${LABEL}.png`, pixel, "image/png", { type: "input" }) }),
        "name",
      );
    },
  },
  {
    operation: o.uploadMask,
    writes: true,
    async run({ ask, state }) {
      const filename = needed(state.own.imageName, "image of its own");
      const original_ref = JSON.stringify({ filename, subfolder: "", type: "input" });
      state.own.maskName = text(
        await ask(o.uploadMask, { body: form("image", `${LABEL}-mask.png`, pixel, "image/png", { original_ref, type: "input" }) }),
        "name",
      );
    },
  },
  {
    operation: o.getMaskLayers,
    writes: true,
    run: async ({ ask, state }) =>
      void (await ask(o.getMaskLayers, { query: { filename: needed(state.own.maskName, "mask of its own") } })),
  },
  {
    operation: o.downloadAsset,
    writes: true,
    async run({ ask, call, state, options }) {
      demandRefusal(
        await call(o.downloadAsset, { body: { source_url: "https://example.com/not-permitted.bin" } }),
        [400, 403, 422],
        "a host that is not permitted",
      );
      if (options.sourceUrl === undefined) return "only the refusal of other hosts; the rest needs --source-url";
      const response = await ask(o.downloadAsset, { body: { source_url: options.sourceUrl, tags: [LABEL] } });
      state.own.taskId = text(response, "task_id");
    },
  },
  {
    operation: o.getTask,
    writes: true,
    async run(tools) {
      const task_id = needed(tools.state.own.taskId, "task of its own");
      await poll(tools, o.getTask, { params: { task_id } }, (task) =>
        ["completed", "failed", "cancelled"].includes(text(task, "status") ?? ""),
      );
    },
  },
  {
    operation: o.cancelTask,
    writes: true,
    async run({ call, state }) {
      const task_id = needed(state.own.taskId, "task of its own");
      const { status } = await call(o.cancelTask, { params: { task_id } });
      // The task has ended: a service may reject the cancel, or accept it and do nothing.
      if (status === 405 || status === 501) throw new NotTried(`answered ${status}`);
      demand([200, 204, 404, 409].includes(status), `cancelling an ended task answered ${status}`);
    },
  },
];

/** Run last, since they remove what the other steps created. */
export const assetCleaningSteps: readonly Step[] = [
  {
    operation: o.deleteAsset,
    writes: true,
    async run({ ask, call, state }) {
      const id = needed(text(state.own.asset, "id"), "asset of its own");
      await ask(o.deleteAsset, { params: { id } });
      demandRefusal(await call(o.getAsset, { params: { id } }), [404, 403], "an asset that was deleted");
      const rest = await ask(o.listAssets, { query: { include_public: false, name_contains: LABEL, limit: 100 } });
      const remaining = field(rest, "assets");
      for (const asset of Array.isArray(remaining) ? remaining : [])
        await call(o.deleteAsset, { params: { id: text(asset, "id") ?? UNKNOWN_ID } });
    },
  },
];
