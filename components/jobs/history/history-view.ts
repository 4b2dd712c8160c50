import { type JobSearchAnswer } from "@/lib/contract/console";
import { type HistoryAnswer } from "@/lib/contract/schemas/job";
import { jobOfEntry, previewOf } from "@/lib/contract/views/job-view";
import { type JobsView, previewPart, toJobRow, toJobsView } from "../job-row";

/** The history as the service reports it, or the ended jobs that a search found. */
export function toHistoryView(answer: HistoryAnswer | JobSearchAnswer): JobsView {
  if (isFound(answer)) return toJobsView(answer);
  const rows = answer.history.map((entry) => {
    const { job, files } = jobOfEntry(entry);
    return { ...toJobRow(job), outputs: files.length, ...previewPart(previewOf(files)) };
  });
  return { rows, unreadable: answer.unreadable, nextOffset: answer.next_offset };
}

const isFound = (answer: HistoryAnswer | JobSearchAnswer): answer is JobSearchAnswer => Array.isArray(answer.jobs);
