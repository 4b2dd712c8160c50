// Apps and their versions. Every read returns only apps that the member may see. A version never changes.

import "server-only";
import { randomUUID } from "node:crypto";
import { type Expression, type ExpressionBuilder, sql, type SqlBool } from "kysely";
import { type AppAccess, type AppDefinition, type AppLimits, type AppVersionView } from "@/lib/contract/apps/app";
import { type AppChange } from "@/lib/contract/apps/definition";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Role } from "@/lib/contract/members/roles";
import { type Database, hasEffect } from "../database";
import { getDialect } from "../dialect";
import { type Row, type Tables } from "../tables";

const MAX_VERSIONS = 100;
export const MAX_APPS = 2000;

export type AppViewer = { memberId: string; role: Role; isAdmin: boolean };
export type StoredApp = StoredCard & { definition: AppDefinition; limits: AppLimits; members: string[]; roles: Role[] };
export type AppFilter = {
  words: readonly string[];
  tag?: string;
  whose: "all" | "mine" | "team" | "favourites";
  /** Title and id of the last app of the previous page. */
  after?: [string, string];
  limit: number;
};
type Change = {
  fromVersion: number;
  by: string;
  now: number;
  definition?: AppDefinition;
  changes?: readonly AppChange[];
  restoredFrom?: number;
  access?: AppAccess;
  limits?: AppLimits;
};

export function createAppStore(database: Database) {
  const { runExclusive, contains } = getDialect(database);
  const selectCards = (viewer: AppViewer) =>
    database
      .selectFrom("apps")
      .leftJoin("members", "members.id", "apps.makerId")
      .leftJoin("appFavourites", (join) =>
        join.onRef("appFavourites.appId", "=", "apps.id").on("appFavourites.memberId", "=", viewer.memberId),
      )
      .select([
        ...(["apps.id", "connectionId", "makerId", "title", "text", "tags", "cover", "access", "version", "updatedAt"] as const),
        "members.name as makerName",
        "appFavourites.memberId as favouredBy",
      ])
      .where((where) => buildVisibilityFilter(where, viewer));

  async function insertVersion(
    trx: Database,
    id: string,
    version: Omit<AppVersionView, "changes"> & Required<Pick<Change, "definition" | "changes">>,
  ) {
    await trx
      .insertInto("appVersions")
      .values({
        appId: id,
        number: version.number,
        at: version.at,
        by: version.by,
        changes: writeExactJson(version.changes),
        restoredFrom: version.restoredFrom,
        definition: writeExactJson(version.definition),
      })
      .execute();
    await trx
      .deleteFrom("appVersions")
      .where("appId", "=", id)
      .where("number", "<=", version.number - MAX_VERSIONS)
      .execute();
  }

  async function replaceMembers(trx: Database, id: string, access: AppAccess) {
    await trx.deleteFrom("appMembers").where("appId", "=", id).execute();
    if (access.kind !== "members" || access.members.length === 0) return;
    // Omits members who were removed in the meantime.
    const remainingMembers = await trx.selectFrom("members").select("id").where("id", "in", access.members).execute();
    const rows = remainingMembers.map((member) => ({ appId: id, memberId: member.id }));
    if (rows.length > 0) await trx.insertInto("appMembers").values(rows).execute();
  }

  return {
    async create(app: {
      connectionId: string;
      memberId: string;
      by: string;
      definition: AppDefinition;
      access: AppAccess;
      limits: AppLimits;
      now: number;
    }): Promise<string | undefined> {
      const id = randomUUID();
      const { definition, access, limits, now } = app;
      return runExclusive(database, `apps of ${app.connectionId}`, async (trx) => {
        const { count } = await trx
          .selectFrom("apps")
          .select(({ fn }) => fn.countAll<number>().as("count"))
          .where("connectionId", "=", app.connectionId)
          .executeTakeFirstOrThrow();
        if (count >= MAX_APPS) return undefined;
        await trx
          .insertInto("apps")
          .values({
            id,
            connectionId: app.connectionId,
            makerId: app.memberId,
            ...toCardColumns(definition),
            access: access.kind,
            roles: toRolesColumn(access),
            limits: writeExactJson(limits),
            version: 1,
            updatedAt: now,
          })
          .execute();
        await replaceMembers(trx, id, access);
        await insertVersion(trx, id, { number: 1, at: now, by: app.by, definition, changes: [{ what: "created" }] });
        return id;
      });
    },

    /** Sorted by title. `next` is the cursor of the next page. */
    async list(viewer: AppViewer, connectionId: string, filter: AppFilter): Promise<{ apps: StoredCard[]; next?: string }> {
      let query = selectCards(viewer).where("connectionId", "=", connectionId);
      for (const word of filter.words) query = query.where(contains(sql.ref("words"), word));
      if (filter.tag !== undefined) query = query.where(contains(sql.ref("tags"), writeExactJson(filter.tag)));
      if (filter.whose === "mine") query = query.where("makerId", "=", viewer.memberId);
      if (filter.whose === "team") query = query.where("access", "!=", "me");
      if (filter.whose === "favourites") query = query.where("appFavourites.memberId", "is not", null);
      const { after } = filter;
      if (after) query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("title", "apps.id"), ">", tuple(...after)));
      const rows = await query
        .orderBy("title")
        .orderBy("apps.id")
        .limit(filter.limit + 1)
        .execute();
      const appCards = rows.slice(0, filter.limit).map(toCard);
      const lastCard = rows.length > filter.limit ? appCards.at(-1) : undefined;
      return { apps: appCards, ...(lastCard && { next: writeExactJson([lastCard.title, lastCard.id]) }) };
    },

    async listTags(viewer: AppViewer, connectionId: string): Promise<string[]> {
      const rows = await selectCards(viewer).where("connectionId", "=", connectionId).where("tags", "!=", "[]").limit(MAX_APPS).execute();
      return [...new Set(rows.flatMap((row) => toCard(row).tags))].sort().slice(0, 200);
    },

    async find(viewer: AppViewer, id: string): Promise<StoredApp | undefined> {
      const row = await selectCards(viewer).select(["definition", "limits", "roles"]).where("apps.id", "=", id).executeTakeFirst();
      if (!row) return undefined;
      const members = await database.selectFrom("appMembers").select("memberId").where("appId", "=", id).execute();
      const { definition, limits, roles, ...card } = row;
      return {
        ...toCard(card),
        definition: parseStoredJson<AppDefinition>(definition),
        limits: parseStoredJson<AppLimits>(limits),
        members: members.map(({ memberId }) => memberId),
        roles: parseStoredJson<Role[]>(roles),
      };
    },

    /** Returns the new version number, or undefined if the app is no longer at `fromVersion`. */
    async change(id: string, change: Change): Promise<number | undefined> {
      const { fromVersion, definition, access, limits, now } = change;
      const number = fromVersion + (definition ? 1 : 0);
      return database.transaction().execute(async (trx) => {
        const updateResult = await trx
          .updateTable("apps")
          .set({
            version: number,
            updatedAt: now,
            ...(definition && toCardColumns(definition)),
            ...(access && { access: access.kind, roles: toRolesColumn(access) }),
            ...(limits && { limits: writeExactJson(limits) }),
          })
          .where("id", "=", id)
          .where("version", "=", fromVersion)
          .executeTakeFirst();
        if (Number(updateResult.numUpdatedRows) === 0) return undefined;
        if (access) await replaceMembers(trx, id, access);
        if (definition) {
          const { by, restoredFrom, changes = [] } = change;
          await insertVersion(trx, id, { number, at: now, by, definition, changes, ...(restoredFrom !== undefined && { restoredFrom }) });
        }
        return number;
      });
    },

    async remove(id: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("apps").where("id", "=", id));
    },

    async listVersions(id: string): Promise<AppVersionView[]> {
      const rows = await database
        .selectFrom("appVersions")
        .select(["number", "at", "by", "changes", "restoredFrom"])
        .where("appId", "=", id)
        .orderBy("number", "desc")
        .execute();
      return rows.map((row) => ({ ...row, changes: parseStoredJson<AppChange[]>(row.changes) }));
    },

    async findDefinition(id: string, number: number): Promise<AppDefinition | undefined> {
      const row = await database
        .selectFrom("appVersions")
        .select("definition")
        .where("appId", "=", id)
        .where("number", "=", number)
        .executeTakeFirst();
      return row && parseStoredJson<AppDefinition>(row.definition);
    },
  };
}

