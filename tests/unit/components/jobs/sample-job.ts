// A completed job with three nodes. Tests can override any field.
import { type JobFacts, toJobFacts } from "@/components/jobs/job/job-facts";
import { jobDetailSchema, jobStatusSchema } from "@/lib/contract/schemas/job";

export const graph = {
  "1": { class_type: "LoadImage", inputs: { image: "a.png" }, _meta: { title: "The photo" } },
  "2": { class_type: "KSampler", inputs: { image: ["1", 0], seed: 5, noise_seed: 6, steps: 20 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], lost: ["77", 0] } },
};
export const createFacts = (overrides: object = {}, status?: string): JobFacts =>
  toJobFacts(
    jobDetailSchema.parse({ id: "job-1", status: "completed", create_time: 1_700_000_000, workflow: { prompt: graph }, ...overrides }),
    status === undefined ? undefined : jobStatusSchema.parse({ id: "job-1", status }),
  );
