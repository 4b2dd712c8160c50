// An app's cover as part of its file: a small WebP, because the picture itself is an asset of one connection's service.
// Guarantees: an outage is a failure, never an app without its cover; a service without assets, or an asset that is gone, means no cover.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure, isNotThere } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { createdAssetSchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { runOperation } from "../bff/bff-route";
import { type Asked, refusal } from "../bff/guard";
import { type StoredApp } from "../store/apps/apps";
import { smallPicture } from "./runs";

export async function readCover(asked: Asked, app: StoredApp): Promise<Result<string | undefined, Failure>> {
  if (app.cover === undefined) return ok(undefined);
  const picture = await smallPicture(asked, app, { asset: app.cover });
  if (!picture.ok) return isNotThere(picture.failure) ? ok(undefined) : picture;
  // An empty body: the asset is not a picture.
  return ok(Buffer.from(await picture.value.arrayBuffer()).toString("base64") || undefined);
}

/** Uploads the cover as an asset of the connection, like a member's upload; answers its id. */
export async function keepCover(
  asked: Asked,
  connection: string | undefined,
  cover: string | undefined,
): Promise<Result<string | undefined, Failure>> {
  if (cover === undefined) return ok(undefined);
  const form = new FormData();
  form.set("tags", "cover");
  form.set("file", new File([Buffer.from(cover, "base64")], "cover.webp", { type: "image/webp" }));
  // With Content-Length: some services refuse an upload without it.
  const body = await new Response(form).blob();
  const address = new URL(asked.request.url);
  address.search = connection === undefined ? "" : `?${new URLSearchParams({ [CONNECTION_PARAMETER]: connection }).toString()}`;
  const headers = new Headers({ "content-type": body.type, "content-length": String(body.size) });
  const sent = { method: "POST", headers, body: body.stream(), signal: asked.request.signal, duplex: "half" } as const;
  // The audit log records the import, not this upload.
  const answer = await runOperation(
    operations.uploadAsset,
    { ...asked, request: new Request(address, sent), note: () => undefined },
    ok({}),
  );
  if (!answer.ok) return isNotThere(answer.failure) ? ok(undefined) : answer;
  const read = createdAssetSchema.safeParse(await answer.value.json());
  return read.success ? ok(read.data.id) : failed(refusal("UPSTREAM_UNREADABLE", "The service's answer to the cover cannot be read."));
}
