import { connect, createTempFolder, startConsole, startService } from "../processes";
import { formatColdPreviews, measureColdPreviews, uploadPictures } from "../screens/cold-previews";
import { startBrowser } from "../screens/open-page";
import { type Section } from "../section";

export const coldPreviews: Section = {
  name: "cold-previews",
  async measure({ print, logProgress }) {
    const service = await startService(createTempFolder());
    const desk = await startConsole(createTempFolder(), { isNew: true });
    const browser = await startBrowser();
    try {
      await uploadPictures(service, logProgress);
      const figures = await measureColdPreviews(browser, desk, await connect(desk, service));
      print("## The gallery of a service in another process, without cached thumbnails");
      print(formatColdPreviews(figures));
    } finally {
      await browser.close();
      await desk.process.stop();
      await service.process.stop();
    }
  },
};
