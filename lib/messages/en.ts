// All English messages of the product, one file per namespace. The exports define the types of the message keys.
// Components must not import this module, because pages pass the required namespaces to the browser.

export { default as acts } from "./en/acts.json";
export { default as apiReference } from "./en/api-reference.json";
export { default as apps } from "./en/apps.json";
export { default as assets } from "./en/assets.json";
export { default as auth } from "./en/auth.json";
export { default as common } from "./en/common.json";
export { default as embedding } from "./en/embedding.json";
export { default as errors } from "./en/errors.json";
export { default as files } from "./en/files.json";
export { default as frame } from "./en/frame.json";
export { default as graph } from "./en/graph.json";
export { default as history } from "./en/history.json";
export { default as jobList } from "./en/job-list.json";
export { default as jobSearch } from "./en/job-search.json";
export { default as jobs } from "./en/jobs.json";
export { default as masks } from "./en/masks.json";
export { default as overview } from "./en/overview.json";
export { default as queue } from "./en/queue.json";
export { default as run } from "./en/run.json";
export { default as runners } from "./en/runners.json";
export { default as samples } from "./en/samples.json";
export { default as savedViews } from "./en/saved-views.json";
export { default as settings } from "./en/settings.json";
export { default as sharing } from "./en/sharing.json";
export { default as tokens } from "./en/tokens.json";
export { default as uploads } from "./en/uploads.json";
export { default as usage } from "./en/usage.json";
export { default as viewer } from "./en/viewer.json";
export { default as webhooks } from "./en/webhooks.json";
