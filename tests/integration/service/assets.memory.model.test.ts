// Thousands of assets that change in every way, between queries that are answered twice: from the service's memory and by reading every
// row of the database. If memory does not know enough it must give no answer, never a wrong one.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFilter } from "@/lib/service/assets/asset-filter";
import { readAssets } from "@/lib/service/assets/asset-row";
import { editAsset } from "@/lib/service/assets/change-asset";
import { insertAsset } from "@/lib/service/assets/insert-asset";
import { keepSearchIndex } from "@/lib/service/assets/search/sqlite/full-text";
import { type AssetMemory, createAssetMemory } from "@/lib/service/assets/search/sqlite/memory";
import { addTags, removeTags } from "@/lib/service/assets/tags";
import { query, type Transaction } from "@/lib/service/store/database";
import { openDatabase, type SqliteDatabase } from "@/lib/service/store/sqlite";
import { createKeys } from "@/lib/service/users/keys";
import { foldName } from "@/lib/shared/text";
import { seedAssets } from "@/tests/bench/service/seed-assets";
import { until } from "@/tests/support/until";
import { ASSETS, type Change, change, type Question, question } from "./asset-changes";

const silentLog = { info: () => undefined, warn: () => undefined, error: console.error };

describe("lists of assets from memory", () => {
  let folder: string;
  let database: SqliteDatabase;
  let memory: AssetMemory;
  /** Called before each read of memory. */
  let beforeRead: () => Promise<unknown> = () => Promise.resolve();
  let created = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lightdesk-memory-"));
    const file = join(folder, "service.sqlite");
    database = await openDatabase(file, Date.now);
    await createKeys(database, Date.now).createKey("ada");
    await createKeys(database, Date.now).createKey("bob");
    await database.close();
    await seedAssets(file, "ada", ASSETS);
    database = await openDatabase(file, Date.now);
    await keepSearchIndex(database);
    const interrupted: SqliteDatabase = {
      ...database,
      rows: (statement) => beforeRead().then(() => database.rows(statement)),
      row: (statement) => beforeRead().then(() => database.row(statement)),
    };
    memory = createAssetMemory(interrupted, silentLog);
  });
  afterAll(async () => {
    await memory.stop();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function create(tx: Transaction, ownerId: number, { name, tags, width, time }: Change): Promise<number> {
    created += 1;
    const hash = created.toString(16).padStart(64, "0");
    const [size, at] = [1000 + (time % 7) * 1000, Date.parse("2026-06-01") + time];
    await tx.run(query.insertInto("blobs").values({ hash, sha256: hash, size, media_type: "image/png", created_at: at }));
    const origin = ownerId === 0 ? "shipped" : "upload";
    const asset = { id: crypto.randomUUID(), ownerId, origin, content: { hash, size }, name, tags, metadata: { width } } as const;
    return insertAsset(tx, asset, at);
  }

  async function apply(tx: Transaction, one: Change): Promise<unknown> {
    const all = await tx.rows(query.selectFrom("assets").select("seq").orderBy("seq"));
    const seq = all[one.at % all.length]?.seq ?? 0;
    const at = Date.parse("2026-06-02") + one.time;
    const set = (values: object) => tx.run(query.updateTable("assets").set(values).where("seq", "=", seq));
    const [asset] = await readAssets(tx, [seq]);
    if (!asset) throw new Error("there is no asset to change");
    switch (one.kind) {
      case "create":
        return create(tx, one.at % 9 === 0 ? 2 : 1, one);
      case "ship":
        return one.at % 5 === 0 && create(tx, 0, one);
      case "delete":
        return tx.run(query.deleteFrom("assets").where("seq", "=", seq));
      case "tag":
        return addTags(tx, seq, one.tags, at);
      case "untag":
        return removeTags(tx, seq, [...one.tags, ...asset.tags.slice(0, 1)], at);
      case "rename":
        return editAsset(tx, asset, { name: one.name || "x" }, at);
      case "metadata":
        return editAsset(tx, asset, { user_metadata: { width: one.width } }, at);
      case "access":
        return set({ last_access_time: at });
      case "size":
        return set({ size: 1000 + (one.time % 5) * 1000 });
      case "many":
        // So many at once that orders are read again.
        return (
          one.at % 40 === 0 &&
          tx.run(
            query
              .updateTable("assets")
              .set({ size: one.time % 100_000 })
              .where("seq", "<", 1 + (one.time % 600)),
          )
        );
      case "undo":
        throw new Error("undone");
    }
  }

  async function applyAll(changes: readonly Change[]): Promise<void> {
    for (const one of changes) {
      // A transaction that is rolled back may have changed something before.
      const work = async (tx: Transaction) => {
        if (one.kind === "undo") await create(tx, 1, one);
        await apply(tx, one);
      };
      await database.commit(work).catch((error: unknown) => {
        if (one.kind !== "undo") throw error;
      });
    }
  }

  async function expected({ include_tags, exclude_tags, name_contains, width, include_public, sort, order }: Question) {
    const tagsOf = new Map<number, string[]>();
    for (const { asset_seq, tag: one } of await database.rows(query.selectFrom("asset_tags").selectAll())) {
      tagsOf.set(asset_seq, [...(tagsOf.get(asset_seq) ?? []), one]);
    }
    const rows = await database.rows(query.selectFrom("assets").selectAll());
    const sign = order === "asc" ? 1 : -1;
    // Compared as bytes, as the database compares texts.
    const compare = (a: string | number, b: string | number) =>
      typeof a === "number" && typeof b === "number" ? a - b : Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
    return rows
      .filter(({ seq, owner_id, name, metadata }) => {
        const tags = tagsOf.get(seq) ?? [];
        const isWide = width === undefined || (JSON.parse(metadata) as { width?: number }).width === width;
        const isSeen = owner_id === 1 || (include_public && owner_id === 0);
        const isNamed = foldName(name).includes(foldName(name_contains));
        return (
          isSeen && isWide && isNamed && include_tags.every((one) => tags.includes(one)) && !exclude_tags.some((one) => tags.includes(one))
        );
      })
      .map((row) => ({ seq: row.seq, id: row.id, tags: tagsOf.get(row.seq) ?? [], place: sort === "name" ? row.name_folded : row[sort] }))
      .sort((a, b) => sign * (compare(a.place, b.place) || compare(a.id, b.id)));
  }

  const filterOf = ({ width, ...asked }: Question) =>
    readFilter({ ...asked, metadata_filter: width === undefined ? undefined : JSON.stringify({ width }) });

  it("are what a look at every row gives, whatever changed before", async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.array(question, { minLength: 1, maxLength: 3 }),
        async (changes, questions) => {
          await applyAll(changes);
          for (const asked of questions) {
            const all = await expected(asked);
            const offset = Math.floor(asked.depth * all.length);
            const page = { sort: asked.sort, order: asked.order, limit: asked.limit, offset };
            const answer = await memory.list(1, filterOf(asked), asked.include_public, page);
            if (!answer) {
              await until(
                "memory knows enough again",
                async () => (await memory.list(1, filterOf(asked), asked.include_public, page)) !== undefined,
              );
            } else answered += 1;
            const found = answer ?? (await memory.list(1, filterOf(asked), asked.include_public, page));
            expect(found).toEqual({ total: all.length, seqs: all.slice(offset, offset + asked.limit).map((row) => row.seq) });
            const tally = await memory.tally(1, filterOf(asked), asked.include_public);
            const carried = all.reduce((sum, row) => sum + row.tags.length, 0);
            expect([...(tally?.values() ?? [])].reduce((sum, n) => sum + n, 0)).toBe(carried);
          }
        },
      ),
      { numRuns: 60, seed: 20261121 },
    );
    expect(answered).toBeGreaterThan(60);
  });

  const bySize = { sort: "size", order: "asc", limit: 1e6, offset: 0 } as const;
  const asked = { include_tags: [], exclude_tags: [], name_contains: "", width: undefined, include_public: true, depth: 0 };
  const orderedBySize = async (include_tags: string[]) => (await expected({ ...asked, ...bySize, include_tags })).map(({ seq }) => seq);
  const resize = (tx: Transaction, seq: number, size: number) => tx.run(query.updateTable("assets").set({ size }).where("seq", "=", seq));

  /** Asks, and commits `change` just before the query's read with this number; also returns whether the query got that far. */
  async function askInterrupted<T>(reads: number, change: (tx: Transaction) => Promise<unknown>, ask: () => Promise<T>) {
    let left = reads;
    beforeRead = async () => {
      left -= 1;
      if (left === 0) await database.commit(change);
    };
    const answer = await ask();
    beforeRead = () => Promise.resolve();
    return { answer, isInterrupted: left <= 0 };
  }

  it("are of one moment or not given, whatever is committed while they are read", async () => {
    const tagged = readFilter({ include_tags: ["moment"], include_public: true });
    const ask = async () => (await memory.list(1, tagged, true, bySize))?.seqs;
    const [one, other, third] = (await orderedBySize([])).slice(0, 3);
    if (one === undefined || other === undefined || third === undefined) throw new Error("there are too few assets");
    for (let [reads, isInterrupted] = [1, true]; isInterrupted; reads += 1) {
      await database.commit(async (tx) => {
        for (const [at, seq] of [one, other, third].entries()) {
          await addTags(tx, seq, ["moment"], 1);
          await resize(tx, seq, 10 * (at + 1));
        }
      });
      await until("memory knows enough", async () => (await ask()) !== undefined);
      // A change that memory must catch up with.
      await database.commit(async (tx) => {
        await resize(tx, third, 31);
        await addTags(tx, third, [`of ${reads}`], 2);
      });
      const asking = await askInterrupted(
        reads,
        async (tx) => {
          await removeTags(tx, one, ["moment"], 2);
          await resize(tx, other, 1);
        },
        ask,
      );
      expect([undefined, [one, other, third], [other, third]]).toContainEqual(asking.answer);
      isInterrupted = asking.isInterrupted;
    }
  });

  it("have everything in its place, though what it was compared with has moved in that moment", async () => {
    const everything = readFilter({ include_public: true });
    const ask = async () => (await memory.list(1, everything, true, bySize))?.seqs;
    for (let [reads, isInterrupted] = [1, true]; isInterrupted; reads += 1) {
      await until("memory knows enough", async () => (await ask()) !== undefined);
      const seqs = await orderedBySize([]);
      // The first asset that a new one is compared with, once the new one itself is taken out.
      const [middle, late] = [seqs[(seqs.length - 1) >>> 1] ?? 0, seqs[Math.floor(seqs.length * 0.8)] ?? 0];
      await database.commit((tx) =>
        tx.run(
          query
            .updateTable("assets")
            .set(({ eb }) => ({ size: eb("size", "+", 1) }))
            .where("seq", "=", late),
        ),
      );
      ({ isInterrupted } = await askInterrupted(reads, (tx) => resize(tx, middle, 1e9 + reads), ask));
      await until("memory knows enough again", async () => (await ask()) !== undefined);
      expect(await ask()).toEqual(await orderedBySize([]));
    }
  });

  it("say nothing of what another process wrote before it was read anew", async () => {
    const page = { sort: "size", order: "asc", limit: 5, offset: 0 } as const;
    const everything = readFilter({ include_public: false });
    await until("memory knows all", async () => (await memory.list(1, everything, false, page)) !== undefined);
    const other = new Sqlite(join(folder, "service.sqlite"));
    const gone = other.prepare("DELETE FROM assets WHERE seq IN (SELECT seq FROM assets WHERE owner_id = 1 ORDER BY size LIMIT 3)").run();
    other.close();
    expect(gone.changes).toBe(3);
    expect(await memory.list(1, everything, false, page)).toBeUndefined();
    await until("it was read anew", async () => (await memory.list(1, everything, false, page)) !== undefined);
    const left = await database.rows(query.selectFrom("assets").select("seq").where("owner_id", "=", 1).orderBy("size").orderBy("id"));
    expect(await memory.list(1, everything, false, page)).toEqual({ total: left.length, seqs: left.slice(0, 5).map((row) => row.seq) });
  });

  it("hold nothing that came and went between two questions, whoever had it", async () => {
    const page = { sort: "created_at", order: "desc", limit: 5, offset: 0 } as const;
    const everything = readFilter({ include_public: true });
    await until("memory knows all", async () => (await memory.list(1, everything, true, page)) !== undefined);
    const before = await memory.list(1, everything, true, page);
    await database.commit(async (tx) => {
      const made: number[] = [];
      for (const time of [1, 2, 3])
        made.push(await create(tx, 2, { kind: "create", at: 0, time, name: `brief ${time}`, tags: ["input"], width: 256 }));
      await tx.run(query.deleteFrom("assets").where("seq", "in", made));
    });
    expect(await memory.list(1, everything, true, page)).toEqual(before);
  });

  it("say nothing for a user who has few, and read nothing for them", async () => {
    expect(
      await memory.list(2, readFilter({ include_public: true }), true, { sort: "name", order: "asc", limit: 5, offset: 0 }),
    ).toBeUndefined();
  });
});
