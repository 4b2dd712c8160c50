import { join } from "node:path";
import { newFolder, startDesk } from "../processes";
import { SLOWDOWN, startBrowser } from "../screens/open-page";
import { measureWall, wallTable } from "../screens/wall";
import { type Report, type Section } from "../section";
import { seedAssets } from "../service/seed-assets";

const ASSETS = 1_000_000;

export const wall: Section = { name: "wall", measure: (report) => measureInBrowser(report, false) };

export const longWall: Section = { name: "wall-5-minutes", isOnDemand: true, measure: (report) => measureInBrowser(report, true) };

async function measureInBrowser({ print, tell }: Report, isLong: boolean): Promise<void> {
  tell(`Seeding ${ASSETS} assets.`);
  const folder = newFolder();
  await (await startDesk(folder, { isNew: true })).process.stop();
  seedAssets(join(folder, "service", "service.sqlite"), "team", ASSETS);
  const desk = await startDesk(folder);
  const browser = await startBrowser();
  try {
    const figures = [];
    for (const look of ["gallery", "table"] as const)
      for (const slowdown of [1, SLOWDOWN]) {
        tell(`The ${look} in a browser, ${slowdown} times slower.`);
        figures.push(await measureWall(browser, desk, { look, slowdown, isLong: isLong && look === "gallery" && slowdown === 1 }));
      }
    print(`## The wall of ${ASSETS.toLocaleString("en")} assets, scrolled in a browser`);
    print(wallTable(figures));
  } finally {
    await browser.close();
    await desk.process.stop();
  }
}
