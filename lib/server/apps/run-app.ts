// Starts an app run within the app's limits, once per idempotency key.

import "server-only";
import { randomUUID } from "node:crypto";
import { appRunBodySchema, type AppValues } from "@/lib/contract/apps/app";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { IDEMPOTENCY_HEADER, isIdempotencyKey } from "@/lib/contract/workflow/submission";
import { createLimiter } from "@/lib/shared/async";
import { failed, type Result } from "@/lib/shared/result";
import { formatCount } from "@/lib/shared/text";
import { type Dependencies } from "../composition-type";
import { type Access, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { readJson } from "../requests/read-request";
import { isUnsent, type NewRun, type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { isForm, receiveForm } from "./files";
import { getSendTaskName, refreshRun } from "./run-state";
import { checkRun, hashValues, readFormInput, removeFiles, removeSecrets, type RunRequest, sendRun } from "./send-run";

const DAY_MS = 24 * 60 * 60_000;
const MAX_CONCURRENT_REFRESHES = 8;

function getDayStartMs(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS) * DAY_MS;
}

async function refreshActiveRuns(access: Access, app: StoredApp): Promise<void> {
  const activeRuns = await access.composition.store.appRuns.listActive(app.id, access.viewer.memberId);
  const limit = createLimiter(MAX_CONCURRENT_REFRESHES);
  await Promise.all(activeRuns.map((run) => limit(() => refreshRun(access, app, run))));
}

async function createLimitFailure({ store }: Dependencies<"store">, app: StoredApp, memberId: string, nowMs: number): Promise<Failure> {
  const { runsPerDay, atOnce } = app.limits;
  const activeRuns = await store.appRuns.listActive(app.id, memberId);
  if (atOnce !== undefined && (activeRuns.length >= atOnce || runsPerDay === undefined))
    return createFailure(
      "RATE_LIMITED",
      `Each member can have at most ${formatCount(atOnce, "run")} of this app at once. Try again when one of your runs ends.`,
      {
        limit: "atOnce",
        most: atOnce,
      },
    );
  const nextDayMs = getDayStartMs(nowMs) + DAY_MS;
  const message = `Each member can run this app at most ${formatCount(runsPerDay ?? 0, "time")} a day. Try again after ${new Date(nextDayMs).toISOString().slice(0, 16).replace("T", " ")} UTC.`;
  return {
    ...createFailure("RATE_LIMITED", message, { limit: "runsPerDay", most: runsPerDay, again: nextDayMs }),
    retryAfterMs: nextDayMs - nowMs,
  };
}

export async function runApp(context: AuthedContext, app: StoredApp): Promise<Result<StoredRun, Failure>> {
  const key = context.request.headers.get(IDEMPOTENCY_HEADER) ?? undefined;
  if (key !== undefined && !isIdempotencyKey(key))
    return failed(createFailure("BAD_REQUEST", `${IDEMPOTENCY_HEADER} must be 16 to 64 letters, digits and hyphens.`));
  const connectionResult = await openConnection(context, app.connectionId);
  if (!connectionResult.ok) return connectionResult;
  const runRequest = { context, access: connectionResult.value, app, key };
  if (!isForm(context.request)) {
    const body = await readJson(context, appRunBodySchema);
    return body.ok ? startOrResumeRun({ ...runRequest, values: body.value.inputs, files: [] }) : body;
  }
  const form = await receiveForm(context.composition, context.request);
  if (!form.ok) return form;
  try {
    return await startOrResumeRun({ ...runRequest, ...readFormInput(app, form.value) });
  } finally {
    await form.value.dispose();
  }
}

/** Starts the run, or returns the existing run with its key. An unsent run is sent now. A rejected run may get new inputs. */
async function startOrResumeRun(runRequest: RunRequest, previousRun?: StoredRun): Promise<Result<StoredRun, Failure>> {
  const { context, access, app, key } = runRequest;
  const { appRuns } = access.composition.store;
  const { memberId } = context.viewer;
  const existingRun = previousRun ?? (key === undefined ? undefined : await appRuns.findByKey(app.id, memberId, key));
  if (existingRun) {
    if (existingRun.contentHash !== hashValues(runRequest.values) && existingRun.state !== "refused")
      return failed(createFailure("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another run.`));
    const refreshedRun = await refreshRun(access, app, existingRun);
    if (!refreshedRun.ok || !isUnsent(refreshedRun.value)) {
      context.annotateAudit({ outcome: "the same run again: nothing was sent" });
      return refreshedRun;
    }
  }
  const checkedValues = await checkRun(runRequest);
  if (!checkedValues.ok) return checkedValues;
  const run = { id: existingRun?.id ?? randomUUID(), ...(await prepareRun(runRequest, checkedValues.value)) };
  const result = await sendIfStarted(runRequest, run, checkedValues.value);
  if (result) return result;
  // Another request may have started the run in the meantime.
  const currentRun =
    existingRun || key === undefined ? await appRuns.find(app.id, memberId, run.id) : await appRuns.findByKey(app.id, memberId, key);
  if (currentRun && (!isUnsent(currentRun) || currentRun.createdAt !== existingRun?.createdAt))
    return startOrResumeRun(runRequest, currentRun);
  return failed(await createLimitFailure(access.composition, app, memberId, run.createdAt));
}

/** Builds the run that is stored before it is sent, when its files have no remote names yet. */
async function prepareRun({ context, access, app, values, files }: RunRequest, checkedValues: AppValues) {
  if (app.limits.atOnce !== undefined) await refreshActiveRuns(access, app);
  return {
    appId: app.id,
    memberId: context.viewer.memberId,
    version: app.version,
    contentHash: hashValues(values),
    inputs: removeSecrets(app, removeFiles(checkedValues, files)),
    createdAt: context.composition.now(),
  };
}

/** Undefined if the run could not start: another request has started it, or a limit is reached. */
async function sendIfStarted(
  runRequest: RunRequest,
  run: Omit<NewRun, "key">,
  values: AppValues,
): Promise<Result<StoredRun, Failure> | undefined> {
  const { runsPerDay, atOnce } = runRequest.app.limits;
  const limits = { runsPerDay, maxConcurrentRuns: atOnce, dayStartMs: getDayStartMs(run.createdAt) };
  // Marked before the run is stored, so that every console process treats it as being sent.
  const endWork = await runRequest.access.composition.store.peers.startWork(getSendTaskName(run.id));
  let result: Result<StoredRun, Failure> | undefined;
  try {
    if (await runRequest.access.composition.store.appRuns.start({ ...run, key: runRequest.key }, limits))
      result = await sendRun(runRequest, run, values);
  } finally {
    await endWork();
  }
  return result?.ok && result.value.state === "sending" ? refreshRun(runRequest.access, runRequest.app, result.value) : result;
}
