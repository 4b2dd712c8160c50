// Next's hooks read contexts that it doesn't export, so tests provide a page with `PageProvider`.
import { vi } from "vitest";

vi.mock("next/navigation", async (original) => ({ ...(await original<object>()), ...(await import("./page-provider")).navigation }));
