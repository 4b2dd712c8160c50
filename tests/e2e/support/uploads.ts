// Helpers shared by the tests of uploads: new content, the tray, and the comparison of both ends.
import { createHash, randomBytes } from "node:crypto";
import { type Locator, type Page } from "@playwright/test";
import { type DroppedFile } from "./files";

export const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
/** More than one slice of the hasher, but not a whole number of slices. */
export const fresh = (name: string, size = 4_300_001): DroppedFile => ({
  name,
  type: "application/octet-stream",
  bytes: randomBytes(size),
});
export const filePayload = ({ name, type, bytes }: DroppedFile) => ({ name, mimeType: type, buffer: bytes });

export const tray = (page: Page): Locator => page.getByRole("region", { name: "Transfers" });
export const add = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
