// A client of Concierge for browsers: one module without dependencies. docs/web.md explains it with examples, and
// concierge.d.ts says what each function takes and gives.

/** A refusal of the server (RFC 9457), or status 0 and code `offline` when it could not be reached. */
export class Problem extends Error {
  name = "Problem";
  constructor(answer) {
    super(answer.body?.detail ?? `The server answered ${answer.status}.`);
    Object.assign(this, { status: answer.status, code: answer.body?.code, errors: answer.body?.errors ?? [], answer });
  }
}

const CURRENT = "/v1/sessions/current";

/** A visitor's session. Its events are `change`, `offline`, `online`, `expired` and `exchange`. */
export class Session extends EventTarget {
  #options;
  #token = null;
  #items = new Map();
  info = null;
  isOnline = true;
  isExpired = false;

  constructor(options) {
    super();
    this.#options = { url: "", mode: "bearer", storage: null, key: "concierge", schemas: false, ...options };
    if (options?.token) this.token = options.token;
  }

  /** Resumes the session that `storage` or the cookie knows, or creates one. */
  static async open(options) {
    const session = new Session(options);
    const { mode, labels } = session.#options;
    try {
      if (session.token || mode === "cookie") return await session.refresh();
    } catch (error) {
      if (error.status !== 401) throw error;
    }
    const { body } = await session.request("POST", "/v1/sessions", { body: { mode, labels } });
    return Object.assign(session, { token: body.token ?? null, info: body.session, isExpired: false });
  }

  /** Tabs with the same storage share it. Null in cookie mode, where no script can read it. */
  get token() {
    const { storage, key } = this.#options;
    return storage ? storage.getItem(key) : this.#token;
  }

  set token(token) {
    const { storage, key } = this.#options;
    this.#token = token;
    token ? storage?.setItem(key, token) : storage?.removeItem(key);
  }

