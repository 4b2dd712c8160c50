// App runs with their results, and the app's cover image.

import "server-only";
import { type z } from "zod";
import { type AppRun, type appRunsQuerySchema } from "@/lib/contract/apps/app";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { createFailure, type Failure, isNotFound } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { createdAssetSchema } from "@/lib/contract/schemas/asset";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Access, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { stopJobs } from "../jobs/stop-jobs";
import { runOperation } from "../operations/run-operation";
import { getSearchParams } from "../requests/read-request";
import { type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { type ThumbnailSubject } from "../thumbnails/open-image";
import { createThumbnailResponse, edges } from "../thumbnails/thumbnail";
import { forwardUpload } from "./files";
import { openApp } from "./open-app";
import { getResultNumber, refreshRun, toRunView } from "./run-state";

const runNotFoundFailure = createFailure("NOT_FOUND", "There is no such run.");
type RunContext = { app: StoredApp; access: Access; run: StoredRun };

export async function openRun(context: AuthedContext): Promise<Result<RunContext, Failure>> {
  const app = await openApp(context);
  if (!app.ok) return app;
  const access = await openConnection(context, app.value.connectionId);
  if (!access.ok) return access;
  const { run: id } = context.params;
  const run = typeof id === "string" ? await context.composition.store.appRuns.find(app.value.id, context.viewer.memberId, id) : undefined;
  return run ? ok({ app: app.value, access: access.value, run }) : failed(runNotFoundFailure);
}

export async function readRun({ viewer }: AuthedContext, { access, app, run }: RunContext): Promise<Result<AppRun, Failure>> {
  const result = await refreshRun(access, app, run);
  return result.ok ? ok(toRunView(viewer, result.value)) : result;
}

type RunPage = { runs: AppRun[]; next?: string };

/** Refreshes active runs. If the service doesn't respond, their last stored state is returned. */
export async function listRuns(
  context: AuthedContext,
  app: StoredApp,
  { limit, after }: z.output<typeof appRunsQuerySchema>,
): Promise<Result<RunPage, Failure>> {
  const access = await openConnection(context, app.connectionId);
  if (!access.ok) return access;
  const appRuns = await context.composition.store.appRuns.list(app.id, context.viewer.memberId, {
    limit: limit + 1,
    ...(after && { before: after }),
  });
  const page = appRuns.slice(0, limit);
  const runs = await Promise.all(
    page.map(async (run) => {
      const result = await refreshRun(access.value, app, run);
      return toRunView(context.viewer, result.ok ? result.value : run);
    }),
  );
  const lastRun = appRuns.length > limit ? page.at(-1) : undefined;
  return ok({ runs, ...(lastRun && { next: `${lastRun.createdAt}.${lastRun.id}` }) });
}

/** Removes a waiting run from the queue. Stops a running one only if the service can do so without stopping other jobs. */
export async function cancelRun(context: AuthedContext, runContext: RunContext): Promise<Result<AppRun, Failure>> {
  const { access, app } = runContext;
  const result = await refreshRun(access, app, runContext.run);
  if (!result.ok) return result;
  const { jobId, state } = result.value;
  const isDequeued = state === "pending";
  if (jobId !== undefined && isDequeued) {
    const removal = await access.upstream.call(operations.manageQueue, { json: { delete: [jobId] } });
    if (!removal.ok) return removal;
  } else if (jobId !== undefined && state === "in_progress") {
    const stopResult = await stopJobs(access, [jobId], context.request.signal);
    if (!stopResult.ok) return stopResult;
    if (stopResult.value.unable.length > 0)
      return failed(createFailure("CONFLICT", "The service can't stop this run without stopping others."));
  }
  const refreshedRun = await refreshRun(access, app, result.value, { isDequeued });
  return refreshedRun.ok ? ok(toRunView(context.viewer, refreshedRun.value)) : refreshedRun;
}

export async function fetchResultFile(context: AuthedContext, { app, run }: RunContext): Promise<Result<Response, Failure>> {
  const resultNumber = Number(context.params.number);
  const file = run.results?.find((result, index) => getResultNumber(result, index) === resultNumber)?.file;
  return file ? fetchFile(context, app, file) : failed(createFailure("NOT_FOUND", "There is no such output."));
}

/** Returns the file, or a WebP thumbnail of it if `edge` is set. The caller must check that the member may see it. */
export async function fetchFile(context: AuthedContext, app: StoredApp, file: OutputFile): Promise<Result<Response, Failure>> {
  const { filename, subfolder, type } = file;
  if (getSearchParams(context.request).has("edge")) return fetchThumbnail(context, app, { filename, subfolder, type });
  const url = new URL(context.request.url);
  const fileParams = new URLSearchParams({ [CONNECTION_PARAMETER]: app.connectionId, filename, subfolder, type });
  const channel = getSearchParams(context.request).get("channel");
  if (channel !== null) fileParams.set("channel", channel);
  url.search = `?${fileParams.toString()}`;
  const { headers, method, signal } = context.request;
  return runOperation(operations.view, { ...context, request: new Request(url, { method, headers, signal }) }, ok({}));
}

export async function fetchThumbnail(
  context: AuthedContext,
  app: StoredApp,
  subject: ThumbnailSubject,
): Promise<Result<Response, Failure>> {
  const access = await openConnection(context, app.connectionId);
  if (!access.ok) return access;
  const edgeParam = getSearchParams(context.request).get("edge") ?? "512";
  const edge = edges.find((edge) => String(edge) === edgeParam);
  if (edge === undefined) return failed(createFailure("INVALID_QUERY", `edge: must be one of ${edges.join(", ")}`));
  const isImmutable = "filename" in subject && /^[0-9a-f]{64}\b/.test(subject.filename);
  return createThumbnailResponse(access.value, context.composition, { subject, edge, isImmutable, client: context.request }, false);
}

export async function readCover(context: AuthedContext, app: StoredApp): Promise<Result<string | undefined, Failure>> {
  if (app.cover === undefined) return ok(undefined);
  const thumbnail = await fetchThumbnail(context, app, { asset: app.cover });
  if (!thumbnail.ok) return isNotFound(thumbnail.failure) ? ok(undefined) : thumbnail;
  return ok(Buffer.from(await thumbnail.value.arrayBuffer()).toString("base64") || undefined);
}

/** Uploads the cover as an asset of the connection and returns its id. */
export async function storeCover(
  context: AuthedContext,
  connectionId: string | undefined,
  cover: string | undefined,
): Promise<Result<string | undefined, Failure>> {
  if (cover === undefined) return ok(undefined);
  const form = new FormData();
  form.set("tags", "cover");
  form.set("file", new File([Buffer.from(cover, "base64")], "cover.webp", { type: "image/webp" }));
  const result = await forwardUpload(context, connectionId, operations.uploadAsset, await new Response(form).blob());
  if (!result.ok) return isNotFound(result.failure) ? ok(undefined) : result;
  const parsed = createdAssetSchema.safeParse(result.value);
  return parsed.success
    ? ok(parsed.data.id)
    : failed(createFailure("UPSTREAM_UNREADABLE", "Couldn't read the service's response to the cover upload."));
}
