import { FEW_JOBS, getDeskFolder, MANY_JOBS } from "../many-jobs";
import { startConsole } from "../processes";
import { formatJobsList, measureJobsList } from "../screens/jobs-list";
import { SLOWDOWN, startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const screens: Section = {
  name: "screens",
  async measure(report) {
    const { print, logProgress } = report;
    for (const jobs of [FEW_JOBS, MANY_JOBS]) {
      const desk = await startConsole(await getDeskFolder(jobs, report));
      const browser = await startBrowser();
      try {
        const totalText = jobs.toLocaleString("en");
        logProgress(`The list of jobs in a browser, ${totalText} jobs.`);
        const runs = await measureJobsList(browser, desk, logProgress);
        print(`## The list of jobs with ${FEW_JOBS.toLocaleString("en")} rows of ${totalText}, processor ${SLOWDOWN} times slower`);
        print(formatJobsList(runs));
      } finally {
        await browser.close();
        await desk.process.stop();
      }
    }
  },
};
