import { thumbnailRoute } from "@/lib/server/thumbnails/thumbnail-route";

export const GET = thumbnailRoute();
