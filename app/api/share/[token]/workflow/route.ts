import { shareWorkflowRoute } from "@/lib/server/bff/share-routes";

export const GET = shareWorkflowRoute();
