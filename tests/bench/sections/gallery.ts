import { join } from "node:path";
import { createTempFolder, startConsole } from "../processes";
import { formatGallery, measureGallery } from "../screens/gallery";
import { SLOWDOWN, startBrowser } from "../screens/open-page";
import { type Report, type Section } from "../section";
import { seedAssets } from "../service/seed-assets";

const ASSETS = 1_000_000;

export const gallery: Section = { name: "gallery", measure: (report) => measureInBrowser(report, false) };

export const longGallery: Section = { name: "gallery-5-minutes", isOnDemand: true, measure: (report) => measureInBrowser(report, true) };

async function measureInBrowser({ print, logProgress }: Report, isLong: boolean): Promise<void> {
  logProgress(`Seeding ${ASSETS} assets.`);
  const folder = createTempFolder();
  await (await startConsole(folder, { isNew: true })).process.stop();
  seedAssets(join(folder, "service", "service.sqlite"), "team", ASSETS);
  const desk = await startConsole(folder);
  const browser = await startBrowser();
  try {
    const figures = [];
    for (const look of ["gallery", "table"] as const)
      for (const slowdown of [1, SLOWDOWN]) {
        logProgress(`The ${look} in a browser, ${slowdown} times slower.`);
        figures.push(await measureGallery(browser, desk, { look, slowdown, isLong: isLong && look === "gallery" && slowdown === 1 }));
      }
    print(`## The gallery of ${ASSETS.toLocaleString("en")} assets, scrolled in a browser`);
    print(formatGallery(figures));
  } finally {
    await browser.close();
    await desk.process.stop();
  }
}
