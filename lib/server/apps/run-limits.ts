// How often an app runs for each member: at once, and in a day of UTC.
// The store counts against these limits as it begins a run; here is what it counts with, and the refusal for a member who has reached one.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { refusal } from "../bff/guard";
import { composition } from "../composition";
import { type Access } from "../connections/access";
import { type StoredApp } from "../store/apps/apps";
import { refreshRun } from "./run-state";

const DAY_MS = 24 * 60 * 60_000;
/** Runs that are refreshed at the same time. */
const SETTLED_AT_ONCE = 8;

export function limitsOf({ limits: { runsPerDay, atOnce } }: StoredApp, at: number) {
  return { runsPerDay, atOnce, dayBegan: dayOf(at) };
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}

/** Asks after the runs that were still moving: one that has ended counts no longer. */
export async function settleMoving(access: Access, app: StoredApp): Promise<void> {
  const moving = await composition().store.appRuns.moving(app.id, access.viewer.memberId);
  for (let at = 0; at < moving.length; at += SETTLED_AT_ONCE)
    await Promise.all(moving.slice(at, at + SETTLED_AT_ONCE).map((run) => refreshRun(access, app, run)));
}

export async function limitReached(app: StoredApp, memberId: string, at: number): Promise<Failure> {
  const { runsPerDay, atOnce } = app.limits;
  const moving = await composition().store.appRuns.moving(app.id, memberId);
  if (atOnce !== undefined && (moving.length >= atOnce || runsPerDay === undefined))
    return refusal("RATE_LIMITED", `This app runs at most ${atOnce} at once for each member. Run it again when one of yours has ended.`, {
      limit: "atOnce",
      most: atOnce,
    });
  const again = dayOf(at) + DAY_MS;
  const message = `This app runs at most ${runsPerDay} times a day for each member. Run it again after ${new Date(again).toISOString().slice(0, 16).replace("T", " ")} UTC.`;
  return { ...refusal("RATE_LIMITED", message, { limit: "runsPerDay", most: runsPerDay, again }), retryAfterMs: again - at };
}
