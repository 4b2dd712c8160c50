import { createTempFolder, startConsole } from "../processes";
import { type Section } from "../section";
import { formatThumbnails, measureThumbnails } from "../thumbnails";

export const thumbnails: Section = {
  name: "thumbnails",
  async measure({ print, logProgress }) {
    logProgress("Thumbnails, cold and warm.");
    const desk = await startConsole(createTempFolder(), { isNew: true });
    try {
      print("## Thumbnails of 256 px through the console's route");
      print(formatThumbnails(await measureThumbnails(desk)));
    } finally {
      await desk.process.stop();
    }
  },
};
