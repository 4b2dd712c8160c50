// Job counts by day, and the format of audit targets.
import { describe, expect, it, test } from "vitest";
import { formatTargets, parseTargets } from "@/lib/contract/audit/audit-items";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type GroupedAuditItem, toAuditRows } from "@/lib/server/queries/audit-rows";
import { countByDay } from "@/lib/server/queries/usage";

const nowMs = Date.parse("2026-11-22T01:00:00Z");
const createJob = (time: string, state: JobState = "completed") => ({ ms: Date.parse(time), state, count: 1 });

describe("runs by day", () => {
  it("counts job outcomes for each of the last fourteen days", () => {
    const jobs = [
      createJob("2026-11-22T00:30:00Z"),
      createJob("2026-11-22T00:20:00Z", "failed"),
      createJob("2026-11-22T00:10:00Z", "in_progress"),
      createJob("2026-11-20T12:00:00Z", "cancelled"),
      createJob("2026-10-01T12:00:00Z"),
    ];
    const { days, jobs: jobCount, sinceMs } = countByDay(jobs, { zone: "UTC", nowMs });
    expect(days.map(({ day }) => day)).toEqual(Array.from({ length: 14 }, (_, index) => `2026-11-${String(index + 9).padStart(2, "0")}`));
    expect(days.at(-1)).toEqual({ day: "2026-11-22", completed: 1, failed: 1, cancelled: 0, other: 1 });
    expect(days.at(-3)).toEqual({ day: "2026-11-20", completed: 0, failed: 0, cancelled: 1, other: 0 });
    expect([jobCount, sinceMs]).toEqual([4, undefined]);
  });

  it("counts a job on its day in the user's time zone", () => {
    const { days } = countByDay([createJob("2026-11-21T20:00:00Z")], { zone: "Asia/Shanghai", nowMs });
    expect(days.at(-1)).toMatchObject({ day: "2026-11-22", completed: 1 });
  });

  it("counts each day once when clocks are set back", () => {
    const { days } = countByDay([], { zone: "America/New_York", nowMs: Date.parse("2026-11-05T12:00:00Z") });
    expect(new Set(days.map(({ day }) => day)).size).toBe(14);
  });

  it("marks only the days that are not fully indexed", () => {
    const jobs = [createJob("2026-11-22T00:30:00Z"), createJob("2026-11-16T12:00:00Z")];
    const gap = { afterMs: Date.parse("2026-11-16T12:00:00Z"), beforeMs: Date.parse("2026-11-19T09:00:00Z") };
    const { days } = countByDay(jobs, { zone: "UTC", nowMs, gap });
    expect(days.filter(({ isUnread }) => isUnread).map(({ day }) => day)).toEqual(["2026-11-16", "2026-11-17", "2026-11-18", "2026-11-19"]);
    expect(countByDay(jobs, { zone: "UTC", nowMs }).days.some(({ isUnread }) => isUnread)).toBe(false);
  });

  it("omits days beyond the job index and reports where it starts", () => {
    const oldest = Date.parse("2026-11-21T09:00:00Z");
    const { days, sinceMs } = countByDay([createJob("2026-11-22T00:30:00Z")], { zone: "UTC", nowMs, sinceMs: oldest });
    expect(days.map(({ day }) => day)).toEqual(["2026-11-21", "2026-11-22"]);
    expect(sinceMs).toBe(oldest);
    expect(countByDay([], { zone: "UTC", nowMs, sinceMs: 1 })).not.toHaveProperty("sinceMs");
  });
});

const createAuditGroup = (id: number, extra: Partial<GroupedAuditItem> = {}): GroupedAuditItem => ({
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

test("keeps names from being parsed as other targets", () => {
  const maliciousName = 'a"],["b","c"]]\nitems=3:[["x"]] deleted=9';
  expect(parseTargets(formatTargets([{ id: "j1", name: maliciousName }], "code=ok"))).toEqual({
    targets: [{ id: "j1", name: maliciousName }],
    outcome: "code=ok",
  });
  for (const text of ["id=1 name=items=[]", "items=[", "items=no"]) expect(parseTargets(text)).toEqual({ targets: [], outcome: text });
  expect(parseTargets("items=2:no code=ok")).toEqual({ targets: [], outcome: "code=ok" });
  const manyJobs = Array.from({ length: 300 }, (_, index) => ({ id: `j${index}` }));
  expect(parseTargets(formatTargets(manyJobs, undefined))).toEqual({ targets: manyJobs.slice(0, 100), omittedCount: 200 });
  expect(toAuditRows([[createAuditGroup(1, { outcome: formatTargets(manyJobs, undefined, { count: 33_000 }) })]])[0]).toMatchObject({
    moreParts: 32_900,
  });
});
