import { unlockShareRoute } from "@/lib/server/bff/share-routes";

export const POST = unlockShareRoute();
