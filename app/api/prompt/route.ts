import { operations } from "@/lib/contract/operations";
import { bffRoute } from "@/lib/server/bff/bff-route";
import { guarded } from "@/lib/server/bff/guard";
import { submitOnce } from "@/lib/server/prompts/submit-once";

const { name, role } = operations.submitPrompt;

export const POST = guarded({ action: name, role, connection: true }, submitOnce);
export const GET = bffRoute(operations.getQueueDepth);
