// The console: a view of the admin listener's API. The address says which page is shown: `#/journeys?user_id=ada`.

import { element } from "./dom.js";
import { call, events, get, dropRequests } from "./api.js";
import { complain, field, say } from "./actions.js";
import { list, session } from "./lists.js";
import { journey } from "./journey.js";
import { flow, flows } from "./funnel.js";

/** Each page returns its nodes, the first of which is its heading. `visit.signal` ends when another page is shown. */
const pages = { journeys: list("journeys"), sessions: list("sessions"), tasks: list("tasks"), session, journey, flows, flow };

const main = document.getElementById("content");
const nav = document.querySelector("nav");
const signOut = document.getElementById("sign-out");
let visit = new AbortController();

function display(nodes) {
  main.replaceChildren(...nodes);
  main.removeAttribute("aria-busy");
  const [heading] = nodes;
  document.title = `${heading.textContent} – Concierge console`;
  heading.tabIndex = -1;
  heading.focus();
}

/** Shows the page of the address. */
async function show() {
  visit.abort();
  visit = new AbortController();
  const { signal } = visit;
  const [, path, , query] = /^#\/([^?]*)(\?(.*))?$/.exec(location.hash) ?? [null, "journeys"];
  const [name, ...names] = path.split("/");
  for (const link of nav.querySelectorAll("a")) {
    if (link.hash === `#/${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  say("");
  main.setAttribute("aria-busy", "true");
  const heading = (text) => element("h1", {}, text);
  let nodes = [heading("There is no such page")];
  try {
    const page = Object.hasOwn(pages, name) ? pages[name] : null;
    const parameters = query === undefined ? null : new URLSearchParams(query);
    if (page) nodes = await page(names.map(decodeURIComponent), parameters, { signal, refresh: show });
  } catch (problem) {
    if (signal.aborted) return;
    nodes = [heading(problem.status === 404 ? "Not found" : "That did not work")];
    complain(problem instanceof URIError ? "The address cannot be read." : problem);
  }
  if (!signal.aborted) display(nodes);
}

/** A form for the admin key, in place of all that was shown. */
function askForKey(reason) {
  visit.abort();
  nav.hidden = true;
  const form = element(
    "form",
    {
      class: "sign-in",
      onsubmit: async (event) => {
        event.preventDefault();
        try {
          await call("POST", "/console/session", { fields: { "X-Admin-Key": new FormData(form).get("key").trim() } });
          await start();
        } catch (problem) {
          complain(problem.status === 401 ? "This is not an admin key of this server." : problem);
          form.elements.key.select();
        }
      },
    },
    // For the browser's own store of passwords.
    element("input", { type: "text", name: "username", value: "admin", autocomplete: "username", hidden: true }),
    field("Admin key", "key", { type: "password", required: true, pattern: "\\s*[!-~]{16,256}\\s*", autocomplete: "current-password" }),
    element("p", { class: "actions" }, element("button", { type: "submit", class: "primary" }, "Sign in")),
  );
  display([element("h1", {}, "Sign in"), reason && element("p", {}, reason), form].filter(Boolean));
  form.elements.key.focus();
}

async function start() {
  try {
    signOut.hidden = !(await get("/console/session")).signed_in;
    nav.hidden = false;
    await show();
  } catch (problem) {
    // Browsers say over HTTPS and to localhost alone that a request is the console's own.
    if (problem.status === 401 && !isSecureContext) {
      display([element("h1", {}, "Sign in"), element("p", {}, "The console needs HTTPS, or the name localhost: forward the port with ssh -L.")]);
    } else if (problem.status !== 401) {
      display([element("h1", {}, "Concierge console")]);
      complain(problem);
    }
  }
}

events.addEventListener("signed-out", () => askForKey(nav.hidden ? "" : "The sign-in is over. Sign in again to go on."));
signOut.addEventListener("click", async () => {
  visit.abort();
  dropRequests();
  await call("DELETE", "/console/session").catch(complain);
  nav.hidden = true;
  askForKey("You are signed out.");
});
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#/") && !nav.hidden) show();
});
await start();
