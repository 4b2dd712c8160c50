// Helpers for the upload tests.
import { createHash, randomBytes } from "node:crypto";
import { type Locator, type Page } from "@playwright/test";
import { type DroppedFile } from "./files";

export const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
/** The default size is more than one slice of the hasher, but not a whole number of slices. */
export const createRandomFile = (name: string, size = 4_300_001): DroppedFile => ({
  name,
  type: "application/octet-stream",
  bytes: randomBytes(size),
});
export const toFilePayload = ({ name, type, bytes }: DroppedFile) => ({ name, mimeType: type, buffer: bytes });

export const getTray = (page: Page): Locator => page.getByRole("region", { name: "Transfers" });
export const confirmAdd = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
