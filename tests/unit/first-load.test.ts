import { expect, test } from "vitest";
import { checkFirstLoad } from "@/bin/checks/first-load.mjs";

const createJobsPage = (kB: number, overFrameKB: number) => [{ page: "/jobs", kB, overFrameKB }];

test("limits the first load of Jobs and its size over the frame", () => {
  expect(checkFirstLoad(createJobsPage(206, 35))).toEqual([]);
  expect(checkFirstLoad(createJobsPage(206.2, 31))).toEqual(["/jobs loads 206.2 kB; its budget is 206 kB."]);
  expect(checkFirstLoad(createJobsPage(200, 35.1))).toEqual(["/jobs loads 35.1 kB over the frame; its budget is 35 kB."]);
  expect(() => checkFirstLoad([])).toThrow("The build has no page /jobs.");
});
