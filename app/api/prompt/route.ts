import { operations } from "@/lib/contract/operations";
import { guardedRoute } from "@/lib/server/bff/guard";
import { bffRoute } from "@/lib/server/bff/routes";
import { submitOnce } from "@/lib/server/prompts/submit-once";

const { name, role } = operations.submitPrompt;

export const POST = guardedRoute({ action: name, role, needsConnection: true }, submitOnce);
export const GET = bffRoute(operations.getQueueDepth);
