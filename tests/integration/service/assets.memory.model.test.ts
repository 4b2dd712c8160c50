// Thousands of assets that change in every way, between questions that are answered twice: from what the service keeps of them in memory,
// and by looking at every row of the database. Where memory does not know enough it must say nothing, never something else.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFilter } from "@/lib/service/assets/asset-filter";
import { readAssets } from "@/lib/service/assets/asset-row";
import { editAsset } from "@/lib/service/assets/change-asset";
import { foldName } from "@/lib/shared/fold-name";
import { insertAsset } from "@/lib/service/assets/insert-asset";
import { keepSearchIndex } from "@/lib/service/assets/search/full-text";
import { type AssetMemory, createAssetMemory } from "@/lib/service/assets/search/memory";
import { addTags, removeTags } from "@/lib/service/assets/tags";
import { type Database, openDatabase, query } from "@/lib/service/store/database";
import { createKeys } from "@/lib/service/users/keys";
import { KINDS, PLACES, seedAssets, WORDS } from "@/tests/bench/service/seed-assets";
import { until } from "@/tests/support/until";
import { evenly } from "@/tests/support/evenly";

const ASSETS = 2500;
const sorts = ["created_at", "updated_at", "name", "size", "last_access_time"] as const;
const NAMES = [...WORDS, "", "Straße", "ＦＵＬＬ", "𝒜 letter", "a", "ab", "zz top"];
const silentLog = { info: () => undefined, warn: () => undefined, error: console.error };

