import { type Section } from "../section";
import { wayIn, type WayInFigure, wayInTable } from "../ways-in";

const MIB = 1024;
const RUNS = 3;

export const waysIn: Section = {
  name: "ways-in",
  async measure({ print, tell }) {
    const runs: WayInFigure[] = [];
    for (let run = 1; run <= RUNS; run += 1) {
      tell(`${MIB} MiB through a browser, ${run} of ${RUNS}.`);
      runs.push(await wayIn(MIB));
    }
    print(`## ${MIB} MiB through the tray of a browser, hashed first, beside a plain upload`);
    print(wayInTable(runs));
  },
};

/** Ten gibibytes of disk. */
export const largeWayIn: Section = {
  name: "ways-in-10-gib",
  isOnDemand: true,
  async measure({ print, tell }) {
    tell("10 GiB through a browser.");
    print("## 10 GiB of zeros through the tray, unknown and then known");
    print(wayInTable([await wayIn(10 * 1024, { sparse: true })]));
  },
};
