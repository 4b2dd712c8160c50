// Starts an app run within the app's limits, once per idempotency key.

import "server-only";
import { randomUUID } from "node:crypto";
import { appRunBodySchema, type AppValues } from "@/lib/contract/apps/app";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { IDEMPOTENCY_HEADER, isIdempotencyKey } from "@/lib/contract/workflow/submission";
import { createLimiter } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Dependencies } from "../composition-type";
import { type Access, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { readJson } from "../requests/read-request";
import { isNotSent, type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { isForm, receiveForm } from "./files";
import { refreshRun, sendingWorkName } from "./run-state";
import { checkRun, hashValues, readFormInput, removeFiles, type RunOrder, sendRun, type StartedRun, withoutSecrets } from "./send-run";

const DAY_MS = 24 * 60 * 60_000;
const MAX_CONCURRENT_REFRESHES = 8;

function getRunLimits({ limits: { runsPerDay, atOnce } }: StoredApp, at: number) {
  return { runsPerDay, atOnce, dayBegan: startOfDayMs(at) };
}

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
    return body.ok ? startOrRepeatRun({ ...runOrder, values: body.value.inputs, files: [] }) : body;
  }
  const form = await receiveForm(context.composition, context.request);
  if (!form.ok) return form;
  try {
    return await startOrRepeatRun({ ...runOrder, ...readFormInput(app, form.value) });
  } finally {
    await form.value.dispose();
  }
}

async function startOrRepeatRun(order: RunOrder): Promise<Result<StoredRun, Failure>> {
  const existingRun = await findRunByKey(order);
  return existingRun ? repeatRun(order, existingRun) : startRun(order);
}

async function findRunByKey({ context, app, key }: RunOrder): Promise<StoredRun | undefined> {
  return key === undefined ? undefined : context.composition.store.appRuns.findByKey(app.id, context.viewer.memberId, key);
}

async function startRun(order: RunOrder): Promise<Result<StoredRun, Failure>> {
  const { appRuns } = order.access.composition.store;
  const checkedValues = await checkRun(order);
  if (!checkedValues.ok) return checkedValues;
  const run = { id: randomUUID(), ...(await toStoredRun(order, checkedValues.value)) };
  const limits = getRunLimits(order.app, run.createdAt);
  const result = await sendIfStarted(() => appRuns.begin({ ...run, key: order.key }, limits), order, run, checkedValues.value);
  if (result) return result;
  const existingRun = await findRunByKey(order);
  return existingRun
    ? repeatRun(order, existingRun)
    : failed(await describeReachedLimit(order.access.composition, order.app, run.memberId, run.createdAt));
}

/** Returns the existing run of this key. It is sent now if it wasn't before; a rejected run may get new inputs. */
async function repeatRun(order: RunOrder, existingRun: StoredRun): Promise<Result<StoredRun, Failure>> {
  const { context, access, app } = order;
  const { appRuns } = order.access.composition.store;
  const contentHash = hashValues(order.values);
  const isDifferentRun = (run: StoredRun) => run.contentHash !== contentHash && run.state !== "refused";
  const conflict = failed(createFailure("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another run.`));
  if (isDifferentRun(existingRun)) return conflict;
  const refreshedRun = await refreshRun(access, app, existingRun);
  if (!refreshedRun.ok || !isNotSent(refreshedRun.value)) {
    context.annotateAudit({ outcome: "the same run again: nothing was sent" });
    return refreshedRun;
  }
  const checkedValues = await checkRun(order);
  if (!checkedValues.ok) return checkedValues;
  const run = { id: existingRun.id, ...(await toStoredRun(order, checkedValues.value)) };
  const limits = getRunLimits(app, run.createdAt);
  const result = await sendIfStarted(() => appRuns.begin({ ...run, key: order.key }, limits), order, run, checkedValues.value);
  if (result) return result;
  const currentRun = await appRuns.find(app.id, existingRun.memberId, existingRun.id);
  if (currentRun && !isNotSent(currentRun)) return isDifferentRun(currentRun) ? conflict : ok(currentRun);
  // Another request started the run meanwhile and was rejected, so this one may try.
  if (currentRun && currentRun.createdAt !== existingRun.createdAt) return repeatRun(order, currentRun);
  return failed(await describeReachedLimit(order.access.composition, app, existingRun.memberId, run.createdAt));
}

/** The run as stored before it is sent, when its files have no remote names yet. */
async function toStoredRun({ context, access, app, values: values, files }: RunOrder, checkedValues: AppValues) {
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
  tryStart: () => Promise<boolean>,
  order: RunOrder,
  run: StartedRun,
  values: AppValues,
): Promise<Result<StoredRun, Failure> | undefined> {
  // Marked before the run is stored, so that every console process treats it as being sent.
  const endWork = await order.access.composition.store.peers.beginWork(sendingWorkName(run.id));
  let result: Result<StoredRun, Failure> | undefined;
  try {
    if (await tryStart()) result = await sendRun(order, run, values);
  } finally {
    await endWork();
  }
  return result?.ok && result.value.state === "sending" ? refreshRun(order.access, order.app, result.value) : result;
}
