// All messages in Simplified Chinese, one file per namespace, with the same keys as the English ones.
// Components must not import this module, because pages pass the required namespaces to the browser.

export { default as acts } from "./zh-CN/acts.json";
export { default as apiReference } from "./zh-CN/api-reference.json";
export { default as apps } from "./zh-CN/apps.json";
export { default as assets } from "./zh-CN/assets.json";
export { default as auth } from "./zh-CN/auth.json";
export { default as common } from "./zh-CN/common.json";
export { default as embedding } from "./zh-CN/embedding.json";
export { default as errors } from "./zh-CN/errors.json";
export { default as files } from "./zh-CN/files.json";
export { default as frame } from "./zh-CN/frame.json";
export { default as graph } from "./zh-CN/graph.json";
export { default as history } from "./zh-CN/history.json";
export { default as jobList } from "./zh-CN/job-list.json";
export { default as jobSearch } from "./zh-CN/job-search.json";
export { default as jobs } from "./zh-CN/jobs.json";
export { default as masks } from "./zh-CN/masks.json";
export { default as overview } from "./zh-CN/overview.json";
export { default as queue } from "./zh-CN/queue.json";
export { default as run } from "./zh-CN/run.json";
export { default as runners } from "./zh-CN/runners.json";
export { default as samples } from "./zh-CN/samples.json";
export { default as savedViews } from "./zh-CN/saved-views.json";
export { default as settings } from "./zh-CN/settings.json";
export { default as sharing } from "./zh-CN/sharing.json";
export { default as tokens } from "./zh-CN/tokens.json";
export { default as uploads } from "./zh-CN/uploads.json";
export { default as usage } from "./zh-CN/usage.json";
export { default as viewer } from "./zh-CN/viewer.json";
export { default as webhooks } from "./zh-CN/webhooks.json";
