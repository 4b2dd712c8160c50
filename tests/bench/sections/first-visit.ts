import { getPicturesFolder } from "../many-jobs";
import { startConsole } from "../processes";
import { formatFirstVisits, LATENCY_MS, MBIT_PER_SECOND, measureFirstVisits } from "../screens/first-visit";
import { SLOWDOWN, startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const firstVisit: Section = {
  name: "first-visit",
  async measure(report) {
    const { print, logProgress } = report;
    const desk = await startConsole(await getPicturesFolder(report));
    const browser = await startBrowser();
    try {
      logProgress("The first visit to the list of jobs.");
      const visits = await measureFirstVisits(browser, desk, logProgress);
      print(
        `## The list of jobs on a first visit, processor ${SLOWDOWN} times slower, ${MBIT_PER_SECOND} Mbit/s, ${LATENCY_MS} ms, empty cache`,
      );
      print(formatFirstVisits(visits));
    } finally {
      await browser.close();
      await desk.process.stop();
    }
  },
};
