import { consoleRoute } from "@/lib/server/bff/routes";
import { disconnectProvider } from "@/lib/server/queries/sign-in";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyOf } from "@/lib/server/requests/responses";

export const DELETE = consoleRoute("unlinkProvider", { role: "runner", recent: true }, async (context) => {
  const id = idOf(context);
  context.annotateAudit({ target: id });
  return emptyOf(await disconnectProvider(context, id));
});
