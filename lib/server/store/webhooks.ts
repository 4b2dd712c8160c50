// Webhooks of connections, their deliveries, and the last state of the watched connections. URLs and secrets are stored encrypted.

import "server-only";
import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type WebhookEvent, webhookEvents } from "@/lib/contract/webhook-events";
import { type Sealed } from "./connections";
import { type Database, deleteBefore, hasEffect } from "./database";
import { getDialect } from "./dialect";
import { type Row } from "./tables";

export type Webhook = Omit<Row<"webhooks">, "events" | "ringKeyId" | "ciphertext"> & { events: WebhookEvent[]; sealed: Sealed };
export type Delivery = Row<"webhookDeliveries">;
export type NewDelivery = Pick<Delivery, "webhookId" | "eventId" | "type" | "body" | "giveUpAt"> & { createdAt: number };
/** The next attempt is due in `retryMs`, or at `retryAt`. Without both, there is none. */
export type Attempt = Required<Pick<Delivery, "state" | "lastAt" | "durationMs">> &
  Partial<Pick<Delivery, "status" | "problem" | "response">> & { retryMs?: number; retryAt?: number };
export type WebhookStore = ReturnType<typeof createWebhookStore>;

const RETENTION_MS = 7 * 24 * 60 * 60_000;
const MAX_DELIVERIES = 1000;
/** Longer than an attempt. Afterwards, another process may send the delivery. */
const SEND_LEASE_MS = 30_000;
const eventsSchema = z.array(z.enum(webhookEvents)).catch([]);