const tag = fc.constantFrom(...KINDS.slice(0, 4), ...PLACES.slice(0, 4), "input", "new", "none-such");
const change = fc.record({
  kind: fc.constantFrom("create", "delete", "tag", "untag", "rename", "metadata", "access", "size", "ship", "undo", "many"),
  at: fc.nat(ASSETS),
  time: fc.nat(1e6),
  name: fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES), fc.nat(50)).map((parts) => parts.join(" ")),
  tags: fc.uniqueArray(tag, { maxLength: 3 }),
  width: fc.constantFrom(256, 300),
});
const question = fc.record({
  include_tags: fc.uniqueArray(tag, { maxLength: 2 }),
  exclude_tags: fc.uniqueArray(tag, { maxLength: 1 }),
  name_contains: fc.oneof(
    fc.constant(""),
    fc.constantFrom(...NAMES),
    fc.constantFrom("o", "in", "RAIT", "y 00", ".png", "SS", "ull", "e ", "𝒜"),
  ),
  width: fc.option(fc.constantFrom(256, 300), { nil: undefined, freq: 4 }),
  include_public: fc.boolean(),
  sort: fc.constantFrom(...sorts),
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.integer({ min: 1, max: 60 }),
  // Beside those at the beginning, some at the end and some beyond it.
  depth: fc.oneof(fc.constant(0), evenly(0, 1.1)),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

describe("lists of assets from memory", () => {
  let folder: string;
  let database: Database;
  let memory: AssetMemory;
  let created = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lightdesk-memory-"));
    const file = join(folder, "service.sqlite");
    database = openDatabase(file, Date.now);
    createKeys(database, Date.now).createKey("ada");
    createKeys(database, Date.now).createKey("bob");
    database.close();
    seedAssets(file, "ada", ASSETS);
    database = openDatabase(file, Date.now);
    keepSearchIndex(database);
    memory = createAssetMemory(database, silentLog);
  });
  afterAll(async () => {
    await memory.stop();
    database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const seqs = () => database.rows(query.selectFrom("assets").select("seq").orderBy("seq")).map((row) => row.seq);

  function create(ownerId: number, { name, tags, width, time }: Change): number {
    created += 1;
    const hash = created.toString(16).padStart(64, "0");
    const [size, at] = [1000 + (time % 7) * 1000, Date.parse("2026-06-01") + time];
    database.run(query.insertInto("blobs").values({ hash, sha256: hash, size, media_type: "image/png", created_at: at }));
    const origin = ownerId === 0 ? "shipped" : "upload";
    const asset = { id: crypto.randomUUID(), ownerId, origin, content: { hash, size }, name, tags, metadata: { width } } as const;
    return insertAsset(database, asset, at);
  }

  function apply(one: Change): void {
    const all = seqs();
    const seq = all[one.at % all.length] ?? 0;
    const at = Date.parse("2026-06-02") + one.time;
    const set = (values: object) => database.run(query.updateTable("assets").set(values).where("seq", "=", seq));
    const [asset] = readAssets(database, [seq]);
    if (!asset) throw new Error("there is no asset to change");
    switch (one.kind) {
      case "create":
        return void create(one.at % 9 === 0 ? 2 : 1, one);
      case "ship":
        return void (one.at % 5 === 0 && create(0, one));
      case "delete":
        return void database.run(query.deleteFrom("assets").where("seq", "=", seq));
      case "tag":
        return void addTags(database, seq, one.tags, at);
      case "untag":
        return void removeTags(database, seq, [...one.tags, ...asset.tags.slice(0, 1)], at);
      case "rename":
        return editAsset(database, asset, { name: one.name || "x" }, at);
      case "metadata":
        return editAsset(database, asset, { user_metadata: { width: one.width } }, at);
      case "access":
        return void set({ last_access_time: at });
      case "size":
        return void set({ size: 1000 + (one.time % 5) * 1000 });
      case "many":
        // So many at once that orders are read anew.
        return void (
          one.at % 40 === 0 &&
          database.run(
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
      // One that is undone may have changed something before.
      const work = () => {
        if (one.kind === "undo") create(1, one);
        apply(one);
      };
      await database.commit(work).catch((error: unknown) => {
        if (one.kind !== "undo") throw error;
      });
    }
  }

  function expected({ include_tags, exclude_tags, name_contains, width, include_public, sort, order }: Question) {
    const tagsOf = new Map<number, string[]>();
    for (const { asset_seq, tag: one } of database.rows(query.selectFrom("asset_tags").selectAll())) {
      tagsOf.set(asset_seq, [...(tagsOf.get(asset_seq) ?? []), one]);
    }
    const rows = database.rows(query.selectFrom("assets").selectAll());
    const sign = order === "asc" ? 1 : -1;
    // As bytes: that is how the database compares texts.
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
            const all = expected(asked);
            const offset = Math.floor(asked.depth * all.length);
            const page = { sort: asked.sort, order: asked.order, limit: asked.limit, offset };
            const answer = memory.list(1, filterOf(asked), asked.include_public, page);
            if (!answer) {
              await until("memory knows enough again", () => memory.list(1, filterOf(asked), asked.include_public, page) !== undefined);
            } else answered += 1;
            const found = answer ?? memory.list(1, filterOf(asked), asked.include_public, page);
            expect(found).toEqual({ total: all.length, seqs: all.slice(offset, offset + asked.limit).map((row) => row.seq) });
            const tally = memory.tally(1, filterOf(asked), asked.include_public);
            const carried = all.reduce((sum, row) => sum + row.tags.length, 0);
            expect([...(tally?.values() ?? [])].reduce((sum, n) => sum + n, 0)).toBe(carried);
          }
        },
      ),
      { numRuns: 60, seed: 20261121 },
    );
    expect(answered).toBeGreaterThan(60);
  });

  it("say nothing of what another process wrote before it was read anew", async () => {
    const page = { sort: "size", order: "asc", limit: 5, offset: 0 } as const;
    const everything = readFilter({ include_public: false });
    await until("memory knows all", () => memory.list(1, everything, false, page) !== undefined);
    const other = new Sqlite(join(folder, "service.sqlite"));
    const gone = other.prepare("DELETE FROM assets WHERE seq IN (SELECT seq FROM assets WHERE owner_id = 1 ORDER BY size LIMIT 3)").run();
    other.close();
    expect(gone.changes).toBe(3);
    expect(memory.list(1, everything, false, page)).toBeUndefined();
    await until("it was read anew", () => memory.list(1, everything, false, page) !== undefined);
    const left = database.rows(query.selectFrom("assets").select("seq").where("owner_id", "=", 1).orderBy("size").orderBy("id"));
    expect(memory.list(1, everything, false, page)).toEqual({ total: left.length, seqs: left.slice(0, 5).map((row) => row.seq) });
  });

  it("hold nothing that came and went between two questions, whoever had it", async () => {
    const page = { sort: "created_at", order: "desc", limit: 5, offset: 0 } as const;
    const everything = readFilter({ include_public: true });
    await until("memory knows all", () => memory.list(1, everything, true, page) !== undefined);
    const before = memory.list(1, everything, true, page);
    await database.commit(() => {
      const made = [1, 2, 3].map((time) => create(2, { kind: "create", at: 0, time, name: `brief ${time}`, tags: ["input"], width: 256 }));
      database.run(query.deleteFrom("assets").where("seq", "in", made));
    });
    expect(memory.list(1, everything, true, page)).toEqual(before);
  });

  it("say nothing for a user who has few, and read nothing for them", () => {
    expect(memory.list(2, readFilter({ include_public: true }), true, { sort: "name", order: "asc", limit: 5, offset: 0 })).toBeUndefined();
  });
});
