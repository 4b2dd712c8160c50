import { toFileRef } from "@/lib/contract/assets/file-refs";
import { createFailure } from "@/lib/contract/failure";
import { canUseFile, receiveFile } from "@/lib/server/apps/input-images";
import { openApp } from "@/lib/server/apps/open-app";
import { fetchFile } from "@/lib/server/apps/runs";
import { resourceRoute } from "@/lib/server/bff/routes";
import { getSearchParams } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { failed } from "@/lib/shared/result";

export const POST = resourceRoute("addAppFile", "runner", openApp, async (context, app) => {
  return toJsonResponse(await receiveFile(context, app), (value) => ({ name: value }), 201);
});

export const GET = resourceRoute("viewAppFile", "runner", openApp, async (context, app) => {
  const name = getSearchParams(context.request).get("name") ?? "";
  if (name === "" || name.length > 1000 || !(await canUseFile(context, app, name)))
    return failed(createFailure("NOT_FOUND", "There is no such file."));
  return fetchFile(context, app, toFileRef(name));
});
