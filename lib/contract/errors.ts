// Error codes of the console's own API and of the embedded service, with the HTTP status each one travels under.
// One table; types and answers are derived from it. Compare codes, never classes.
// Free of zod: browsers load it with the first page.

export const errorStatus = {
  BAD_REQUEST: 400,
  INVALID_QUERY: 400,
  INVALID_BODY: 400,
  INVALID_JSON: 400,
  INVALID_HASH: 400,
  INVALID_IMAGE: 400,
  INVALID_TAG_FILTER: 400,
  INVALID_PREVIEW_ID: 400,
  MISSING_FILE: 400,
  TRUNCATED_UPLOAD: 400,
  UNSUPPORTED_SOURCE: 400,
  UNAUTHORIZED: 401,
  PAYMENT_REQUIRED: 402,
  FORBIDDEN: 403,
  FOREIGN_ORIGIN: 403,
  PAGE_OUT_OF_DATE: 409,
  ROLE_TOO_LOW: 403,
  SIGN_IN_AGAIN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  API_KEY_MISSING: 409,
  NO_CONNECTION: 409,
  ASSET_ID_UNAVAILABLE: 409,
  PRECONDITION_FAILED: 412,
  FILE_TOO_LARGE: 413,
  STORAGE_QUOTA_EXCEEDED: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_IMPLEMENTED: 501,
  UPSTREAM_UNREACHABLE: 502,
  UPSTREAM_UNREADABLE: 502,
  UPSTREAM_REFUSED_KEY: 502,
  UPSTREAM_NOT_FOUND: 502,
  UPSTREAM_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
  INSUFFICIENT_STORAGE: 507,
} as const;

export type ErrorCode = keyof typeof errorStatus;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorStatus, code);
}
