import { unlockShareRoute } from "@/lib/server/shares/share-routes";

export const POST = unlockShareRoute();
