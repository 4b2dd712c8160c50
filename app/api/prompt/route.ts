import { operations } from "@/lib/contract/operations";
import { guarded } from "@/lib/server/bff/guard";
import { bffRoute } from "@/lib/server/bff/routes";
import { submitOnce } from "@/lib/server/prompts/submit-once";

const { name, role } = operations.submitPrompt;

export const POST = guarded({ action: name, role, connection: true }, submitOnce);
export const GET = bffRoute(operations.getQueueDepth);
