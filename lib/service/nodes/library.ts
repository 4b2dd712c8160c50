// The node library as GET /api/object_info describes it.

import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

/** `images`: the names that LoadImage offers as choices. */
export function describeLibrary(_options: { images?: readonly string[] } = {}): ObjectInfo {
  return {};
}
