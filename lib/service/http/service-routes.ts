// The user behind the key, what the service says about itself, the node library, and the tags of the assets.

import { freemem, platform, totalmem } from "node:os";
import { operations } from "@/lib/contract/operations";
import { listInputNames } from "../assets/file-names";
import { listTags, refineTags } from "../assets/list-tags";
import { usedBytes } from "../assets/quota";
import { type Parts } from "../parts";
import { empty, json, jsonText } from "./answers";
import { type Route, route } from "./route";

/**
 * The fields have the family's names, since its clients look for them and show the values. Nodes run on the processor, in the machine's
 * memory.
 */
function describeSystem() {
  const [vram_total, vram_free] = [totalmem(), freemem()];
  return {
    system: {
      os: platform(),
      ram_total: vram_total,
      ram_free: vram_free,
      comfyui_version: "lightdesk",
      python_version: `none (Node.js ${process.versions.node})`,
      embedded_python: false,
      argv: [],
    },
    devices: [{ name: "cpu", type: "cpu", index: 0, vram_total, vram_free, torch_vram_total: vram_total, torch_vram_free: vram_free }],
  };
}

export function serviceRoutes(parts: Parts): Route[] {
  const { database } = parts;
  const { libraries } = parts.pool;
  return [
    route(operations.getUser, async ({ user }) => {
      const quota_bytes = parts.settings.userQuotaBytes;
      const storage = quota_bytes !== undefined && { storage: { used_bytes: await usedBytes(database, user.id), quota_bytes } };
      return json({ status: user.status, id: user.name, ...storage });
    }),
    route(operations.getFeatures, () => json({ supports_preview_metadata: false, max_upload_size: parts.settings.maxUploadBytes })),
    route(operations.getObjectInfo, async ({ user }) => jsonText(libraries.describe(await listInputNames(database, user.id)))),
    route(operations.getObjectInfoOf, async ({ user, param }) =>
      jsonText(libraries.describe(await listInputNames(database, user.id), param("class"))),
    ),
    route(operations.listModelFolders, () => json([])),
    route(operations.listModels, () => json([])),
    route(operations.getSystemStats, () => json(describeSystem())),
    route(operations.freeMemory, async ({ body }) => {
      await body();
      return empty(200);
    }),
    route(operations.listTags, async ({ query, user }) => json(await listTags(database, user.id, query()))),
    route(operations.refineTags, async ({ query, user }) => json({ tag_counts: await refineTags(parts, user.id, query()) })),
  ];
}
