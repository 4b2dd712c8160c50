// Every sentence of the product in English, one file a namespace.
// Guarantees: the type of this object is the type of every message key, so that a key without a sentence does not compile.
// Must never: be imported by a component; pages hand the namespaces they need to the browser.

import acts from "./en/acts.json";
import assets from "./en/assets.json";
import auth from "./en/auth.json";
import common from "./en/common.json";
import errors from "./en/errors.json";
import files from "./en/files.json";
import frame from "./en/frame.json";
import graph from "./en/graph.json";
import history from "./en/history.json";
import jobSearch from "./en/job-search.json";
import jobList from "./en/job-list.json";
import jobs from "./en/jobs.json";
import masks from "./en/masks.json";
import overview from "./en/overview.json";
import queue from "./en/queue.json";
import run from "./en/run.json";
import samples from "./en/samples.json";
import settings from "./en/settings.json";
import viewer from "./en/viewer.json";
import uploads from "./en/uploads.json";

export const messages = {
  acts,
  assets,
  auth,
  common,
  errors,
  files,
  frame,
  graph,
  history,
  jobs,
  jobList,
  jobSearch,
  masks,
  overview,
  queue,
  run,
  samples,
  settings,
  uploads,
  viewer,
};
export type Messages = typeof messages;
export type Namespace = keyof Messages;

declare module "next-intl" {
  // Declaration merging works with interfaces only.
  interface AppConfig {
    Locale: "en" | "zh-CN";
    Messages: Messages;
  }
}
