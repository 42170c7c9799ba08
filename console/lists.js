// Finding journeys, sessions and tasks; and the page of one session.

import { element } from "./dom.js";
import { call, get, url } from "./api.js";
import { action, complain, field } from "./actions.js";

const byUser = ["user_id", "User"];
const older = (label) => ["older_than", label, { placeholder: "30m", size: 8 }];

/** What can be found: where, by what, and what is shown of each item. */
const kinds = {
  journeys: {
    fields: [
      byUser, ["flow", "Flow"], ["state", "State"],
      ["status", "Status", {}, ["", "active", "busy", "held", "stuck", "finished"]],
      ["label", "Label", { placeholder: "name:value" }], older("Without a step for"),
    ],
    columns: ["Journey", "User", "State", "Status", "Last step", "Due"],
    row: ({ session, journey, flow, version, user_id, state, status, last_step_at, due_at }) => [
      link(url`#/journey/${session}/${journey}`, `${flow} ${version}`), user_id, state, status, time(last_step_at), time(due_at),
    ],
  },
  sessions: {
    fields: [byUser, ["active", "Active", {}, ["", "true", "false"]]],
    columns: ["Session", "User", "Created", "Last used", "Ends"],
    row: ({ id, user_id, created_at, last_used_at, expires_at }) => [
      link(url`#/session/${id}`, id), user_id, time(created_at), time(last_used_at), time(expires_at),
    ],
  },
  tasks: {
    fields: [
      byUser, ["task", "Task"], ["status", "Status", {}, ["", "waiting", "claimed", "held"]],
      ["session_id", "Session"], older("Older than"),
    ],
    columns: ["Task", "Status", "User", "Attempt", "Last failure", "Since"],
    row: ({ task, session, journey, status, user_id, attempt, attempts, last_failure, created_at }) => [
      link(journey ? url`#/journey/${session}/${journey}` : url`#/session/${session}`, task),
      status, user_id, `${attempt} of ${attempts}`, last_failure, time(created_at),
    ],
  },
};

export const link = (href, text) => element("a", { href }, text);

/** In UTC, as in the log. */
export const time = (text) => text && element("time", { datetime: text }, `${text.slice(0, 19).replace("T", " ")} UTC`);

/** The first cell of a row heads it. */
export function table(caption, columns, rows) {
  const cell = (value, place) => element(place ? "td" : "th", place ? {} : { scope: "row" }, value === null || value === undefined ? "–" : value instanceof Node ? value : String(value));
  return element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell)))),
    ),
  );
}

export function definitions(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined);
  return element("dl", {}, shown.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value instanceof Node ? value : String(value)))));
}

/** A document that is shown when it is opened; it may have to be fetched first. */
export function data(name, hint, load) {
  const text = element("pre", { tabindex: "0", role: "group", "aria-label": name });
  const ontoggle = async ({ target }) => {
    if (!target.open || text.textContent) return;
    try {
      text.textContent = JSON.stringify(await load(), null, 2);
    } catch (problem) {
      complain(problem);
    }
  };
  return element("details", { "data-key": `data ${name}`, ontoggle }, element("summary", {}, name, " ", element("small", {}, hint)), text);
}

const pageSize = 50;

/** A form, and under it the page of what was found. */
export const list = (name) => async (names, query, { refresh }) => {
  const { fields, columns, row } = kinds[name];
  const [title, path] = [name.charAt(0).toUpperCase() + name.slice(1), `/v1/${name}`];
  const onsubmit = (event) => {
    event.preventDefault();
    const asked = [...new FormData(event.target)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
    const hash = `#/${name}?${new URLSearchParams(asked)}`;
    if (location.hash === hash) refresh();
    else location.hash = hash;
  };
  const form = element(
    "form",
    { class: "search", role: "search", "aria-label": `Find ${name}`, onsubmit },
    fields.map(([name, label, attributes, choices]) => field(label, name, { ...attributes, value: query?.get(name) ?? "" }, choices)),
    element("button", { type: "submit", class: "primary" }, "Find"),
  );
  const nodes = [element("h1", {}, title), form];
  // Nothing of persons is read before somebody asks for it.
  if (!query) return nodes;
  try {
    const asked = new URLSearchParams(query);
    asked.set("limit", pageSize);
    const { items, next } = await get(`${path}?${asked}`);
    if (items.length) nodes.push(table(`${items.length} ${name}`, columns, items.map(row)));
    else nodes.push(element("p", { class: "none" }, next ? "None in this part; there are more to look through." : `No ${name} fit.`));
    if (next) {
      const more = new URLSearchParams(query);
      more.set("cursor", next);
      nodes.push(element("p", {}, link(`#/${name}?${more}`, "Next page")));
    }
  } catch (problem) {
    complain(problem);
  }
  return nodes;
};

export const services = (items, path, known = new Map()) =>
  items
    .filter(({ status, scope }) => status === "live" && scope !== "process")
    .map(({ name, etag, owner }) => data(name, [owner, etag].filter(Boolean).join(" · "), () => known.get(name) ?? get(`${path}/services/${encodeURIComponent(name)}`)));

export async function session([id], query, { refresh }) {
  const path = url`/v1/sessions/${id}`;
  const [found, journeys, live] = await Promise.all([get(path), get(`${path}/journeys?limit=100`), get(`${path}/services?limit=100`)]);
  const end = action(
    "End session",
    { title: "End this session?", text: "Its services and journeys are removed, and its token opens nothing any more.", done: "The session has ended." },
    async () => {
      await call("DELETE", path);
      history.replaceState(null, "", "#/sessions");
      await refresh();
    },
  );
  return [
    element("h1", {}, "Session"),
    definitions([
      ["Id", found.id],
      ["User", found.user_id && link(url`#/sessions?user_id=${found.user_id}`, found.user_id)],
      ["Created", time(found.created_at)], ["Last used", time(found.last_used_at)],
      ["Ends when idle", time(found.idle_expires_at)], ["Ends", time(found.expires_at)], ["Kept until", time(found.kept_until)],
      ...Object.entries(found.labels ?? {}).map(([name, value]) => [`Label ${name}`, value]),
    ]),
    element("p", { class: "actions" }, end, link(url`#/tasks?session_id=${id}`, "Its tasks")),
    table("Its journeys", ["Journey", "Status", "Screen", "Started"], journeys.items.map((journey) => [
      link(url`#/journey/${id}/${journey.id}`, `${journey.flow} ${journey.version}`), journey.status, journey.screen?.id, time(journey.started_at),
    ])),
    element("h2", {}, "Services that live"),
    ...services(live.items, path),
  ];
}
