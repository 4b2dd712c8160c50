// Measures the figures that users notice and prints them as Markdown with the machine they were measured on. Arguments choose sections
// by name.
import { describeMachine } from "./figures";
import { type Report, type Section } from "./section";
import { blobs } from "./sections/blobs";
import { calls } from "./sections/calls";
import { cluster, clusterLists } from "./sections/cluster";
import { coldPreviews } from "./sections/cold-previews";
import { exactJson } from "./sections/exact-json";
import { firstLoad } from "./sections/first-load";
import { firstVisit } from "./sections/first-visit";
import { gallery, longGallery } from "./sections/gallery";
import { jobSearch } from "./sections/job-search";
import { largeResponses } from "./sections/large-responses";
import { live, liveMemory } from "./sections/live";
import { longText } from "./sections/long-text";
import { mask } from "./sections/mask";
import { pages } from "./sections/pages";
import { screens } from "./sections/screens";
import { submissions } from "./sections/submissions";
import { thumbnails } from "./sections/thumbnails";
import { largeUploads, uploadSources } from "./sections/upload-sources";
import { uploads } from "./sections/uploads";
import { visitorFlood } from "./sections/visitor-flood";

/** The order matters: the screens show the built-in service, so they come before another service is connected to their console. */
const sections: readonly Section[] = [
  firstLoad,
  firstVisit,
  screens,
  pages,
  calls,
  live,
  visitorFlood,
  submissions,
  jobSearch,
  exactJson,
  largeResponses,
  uploads,
  blobs,
  cluster,
  clusterLists,
  uploadSources,
  longText,
  mask,
  thumbnails,
  coldPreviews,
  gallery,
  longGallery,
  largeUploads,
  liveMemory,
];

const report: Report = {
  print: (text) => void process.stdout.write(`${text}\n\n`),
  logProgress: (text) => void process.stderr.write(`${text}\n`),
};

const args = process.argv.slice(2);
const unknownNames = args.filter((name) => !sections.some((section) => section.name === name));
if (unknownNames.length > 0) {
  report.logProgress(`Unknown section ${unknownNames.join(", ")}. Sections: ${sections.map(({ name }) => name).join(", ")}.`);
  process.exit(1);
}
report.print(
  `Measured ${new Date().toISOString().slice(0, 10)} on ${describeMachine()}. Median of the runs, with the lowest and the highest in brackets.`,
);
for (const section of sections) {
  const isSelected = args.length === 0 ? !section.isOnDemand : args.includes(section.name);
  if (isSelected) await section.measure(report);
}
