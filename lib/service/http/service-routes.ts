// The user behind the key, what the service says of itself, the node library, and the tags of the library of assets.

import { operations } from "@/lib/contract/operations";
import { refineQuerySchema, tagsQuerySchema } from "@/lib/contract/schemas/tags";
import { listTags, refineTags } from "../assets/list-tags";
import { usedBytes } from "../assets/quota";
import { listInputNames } from "../assets/file-names";
import { describeLibrary } from "../nodes/library";
import { type Parts } from "../parts";
import { json } from "./answers";
import { readAssetQuery, readQuery } from "./read-query";
import { route, type Route } from "./route";

export function serviceRoutes(parts: Parts): Route[] {
  const { database } = parts;
  return [
    route(operations.getUser, ({ user }) => {
      const quota_bytes = parts.settings.userQuotaBytes;
      const storage = quota_bytes !== undefined && { storage: { used_bytes: usedBytes(database, user.id), quota_bytes } };
      return json({ status: user.status, id: user.name, ...storage });
    }),
    route(operations.getFeatures, () => json({ supports_preview_metadata: false, max_upload_size: parts.settings.maxUploadBytes })),
    route(operations.getObjectInfo, ({ user }) => json(describeLibrary({ images: listInputNames(database, user.id) }))),
    route(operations.listTags, ({ request, user }) => json(listTags(database, user.id, readQuery(request, tagsQuerySchema)))),
    route(operations.refineTags, ({ request, user }) =>
      json({ tag_counts: refineTags(parts, user.id, readAssetQuery(request, refineQuerySchema, parts.settings)) }),
    ),
  ];
}
