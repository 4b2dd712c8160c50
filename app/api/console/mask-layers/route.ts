import { maskLayersQuerySchema } from "@/lib/contract/schemas/upload";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { guarded } from "@/lib/server/bff/guard";
import { CONNECTION_PARAMETER, readQuery, searchOf } from "@/lib/server/bff/read-request";
import { getMaskLayer } from "@/lib/server/queries/mask-layers";
import { ok } from "@/lib/shared/result";

/** GET /api/files/mask-layers for the editor: that a picture has none is an answer here. */
export const GET = guarded({ action: "viewMaskLayer", role: "viewer", connection: true }, async ({ request, viewer }) => {
  const search = searchOf(request);
  const query = readQuery(search, maskLayersQuerySchema);
  if (!query.ok) return query;
  const layer = await getMaskLayer(viewer, String(query.value.filename), search.get(CONNECTION_PARAMETER) ?? undefined);
  return layer.ok ? ok(jsonAnswer(layer.value)) : layer;
});
