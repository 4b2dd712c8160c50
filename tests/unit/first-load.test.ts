import { expect, test } from "vitest";
import { checkFirstLoad } from "@/bin/checks/first-load.mjs";

const jobs = (kB: number, overFrameKB: number) => [{ page: "/jobs", kB, overFrameKB }];

test("limits what Jobs loads first and beyond the frame", () => {
  expect(checkFirstLoad(jobs(206, 35))).toEqual([]);
  expect(checkFirstLoad(jobs(206.2, 31))).toEqual(["/jobs loads 206.2 kB; its budget is 206 kB."]);
  expect(checkFirstLoad(jobs(200, 35.1))).toEqual(["/jobs loads 35.1 kB over the frame; its budget is 35 kB."]);
  expect(() => checkFirstLoad([])).toThrow("The build has no page /jobs.");
});
