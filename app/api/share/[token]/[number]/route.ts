import { shareFileRoute } from "@/lib/server/bff/share-routes";

export const GET = shareFileRoute();
