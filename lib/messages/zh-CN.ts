// Every sentence of the product in Simplified Chinese, one file a namespace, complete against the English.
// Must never: be imported by a component; pages hand the namespaces they need to the browser.

import { type Messages } from "./en";
import acts from "./zh-CN/acts.json";
import assets from "./zh-CN/assets.json";
import auth from "./zh-CN/auth.json";
import common from "./zh-CN/common.json";
import errors from "./zh-CN/errors.json";
import files from "./zh-CN/files.json";
import frame from "./zh-CN/frame.json";
import graph from "./zh-CN/graph.json";
import history from "./zh-CN/history.json";
import jobSearch from "./zh-CN/job-search.json";
import jobList from "./zh-CN/job-list.json";
import jobs from "./zh-CN/jobs.json";
import masks from "./zh-CN/masks.json";
import overview from "./zh-CN/overview.json";
import queue from "./zh-CN/queue.json";
import run from "./zh-CN/run.json";
import samples from "./zh-CN/samples.json";
import settings from "./zh-CN/settings.json";
import viewer from "./zh-CN/viewer.json";
import uploads from "./zh-CN/uploads.json";

export const messages: Messages = {
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
