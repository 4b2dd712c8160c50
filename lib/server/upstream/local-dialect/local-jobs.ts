// Jobs at a local server: the list's sort fields have other names, nothing is filtered by kind of output, and a job has no short status.

import "server-only";
import { z } from "zod";
import { toMilliseconds } from "@/lib/contract/times";
import { notThere, readLocal, type Translation, translated } from "./local-exchange";

const sortFields: Readonly<Record<string, string>> = { create_time: "created_at", execution_time: "execution_duration" };

const jobSchema = z.looseObject({
  id: z.string(),
  status: z.string(),
  create_time: z.unknown().optional(),
  execution_start_time: z.unknown().optional(),
  execution_end_time: z.unknown().optional(),
  execution_error: z.looseObject({ exception_message: z.string() }).optional().catch(undefined),
});

export const jobTranslations: readonly Translation[] = [
  {
    method: "GET",
    path: /\/api\/jobs$/,
    async speak({ url, pass }) {
      // Passed on, it would be ignored: the list would look filtered and not be.
      if (url.searchParams.has("output_type")) return notThere("A local server does not filter its jobs by kind of output.");
      return pass((query) => {
        const field = sortFields[query.get("sort_by") ?? ""];
        if (field !== undefined) query.set("sort_by", field);
      });
    },
  },
  {
    method: "GET",
    path: /\/api\/job\/([^/]+)\/status$/,
    async speak({ ask, caught }) {
      const read = await readLocal(await ask(`/api/jobs/${caught[0] ?? ""}`));
      if (!read.ok) return read.answer;
      return translated(toStatus(jobSchema.parse(read.value)));
    },
  },
];

function toStatus(job: z.infer<typeof jobSchema>) {
  const created = toMilliseconds(job.create_time);
  const changed = toMilliseconds(job.execution_end_time) ?? toMilliseconds(job.execution_start_time) ?? created;
  return {
    id: job.id,
    status: job.status === "failed" ? "error" : job.status,
    created_at: toText(created),
    updated_at: toText(changed),
    last_state_update: toText(changed),
    error_message: job.execution_error?.exception_message,
  };
}

function toText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
