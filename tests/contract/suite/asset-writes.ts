// Steps that create, change and delete their own assets.
import { operations } from "@/lib/contract/operations";
import { getField, getNumber, getText, LABEL, poll, requireValue, type Step, UNKNOWN_ID } from "./steps";
import { assertRefusal, assertThat, NotTriedError } from "./verdict";

const ops = operations;
const content = `${LABEL} ${crypto.randomUUID()}`;

function createForm(
  fieldName: string,
  filename: string,
  bytes: BlobPart,
  type: string,
  fields: Readonly<Record<string, string>>,
): FormData {
  const body = new FormData();
  for (const [key, value] of Object.entries(fields)) body.append(key, value);
  body.append(fieldName, new Blob([bytes], { type }), filename);
  return body;
}

/** An opaque white picture of one pixel, with alpha. */
const pixel = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=="),
  (char) => char.charCodeAt(0),
);

export const assetWriteSteps: readonly Step[] = [
  {
    operation: ops.uploadAsset,
    writes: true,
    async run({ request, state }) {
      const upload = () =>
        createForm("file", `${LABEL}.txt`, content, "text/plain", { tags: JSON.stringify([LABEL]), user_metadata: "{}" });
      const firstAsset = await request(ops.uploadAsset, { body: upload() });
      state.created.asset = { ...(typeof firstAsset === "object" ? firstAsset : {}) };
      assertThat(
        getNumber(firstAsset, "size") === content.length,
        `${content.length} bytes were stored as ${getNumber(firstAsset, "size")}`,
      );
      assertThat(getField(firstAsset, "created_new") === true, "uploading new content did not return created_new true");
      const secondAsset = await request(ops.uploadAsset, { body: upload() });
      assertThat(
        getField(secondAsset, "created_new") === false && getText(secondAsset, "id") === getText(firstAsset, "id"),
        "uploading the same content did not return the existing asset",
      );
    },
  },
  {
    operation: ops.createAssetFromHash,
    writes: true,
    async run({ request, call, state }) {
      const hash = requireValue(getText(state.created.asset, "asset_hash"), "created asset");
      const asset = await request(ops.createAssetFromHash, { body: { hash, tags: [LABEL] } });
      assertThat(getText(asset, "asset_hash") === hash, "the asset has other content");
      const unknown = { hash: `blake3:${"0".repeat(64)}`, tags: [LABEL] };
      assertRefusal(await call(ops.createAssetFromHash, { body: unknown }), [404], "an unknown hash");
      assertRefusal(await call(ops.createAssetFromHash, { body: { hash: "no hash", tags: [LABEL] } }), [400, 422], "an invalid hash");
    },
  },
  {
    operation: ops.addTags,
    writes: true,
    async run({ request, call, state }) {
      const id = requireValue(getText(state.created.asset, "id"), "created asset");
      const change = await request(ops.addTags, { params: { id }, body: { tags: [`${LABEL}-tag`] } });
      const total = getField(change, "total_tags");
      assertThat(Array.isArray(total) && total.includes(`${LABEL}-tag`), "total_tags does not contain the added tag");
      assertRefusal(await call(ops.addTags, { params: { id }, body: { tags: [] } }), [400, 422], "an empty list of tags");
      assertRefusal(await call(ops.addTags, { params: { id: UNKNOWN_ID }, body: { tags: [LABEL] } }), [404, 403], "an unknown asset");
    },
  },
  {
    operation: ops.removeTags,
    writes: true,
    async run({ request, state }) {
      const id = requireValue(getText(state.created.asset, "id"), "created asset");
      const total = getField(await request(ops.removeTags, { params: { id }, body: { tags: [`${LABEL}-tag`] } }), "total_tags");
      assertThat(Array.isArray(total) && !total.includes(`${LABEL}-tag`), "total_tags contains the removed tag");
    },
  },
  {
    operation: ops.editAsset,
    writes: true,
    async run({ request, state }) {
      const id = requireValue(getText(state.created.asset, "id"), "created asset");
      await request(ops.editAsset, { params: { id }, body: { name: `${LABEL}-renamed.txt` } });
      assertThat(getText(await request(ops.getAsset, { params: { id } }), "name") === `${LABEL}-renamed.txt`, "the name was not changed");
    },
  },
  {
    operation: ops.uploadImage,
    writes: true,
    async run({ request, state }) {
      state.created.imageName = getText(
        await request(ops.uploadImage, { body: createForm("image", `${LABEL}.png`, pixel, "image/png", { type: "input" }) }),
        "name",
      );
    },
  },
  {
    operation: ops.uploadMask,
    writes: true,
    async run({ request, state }) {
      const filename = requireValue(state.created.imageName, "created image");
      const original_ref = JSON.stringify({ filename, subfolder: "", type: "input" });
      state.created.maskName = getText(
        await request(ops.uploadMask, {
          body: createForm("image", `${LABEL}-mask.png`, pixel, "image/png", { original_ref, type: "input" }),
        }),
        "name",
      );
    },
  },
  {
    operation: ops.getMaskLayers,
    writes: true,
    run: async ({ request, state }) =>
      void (await request(ops.getMaskLayers, { query: { filename: requireValue(state.created.maskName, "created mask") } })),
  },
  {
    operation: ops.downloadAsset,
    writes: true,
    async run({ request, call, state, options }) {
      assertRefusal(
        await call(ops.downloadAsset, { body: { source_url: "https://example.com/not-permitted.bin" } }),
        [400, 403, 422],
        "a host that is not permitted",
      );
      if (options.sourceUrl === undefined) return "tested only the refusal of other hosts; downloading needs --source-url";
      const response = await request(ops.downloadAsset, { body: { source_url: options.sourceUrl, tags: [LABEL] } });
      state.created.taskId = getText(response, "task_id");
    },
  },
  {
    operation: ops.getTask,
    writes: true,
    async run(tools) {
      const task_id = requireValue(tools.state.created.taskId, "created task");
      await poll(tools, ops.getTask, { params: { task_id } }, (task) =>
        ["completed", "failed", "cancelled"].includes(getText(task, "status") ?? ""),
      );
    },
  },
  {
    operation: ops.cancelTask,
    writes: true,
    async run({ call, state }) {
      const task_id = requireValue(state.created.taskId, "created task");
      const { status } = await call(ops.cancelTask, { params: { task_id } });
      // The task has ended: a service may reject the cancel, or accept it and do nothing.
      if (status === 405 || status === 501) throw new NotTriedError(`answered ${status}`);
      assertThat([200, 204, 404, 409].includes(status), `cancelling an ended task answered ${status}`);
    },
  },
];

/** Steps that run last, since they delete what the other steps created. */
export const assetCleanupSteps: readonly Step[] = [
  {
    operation: ops.deleteAsset,
    writes: true,
    async run({ request, call, state }) {
      const id = requireValue(getText(state.created.asset, "id"), "created asset");
      await request(ops.deleteAsset, { params: { id } });
      assertRefusal(await call(ops.getAsset, { params: { id } }), [404, 403], "a deleted asset");
      const response = await request(ops.listAssets, { query: { include_public: false, name_contains: LABEL, limit: 100 } });
      const remaining = getField(response, "assets");
      for (const asset of Array.isArray(remaining) ? remaining : [])
        await call(ops.deleteAsset, { params: { id: getText(asset, "id") ?? UNKNOWN_ID } });
    },
  },
];
