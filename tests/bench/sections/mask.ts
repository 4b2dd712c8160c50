import { createTempFolder, startConsole } from "../processes";
import { formatMask, measureMask } from "../screens/mask";
import { startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const mask: Section = {
  name: "mask",
  async measure({ print, logProgress }) {
    logProgress("Masks of large pictures in a browser.");
    const desk = await startConsole(createTempFolder(), { isNew: true });
    const browser = await startBrowser();
    try {
      print("## The mask editor on large pictures, in a browser");
      print(formatMask(await measureMask(browser, desk)));
    } finally {
      await browser.close();
      await desk.process.stop();
    }
  },
};
