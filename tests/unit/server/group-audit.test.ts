// Which entries of the audit log form one row, and what that row unfolds to.
import { expect, test } from "vitest";
import { readThings, writeThings } from "@/lib/contract/audit/audit-items";
import { groupAudit, type Logged } from "@/lib/server/queries/audit-rows";

const entry = (id: number, extra: Partial<Logged> = {}): Logged => ({
  id,
  at: 1_000 * id,
  requestId: `r${id}`,
  member: { id: "ana", name: "Ana" },
  action: "deleteAsset",
  connection: { id: "c1" },
  target: `a${id}`,
  status: 200,
  ...extra,
});

test("many requests of one act are one row with every thing by its name, and the page goes on below the oldest of them", () => {
  const named = (id: number) => entry(id, { outcome: writeThings([{ id: `a${id}`, name: `photo ${id}.png` }], undefined) });
  const [row, ...others] = groupAudit([[named(9)], [named(8)], [named(7)]]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ id: 7, at: 9_000, action: "deleteAsset" });
  expect(row?.parts).toEqual([9, 8, 7].map((id) => ({ id: `a${id}`, name: `photo ${id}.png`, at: 1_000 * id })));
});

test("one act is one row whatever is between, however long it took, and whatever was refused of it", () => {
  const part = (id: number, extra: Partial<Logged> = {}) => entry(id, { actId: "act", at: 60_000 * id, ...extra });
  const isSent = (id: number) =>
    part(id, { action: "uploadAsset", target: undefined, outcome: writeThings([{ id: `a${id}`, name: `p${id}.png` }], `id=a${id}`) });
  const unknown = (id: number) => part(id, { action: "createAssetFromHash", target: undefined, outcome: "unknown hash" });
  const refused = part(5, { action: "uploadAsset", target: "too-large", status: 413, code: "PAYLOAD_TOO_LARGE" });
  const other = entry(7, { member: { id: "bo", name: "Bo" } });
  const rows = groupAudit([[isSent(9), unknown(8), refused, isSent(3), unknown(2)], [other]]);
  expect(rows.map(({ id, action }) => [id, action])).toEqual([
    [9, "uploadAsset"],
    [7, "deleteAsset"],
  ]);
  expect(rows[0]).toMatchObject({ status: 200, refused: 1, at: 540_000 });
  expect(rows[0]).not.toHaveProperty("code");
  expect(rows[0]?.parts).toEqual([
    { id: "a9", name: "p9.png", at: 540_000 },
    { id: "too-large", at: 300_000, isRefused: true },
    { id: "a3", name: "p3.png", at: 180_000 },
  ]);
  expect(groupAudit([[{ ...refused, id: 6 }, refused]])).toMatchObject([{ id: 6, status: 413, code: "PAYLOAD_TOO_LARGE" }]);
});

test("another person, act, connection or end, a pause, and what is done once are rows of their own", () => {
  const apart = [
    entry(9),
    entry(8, { member: { id: "bo", name: "Bo" } }),
    entry(7),
    entry(6, { status: 403, code: "ROLE_TOO_LOW" }),
    entry(5, { connection: { id: "c2" } }),
    entry(4, { action: "editAsset" }),
    entry(3, { action: "editAsset" }),
    entry(2),
    entry(1, { at: -60_000 }),
  ];
  expect(groupAudit(apart.map((each) => [each])).map(({ id }) => id)).toEqual(apart.map(({ id }) => id));
});

test("one request about many things unfolds too, and keeps what the service answered", () => {
  const things = [{ id: "j1", name: "poster · seed 7" }, { id: "j2" }];
  const outcome = writeThings(things, "deleted=2 (j1, j2)");
  expect(groupAudit([[entry(1, { action: "manageQueue", target: undefined, outcome })]])).toMatchObject([
    { outcome: "deleted=2 (j1, j2)", parts: [{ id: "j1", name: "poster · seed 7" }, { id: "j2" }] },
  ]);
});

test("a name cannot pass for another thing, and what was not written here is an outcome like any other", () => {
  const sly = 'a"],["b","c"]]\nitems=3:[["x"]] deleted=9';
  expect(readThings(writeThings([{ id: "j1", name: sly }], "code=ok"))).toEqual({
    things: [{ id: "j1", name: sly }],
    outcome: "code=ok",
  });
  for (const text of ["id=1 name=items=[]", "items=[", "items=no"]) expect(readThings(text)).toEqual({ things: [], outcome: text });
  expect(readThings("items=2:no code=ok")).toEqual({ things: [], outcome: "code=ok" });
  const many = Array.from({ length: 300 }, (_, at) => ({ id: `j${at}` }));
  expect(readThings(writeThings(many, undefined))).toEqual({ things: many.slice(0, 100), more: 200 });
  expect(groupAudit([[entry(1, { outcome: writeThings(many, undefined, { count: 33_000 }) })]])[0]).toMatchObject({ moreParts: 32_900 });
});

test("a row tells a hundred things one by one, and of the rest how many they are", () => {
  const many = Array.from({ length: 250 }, (_, index) => entry(250 - index, { target: `t${250 - index}` }));
  for (const rows of [
    groupAudit([many.map((one) => ({ ...one, actId: "act" }))]),
    groupAudit(many.map((one) => [{ ...one, at: 1_000 }])),
  ]) {
    expect(rows).toHaveLength(1);
    expect([rows[0]?.parts?.length, rows[0]?.parts?.at(0)?.id, rows[0]?.parts?.at(-1)?.id, rows[0]?.moreParts]).toEqual([
      100,
      "t250",
      "t151",
      150,
    ]);
  }
});
