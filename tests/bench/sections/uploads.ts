import { rmSync } from "node:fs";
import { join } from "node:path";
import { formatSpread, formatTable } from "../figures";
import { connect, createTempFolder, startConsole, startService } from "../processes";
import { type Section } from "../section";
import { measureUpload, type UploadFigure } from "../upload";

const UPLOAD_MIB = 1024;
const RUNS = 3;

/** Starts a new console and service for each run, since memory of an earlier load would hide that of the upload. */
export const uploads: Section = {
  name: "uploads",
  async measure({ print, logProgress }) {
    const runs: UploadFigure[] = [];
    for (let run = 1; run <= RUNS; run += 1) {
      logProgress(`Uploading ${UPLOAD_MIB} MiB, ${run} of ${RUNS}.`);
      const folder = createTempFolder();
      const desk = await startConsole(folder, { isNew: true });
      const service = await startService(join(folder, "port"));
      runs.push(await measureUpload(desk, await connect(desk, service), service, UPLOAD_MIB));
      await desk.process.stop();
      await service.process.stop();
      rmSync(folder, { recursive: true, force: true });
    }
    const column = (pick: (run: UploadFigure) => number, digits: number) => formatSpread(runs.map(pick), digits);
    print(`## ${UPLOAD_MIB} MiB uploaded through the console, byte-exact at the service by BLAKE3`);
    print(
      formatTable(
        ["console idle MiB", "highest MiB", "over idle MiB", "seconds"],
        [
          [
            column((run) => run.idleMiB, 0),
            column((run) => run.peakMiB, 0),
            column((run) => run.overMiB, 0),
            column((run) => run.seconds, 1),
          ],
        ],
      ),
    );
  },
};
