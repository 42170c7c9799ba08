// The drawing of the flows that a journey is in, with the state where it is lit. An app needs none of this.

import { most, narrow, picture } from "./picture.js";
import { element } from "./dom.js";
import { word } from "./words.js";

/** The transitions of a definition: one for each pair of states, with the names of all that lead that way. */
function transitionsOf({ initial, states, on }) {
  const found = new Map();
  const add = (from, what, label) => {
    for (const transition of [what ?? []].flat()) {
      const to = typeof transition === "string" ? transition : transition.target;
      if (to === undefined || to === from) continue;
      const place = `${from} → ${to}`;
      const known = found.get(place) ?? { from, to, labels: [] };
      found.set(place, { ...known, labels: [...known.labels, label] });
    }
  };
  add("(start)", initial, "");
  for (const [id, { on, back, timeout, timers, always, branches, otherwise }] of Object.entries(states)) {
    for (const [event, what] of Object.entries(on ?? {})) add(id, what, event);
    for (const [what, label] of [[branches, ""], [always, ""], [otherwise, ""], [timeout, "◷"], [timers, "◷"]]) add(id, what, label);
    if (back?.target) add(id, back, "↩");
  }
  for (const [event, what] of Object.entries(on ?? {})) add(`(${word("any screen")})`, what, event);
  return [...found.values()].map(({ from, to, labels }) => ({ from, to, title: `${from} → ${to}: ${labels.filter(Boolean).join(", ")}` }));
}

/** The names of the states as they can be reached, the ends last. */
function order({ states }, transitions) {
  const names = new Set(["(start)"]);
  for (const name of names) for (const { from, to } of transitions) if (from === name) names.add(to);
  for (const { from, to } of transitions) names.add(from).add(to);
  const rank = (name) => (states[name]?.type === "final" ? 1 : 0);
  return [...names].sort((one, other) => rank(one) - rank(other));
}

/** The coordinator and those that it has started: the flow of each and its state. */
const chain = ({ flow, state, children }) => [{ flow, state }, ...children.flatMap(chain)];

export class Drawing {
  #place;
  #link;
  #definitions = new Map();
  #turn = 0;
  #drawn = null;
  #shown = [];

  /** @param link the address of a screen, by its flow and id; it is a link there in the journey's own flow */
  constructor(place, link) {
    this.#place = place;
    this.#link = link;
  }

  async show(session, view) {
    const turn = ++this.#turn;
    if (view?.coordinators) this.#shown = chain(view.coordinators);
    else this.#shown = view ? [{ flow: view.flow, outcome: view.outcome }] : [];
    const path = (flow, place) => `/v1/flows/${encodeURIComponent(flow)}${place === 0 && view.version ? `/versions/${view.version}` : ""}`;
    const definitions = await Promise.all(this.#shown.map(({ flow }, place) => this.#read(session, path(flow, place))));
    if (turn !== this.#turn) return;
    this.#draw(definitions.filter(Boolean));
  }

  async #read(session, path) {
    if (!this.#definitions.has(path)) {
      // A flow that is not loaded any more is not drawn; offline and expired are the pane's to say.
      const { body } = await session.request("GET", path).catch(() => ({}));
      if (body?.definition) this.#definitions.set(path, body.definition);
    }
    return this.#definitions.get(path);
  }

  #draw(definitions) {
    const ids = JSON.stringify([definitions.map(({ id, version }) => [id, version]), word("any screen")]);
    if (ids !== this.#drawn) this.#place.replaceChildren(...definitions.map((definition, place) => figure(definition, place === 0 && this.#link)));
    this.#drawn = ids;
    const lit = definitions.map(({ states }, place) => {
      const { state, outcome } = this.#shown[place];
      return state ?? Object.keys(states).find((id) => states[id].type === "final" && (states[id].outcome ?? id) === outcome);
    });
    for (const [place, one] of [...this.#place.children].entries()) {
      for (const node of one.querySelectorAll(".state")) {
        const isHere = node.dataset.state === lit[place];
        node.classList.toggle("here", isHere);
        isHere ? node.setAttribute("aria-current", "location") : node.removeAttribute("aria-current");
      }
    }
    const last = [...this.#place.querySelectorAll(".here")].at(-1)?.getBoundingClientRect();
    const { top, left, width, height } = this.#place.getBoundingClientRect();
    if (last) this.#place.scrollBy(last.left + last.width / 2 - left - width / 2, last.top + last.height / 2 - top - height / 2);
  }
}

function figure(definition, link) {
  const transitions = transitionsOf(definition);
  const names = order(definition, transitions);
  const isScreen = (name) => (definition.states[name]?.type ?? (name in definition.states ? "screen" : "")) === "screen";
  const text = word("{flow}, version {version}.", { flow: definition.id, version: definition.version });
  const image =
    names.length > most
      ? text
      : picture({ names, transitions, text, link: (name) => link && isScreen(name) && link(definition.id, name), sizes: narrow });
  return element("figure", {}, element("figcaption", {}, definition.id), image);
}