export function createWebhookStore(database: Database) {
  const { selectCurrentTime } = getDialect(database);
  const addMilliseconds = (now: number, ms: number): RawBuilder<number> => sql<number>`${selectCurrentTime(now)} + ${Math.round(ms)}`;
  const enabledIds = database.selectFrom("webhooks").select("id").where("isEnabled", "=", true);

  async function deleteSurplusDeliveries(trx: Database, webhookId: string): Promise<void> {
    const surplusIds = trx
      .selectFrom("webhookDeliveries")
      .select("id")
      .where("webhookId", "=", webhookId)
      // Pending deliveries are the last to be deleted.
      .orderBy((order) => order.case().when("nextAt", "is", null).then(1).else(0).end())
      .orderBy("createdAt", "desc")
      .offset(MAX_DELIVERIES)
      .limit(MAX_DELIVERIES);
    await trx.deleteFrom("webhookDeliveries").where("id", "in", surplusIds).execute();
  }

  /** Fails expired deliveries of disabled webhooks. */
  async function failExpiredDeliveries(now: number): Promise<void> {
    const update = database.updateTable("webhookDeliveries").set({ state: "failed", nextAt: null });
    // A delivery that is being sent has a lease in the future.
    const dueUpdate = update.where("state", "=", "pending").where("giveUpAt", "<", now).where("nextAt", "<=", selectCurrentTime(now));
    await dueUpdate.where("webhookId", "not in", enabledIds).execute();
  }

  async function addDeliveries(trx: Database, deliveries: readonly NewDelivery[], now: number, leaseMs = 0): Promise<Delivery[]> {
    const initialFields = { state: "pending", attempts: 0, nextAt: addMilliseconds(now, leaseMs) } as const;
    const rows = deliveries.map((delivery) => ({ ...delivery, ...initialFields, id: randomUUID() }));
    const addedRows: Delivery[] = [];
    for (const row of rows) {
      // An event that was detected twice is added once.
      const insert = trx.insertInto("webhookDeliveries").values(row);
      const newRow = await insert
        .onConflict((conflict) => conflict.columns(["webhookId", "eventId"]).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (newRow) addedRows.push(newRow);
    }
    for (const id of new Set(addedRows.map(({ webhookId }) => webhookId))) await deleteSurplusDeliveries(trx, id);
    return addedRows;
  }

  return {
    async create(webhook: Webhook): Promise<void> {
      await removeUnusedWatches();
      await database.insertInto("webhooks").values(toRow(webhook)).execute();
    },

    async get(id: string): Promise<Webhook | undefined> {
      const row = await database.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toWebhook(row);
    },

    async list(): Promise<Webhook[]> {
      return (await database.selectFrom("webhooks").selectAll().orderBy("createdAt").orderBy("id").execute()).map(toWebhook);
    },

    /** `before` is the webhook as it was read. Fails if it has changed since. */
    async change(before: Webhook, after: Webhook, now: number): Promise<boolean> {
      // Events from before it was enabled are not sent.
      await removeUnusedWatches();
      await failExpiredDeliveries(now);
      const { id: _id, connectionId: _connectionId, createdAt: _createdAt, ...columns } = toRow(after);
      const update = database.updateTable("webhooks").set({ ...columns, oldUntil: columns.oldUntil ?? null });
      const isChanged = await hasEffect(update.where("id", "=", before.id).where("ciphertext", "=", before.sealed.ciphertext));
      await removeUnusedWatches();
      return isChanged;
    },

    async remove(id: string): Promise<boolean> {
      const isRemoved = await hasEffect(database.deleteFrom("webhooks").where("id", "=", id));
      await removeUnusedWatches();
      return isRemoved;
    },

    /** Returns the newest delivery of each webhook. */
    async listLastDeliveries(): Promise<Map<string, { state: Delivery["state"]; at: number }>> {
      const newestTimes = database
        .selectFrom("webhookDeliveries")
        .select(["webhookId", (max) => max.fn.max("createdAt").as("at")])
        .groupBy("webhookId");
      const rows = await database
        .selectFrom("webhookDeliveries as delivery")
        .innerJoin(newestTimes.as("newest"), (join) =>
          join.onRef("newest.webhookId", "=", "delivery.webhookId").onRef("newest.at", "=", "delivery.createdAt"),
        )
        .select(["delivery.webhookId", "delivery.state", "delivery.createdAt as at"])
        .execute();
      return new Map(rows.map(({ webhookId, state, at }) => [webhookId, { state, at }]));
    },

    /** Lists deliveries, newest first. */
    listDeliveries(webhookId: string, limit: number): Promise<Delivery[]> {
      const deliveryQuery = database.selectFrom("webhookDeliveries").selectAll().where("webhookId", "=", webhookId);
      return deliveryQuery.orderBy("createdAt", "desc").orderBy("id").limit(limit).execute();
    },

    /** Adds a delivery that this process sends at once. */
    async addClaimedDelivery(delivery: NewDelivery, now: number): Promise<Delivery | undefined> {
      return (await database.transaction().execute((trx) => addDeliveries(trx, [delivery], now, SEND_LEASE_MS)))[0];
    },

    /** Claims the next due delivery for this process, except those of the excluded webhooks. */
    async claimDue(now: number, excludedWebhookIds: readonly string[]): Promise<Delivery | undefined> {
      const buildDueCondition = (time: RawBuilder<number>) => sql<boolean>`${sql.ref("nextAt")} <= ${time}`;
      const nextIdQuery = database
        .selectFrom("webhookDeliveries")
        .select("id")
        .where("state", "=", "pending")
        .where(buildDueCondition(selectCurrentTime(now)))
        .where("webhookId", "in", enabledIds)
        .$if(excludedWebhookIds.length > 0, (query) => query.where("webhookId", "not in", [...excludedWebhookIds]))
        .orderBy("nextAt")
        .limit(1);
      return (
        database
          .updateTable("webhookDeliveries")
          .set({ nextAt: addMilliseconds(now, SEND_LEASE_MS) })
          .where("id", "=", nextIdQuery)
          // Another process may have claimed it in between.
          .where(buildDueCondition(selectCurrentTime(now)))
          .returningAll()
          .executeTakeFirst()
      );
    },

    /** Claims this delivery for one attempt, in any state. `scheduledAt` is when it was due before. */
    async claim(webhookId: string, id: string, now: number): Promise<{ delivery: Delivery; scheduledAt: number | undefined } | undefined> {
      const dueQuery = database.selectFrom("webhookDeliveries").select("nextAt").where("id", "=", id).where("webhookId", "=", webhookId);
      const dueRow = await dueQuery.executeTakeFirst();
      const update = database
        .updateTable("webhookDeliveries")
        .set({ nextAt: addMilliseconds(now, SEND_LEASE_MS) })
        .where("id", "=", id);
      const delivery = dueRow && (await update.returningAll().executeTakeFirst());
      return delivery && { delivery, scheduledAt: dueRow.nextAt };
    },

    /** Returns undefined if another process has claimed it after the lease ended. */
    async finish({ id, nextAt }: Delivery, { retryMs, retryAt, ...attempt }: Attempt, now: number): Promise<Delivery | undefined> {
      return database
        .updateTable("webhookDeliveries")
        .set((row) => ({
          ...attempt,
          status: attempt.status ?? null,
          problem: attempt.problem ?? null,
          response: attempt.response ?? null,
          attempts: row("attempts", "+", 1),
          nextAt: retryMs === undefined ? (retryAt ?? null) : addMilliseconds(now, retryMs),
        }))
        .where("id", "=", id)
        .where("nextAt", "=", nextAt ?? 0)
        .returningAll()
        .executeTakeFirst();
    },

    /** Undoes a claim when the process stops. The delivery is due at once, or at `retryAt`. */
    async release({ id, nextAt }: Delivery, now: number, retryAt?: number): Promise<void> {
      const update = database.updateTable("webhookDeliveries").set({ nextAt: retryAt ?? selectCurrentTime(now) });
      await update
        .where("id", "=", id)
        .where("nextAt", "=", nextAt ?? 0)
        .execute();
    },

    /** Returns the enabled webhooks by connection. */
    async listEnabledByConnection(): Promise<Map<string, Webhook[]>> {
      const rows = await database.selectFrom("webhooks").selectAll().where("isEnabled", "=", true).execute();
      const webhooksByConnection = new Map<string, Webhook[]>();
      for (const webhook of rows.map(toWebhook))
        webhooksByConnection.set(webhook.connectionId, [...(webhooksByConnection.get(webhook.connectionId) ?? []), webhook]);
      return webhooksByConnection;
    },

    /** Acquires or renews the lease of a connection's watch. Undefined while another process has it. A new watch has an empty state. */
    async acquireWatch(
      connectionId: string,
      { holder, ms, now }: { holder: string; ms: number; now: number },
    ): Promise<string | undefined> {
      const row = await database
        .insertInto("webhookWatches")
        .values({ connectionId, holder, state: "", heldUntil: addMilliseconds(now, ms) })
        .onConflict((conflict) =>
          conflict
            .column("connectionId")
            .doUpdateSet({ holder, heldUntil: addMilliseconds(now, ms) })
            .where(({ eb, or }) =>
              or([eb("webhookWatches.holder", "=", holder), eb("webhookWatches.heldUntil", "<", selectCurrentTime(now))]),
            ),
        )
        .returning("state")
        .executeTakeFirst();
      return row?.state;
    },

    /** Stores the state, and deliveries for webhooks that are still enabled. Does nothing if another process has taken the lease. */
    async recordWatch(
      connectionId: string,
      { holder, state, deliveries, now }: { holder: string; state: string; deliveries: readonly NewDelivery[]; now: number },
    ): Promise<void> {
      await database.transaction().execute(async (trx) => {
        const update = trx.updateTable("webhookWatches").set({ state }).where("connectionId", "=", connectionId);
        if (!(await hasEffect(update.where("holder", "=", holder))) || deliveries.length === 0) return;
        const enabledRows = await trx.selectFrom("webhooks").select("id").where("isEnabled", "=", true).execute();
        const activeIds = new Set(enabledRows.map(({ id }) => id));
        await addDeliveries(
          trx,
          deliveries.filter(({ webhookId }) => activeIds.has(webhookId)),
          now,
        );
      });
    },

    async prune(now: number): Promise<void> {
      await failExpiredDeliveries(now);
      await deleteBefore(database, "webhookDeliveries", "createdAt", now - RETENTION_MS);
    },

    async releaseWatches(holder: string): Promise<void> {
      await database.updateTable("webhookWatches").set({ heldUntil: 0 }).where("holder", "=", holder).execute();
    },
  };

  /** Deletes the watches of connections without enabled webhooks, so that later webhooks start with an empty state. */
  async function removeUnusedWatches(): Promise<void> {
    const watchedIds = database.selectFrom("webhooks").select("connectionId").where("isEnabled", "=", true);
    await database.deleteFrom("webhookWatches").where("connectionId", "not in", watchedIds).execute();
  }
}

function toRow({ events, sealed, ...columns }: Webhook): Row<"webhooks"> {
  return { ...columns, events: writeExactJson(events), ...sealed };
}

function toWebhook({ events, ringKeyId, ciphertext, ...columns }: Row<"webhooks">): Webhook {
  return { ...columns, events: eventsSchema.parse(parseJson(events)), sealed: { ringKeyId, ciphertext } };
}
