// Starts an app run within the app's limits, once per idempotency key.

import "server-only";
import { randomUUID } from "node:crypto";
import { appRunBodySchema, type AppValues } from "@/lib/contract/apps/app";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { IDEMPOTENCY_HEADER, isIdempotencyKey } from "@/lib/contract/workflow/submission";
import { createLimiter } from "@/lib/shared/async";
import { failed, type Result } from "@/lib/shared/result";
import { type Dependencies } from "../composition-type";
import { type Access, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { readJson } from "../requests/read-request";
import { isNotSent, type NewRun, type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { isForm, receiveForm } from "./files";
import { refreshRun, sendingWorkName } from "./run-state";
import { checkRun, hashValues, readFormInput, removeFiles, type RunOrder, sendRun, withoutSecrets } from "./send-run";

const DAY_MS = 24 * 60 * 60_000;
const MAX_CONCURRENT_REFRESHES = 8;

function startOfDayMs(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

async function settleActiveRuns(access: Access, app: StoredApp): Promise<void> {
  const activeRuns = await access.composition.store.appRuns.moving(app.id, access.viewer.memberId);
  const limit = createLimiter(MAX_CONCURRENT_REFRESHES);
  await Promise.all(activeRuns.map((run) => limit(() => refreshRun(access, app, run))));
}

async function describeReachedLimit({ store }: Dependencies<"store">, app: StoredApp, memberId: string, at: number): Promise<Failure> {
  const { runsPerDay, atOnce } = app.limits;
  const activeRuns = await store.appRuns.moving(app.id, memberId);
  if (atOnce !== undefined && (activeRuns.length >= atOnce || runsPerDay === undefined))
    return createFailure(
      "RATE_LIMITED",
      `This app runs at most ${atOnce} at once for each member. Run it again when one of yours has ended.`,
      {
        limit: "atOnce",
        most: atOnce,
      },
    );
  const nextDayMs = startOfDayMs(at) + DAY_MS;
  const message = `This app runs at most ${runsPerDay} times a day for each member. Run it again after ${new Date(nextDayMs).toISOString().slice(0, 16).replace("T", " ")} UTC.`;
  return {
    ...createFailure("RATE_LIMITED", message, { limit: "runsPerDay", most: runsPerDay, again: nextDayMs }),
    retryAfterMs: nextDayMs - at,
  };
}

export async function runApp(context: AuthedContext, app: StoredApp): Promise<Result<StoredRun, Failure>> {
  const key = context.request.headers.get(IDEMPOTENCY_HEADER) ?? undefined;
  if (key !== undefined && !isIdempotencyKey(key))
    return failed(createFailure("BAD_REQUEST", `${IDEMPOTENCY_HEADER} must be 16 to 64 letters, digits and hyphens.`));
  const connectionResult = await openConnection(context, app.connectionId);
  if (!connectionResult.ok) return connectionResult;
  const runOrder = { context, access: connectionResult.value, app, key };
  if (!isForm(context.request)) {
    const body = await readJson(context, appRunBodySchema);
    return body.ok ? startOrResumeRun({ ...runOrder, values: body.value.inputs, files: [] }) : body;
  }
  const form = await receiveForm(context.composition, context.request);
  if (!form.ok) return form;
  try {
    return await startOrResumeRun({ ...runOrder, ...readFormInput(app, form.value) });
  } finally {
    await form.value.dispose();
  }
}

/** Starts the run, or returns the existing one of its key. That is sent now if it wasn't before; a rejected run may get new inputs. */
async function startOrResumeRun(order: RunOrder, previousRun?: StoredRun): Promise<Result<StoredRun, Failure>> {
  const { context, access, app, key } = order;
  const { appRuns } = access.composition.store;
  const { memberId } = context.viewer;
  const existingRun = previousRun ?? (key === undefined ? undefined : await appRuns.findByKey(app.id, memberId, key));
  if (existingRun) {
    if (existingRun.contentHash !== hashValues(order.values) && existingRun.state !== "refused")
      return failed(createFailure("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another run.`));
    const refreshedRun = await refreshRun(access, app, existingRun);
    if (!refreshedRun.ok || !isNotSent(refreshedRun.value)) {
      context.annotateAudit({ outcome: "the same run again: nothing was sent" });
      return refreshedRun;
    }
  }
  const checkedValues = await checkRun(order);
  if (!checkedValues.ok) return checkedValues;
  const run = { id: existingRun?.id ?? randomUUID(), ...(await toStoredRun(order, checkedValues.value)) };
  const result = await sendIfStarted(order, run, checkedValues.value);
  if (result) return result;
  // Another request may have started the run meanwhile.
  const currentRun =
    existingRun || key === undefined ? await appRuns.find(app.id, memberId, run.id) : await appRuns.findByKey(app.id, memberId, key);
  if (currentRun && (!isNotSent(currentRun) || currentRun.createdAt !== existingRun?.createdAt)) return startOrResumeRun(order, currentRun);
  return failed(await describeReachedLimit(access.composition, app, memberId, run.createdAt));
}

/** The run as stored before it is sent, when its files have no remote names yet. */
async function toStoredRun({ context, access, app, values, files }: RunOrder, checkedValues: AppValues) {
  if (app.limits.atOnce !== undefined) await settleActiveRuns(access, app);
  return {
    appId: app.id,
    memberId: context.viewer.memberId,
    version: app.version,
    contentHash: hashValues(values),
    inputs: withoutSecrets(app, removeFiles(checkedValues, files)),
    createdAt: context.composition.now(),
  };
}

/** Undefined if the run could not start: another request has started it, or a limit is reached. */
async function sendIfStarted(
  order: RunOrder,
  run: Omit<NewRun, "key">,
  values: AppValues,
): Promise<Result<StoredRun, Failure> | undefined> {
  const { runsPerDay, atOnce } = order.app.limits;
  const limits = { runsPerDay, atOnce, dayStartMs: startOfDayMs(run.createdAt) };
  // Marked before the run is stored, so that every console process treats it as being sent.
  const endWork = await order.access.composition.store.peers.beginWork(sendingWorkName(run.id));
  let result: Result<StoredRun, Failure> | undefined;
  try {
    if (await order.access.composition.store.appRuns.begin({ ...run, key: order.key }, limits)) result = await sendRun(order, run, values);
  } finally {
    await endWork();
  }
  return result?.ok && result.value.state === "sending" ? refreshRun(order.access, order.app, result.value) : result;
}
