import { measureFirstLoad } from "@/bin/checks/first-load.mjs";
import { table } from "../figures";
import { type Section } from "../section";

export const firstLoad: Section = {
  name: "first-load",
  async measure({ print }) {
    print("## JavaScript that a page loads first, gzipped");
    print(
      table(
        ["page", "kB", "over the frame kB"],
        measureFirstLoad().map(({ page, kB, overFrameKB }) => [page, kB.toFixed(1), overFrameKB.toFixed(1)]),
      ),
    );
  },
};
