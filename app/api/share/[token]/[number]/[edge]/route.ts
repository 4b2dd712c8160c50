import { shareThumbnailRoute } from "@/lib/server/shares/share-routes";

export const GET = shareThumbnailRoute();