  refresh = async () => Object.assign(this, { info: (await this.request("GET", CURRENT)).body });
  end = () => this.request("DELETE", CURRENT).then(() => this.#expire());
  service = (name) => this.#item(Service, `${CURRENT}/services/${name}`, "");
  services = async () => (await this.request("GET", `${CURRENT}/services?limit=100`)).body.items;
  journey = (id) => this.#item(Journey, `${CURRENT}/journeys/${id}`, this.#options.schemas ? "?include=schema" : "");

  async start(flow, options) {
    const { body, etag } = await this.request("POST", `${CURRENT}/journeys`, { body: { flow, ...options } });
    const journey = this.journey(body.id);
    if (this.#options.schemas) await journey.get(); // This answer has none.
    else journey.show(body, etag);
    return journey;
  }

  /** Any request of the API. When the network fails a GET is repeated, and a POST, which its key makes safe. */
  async request(method, path, { body, headers, signal } = {}) {
    const token = this.token;
    const fields = { ...headers };
    if (token) fields.authorization = `Bearer ${token}`;
    if (body !== undefined) fields["content-type"] ??= "application/json";
    if (method === "POST") fields["idempotency-key"] = `"${crypto.getRandomValues(new Uint32Array(4)).join("-")}"`;
    const init = { method, headers: fields, body: JSON.stringify(body), signal, cache: "no-store" };
    init.credentials = this.#options.mode === "cookie" ? "include" : "omit";
    const began = performance.now();
    const response = await this.#fetch(path, init, method === "GET" || method === "POST" ? 3 : 1);
    const answer = { status: response.status, headers: response.headers, etag: response.headers.get("etag"), response };
    if (response.headers.get("content-type")?.includes("json")) answer.body = await response.json();
    this.#tell("exchange", { method, path, body, answer, duration: performance.now() - began });
    if (answer.status === 401 && token === this.token) this.#expire();
    if (answer.status >= 400) throw new Problem(answer);
    return answer;
  }

  async #fetch(path, init, attempts) {
    try {
      const response = await fetch(this.#options.url + path, init);
      if (!this.isOnline) this.#tell("online", (this.isOnline = true));
      return response;
    } catch (cause) {
      if (init.signal?.aborted) throw cause;
      if (attempts > 1) return pause(300, init.signal).then(() => this.#fetch(path, init, attempts - 1));
      if (this.isOnline) this.#tell("offline", (this.isOnline = false));
      throw new Problem({ status: 0, body: { code: "offline", detail: `No answer: ${cause.message}` } });
    }
  }

  /** Keeps what was read up to date until the returned function is called. */
  follow() {
    const stop = new AbortController();
    // A browser opens six connections to a server at most, so one tab has the stream and tells the others. Locks exist
    // on secure pages only (https, localhost); elsewhere each tab has a stream of its own.
    const channel = new BroadcastChannel(`concierge ${this.#options.url} ${this.info.id}`);
    channel.onmessage = ({ data }) => this.#deliver(data);
    const publish = (event) => {
      this.#deliver(event);
      if (!stop.signal.aborted) channel.postMessage(event);
    };
    const locks = navigator.locks ?? { request: async (name, options, watch) => watch() };
    locks.request(channel.name, { signal: stop.signal }, () => this.#watch(stop.signal, publish)).catch(() => {});
    return () => (stop.abort(), channel.close());
  }

  async #watch(signal, publish) {
    let [last, delay, streams] = [null, 500, true];
    while (!signal.aborted && !this.isExpired) {
      try {
        if (!streams) await this.#wait(signal, publish);
        else for await (const event of this.#stream(last, signal)) {
          last = event.reason === "reset" ? null : event.id ?? last;
          delay = 500;
          publish(event);
          // A replaced token must not be used again: the app, or another tab, sets the new one.
          const old = event.reason === "token_replaced" && this.token;
          while (old && this.token === old && !signal.aborted) await pause(500, signal);
        }
      } catch (error) {
        if (error.status === 410) last = null; // The changes since then are not kept any more.
        else if ([404, 405, 406].includes(error.status) || (error.name === "AbortError" && !last)) streams = false;
        else delay = Math.min(delay * 2, 30_000);
      }
      await pause(delay, signal);
    }
  }

  async *#stream(last, signal) {
    const silence = new AbortController();
    let [timer, text] = [null, ""];
    // The server sends something every 15 seconds. A stream that is silent is dead, or a proxy holds it back.
    const expect = () => (clearTimeout(timer), (timer = setTimeout(() => silence.abort(), 35_000)));
    try {
      expect();
      const headers = { accept: "text/event-stream", ...(last && { "last-event-id": last }) };
      const either = AbortSignal.any([signal, silence.signal]);
      const { response } = await this.request("GET", `${CURRENT}/events`, { headers, signal: either });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
        expect();
        const blocks = (text + value).split("\n\n");
        text = blocks.pop();
        for (const block of blocks) {
          const { id, event, data } = Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/, 2)));
          // The first block has an id alone. Every change after it will come; what was read before it is read again.
          if (data || id) yield { ...JSON.parse(data ?? "{}"), id, type: event ?? "refresh" };
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Where there is no stream: waits until one of what is followed changes. More may be followed a little later. */
  async #wait(signal, publish) {
    const round = new AbortController();
    const options = { headers: { prefer: "wait=30" }, signal: AbortSignal.any([signal, round.signal]) };
    const looks = [...this.#items.values()].filter((item) => item.etag).map((item) => item.refresh(options));
    await Promise.race([pause(looks.length ? 10_000 : 1_000, signal), ...looks]).finally(() => round.abort());
    publish({ type: "refresh" });
  }

  #deliver(event) {
    if (event.type === "session.ended") return this.#expire();
    for (const item of this.#items.values()) item.notice(event);
    this.#tell("change", event);
  }

  #expire() {
    this.token = null;
    if (!this.isExpired) this.#tell("expired");
    this.isExpired = true;
  }

  #item = (Type, path, query) => this.#items.get(path) ?? this.#items.set(path, new Type(this, path, query)).get(path);
  #tell = (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail }));
}

/** What services and journeys have in common: a value with its ETag, and the event `change` when it is another one. */
class Live extends EventTarget {
  #notices = 0;
  value = null;
  etag = null;

