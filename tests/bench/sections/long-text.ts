import { newFolder, startDesk } from "../processes";
import { longTextTable, measureLongText } from "../screens/long-text";
import { startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const longText: Section = {
  name: "long-text",
  async measure({ print, logProgress }) {
    logProgress("Typing into long texts.");
    const desk = await startDesk(newFolder(), { isNew: true });
    const browser = await startBrowser();
    try {
      print("## A key in a long text, in a browser");
      print(longTextTable(await measureLongText(browser, desk, logProgress)));
    } finally {
      await browser.close();
      await desk.process.stop();
    }
  },
};
