import { toFileRef } from "@/lib/contract/assets/file-refs";
import { refusal } from "@/lib/contract/failure";
import { openApp } from "@/lib/server/apps/open-app";
import { mayName, receiveFile } from "@/lib/server/apps/pictures";
import { fileBytes } from "@/lib/server/apps/runs";
import { consoleRoute } from "@/lib/server/bff/routes";
import { searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

export const POST = consoleRoute("addAppFile", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const name = await receiveFile(asked, app.value);
  return name.ok ? ok(jsonAnswer({ name: name.value }, 201)) : name;
});

export const GET = consoleRoute("viewAppFile", "runner", async (asked) => {
  const app = await openApp(asked);
  if (!app.ok) return app;
  const name = searchOf(asked.request).get("name") ?? "";
  if (name === "" || name.length > 1000 || !(await mayName(asked, app.value, name)))
    return failed(refusal("NOT_FOUND", "There is no such file."));
  return fileBytes(asked, app.value, toFileRef(name));
});
