import { GET as app } from "@/app/api/apps/[id]/route";
import { GET as batches } from "@/app/api/apps/[id]/runs/route";
import { GET as apps } from "@/app/api/apps/route";
import { GET as asset } from "@/app/api/assets/[id]/route";
import { GET as assets } from "@/app/api/assets/route";
import { GET as audit } from "@/app/api/console/audit/route";
import { GET as counts } from "@/app/api/console/counts/route";
import { GET as search } from "@/app/api/console/jobs/search/route";
import { GET as queue } from "@/app/api/console/queue/route";
import { GET as runners } from "@/app/api/console/runners/route";
import { GET as runsByDay } from "@/app/api/console/runs-by-day/route";
import { GET as session } from "@/app/api/console/session/route";
import { GET as tasks } from "@/app/api/console/tasks/route";
import { GET as usage } from "@/app/api/console/usage/route";
import { GET as health } from "@/app/api/health/route";
import { GET as history } from "@/app/api/history_v2/route";
import { GET as status } from "@/app/api/job/[jobId]/status/route";
import { GET as job } from "@/app/api/jobs/[jobId]/route";
import { GET as jobs } from "@/app/api/jobs/route";
import { GET as files } from "@/app/api/userdata/route";
import { liveRoute } from "@/lib/server/bff/live-route";

/** Live updates of these routes' responses. */
export const GET = liveRoute({
  ...{ jobs, search, history, job, status, queue, counts, tasks, assets, asset, files, runners, apps, app, batches },
  ...{ usage, audit, "runs-by-day": runsByDay, session, health },
});
