// Which entries of the audit log are one row, and what that row unfolds to.
import { expect, test } from "vitest";
import { type AuditItem } from "@/lib/contract/audit";
import { readThings, writeThings } from "@/lib/contract/audit-items";
import { groupAudit } from "@/lib/server/queries/group-audit";

const entry = (id: number, extra: Partial<AuditItem> = {}): AuditItem => ({
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
  const [row, ...others] = groupAudit([named(9), named(8), named(7)]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ id: 7, at: 9_000, action: "deleteAsset" });
  expect(row?.parts).toEqual([9, 8, 7].map((id) => ({ id: `a${id}`, name: `photo ${id}.png`, at: 1_000 * id })));
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
  expect(groupAudit(apart).map(({ id }) => id)).toEqual(apart.map(({ id }) => id));
});

test("one request about many things unfolds too, and keeps what the service answered", () => {
  const things = [{ id: "j1", name: "poster · seed 7" }, { id: "j2" }];
  const outcome = writeThings(things, "deleted=2 (j1, j2)");
  expect(groupAudit([entry(1, { action: "manageQueue", target: undefined, outcome })])).toMatchObject([
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
  expect(
    readThings(
      writeThings(
        Array.from({ length: 300 }, (_, at) => ({ id: `j${at}` })),
        undefined,
      ),
    ).things,
  ).toHaveLength(100);
});
