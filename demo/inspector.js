// "Behind the desk": what the server knows of a pane's session. Nothing here is needed by an app.

import { element } from "./dom.js";
import { masked } from "./forms.js";
import { word } from "./words.js";

export class Inspector {
  #session;
  #journey = null;
  #wasAsked = false;
  #reading = false;
  #stale = false;
  /** The schemas of what can be sent, by the event, and `input` that of a flow. */
  #schemas = {};

  constructor(root) {
    this.parts = Object.fromEntries([...root.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]));
  }

  watch(session) {
    this.#session = session;
    session.addEventListener("exchange", ({ detail }) => this.showExchange(detail));
  }

  /** @param input the schema of what the flow has to be told */
  showJourney(view, input) {
    this.#journey = view?.status === "active" ? view.id : null;
    this.#schemas = Object.fromEntries((view?.events ?? []).map(({ name, schema }) => [name, schema]));
    this.#schemas.input = input;
    const frames = view?.stack ?? [];
    const stack = frames.map(({ flow, screen, presentation }, place) =>
      element(
        "li",
        { "aria-current": place === frames.length - 1 ? "true" : undefined },
        element("b", {}, screen),
        element("span", {}, `${flow} · ${presentation}`),
      ),
    );
    this.parts.stack.replaceChildren(...(stack.length ? stack : [element("li", { class: "none" }, word("empty"))]));
    const none = element("p", { class: "none" }, word("none"));
    this.parts.coordinators.replaceChildren(view?.coordinators ? tree([view.coordinators]) : none);
  }

  /** Lists the services that live. Asked again after each change, one request at a time. */
  async showServices() {
    this.#stale = true;
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (this.#stale) {
        // A commit may have several changes, and may be the end of the session.
        await new Promise((resolve) => setTimeout(resolve));
        if (this.#session.isExpired) return;
        this.#stale = false;
        // As the journey sees them: those of the session, and those that a coordinator owns.
        const path = this.#journey ? `journeys/${this.#journey}/services` : "services";
        const { body } = await this.#session.request("GET", `/v1/sessions/current/${path}?limit=100`);
        const live = body.items.filter((item) => item.status === "live");
        const rows = live.map(({ name, etag, owner = "session" }) =>
          element("li", {}, element("b", {}, name), element("span", {}, `${etag} · ${owner}`)),
        );
        this.parts.services.replaceChildren(...(rows.length ? rows : [element("li", { class: "none" }, word("none lives yet"))]));
      }
    } catch {
      // Offline or expired: the pane says so.
    } finally {
      this.#reading = false;
    }
  }

  /** The last request that the visitor caused. Reading again would hide it, and so would what this panel asks for. */
  showExchange({ method, path, body, answer, duration }) {
    const isAsked = method !== "GET" || (!this.#wasAsked && /\/journeys\/[^/]+$/.test(path.split("?")[0]));
    if (!isAsked) return;
    this.#wasAsked = method !== "GET";
    const short = path.replace("/v1/sessions/current", "…").replace(/(jrn_\w{4})\w+/, "$1…");
    // The challenge is between the two programs: it changes with each sign-in, and says nothing to a person.
    const { challenge, ...sent } = body ?? {};
    if (sent.data !== undefined) sent.data = masked(sent.data, this.#schemas[sent.event]);
    if (sent.input !== undefined) sent.input = masked(sent.input, this.#schemas.input);
    const request = [`${method} ${short}`, body && JSON.stringify(sent, null, 2)];
    const head = [`${answer.status}`, answer.etag && `ETag: ${answer.etag}`, `${duration.toFixed(0)} ms`];
    const response = [head.filter(Boolean).join("   "), answer.body === undefined ? "" : JSON.stringify(answer.body, null, 2)];
    this.parts.request.textContent = request.filter(Boolean).join("\n");
    this.parts.answer.textContent = response.filter(Boolean).join("\n");
  }
}

/** Coordinators, each with the children that it has started. */
function tree(coordinators) {
  return element(
    "ul",
    {},
    coordinators.map(({ flow, state, children }) =>
      element("li", {}, element("b", {}, flow), element("span", {}, ` ${word("in {state}", { state })}`), children.length > 0 && tree(children)),
    ),
  );
}
