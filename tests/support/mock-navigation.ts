// Next's own hooks read contexts that it does not export: tests provide a page with `AtPage`.
import { vi } from "vitest";

vi.mock("next/navigation", async (original) => ({ ...(await original<object>()), ...(await import("./at-page")).navigation }));
