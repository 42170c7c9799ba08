// Requests to the API of the admin listener. The browser sends the cookie of the sign-in by itself, out of reach of scripts.

// The server may be published under a path: this file is `console/api.js` of it.
const base = new URL("..", import.meta.url);

/** Tells of `signed-out`: a request was refused because the sign-in is over. */
export const events = new EventTarget();

let flight = new AbortController();

/** Drops the requests that are under way: a late response would bring the cookie of the sign-in back. */
export function dropRequests() {
  flight.abort();
  flight = new AbortController();
}

/** What the server refuses, with its reasons in one text. */
export class Problem extends Error {
  constructor(status, { title, detail, errors = [] } = {}) {
    const reasons = errors.map(({ pointer, detail }) => `${pointer?.slice(1) ?? ""} ${detail}`.trim());
    super([detail ?? title ?? `The server responded with ${status}.`, ...reasons].join(" – "));
    this.status = status;
  }
}

/** Makes a path: url`/v1/sessions/${id}`. Values are segments or arguments, whatever they contain. */
export const url = (parts, ...values) => String.raw({ raw: parts }, ...values.map(encodeURIComponent));

/**
 * @param path below the server's own, with a query
 * @param fields of the head
 * @returns the status, the entity tag, and the document if there is one
 */
export async function call(method, path, { body, fields = {} } = {}) {
  const headers = new Headers(fields);
  if (body !== undefined) headers.set("Content-Type", "application/json");
  if (method !== "GET" && path.startsWith("/v1/")) headers.set("Idempotency-Key", crypto.randomUUID());
  const request = { method, headers, signal: flight.signal, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body) };
  let response;
  let data;
  try {
    response = await fetch(new URL(path.slice(1), base), request);
    if (response.headers.get("content-type")?.includes("json")) data = await response.json();
  } catch {
    throw new Problem(0, { title: "The server cannot be reached." });
  }
  if (response.status === 401 && !headers.has("X-Admin-Key")) events.dispatchEvent(new Event("signed-out"));
  if (!response.ok && response.status !== 304) throw new Problem(response.status, data);
  return { status: response.status, etag: response.headers.get("etag"), data };
}

/** The document at a path. */
export const get = async (path) => (await call("GET", path)).data;
