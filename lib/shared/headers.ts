/** Next drops a content-length that a handler sets, so lib/http converts this header to one. */
export const LENGTH_HEADER = "x-lightdesk-length";
export const UNREADABLE_HEADER = "x-lightdesk-unreadable";

export function parseBearer(authorization: string | null | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(authorization?.trim() ?? "")?.[1];
}

export const ACTION_HEADER = "x-lightdesk-act";
const actionIdPattern = /^[A-Za-z0-9-]{16,64}$/;

export function parseActionId(header: string | null): string | undefined {
  return header !== null && actionIdPattern.test(header) ? header : undefined;
}
