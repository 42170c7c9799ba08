// Draws every screen of every flow from what the server says of it, but those that an app would draw by hand (wizard.js).

import { basket, isBasket, withShownTotal } from "./basket.js";
import { button, element, readable } from "./dom.js";
import { form, reason, takesData } from "./forms.js";
import { screens } from "./wizard.js";
import { word } from "./words.js";

/** What to show of a journey's screen, below its title. */
export function draw(view, pane) {
  const flow = view.stack.at(-1)?.flow;
  return (screens[`${flow}.${view.screen.name}`] ?? drawAny)(view, pane);
}

function drawAny(view, pane) {
  if (view.screen.status === "busy") {
    return [element("p", { class: "busy" }, word("Waiting for a back end that has to do its part."))];
  }
  const documents = Object.entries(view.screen.data ?? {});
  // The basket says what its articles are called and cost.
  const isShown = ([name, document]) => !isEmpty(document) && !(name === "catalogue" && view.screen.data.basket);
  const simple = view.events.filter((event) => !takesData(event.schema));
  return [
    documents.filter(isShown).flatMap(([name, document]) => (isBasket(name, document) ? basket(name, document, pane) : definitions(name, document))),
    view.events
      .filter((event) => event.enabled && takesData(event.schema))
      .map((event) => {
        const { schema, complete } = withShownTotal(event, view.screen.data ?? {});
        return form(label(event), schema, filling(schema, documents), (data) => pane.send(event.name, complete(data), true));
      }),
    simple.length > 0 && element("p", { class: "actions" }, simple.map((event) => eventButton(event, pane))),
    view.events.filter((event) => !event.enabled).map((event) => element("p", { class: "hint", id: whyID(event, pane) }, why(event))),
  ];
}

/** The author's word for an event. */
const label = (event) => event.label ?? readable(event.name);

/** Not `disabled`, so that the keyboard and a screen reader find it, and why it cannot be used. */
function eventButton(event, pane) {
  if (event.enabled) return button(label(event), () => pane.send(event.name));
  return button(label(event), () => {}, "", { "aria-disabled": "true", "aria-describedby": whyID(event, pane) });
}

const whyID = (event, pane) => `${pane.id}-why-${event.name}`;

function why(event) {
  return word("{event} is not possible yet: {reasons}", { event: label(event), reasons: (event.why ?? []).map(reason).join(" ") });
}

/** Whether nothing has been entered yet. */
function isEmpty(document) {
  if (document === null || typeof document !== "object") return document === null || document === "";
  return Object.values(document).every(isEmpty);
}

function definitions(name, document) {
  const isObject = document !== null && typeof document === "object" && !Array.isArray(document);
  const rows = Object.entries(isObject ? document : { [name]: document });
  return [
    element("h4", {}, readable(name)),
    element(
      "dl",
      { class: "definitions" },
      rows.map(([member, value]) => element("div", {}, element("dt", {}, readable(member)), element("dd", {}, shown(value)))),
    ),
  ];
}

function shown(value) {
  if (value === null || value === "") return element("span", { class: "none" }, word("not yet"));
  if (typeof value !== "object") return String(value);
  const parts = Object.entries(value);
  if (parts.length === 0) return element("span", { class: "none" }, word("none"));
  const label = (name) => (Array.isArray(value) ? null : `${readable(name)}: `);
  return element("ul", { class: "parts" }, parts.map(([name, part]) => element("li", {}, label(name), shown(part))));
}

/** A shown document, or a part of one, that has all the names of the form: what was entered before. */
function filling(schema, documents) {
  const names = Object.entries(schema.properties ?? {}).filter(([, { writeOnly }]) => !writeOnly).map(([name]) => name);
  const candidates = documents.flatMap(([, document]) => [document, ...Object.values(document ?? {})]);
  const isFitting = (candidate) => candidate !== null && typeof candidate === "object" && names.every((name) => name in candidate);
  return names.length > 0 ? candidates.find(isFitting) : undefined;
}
