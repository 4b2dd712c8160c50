import { type Section } from "../section";
import { measureUpload, type UploadFigure, uploadTable } from "../upload-figures";

const SIZE_MIB = 1024;
const RUNS = 3;

export const uploadSources: Section = {
  name: "uploads",
  async measure({ print, logProgress }) {
    const runs: UploadFigure[] = [];
    for (let run = 1; run <= RUNS; run += 1) {
      logProgress(`${SIZE_MIB} MiB through a browser, ${run} of ${RUNS}.`);
      runs.push(await measureUpload(SIZE_MIB));
    }
    print(`## ${SIZE_MIB} MiB through a browser's upload list, hashed first, compared with a plain upload`);
    print(uploadTable(runs));
  },
};

/** Needs 10 GiB of disk space. */
export const largeUploads: Section = {
  name: "uploads-10-gib",
  isOnDemand: true,
  async measure({ print, logProgress }) {
    logProgress("10 GiB through a browser.");
    print("## 10 GiB of zeros through the upload list: new, then already stored");
    print(uploadTable([await measureUpload(10 * 1024, { sparse: true })]));
  },
};