/** Apps are visible to their author, and to the team or the chosen members. Admins see all except private apps of existing authors. */
function buildVisibilityFilter(where: ExpressionBuilder<Tables, "apps">, { memberId, role, isAdmin }: AppViewer): Expression<SqlBool> {
  return where.or([
    where("apps.makerId", "=", memberId),
    where("apps.access", "=", "team"),
    where.and([
      where("apps.access", "=", "members"),
      where.or([
        where("apps.roles", "like", `%"${role}"%`),
        where.exists(
          where
            .selectFrom("appMembers")
            .select("appId")
            .whereRef("appMembers.appId", "=", "apps.id")
            .where("appMembers.memberId", "=", memberId),
        ),
      ]),
    ]),
    ...(isAdmin ? [where("apps.access", "=", "members"), where("apps.makerId", "is", null)] : []),
  ]);
}

/** Parses JSON that this store wrote from validated values. */
export function parseStoredJson<T>(json: string): T {
  return parseExactJson(json) as T;
}

type Card = Pick<Row<"apps">, "id" | "connectionId" | "title" | "text" | "cover" | "access" | "version" | "updatedAt">;
export type StoredCard = Card & { maker: { id: string; name: string } | undefined; tags: string[]; isFavourite: boolean };
type CardRow = Card & { tags: string; makerId: string | undefined; makerName: string | null; favouredBy: string | null };

function toCard({ makerId, makerName, favouredBy, tags, ...card }: CardRow): StoredCard {
  const maker = makerId === undefined ? undefined : { id: makerId, name: makerName ?? "" };
  return { ...card, maker, tags: parseStoredJson<string[]>(tags), isFavourite: favouredBy !== undefined };
}

function toRolesColumn(access: AppAccess): string {
  return writeExactJson(access.kind === "members" ? access.roles : []);
}

function toCardColumns(definition: AppDefinition) {
  const { title, text, tags, cover } = definition;
  const words = [title, text, ...tags].join("\n").toLowerCase();
  return { title, text, tags: writeExactJson(tags), cover: cover ?? null, words, definition: writeExactJson(definition) };
}
