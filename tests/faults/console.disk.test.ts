// When the console's disk is full, changes return 507, while sign-out and reads work.
import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { endSession, readSession } from "@/lib/server/auth/session";
import { SESSION_COOKIE } from "@/lib/server/cookies";
import { openDatabase } from "@/lib/server/store/database";
import { openStore } from "@/lib/server/store/store";
import { ensureReserve } from "@/lib/shared/database/disk-reserve";
import { isFullDisk } from "@/lib/shared/error-codes";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createHarness } from "../support/harness";
import { simulateFullDisk } from "./disk/simulate-full-disk";
import { disks } from "./disk/small-disk";

describe("a console whose disk is full", async () => {
  const harness = await createHarness();

  it("rejects writes with 507 and a remedy while reads keep working", async () => {
    const disk = simulateFullDisk();
    for (const [path, method, json] of [
      ["/api/console/views", "POST", { name: "Mine", query: "status=failed" }],
      ["/api/console/members/invitations", "POST", { email: "new@desk.test", role: "viewer" }],
      ["/api/console/account", "PUT", { name: "Somebody else" }],
    ] as const) {
      const response = await harness.request(path, { as: "owner", method, json });
      expect([path, response.status, await response.json()]).toMatchObject([
        path,
        507,
        { code: "INSUFFICIENT_STORAGE", message: expect.stringContaining("must free some space") },
      ]);
    }
    for (const path of ["/api/console/connections", "/api/console/members", "/api/jobs"])
      expect([path, (await harness.request(path, { as: "owner" })).status]).toEqual([path, 200]);
    disk.mockRestore();
  });

  it("stores passwords, sessions, removals and audit entries in reserved space", async () => {
    const reserve = join(harness.folder, "reserve");
    expect(existsSync(reserve)).toBe(true);
    const disk = simulateFullDisk(reserve);
    const store = openStore(harness.folder);
    expect(await store.members.changeAccount(harness.getViewer("viewer").memberId, { passwordHash: "x" })).toBeDefined();
    const at = Date.now();
    const { memberId } = harness.getViewer("viewer");
    const session = { id: randomUUID(), memberId, version: 1, method: "password", browser: "", address: "" };
    await store.sessions.create({ ...session, createdAt: at, usedAt: at, confirmedAt: at }, harness.console.env.session);
    await store.identities.recordRemoval("viewer@desk.test", at);
    await Promise.all(["a", "b"].map((requestId) => store.audit.add({ at, requestId, action: "changeMember", status: 200 })));
    await store.close();
    disk.mockRestore();
    expect(existsSync(reserve)).toBe(true);
  });

  it("reports a full disk when SQLite has rolled the transaction back", async () => {
    const { database, migrate } = openDatabase(join(createTemporaryFolder(), "console.sqlite"));
    await migrate();
    await sql`PRAGMA max_page_count = 1`.execute(database);
    const name = "x".repeat(1_000_000);
    const write = database.transaction().execute((trx) => trx.insertInto("settings").values({ name, value: "" }).execute());
    expect(isFullDisk(await write.catch((error: unknown) => error))).toBe(true);
    await database.destroy();
  });

  it("reports an error when the end of a session can't be stored", async () => {
    const token = { sub: harness.getViewer("operator").memberId, version: 1, sid: randomUUID() };
    const cookie = await harness.mintCookie(token);
    const getStatus = async () => (await harness.request("/api/console/connections", { cookie })).status;
    expect(await getStatus()).toBe(200);
    const disk = simulateFullDisk();
    const outcome = await endSession(harness.console, token).catch((error: unknown) => error);
    expect(isFullDisk(outcome)).toBe(true);
    expect(await getStatus()).toBe(401);
    disk.mockRestore();
    const encoded = cookie.slice(SESSION_COOKIE.length + 1);
    expect(await readSession(harness.console, { token: encoded, secret: harness.console.authSecret })).toBeNull();
  });
});

describe.each(disks)("on a $name without free space", ({ createDisk }) => {
  it("writes audit entries to reserved space when the disk is full", async () => {
    const disk = createDisk();
    const store = openStore(disk.path);
    await store.migrate();
    ensureReserve(disk.path);
    disk.fill();
    for (let index = 0; index < 10; index += 1)
      await store.audit.add({ at: index, requestId: String(index), action: "changeMember", status: 200, target: "x".repeat(1000) });
    expect(await store.audit.verify()).toHaveProperty("last");
    await store.close();
  });

  it("opens and reads the console's database without a reserve", async () => {
    const disk = createDisk();
    const first = openStore(disk.path);
    await first.migrate();
    await first.setUpToken.replace("a token", 1);
    await first.close();
    rmSync(join(disk.path, "reserve"), { force: true });
    disk.fill();
    const reopenedStore = openStore(disk.path);
    await reopenedStore.migrate();
    expect(await reopenedStore.members.hasOwner()).toBe(false);
    await reopenedStore.close();
  });
});
