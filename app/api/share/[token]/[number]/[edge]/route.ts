import { shareThumbnailRoute } from "@/lib/server/bff/share-routes";

export const GET = shareThumbnailRoute();
