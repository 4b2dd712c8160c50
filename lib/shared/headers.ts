/** Next drops a content-length that a handler sets; lib/http turns this header into one. */
export const LENGTH_HEADER = "x-lightdesk-length";
export const UNREADABLE_HEADER = "x-lightdesk-unreadable";

export function bearerIn(authorization: string | null | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization?.trim() ?? "")?.[1];
}

export const ACT_HEADER = "x-lightdesk-act";
const id = /^[A-Za-z0-9-]{16,64}$/;

export function readActId(header: string | null): string | undefined {
  return header !== null && id.test(header) ? header : undefined;
}
