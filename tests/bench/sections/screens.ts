import { deskFolder, FEW_JOBS, MANY_JOBS } from "../many-jobs";
import { startDesk } from "../processes";
import { jobsListTable, measureJobsList } from "../screens/jobs-list";
import { SLOWDOWN, startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const screens: Section = {
  name: "screens",
  async measure(report) {
    const { print, logProgress } = report;
    for (const jobs of [FEW_JOBS, MANY_JOBS]) {
      const desk = await startDesk(await deskFolder(jobs, report));
      const browser = await startBrowser();
      try {
        const inAll = jobs.toLocaleString("en");
        logProgress(`The list of jobs in a browser, ${inAll} jobs.`);
        const runs = await measureJobsList(browser, desk, logProgress);
        print(`## The list of jobs with ${FEW_JOBS.toLocaleString("en")} rows of ${inAll}, processor ${SLOWDOWN} times slower`);
        print(jobsListTable(runs));
      } finally {
        await browser.close();
        await desk.process.stop();
      }
    }
  },
};
