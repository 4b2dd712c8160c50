// Starts an app run within the app's limits, once per idempotency key.

import "server-only";
import { randomUUID } from "node:crypto";
import { appRunBodySchema, type AppValues } from "@/lib/contract/apps/app";
import { type Failure, refusal } from "@/lib/contract/failure";
import { IDEMPOTENCY_HEADER, isIdempotencyKey } from "@/lib/contract/workflow/submission";
import { createLimiter } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Parts } from "../composition-type";
import { type Access, openConnection } from "../connections/access";
import { type AuthedContext } from "../context";
import { readJson } from "../requests/read-request";
import { isNotSent, type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { isForm, receiveForm } from "./files";
import { refreshRun, sendingOf } from "./run-state";
import { checkRun, hashOf, readFormInput, type RunOrder, sendRun, type StartedRun, withoutFiles, withoutSecrets } from "./send-run";

const DAY_MS = 24 * 60 * 60_000;
const SETTLED_AT_ONCE = 8;

function limitsOf({ limits: { runsPerDay, atOnce } }: StoredApp, at: number) {
  return { runsPerDay, atOnce, dayBegan: dayOf(at) };
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

async function settleActiveRuns(access: Access, app: StoredApp): Promise<void> {
  const activeRuns = await access.composition.store.appRuns.moving(app.id, access.viewer.memberId);
  const limit = createLimiter(SETTLED_AT_ONCE);
  await Promise.all(activeRuns.map((run) => limit(() => refreshRun(access, app, run))));
}

async function limitReached({ store }: Parts<"store">, app: StoredApp, memberId: string, at: number): Promise<Failure> {
  const { runsPerDay, atOnce } = app.limits;
  const activeRuns = await store.appRuns.moving(app.id, memberId);
  if (atOnce !== undefined && (activeRuns.length >= atOnce || runsPerDay === undefined))
    return refusal("RATE_LIMITED", `This app runs at most ${atOnce} at once for each member. Run it again when one of yours has ended.`, {
      limit: "atOnce",
      most: atOnce,
    });
  const again = dayOf(at) + DAY_MS;
  const message = `This app runs at most ${runsPerDay} times a day for each member. Run it again after ${new Date(again).toISOString().slice(0, 16).replace("T", " ")} UTC.`;
  return { ...refusal("RATE_LIMITED", message, { limit: "runsPerDay", most: runsPerDay, again }), retryAfterMs: again - at };
}

export async function runApp(context: AuthedContext, app: StoredApp): Promise<Result<StoredRun, Failure>> {
  const key = context.request.headers.get(IDEMPOTENCY_HEADER) ?? undefined;
  if (key !== undefined && !isIdempotencyKey(key))
    return failed(refusal("BAD_REQUEST", `${IDEMPOTENCY_HEADER} must be 16 to 64 letters, digits and hyphens.`));
  const connectionResult = await openConnection(context, app.connectionId);
  if (!connectionResult.ok) return connectionResult;
  const order = { context, access: connectionResult.value, app, key };
  if (!isForm(context.request)) {
    const body = await readJson(context, appRunBodySchema);
    return body.ok ? beginOrRepeat({ ...order, values: body.value.inputs, files: [] }) : body;
  }
  const form = await receiveForm(context.composition, context.request);
  if (!form.ok) return form;
  try {
    return await beginOrRepeat({ ...order, ...readFormInput(app, form.value) });
  } finally {
    await form.value.dispose();
  }
}

async function beginOrRepeat(order: RunOrder): Promise<Result<StoredRun, Failure>> {
  const earlier = await runOfKey(order);
  return earlier ? repeat(order, earlier) : begin(order);
}

async function runOfKey({ context, app, key }: RunOrder): Promise<StoredRun | undefined> {
  return key === undefined ? undefined : context.composition.store.appRuns.findByKey(app.id, context.viewer.memberId, key);
}

async function begin(order: RunOrder): Promise<Result<StoredRun, Failure>> {
  const { appRuns } = order.access.composition.store;
  const checked = await checkRun(order);
  if (!checked.ok) return checked;
  const run = { id: randomUUID(), ...(await toStore(order, checked.value)) };
  const limits = limitsOf(order.app, run.createdAt);
  const result = await sendIf(() => appRuns.begin({ ...run, key: order.key }, limits), order, run, checked.value);
  if (result) return result;
  const other = await runOfKey(order);
  return other ? repeat(order, other) : failed(await limitReached(order.access.composition, order.app, run.memberId, run.createdAt));
}

/** The existing run of this key. It is sent now if it wasn't; a rejected run may get new inputs. */
async function repeat(order: RunOrder, earlier: StoredRun): Promise<Result<StoredRun, Failure>> {
  const { context, access, app } = order;
  const { appRuns } = order.access.composition.store;
  const contentHash = hashOf(order.values);
  const isOther = (run: StoredRun) => run.contentHash !== contentHash && run.state !== "refused";
  const conflict = failed(refusal("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another run.`));
  if (isOther(earlier)) return conflict;
  const earlierRun = await refreshRun(access, app, earlier);
  if (!earlierRun.ok || !isNotSent(earlierRun.value)) {
    context.annotateAudit({ outcome: "the same run again: nothing was sent" });
    return earlierRun;
  }
  const checked = await checkRun(order);
  if (!checked.ok) return checked;
  const run = { id: earlier.id, ...(await toStore(order, checked.value)) };
  const limits = limitsOf(app, run.createdAt);
  const result = await sendIf(() => appRuns.begin({ ...run, key: order.key }, limits), order, run, checked.value);
  if (result) return result;
  const now = await appRuns.find(app.id, earlier.memberId, earlier.id);
  if (now && !isNotSent(now)) return isOther(now) ? conflict : ok(now);
  // Another request started it meanwhile and was rejected, so this one may try.
  if (now && now.createdAt !== earlier.createdAt) return repeat(order, now);
  return failed(await limitReached(order.access.composition, app, earlier.memberId, run.createdAt));
}

/** The run as stored before it is sent. Files have no remote names yet. */
async function toStore({ context, access, app, values: values, files }: RunOrder, checked: AppValues) {
  if (app.limits.atOnce !== undefined) await settleActiveRuns(access, app);
  return {
    appId: app.id,
    memberId: context.viewer.memberId,
    version: app.version,
    contentHash: hashOf(values),
    inputs: withoutSecrets(app, withoutFiles(checked, files)),
    createdAt: context.composition.now(),
  };
}

/** Undefined if the run could not begin: others have begun it, or a limit is reached. */
async function sendIf(
  begins: () => Promise<boolean>,
  order: RunOrder,
  run: StartedRun,
  values: AppValues,
): Promise<Result<StoredRun, Failure> | undefined> {
  // Marked before the run is stored, so that every console treats it as being sent.
  const endWork = await order.access.composition.store.peers.beginWork(sendingOf(run.id));
  let result: Result<StoredRun, Failure> | undefined;
  try {
    if (await begins()) result = await sendRun(order, run, values);
  } finally {
    await endWork();
  }
  return result?.ok && result.value.state === "sending" ? refreshRun(order.access, order.app, result.value) : result;
}
