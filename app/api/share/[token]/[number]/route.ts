import { shareFileRoute } from "@/lib/server/shares/share-routes";

export const GET = shareFileRoute();
