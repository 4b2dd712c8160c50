// No server of these versions is at hand: a recorded answer takes its place.
import { expect, it } from "vitest";
import { requireVersion } from "@/lib/shared/database/postgres";

const server = (number: number, name: string) => requireVersion(() => Promise.resolve({ rows: [{ number, name }] }));

it("a PostgreSQL older than 15 is refused with a sentence, and 15 and later are not", async () => {
  await expect(server(140_019, "14.19")).rejects.toThrow("DATABASE_URL leads to PostgreSQL 14.19: Lightdesk needs PostgreSQL 15 or later.");
  await expect(server(150_000, "15.0")).resolves.toBeUndefined();
  await expect(server(170_006, "17.6 (Debian)")).resolves.toBeUndefined();
});
