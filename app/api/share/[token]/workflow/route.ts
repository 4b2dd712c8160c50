import { shareWorkflowRoute } from "@/lib/server/shares/share-routes";

export const GET = shareWorkflowRoute();
