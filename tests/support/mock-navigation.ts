// Next's own hooks read contexts that it does not publish: tests give them a page by `AtPage`.
import { vi } from "vitest";

vi.mock("next/navigation", async (original) => ({ ...(await original<object>()), ...(await import("./at-page")).navigation }));
