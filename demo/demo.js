// The demo: two panes, and the browser's back button and address bar.
//
// A browser remembers entries, a journey has a stack. An entry says how deep each pane's stack was. Going back to an entry
// with a smaller depth sends `back`; what goes back, and how far, is the server's to say.

import { Pane } from "./pane.js";
import { current, languages, speak, translate } from "./words.js";

translate(document);
document.documentElement.lang = current();
const panes = ["first", "second"].map((id) => new Pane(id));
let isLeading = false;

/** Where every pane is, for an entry of the history. */
const places = () => panes.map(({ depth, view }) => ({ journey: view?.id, depth, screen: view?.screen?.id }));

/** The same for the address bar: `#first=wizard/page2&second=checkout/address`. */
function address() {
  const parts = panes
    .filter(({ view }) => view?.screen)
    .map(({ id, view }) => `${id}=${view.flow}/${view.stack.findLast(({ flow }) => flow === view.flow)?.screen ?? ""}`);
  return `#${parts.join("&")}`;
}

/** A screen further up is a new entry; anything else belongs to the entry that is there. */
function moved() {
  if (isLeading) return;
  const { index = 0, places: before } = history.state ?? {};
  const now = places();
  const isDeeper = before && now.some(({ depth, journey }, i) => depth > before[i].depth || journey !== before[i].journey);
  if (isDeeper) history.pushState({ index: index + 1, places: now }, "", address());
  else history.replaceState({ index, places: now }, "", address());
}

/** Whatever the browser goes to is done one after the other. */
let leading = Promise.resolve();
let lastIndex = 0;

addEventListener("popstate", ({ state }) => {
  leading = leading.then(() => lead(state)).catch(console.error);
});

async function lead(state) {
  isLeading = true;
  const before = JSON.stringify(places());
  try {
    if (state) await Promise.all(panes.map((pane, i) => leadPane(pane, state.places[i], state.index < lastIndex)));
    else await followLinks();
  } finally {
    isLeading = false;
  }
  const index = state?.index ?? lastIndex + 1;
  const isNothing = state && state.index < lastIndex && before === JSON.stringify(places());
  lastIndex = index;
  history.replaceState({ index, places: places() }, "", address());
  // Nothing was there to go back from: on to the entry before.
  if (isNothing && index > 0) history.back();
}

async function leadPane(pane, place, isBack) {
  if (!pane.view || pane.view.id !== place.journey) return;
  if (isBack) {
    while (pane.depth > place.depth && pane.view.can_go_back) {
      const { step } = pane.view;
      await pane.back();
      if (pane.view?.step === step) return;
    }
  } else if (place.depth > pane.depth && place.screen) {
    await pane.attempt(() => pane.journey.navigate(place.screen));
  }
}

/** A phone shows one visitor at a time. */
const visitors = [...document.querySelectorAll(".visitors button")];
function look(id) {
  document.querySelector("main").dataset.visitor = id;
  for (const button of visitors) button.ariaPressed = button.value === id;
}
look("first");
for (const button of visitors) button.addEventListener("click", () => look(button.value));

const language = document.getElementById("language");
language.append(...Object.entries(languages).map(([tag, name]) => new Option(name, tag, false, tag === current())));
language.addEventListener("change", () => {
  speak(language.value);
  document.documentElement.lang = current();
  translate(document);
  for (const pane of panes) pane.attempt(() => pane.speak());
});

/** Links into the middle. */
async function followLinks() {
  const links = new URLSearchParams(location.hash.slice(1));
  const named = panes.filter(({ id }) => links.has(id));
  if (named.length === 1) look(named[0].id);
  for (const pane of panes) {
    const [flow, screen] = links.get(pane.id)?.split("/") ?? [];
    if (flow && pane.session) await pane.attempt(() => (flow.startsWith("cgl_") ? pane.take(flow) : pane.goTo(flow, screen)));
  }
}

for (const pane of panes) {
  pane.addEventListener("moved", () => {
    moved();
    if (!isLeading) lastIndex = history.state?.index ?? 0;
  });
}

isLeading = true;
await Promise.all(panes.map((pane) => pane.attempt(() => pane.open())));
// After a reload the server knows better than the address: another tab may have gone on.
if (!history.state) await followLinks();
isLeading = false;
if (!history.state) {
  // Whoever lands in the middle can go back from there, too.
  const now = places();
  const deepest = Math.max(...now.map(({ depth }) => depth), 1);
  for (let depth = 1; depth <= deepest; depth++) {
    const at = now.map((place) => ({ ...place, depth: Math.min(place.depth, depth) }));
    history[depth === 1 ? "replaceState" : "pushState"]({ index: depth - 1, places: at }, "", address());
  }
}
lastIndex = history.state.index;
moved();
document.documentElement.dataset.ready = "true";
