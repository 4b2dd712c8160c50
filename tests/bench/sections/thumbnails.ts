import { newFolder, startDesk } from "../processes";
import { type Section } from "../section";
import { measureThumbnails, thumbnailsTable } from "../thumbnails";

export const thumbnails: Section = {
  name: "thumbnails",
  async measure({ print, logProgress }) {
    logProgress("Thumbnails, cold and warm.");
    const desk = await startDesk(newFolder(), { isNew: true });
    try {
      print("## Thumbnails of 256 px through the console's route");
      print(thumbnailsTable(await measureThumbnails(desk)));
    } finally {
      await desk.process.stop();
    }
  },
};