  constructor(session, path, query) {
    super();
    Object.assign(this, { session, path, query });
  }

  get({ headers, signal } = {}) {
    const known = this.etag && { "if-none-match": this.etag };
    return this.call("GET", this.query, { headers: { ...known, ...headers }, signal });
  }

  /** Like `get`; what is not there any more becomes null. */
  refresh = (options) =>
    this.get(options).catch((error) => {
      if (error.status !== 404 && error.status !== 410) throw error;
      this.show(null, null);
    });

  async call(method, path = "", options = {}) {
    const { status, body, etag } = await this.session.request(method, this.path + path, options);
    if (status === 200 || status === 201) this.show(body, etag);
    return this.value;
  }

  show(value, etag) {
    const isNew = etag !== this.etag;
    Object.assign(this, { value, etag });
    if (isNew) this.dispatchEvent(new Event("change"));
  }

  /** Something was committed: what was read before is read again, by one request at a time. */
  async notice(event) {
    if (!this.etag || !this.mayChangeBy(event) || this.#notices++) return;
    for (let seen = 0; this.#notices > 0; this.#notices -= seen) {
      await pause(0); // A commit may have several changes, and may be the end of the session.
      if (this.session.isExpired) return;
      seen = this.#notices;
      await this.refresh().catch(() => {}); // Offline or expired, which the session tells.
    }
  }
}

/** A JSON document of the session. */
export class Service extends Live {
  put = (body, etag) => this.call("PUT", "", { body, headers: etag && { "if-match": etag } });
  patch = (body, etag) => this.call("PATCH", "", { body, headers: etag && { "if-match": etag } });
  clear = () => this.call("DELETE", "/state").then(() => this.get());
  remove = () => this.call("DELETE").then(() => this.get());

  /** Writes what `change` makes of the newest value, and starts again when somebody else was faster. */
  async update(change, attempts = 10) {
    const draft = structuredClone(await this.get());
    try {
      return await this.put((await change(draft)) ?? draft, this.etag);
    } catch (error) {
      if (error.status !== 412 || attempts === 1) throw error;
      return this.update(change, attempts - 1);
    }
  }

  mayChangeBy = ({ type, service, etag }) =>
    type === "refresh" || (type.startsWith("service.") && this.path.endsWith(`/${service}`) && etag !== this.etag);
}

/** A way through a flow: draw `view.screen`, send one of `view.events`. */
export class Journey extends Live {
  get view() {
    return this.value;
  }

  /** Takes a step from what was seen last: when that has changed meanwhile it is a 412, and the new view is shown. */
  async send(event, data) {
    try {
      const headers = this.etag && { "if-match": this.etag };
      return await this.call("POST", `/events${this.query}`, { body: { event, data }, headers });
    } catch (error) {
      if (error.status === 412) await this.refresh();
      throw error;
    }
  }

  back = () => this.send("back");
  navigate = (to) => this.#anew(this.session.request("POST", `${this.path}/navigation`, { body: { to } }));
  startOver = (flow, input) => this.#anew(this.session.request("PUT", this.path, { body: { flow, input } }));
  abandon = () => this.call("DELETE").then(() => this.show(null, null));
  service = (name) => new Service(this.session, `${this.path}/services/${name}`, "");

  // Links and starting over answer without schemas.
  #anew = (request) => request.then(() => this.get());

  /** A late answer does not put an older step back. */
  show(view, etag) {
    if (!(view?.step < this.view?.step)) super.show(view, etag);
  }

  mayChangeBy = ({ type, journey, etag }) =>
    /^(service|task|journey)\.|^refresh/.test(type) && !(this.path.endsWith(`/${journey}`) && etag === this.etag);
}

const pause = (duration, signal) =>
  new Promise((resolve) => {
    setTimeout(resolve, duration);
    signal?.addEventListener("abort", resolve, { once: true });
  });
