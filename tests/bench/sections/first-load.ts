import { measureFirstLoad } from "@/bin/checks/first-load.mjs";
import { formatTable } from "../figures";
import { type Section } from "../section";

export const firstLoad: Section = {
  name: "first-load",
  async measure({ print }) {
    print("## JavaScript of the first load of a page, gzipped");
    print(
      formatTable(
        ["page", "kB", "over the frame kB"],
        measureFirstLoad().map(({ page, kB, overFrameKB }) => [page, kB.toFixed(1), overFrameKB.toFixed(1)]),
      ),
    );
  },
};
