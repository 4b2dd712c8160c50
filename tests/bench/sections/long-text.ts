import { createTempFolder, startConsole } from "../processes";
import { formatLongText, measureLongText } from "../screens/long-text";
import { startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const longText: Section = {
  name: "long-text",
  async measure({ print, logProgress }) {
    logProgress("Typing into long texts.");
    const desk = await startConsole(createTempFolder(), { isNew: true });
    const browser = await startBrowser();
    try {
      print("## Typing a key in a long text, in a browser");
      print(formatLongText(await measureLongText(browser, desk, logProgress)));
    } finally {
      await browser.close();
      await desk.process.stop();
    }
  },
};
